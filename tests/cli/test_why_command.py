"""``ireval why``: the arithmetic of one metric on one query, on the terminal, as Markdown and as JSON."""

import json

import pytest
from suite_files import write_judgments, write_rankings


@pytest.fixture
def files(monkeypatch, tmp_path):
    """Judgments and two rankings, by short names."""
    write_judgments(tmp_path / "judgments.txt", {"q": {"a": 2, "b": 0, "c": 1, "m": 1}, "p": {"x": 1}})
    write_rankings(tmp_path / "rankings.txt", {"q": "buacvw", "p": "x"})
    write_rankings(tmp_path / "other.txt", {"q": "aucm", "p": "x"})
    monkeypatch.chdir(tmp_path)
    return "judgments.txt", "rankings.txt", "other.txt"


def test_one_ranking_line_by_line(ireval, files):
    judgments, rankings, _ = files

    assert ireval("why", "nDCG@4", judgments, rankings, "--query", "q").out == (
        "nDCG@4 of query q: 0.4569\n"
        "judgments: judgments.txt; rankings: rankings.txt\n"
        "\n"
        "4 documents are judged, 6 retrieved\n"
        "k = 4, the cutoff\n"
        "\n"
        "rank  document  grade  gain  discount  discounted     sum  contributes\n"
        "   1  b             0     0    1.0000      0.0000  0.0000       0.0000\n"
        "   2  u             -     0    1.5850      0.0000  0.0000       0.0000\n"
        "   3  a             2     2    2.0000      1.0000  1.0000       0.3194\n"
        "   4  c             1     1    2.3219      0.4307  1.4307       0.1376\n"
        "\n"
        "not looked at: 2 of 6 documents\n"
        "\n"
        "the best order of all judged documents:\n"
        "\n"
        "rank  grade  gain  discount  discounted     sum\n"
        "   1      2     2    1.0000      2.0000  2.0000\n"
        "   2      1     1    1.5850      0.6309  2.6309\n"
        "   3      1     1    2.0000      0.5000  3.1309\n"
        "\n"
        "nDCG@4 = 1.4307 / 3.1309 = 0.4569\n"
    )


def test_two_rankings_side_by_side(ireval, files):
    judgments, rankings, other = files

    assert ireval("why", "AP", judgments, rankings, other, "--lines", "3").out == (
        "AP of query q (the largest difference of 2 queries): 0.2778 -> 0.8056 (+0.5278)\n"
        "judgments: judgments.txt; rankings: rankings.txt (A) -> other.txt (B)\n"
        "\n"
        "document  grade  moved                 A       B    B - A\n"
        "b             0  #1 -> not there  0.0000  0.0000\n"
        "a             2  #3 -> #1         0.1111  0.3333  +0.2222\n"
        "c             1  #4 -> #3         0.1667  0.2222  +0.0556\n"
        "\n"
        "documents not shown: 1\n"
        "unjudged documents not shown: 3\n"
        "A, B: what the document contributes\n"
        "\n"
        "A: rankings.txt\n"
        "\n"
        "R = 3 documents are relevant (grade 1 or more)\n"
        "n = 6 documents are retrieved\n"
        "\n"
        "rank  document  grade  found  precision  recall    adds     sum  contributes\n"
        "   1  b             0      0     0.0000  0.0000          0.0000       0.0000\n"
        "   2  u             -      0     0.0000  0.0000          0.0000       0.0000\n"
        "   3  a             2      1     0.3333  0.3333  0.3333  0.3333       0.1111\n"
        "\n"
        "not shown: ranks 4 to 6; judged there: 1 of 3\n"
        "\n"
        "AP = (0.3333 + 0.5000) / 3 = 0.2778\n"
        "\n"
        "B: other.txt\n"
        "\n"
        "R = 3 documents are relevant (grade 1 or more)\n"
        "n = 4 documents are retrieved\n"
        "\n"
        "rank  document  grade  found  precision  recall    adds     sum  contributes\n"
        "   1  a             2      1     1.0000  0.3333  1.0000  1.0000       0.3333\n"
        "   2  u             -      1     0.5000  0.3333          1.0000       0.0000\n"
        "   3  c             1      2     0.6667  0.6667  0.6667  1.6667       0.2222\n"
        "\n"
        "not shown: rank 4; judged there: 1 of 1\n"
        "\n"
        "AP = (1 + 0.6667 + 0.7500) / 3 = 0.8056\n"
    )


