"""``ireval compare``: every option, every format, and what it says when something is wrong."""

import csv
import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from suite_files import write_judgments, write_rankings

from pytest_ireval import Comparison

QUERIES = [f"q{i}" for i in range(8)]


def write_ranks(name, ranks):
    """Write rankings with the relevant document at these ranks, by query; 0: the query is missing."""
    rankings = {
        query: [*("x1", "x2", "x3")[: rank - 1], "good", "bad"]
        for query, rank in zip(QUERIES, ranks, strict=True)
        if rank
    }
    write_rankings(Path(name), rankings)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and three rankings in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_judgments(Path("judgments.txt"), {query: {"good": 1, "bad": 0} for query in QUERIES})
    write_ranks("mixed.txt", [2, 2, 2, 2, 2, 2, 1, 4])
    write_ranks("best.txt", [1, 1, 1, 1, 1, 1, 1, 2])
    write_ranks("last.txt", [4, 4, 4, 4, 4, 0, 1, 1])
    return ["judgments.txt", "mixed.txt", "best.txt", "last.txt"]


NOTES = (
    "judgments: judgments.txt (8 queries); rankings: a mixed.txt; b best.txt; c last.txt\n"
    "ties: trec; missing queries: zero; no relevant documents: zero; unjudged: irrelevant; depth: all; "
    "highest grade: 1; grades: integer\n"
    "*: the best figure of its column\n"
)


def test_the_table_of_all_pairs(ireval, files):
    outcome = ireval("compare", *files, "-m", "RR", "-m", "NumRet", "--extremes", "2")

    assert outcome == (
        0,
        "   ranking       RR     NumRet (sum)\n"
        "a  mixed     0.5312               25\n"
        "b  best     *0.9375 ac            17\n"
        "c  last      0.4062               29\n"
        "\n"
        "metric  pair     diff  change        95% interval      sd     t       p  +/=/-\n"
        "RR      b-a   +0.4062  +76.5%  +0.2507 to +0.5618  0.1860  6.18  0.0014  7/1/0\n"
        "\n"
        "metric  pair     gain    from      to  query  drop  from  to  query\n"
        "RR      b-a   +0.5000  0.5000  1.0000  q0\n"
        "              +0.5000  0.5000  1.0000  q1\n"
        "\n" + NOTES + "letters after a figure: significantly better than those rankings: paired t test, two-sided, "
        "p < 0.05; Holm's correction over all 3 pairs of each metric; metrics are not corrected for each other\n"
        "pairs: the best two of each metric (--pairs shows all 3); p is corrected, intervals (by t) are not; "
        "+/=/-: queries where the first of the pair is better, equal, worse\n"
        "paired: 8 queries (RR)\n"
        "not tested: NumRet: its figure is not a mean (sum)\n"
        "RR c-b: significant by t, but only 7 queries differ, and by the exact sign-flip test p is 0.0625, "
        "corrected like that of t\n"
        "c last: missing: 1 query (q5) without a ranking; scored as empty rankings\n",
        "",
    )


def test_the_table_with_a_baseline(ireval, files):
    out = ireval("compare", *files, "-m", "RR", "--baseline", "mixed", "--extremes", "1", "--per-query").out

    assert out.startswith(
        "   ranking                RR\n"
        "a  mixed (baseline)   0.5312\n"
        "b  best              *0.9375 ▲\n"
        "c  last               0.4062\n"
        "\n"
        "metric  pair     diff  change        95% interval      sd      t       p  +/=/-\n"
        "RR      b-a   +0.4062  +76.5%  +0.2507 to +0.5618  0.1860   6.18  0.0009  7/1/0\n"
        "        c-a   -0.1250  -23.5%  -0.4410 to +0.1910  0.3780  -0.94  0.3807  1/1/6\n"
    )
    assert "RR by query       a       b       c\nq0           0.5000  1.0000  0.2500\n" in out
    assert "\nRR      c-a   -0.5000  0.5000  0.0000  q5 (not in c)\n" in out
    assert "▲ ▼: significantly better, worse than mixed: paired t test, two-sided, p < 0.05; Holm's correction " in out


def test_markdown(ireval, files):
    out = ireval("compare", *files, "-m", "RR", "--baseline", "first", "--format", "markdown", "--extremes", "1").out

    assert out.startswith(
        "|  | ranking | RR |\n"
        "| --- | --- | ---: |\n"
        "| a | mixed (baseline) | 0.5312 |\n"
        "| b | best | **0.9375**<sup>▲</sup> |\n"
        "| c | last | 0.4062 |\n"
        "\n"
        "| metric | pair | diff | change | 95% interval | sd | t | p | +/=/- |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| RR | b-a | +0.4062 | +76.5% | +0.2507 to +0.5618 | 0.1860 | 6.18 | 0.0009 | 7/1/0 |\n"
    )
    assert "| RR | c-a | +0.7500 | 0.2500 | 1.0000 | q7 | -0.5000 | 0.5000 | 0.0000 | q5 (not in c) |\n" in out
    assert "- bold: the best figure of its column\n" in out


