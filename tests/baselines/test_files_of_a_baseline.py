"""What lies beside the suites: text with one query a line, the same bytes for the same content."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_baselines import FIRST, GRADES, LISTS, SECOND, baseline_of, content

from pytest_ireval.baselines import writing
from pytest_ireval.baselines.files import baseline_files
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.baselines.record import StoredMetric
from pytest_ireval.baselines.writing import encoded_baseline, write_baseline
from pytest_ireval.errors import BaselineError
from pytest_ireval.retrieval.from_objects import rankings_from


def test_a_baseline_that_was_written_is_read_back(tmp_path):
    baseline = baseline_of(acceptances=(FIRST, SECOND))

    write_baseline(tmp_path / "baselines", baseline)

    assert content(read_baseline(tmp_path / "baselines", "shop")) == content(baseline)


def test_there_may_be_no_baseline(tmp_path):
    assert read_baseline(tmp_path, "shop") is None
    assert read_baseline(tmp_path / "nowhere", "shop") is None


def test_a_suite_has_three_files_and_git_is_told_about_the_folder(tmp_path):
    paths = write_baseline(tmp_path, baseline_of())

    assert sorted(path.name for path in paths) == ["shop.json", "shop.judgments.tsv", "shop.rankings.tsv"]
    assert set(paths) == set(baseline_files(tmp_path, "shop"))
    assert sorted(path.name for path in tmp_path.iterdir() if path not in paths) == [
        ".gitattributes",
        ".gitignore",
        ".lock",
    ]


def test_rankings_are_one_query_a_line_sorted_by_id(tmp_path):
    write_baseline(tmp_path, baseline_of())

    assert (tmp_path / "shop.rankings.tsv").read_bytes() == (
        b"# ireval rankings, format 1, depth 10\nq1\ta\tb\tc\nq2\tb\ta\nq3\n"
    )


def test_judgments_are_one_query_a_line_sorted_by_document(tmp_path):
    write_baseline(tmp_path, baseline_of(grades={"q2": {"b": 0.5, "a": -1}, "q1": {"z": 2}}))

    assert (tmp_path / "shop.judgments.tsv").read_bytes() == (
        b"# ireval judgments, format 1\nq1\tz\t2\nq2\ta\t-1\tb\t0.5\n"
    )


def test_figures_are_json_with_a_line_for_each_query_and_each_acceptance(tmp_path):
    write_baseline(tmp_path, baseline_of(acceptances=(FIRST, SECOND)))

    text = re.sub(r'"[0-9a-f]{16}"', '"…"', (tmp_path / "shop.json").read_text())
    assert text == (
        '{\n"format": 1,\n"depth": 10,\n"scored": false,\n"askings": 1,\n'
        '"files": {\n "json": "…",\n "judgments.tsv": "…",\n "rankings.tsv": "…"\n},\n'
        '"suite": "shop",\n'
        '"fingerprints": {\n "queries": "queries",\n "judgments": "…",\n "source": "run: candidate.trec",\n'
        ' "policies": "policies"\n},\n'
        '"plugins": [\n "pytest-ireval 0.1.0"\n],\n'
        '"metrics": {\n "nDCG@10": {"origin": "pytest-ireval", "value": 0.875, "version": 1}\n},\n'
        '"queries": {\n "q1": ["…", 0.75],\n "q2": ["…", 1.0]\n},\n'
        '"acceptances": [\n'
        f' {{"branch": "main", "commit": "{"a" * 40}", "date": "2026-11-02T10:00:00Z", "dirty": false, '
        '"forced": false, "reason": "the first one"},\n'
        f' {{"branch": "synonyms", "commit": "{"b" * 40}", "date": "2026-11-20T08:30:00Z", "dirty": true, '
        '"forced": true, "reason": "synonyms v2"}\n'
        "]\n}\n"
    )


def test_the_same_content_is_the_same_bytes_whatever_order_it_came_in():
    one = baseline_of({"q1": ["a", "b"], "q2": ["c"]}, {"q1": {"a": 1, "b": 2}, "q2": {"c": 0}})
    other = baseline_of({"q2": ["c"], "q1": ["a", "b"]}, {"q2": {"c": 0}, "q1": {"b": 2, "a": 1}})
    as_mappings = replace(other, grades={query: dict(grades) for query, grades in other.grades.items()})

    assert encoded_baseline(one) == encoded_baseline(other) == encoded_baseline(as_mappings)


def test_a_changed_query_changes_its_own_lines_and_the_fingerprints(tmp_path):
    lists = {f"q{i}": [f"d{i}{j}" for j in range(5)] for i in range(20)}
    values = dict.fromkeys(lists, 0.5)
    before = encoded_baseline(baseline_of(lists, values=values))
    after = encoded_baseline(baseline_of({**lists, "q7": ["new", "d70"]}, values={**values, "q7": 0.25}))

    changed = {
        ending: [
            new for old, new in zip(before[ending].split(b"\n"), after[ending].split(b"\n"), strict=True) if old != new
        ]
        for ending in before
    }
    assert changed["rankings.tsv"] == [b"q7\tnew\td70"]
    assert changed["judgments.tsv"] == []
    assert [line.split(b":")[0].strip() for line in changed["json"]] == [
        b'"json"',
        b'"rankings.tsv"',
        b'"nDCG@10"',
        b'"q7"',
    ]


def test_writing_the_same_again_touches_no_file(tmp_path):
    paths = write_baseline(tmp_path, baseline_of())
    before = [path.stat().st_mtime_ns for path in paths]

    write_baseline(tmp_path, baseline_of())

    assert [path.stat().st_mtime_ns for path in paths] == before


def test_several_askings_have_a_file_each_and_files_that_are_no_longer_needed_go(tmp_path):
    askings = tuple(rankings_from({"q1": [f"d{i}"]}) for i in range(3))
    write_baseline(tmp_path, baseline_of(rankings=askings))
    assert content(read_baseline(tmp_path, "shop"))["rankings"] == [{"q1": ["d0"]}, {"q1": ["d1"]}, {"q1": ["d2"]}]
    assert (tmp_path / "shop.rankings.3.tsv").exists()

    write_baseline(tmp_path, baseline_of(grades=None, acceptances=(FIRST, SECOND)))

    assert [path.name for path in baseline_files(tmp_path, "shop")] == [
        "shop.json",
        "shop.judgments.tsv",
        "shop.rankings.tsv",
    ]


def test_scores_are_kept_to_the_last_digit_if_they_matter(tmp_path):
    lists = {"q1": [("a", 0.1 + 0.2), ("b", 0.3), ("c", 0.3), ("d", -1e-300)], "q2": [("e", 12345678901234567890.0)]}
    baseline = baseline_of(rankings=(rankings_from(lists),), scored=True)

    write_baseline(tmp_path, baseline)
    (rankings,) = read_baseline(tmp_path, "shop").rankings

    assert content(read_baseline(tmp_path, "shop"))["rankings"] == content(baseline)["rankings"]
    assert rankings.tied_from.tolist() == [1, 2, 2, 4, 1]
    assert rankings.tied_to.tolist() == [1, 3, 3, 4, 1]
    assert (
        (tmp_path / "shop.rankings.tsv")
        .read_text()
        .startswith("# ireval rankings, format 1, depth 10, with scores\nq1\ta\t0.30000000000000004\t")
    )


def test_without_scores_a_document_scores_minus_its_position(tmp_path):
    write_baseline(tmp_path, baseline_of())
    (rankings,) = read_baseline(tmp_path, "shop").rankings

    assert rankings.queries == ("q1", "q2", "q3")
    assert rankings.score.tolist() == [0, -1, -2, 0, -1]
    assert rankings.tied_from.tolist() == rankings.tied_to.tolist() == [1, 2, 3, 1, 2]


def test_only_the_first_documents_are_kept(tmp_path):
    write_baseline(tmp_path, baseline_of({"q1": ["a", "b", "c"]}, depth=2))

    assert content(read_baseline(tmp_path, "shop"))["rankings"] == [{"q1": ["a", "b"]}]


def test_large_rankings_are_compressed(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "LARGEST", 20)

    paths = write_baseline(tmp_path, baseline_of())

    assert [path.name for path in paths] == ["shop.rankings.tsv.zst", "shop.judgments.tsv", "shop.json"]
    assert content(read_baseline(tmp_path, "shop")) == content(baseline_of())
    monkeypatch.undo()
    write_baseline(tmp_path, baseline_of(acceptances=(FIRST, SECOND)))
    assert not (tmp_path / "shop.rankings.tsv.zst").exists()


def test_many_judgments_are_not_kept_but_what_they_were_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_PAIRS", 2)

    write_baseline(tmp_path, baseline_of())

    baseline = read_baseline(tmp_path, "shop")
    assert not (tmp_path / "shop.judgments.tsv").exists()
    assert baseline.grades is None
    assert baseline.grades_of == baseline_of().grades_of


def test_a_folder_that_the_user_has_told_git_about_is_left_alone(tmp_path):
    (tmp_path / ".gitattributes").write_text("*.tsv binary\n")

    write_baseline(tmp_path, baseline_of())

    assert (tmp_path / ".gitattributes").read_text() == "*.tsv binary\n"


def test_line_ends_that_git_added_do_not_count(tmp_path):
    for path in write_baseline(tmp_path, baseline_of({"q\r1": ["a\r\nb"], "q2": ["c"]})):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert content(read_baseline(tmp_path, "shop"))["rankings"] == [{"q\r1": ["a\r\nb"], "q2": ["c"]}]


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a\\b", "aux:", "x" * 201])
def test_a_suite_whose_name_no_file_can_have_is_refused(tmp_path, name):
    with pytest.raises(BaselineError) as error:
        write_baseline(tmp_path, baseline_of(suite=name))

    assert "cannot have a baseline: a file cannot have this name\n" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_reason_may_hold_anything_that_a_command_line_can(tmp_path):
    odd = FIRST._replace(reason='line\nend "quoted" \udcff \u2028 ü')

    write_baseline(tmp_path, baseline_of(acceptances=(odd,)))

    assert read_baseline(tmp_path, "shop").accepted == odd


def test_a_value_that_is_no_number_is_refused(tmp_path):
    metric = StoredMetric(1, "acme", float("nan"), {})

    with pytest.raises(BaselineError) as error:
        write_baseline(tmp_path, baseline_of(metrics={"Odd": metric}))

    assert str(error.value) == "Odd is nan, and a baseline can only hold numbers"


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    ["\\", "\\t", "\t", "a\nb", "\\\\n", "#", "# ireval", "ä" * 40, "\0", "a\0", "json", "\ufeffx"]
)
lists = st.dictionaries(ids, st.lists(ids, unique=True, max_size=5), min_size=1, max_size=5)
grades = st.dictionaries(ids, st.dictionaries(ids, st.floats(-9, 9), min_size=1, max_size=4), min_size=1, max_size=4)


@given(lists=lists, grades=grades, suite=st.sampled_from(["shop", "ä b", "a.rankings"]))
def test_any_ids_come_back_as_they_were(tmp_path_factory, lists, grades, suite):
    folder = tmp_path_factory.mktemp("baselines")
    baseline = baseline_of(lists, grades, suite=suite, values=dict.fromkeys(lists, 0.1))

    write_baseline(folder, baseline)

    assert content(read_baseline(folder, suite)) == content(baseline)


def test_the_built_in_data_of_these_tests_have_an_empty_ranking_and_an_unjudged_query():
    assert LISTS["q3"] == []
    assert "q3" not in GRADES