def test_lines_that_are_left_out_are_named_and_json_has_them(ireval, files):
    why = ("why", "AP", *files[:2], "-q", "q")

    assert "\nnot shown: ranks 2 to 6; judged there: 2 of 5\n" in ireval(*why, "--lines", "1").out
    out = ireval(*why).out
    assert "\n   4  c             1 " in out  # the last judged document
    assert "\n   5  v" not in out
    assert "\nnot shown: ranks 5 to 6; nothing is judged there\n" in out
    data = json.loads(ireval(*why, "--format", "json", "--lines", "1").out)
    assert data["first"]["steps"]["documents"] == ["b", "u", "a", "c", "v", "w"]
    assert data["first"]["value"] == pytest.approx((1 / 3 + 2 / 4) / 3)


def test_policies_are_options(ireval, files):
    judgments, rankings, _ = files

    out = ireval("why", "AP", judgments, rankings, "-q", "q", "--unjudged", "removed", "--depth", "4").out

    assert "only the first 4 documents count (depth)\n" in out
    assert "unjudged documents were removed first (unjudged: removed); ranks count the remaining documents\n" in out
    assert out.endswith("\nAP = (0.5000 + 0.6667) / 3 = 0.3889\n")


def test_long_ids_are_cut_in_the_middle_so_that_lines_have_80_characters(ireval, trec_files):
    long = "https://shop.example/products/" + "x" * 80 + "/red-mug"
    judgments, rankings = trec_files(f"q 0 {long} 2\n", f"q Q0 {long} 1 1 s\n")

    out = ireval("why", "nDCG@1", judgments, rankings).out
    (line,) = [line for line in out.splitlines() if line.startswith("   1  https")]

    assert line.startswith("   1  https://sh")
    assert "…" in line
    assert len(line) == 80


def test_markdown_is_tables_with_whole_ids_and_harmless_marks(ireval, trec_files):
    judgments, rankings = trec_files("q 0 a|b_*c 1\n", "q Q0 a|b_*c 1 1 s\n")

    out = ireval("why", "P@1", judgments, rankings, "--format", "markdown").out

    assert "| rank | document | grade | found | precision | recall | contributes |" not in out
    assert "| ---: | --- | ---: |" in out
    assert "| 1 | a\\|b\\_\\*c | 1 | 1 | 1 | 1 |" in out


def test_a_missing_query_is_one_clear_error(ireval, files):
    judgments, rankings, _ = files

    outcome = ireval("why", "AP", judgments, rankings)

    assert outcome.code == 2
    assert outcome.err == (
        "error: no query was named, and 2 are judged: 'q', 'p'\n  name one: --query q, or query='q' from Python\n"
    )


def test_rankings_that_do_not_differ_propose_no_query(ireval, files):
    judgments, rankings, _ = files

    outcome = ireval("why", "AP", judgments, rankings, rankings)

    assert outcome.code == 2
    assert outcome.err == (
        "error: AP is the same on all 2 queries, so no query was chosen\n"
        "  name one: --query q, or query='q' from Python\n"
    )
    assert "AP of query p: 1.0000 -> 1.0000" in ireval("why", "AP", judgments, rankings, rankings, "-q", "p").out


def test_a_file_where_the_metric_should_stand_is_said_to_be_one(ireval, files):
    judgments, rankings, _ = files

    outcome = ireval("why", judgments, "AP", rankings)

    assert outcome.code == 2
    assert outcome.err == (
        "error: judgments.txt\n  is a file, where a metric is expected\n  write: ireval why METRIC JUDGMENTS RANKINGS\n"
    )


def test_a_query_that_evaluate_refuses_to_score_is_explained_and_that_is_said(ireval, trec_files):
    judgments, rankings = trec_files("q1 0 a 1\nq2 0 a 1\n", "q1 Q0 a 1 1 t\n")

    assert ireval("evaluate", judgments, rankings, "-m", "Utility").code == 2
    assert "\nevaluate refuses to score it, because this metric has no worst value\n" in (
        ireval("why", "Utility", judgments, rankings, "--query", "q2").out
    )