def test_json_can_be_read_back(ireval, files):
    data = json.loads(ireval("compare", *files, "-m", "map", "-m", "RR", "--format", "json", "--per-query").out)
    comparison = Comparison.from_dict(data)

    assert comparison.to_dict() == data
    assert list(data["metrics"]) == ["AP", "RR"]
    assert comparison["RR"].pair("best", "mixed").better == "best"
    assert data["rankings"]["last"]["missing"] == ["q5"]
    assert data["rankings"]["best"]["metrics"]["RR"]["queries"]["q7"] == 0.5


def test_csv(ireval, files):
    out = ireval("compare", *files[:3], "-m", "RR", "--format", "csv", "--per-query").out
    rows = list(csv.DictReader(io.StringIO(out)))

    assert out.splitlines()[0] == (
        "metric,ranking,other,query,value,paired,difference,relative,wins,ties,losses,sd,standard_error,low,high,"
        "test,t,df,p,p_adjusted,better,sign_flip_p,sign_flip_p_adjusted"
    )
    assert [(row["ranking"], row["query"], row["value"]) for row in rows[7:9]] == [
        ("mixed", "q7", "0.25"),
        ("mixed", "", "0.53125"),
    ]
    assert (rows[-1]["ranking"], rows[-1]["other"], rows[-1]["paired"], rows[-1]["difference"]) == (
        "best",
        "mixed",
        "8",
        "0.40625",
    )
    assert (rows[-1]["wins"], rows[-1]["ties"], rows[-1]["losses"], rows[-1]["better"]) == ("7", "1", "0", "best")


def test_sorted_by_a_metric_under_any_of_its_names(ireval, files):
    out = ireval("compare", *files, "-m", "NumRet", "-m", "RR", "--sort", "recip_rank", "--pairs").out

    assert re.findall(r"^(?:RR)? +(\w-\w) +[-+]0\.\d{4} +[-+]", out, re.MULTILINE)[:3] == ["b-a", "c-a", "c-b"]
    assert [line.split()[:2] for line in out.splitlines()[1:4]] == [["b", "best"], ["a", "mixed"], ["c", "last"]]
    refused = ireval("compare", *files, "-m", "RR", "--sort", "AP")
    assert refused == (2, "", "error: --sort\n  'AP' is not one of the compared metrics\n  compared: RR\n")


def test_the_sign_flip_test_and_another_level(ireval, files):
    out = ireval("compare", *files[:3], "-m", "RR", "--test", "sign-flip", "--alpha", "0.01").out

    assert "99% interval" in out
    assert "  0.0156  7/1/0\n" in out
    assert "sign-flip test, two-sided, p < 0.01; one pair per metric, so no correction" in out
    assert "\nno difference is statistically significant; a difference may still exist\n" in out


def test_ignored_queries_are_left_out_of_all_rankings(ireval, files):
    out = ireval("compare", *files, "-m", "RR", "--missing", "ignore").out

    assert "compared over 7 of 8 queries: those that all rankings have\n" in out
    assert "\npaired: 7 queries\n" in out
    assert "c last: missing: 1 query (q5) without a ranking; left out\n" in out


def test_equal_differences_are_tested_by_their_signs_and_that_is_said(ireval, files):
    write_ranks("one.txt", [1] * 8)
    write_ranks("two.txt", [2] * 8)

    out = ireval("compare", "judgments.txt", "one.txt", "two.txt", "-m", "RR").out

    assert "  0.0000  -  0.0078  0/0/8\n" in out
    assert "RR b-a: all differences are equal, so t is undefined; p is that of the exact sign-flip test\n" in out


def test_a_single_query_says_nothing_of_chance(ireval, tmp_path):
    paths = [tmp_path / name for name in ("judgments", "one", "two")]
    write_judgments(paths[0], {"q": {"a": 1}})
    write_rankings(paths[1], {"q": ["a"]})
    write_rankings(paths[2], {"q": ["b"]})

    out = ireval("compare", *paths, "-m", "RR").out

    assert "RR      b-a   -1.0000  -100.0%             -   -  -  -  0/0/1\n" in out
    assert "\npaired: 1 query; one alone cannot show significance\n" in out


ODD = "a_b&c%d#e$f{g}~h^i\\j|k<l>*m"


def test_what_markdown_or_a_terminal_obeys_is_escaped(ireval, files):
    out = ireval("compare", "judgments.txt", f"{ODD}=best.txt", "mixed.txt", "-m", "RR", "--format", "markdown").out

    assert "| a | a\\_b\\&c%d\\#e\\$f{g}\\~h^i\\\\j\\|k\\<l\\>\\*m | " in out
    for form in ("table", "markdown"):
        assert "\x1b" not in ireval("compare", "judgments.txt", "x\x1b[31m=best.txt", "last.txt", "--format", form).out


@pytest.fixture
def twenty(files):
    """Twenty rankings, each a little worse than the one before."""
    names = [f"system{i:02}.txt" for i in range(20)]
    for i, name in enumerate(names):
        write_ranks(name, [1 + (i * (query + 1)) % 40 // 10 for query in range(8)])
    return ["judgments.txt", *names]


def test_wide_tables_are_split_into_blocks(ireval, twenty):
    metrics = [word for cutoff in (1, 2, 3, 4, 5, 10, 20, 30) for word in ("-m", f"nDCG@{cutoff}")]
    out = ireval("compare", *twenty, *metrics, "--extremes", "0").out
    tables = out.split("\n\njudgments: ")[0]

    assert max(map(len, tables.splitlines())) <= 80
    assert tables.count("\na  system00") == tables.count("   ranking") == 2


def test_a_terminal_without_triangles_gets_plain_marks(ireval, files, monkeypatch):
    monkeypatch.setattr("pytest_ireval.cli.compare_command._find_encoding", lambda: "cp1252")

    out = ireval("compare", *files, "-m", "RR", "--baseline", "mixed").out

    assert "b  best              *0.9375 ^\n" in out
    assert "^ v: significantly better, worse than mixed" in out


def test_one_of_the_files_may_be_standard_input(ireval, files, monkeypatch):
    with open("best.txt") as text:
        monkeypatch.setattr(sys, "stdin", text)
        out = ireval("compare", "judgments.txt", "mixed.txt", "-", "-m", "RR").out

    assert "\nb  stdin    *0.9375 a\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "best.txt", "-"], "only one of JUDGMENTS and RANKINGS can be standard input"),
        (["judgments.txt", "best.txt", "last.txt", "mixed.txt", "--svg", "x.svg"], "--svg draws two RANKINGS"),
        (
            ["judgments.txt", "best.txt", "last.txt", "--svg", "last.txt"],
            "Invalid value for '--svg': the name of a picture ends in .svg, not last.txt",
        ),
        (["judgments.txt", "best.txt", "last.txt", "--alpha", "0"], "Invalid value for '--alpha'"),
    ],
)
def test_wrong_usage_is_said(ireval, files, arguments, message):
    outcome = ireval("compare", *arguments)

    assert outcome.code == 2
    assert message in outcome.err


def test_all_files_that_cannot_be_read_are_one_error(ireval, files):
    outcome = ireval("compare", "judgments.txt", "none.txt", "best.txt", "nowhere.txt")

    assert outcome == (2, "", "error: none.txt\n  there is no such file\nnowhere.txt\n  there is no such file\n")


def test_an_unknown_baseline_is_an_error(ireval, files):
    outcome = ireval("compare", *files, "--baseline", "bets")

    assert outcome == (
        2,
        "",
        "error: baseline='bets' is not one of the rankings\n  did you mean 'best'?\n"
        "  allowed: first (the first), mixed, best, last\n",
    )


def test_two_rankings_are_drawn(ireval, files):
    plain = ireval("compare", *files[:3], "-m", "RR", "-m", "NumRet")

    outcome = ireval("compare", *files[:3], "-m", "RR", "-m", "NumRet", "--svg", "picture.svg")

    assert outcome == (0, plain.out, "wrote picture.svg\n")
    root = ElementTree.parse("picture.svg").getroot()
    title, description = root.findtext("{*}title"), root.findtext("{*}desc")
    assert title == "best (now) compared with mixed (baseline)"
    assert "all: 8 queries, R-precision 0.125 → 0.875." in description
    assert "mean change +0.4062; 0 worse, 7 better, 1 the same. The best is q5: 0.500 → 1.000." in description
    parts = [part for part in root.findall("{*}g") if part.get("transform", "").startswith("translate(0 ")]
    assert [part.findtext("{*}text[@class='heading']") for part in parts] == [
        "Precision at each recall",
        "RR: change of each query",
        "NumRet: change of each query",
    ]
    assert {path.get("class") for path in parts[0].findall("{*}path")} >= {"curve now", "curve r-precision now"}
    bars = [bar.text for bar in parts[1].findall(".//{*}path/{*}title")]
    assert sorted(bars) == [*(f"q{i}: 0.500 → 1.000" for i in range(6)), "q7: 0.250 → 0.500"]


def test_one_call_counts_relevant_and_retrieved_documents_of_two_systems(ireval, tmp_path):
    """The two systems of the text processing lectures: 25 and 15 retrieved, of 28 relevant ones 16 and 12."""
    write_judgments(tmp_path / "judgments", {"q": {f"r{i}": 1 for i in range(28)}})
    for name, hits, others in (("one", 16, 9), ("two", 12, 3)):
        documents = [*(f"r{i}" for i in range(hits)), *(f"n{i}" for i in range(others))]
        write_rankings(tmp_path / name, {"q": documents})
    call = ("compare", *(tmp_path / name for name in ("judgments", "one", "two")), "-m", "SetP", "--contingency")

    text = ireval(*call, "--collection", "1000").out
    data = json.loads(ireval(*call, "--format", "json").out)

    assert (
        "   ranking  documents      relevant  not relevant\n"
        "a  one      retrieved            16             9\n"
        "            not retrieved        12           963\n"
        "b  two      retrieved            12             3\n"
        "            not retrieved        16           969\n"
    ) in text
    assert list(data["metrics"]) == ["SetP"]
    assert data["contingency"]["two"] == {
        "relevant_retrieved": 12,
        "other_retrieved": 3,
        "relevant_missed": 16,
        "other_missed": None,
    }
