"""What is written can be read again, and what a format cannot hold is refused."""

import pytest
from contents import list_grades, list_rankings, list_subtopics
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_ireval import (
    InputError,
    Queries,
    read_judgments,
    read_queries,
    read_rankings,
    write_judgments,
    write_queries,
    write_rankings,
)
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.tables import Table

judgments_from_table = convert_judgments(
    Table({"query": ["q"], "document": ["d"], "grade": [1], "judge": ["ann"], "date": ["today"]}, "judgments", str)
)
ids = st.text("aä☃0-_.,;:'", min_size=1, max_size=6)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=10)
modest = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "txt"])
@given(found=st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 5), min_size=1), min_size=1))
@modest
def test_judgments_are_read_as_they_were_written(tmp_path, ending, found):
    path = tmp_path / f"judgments.{ending}"
    write_judgments(convert_judgments(found), path)

    form = {"txt": "trec", "jsonl": "jsonl"}.get(ending, "table")
    assert list_grades(read_judgments(path, format=form)) == found


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "run"])
@given(found=st.dictionaries(ids, st.dictionaries(ids, st.floats(-9, 9), min_size=1), min_size=1))
@modest
def test_rankings_are_read_as_they_were_written(tmp_path, ending, found):
    path = tmp_path / f"rankings.{ending}"
    rankings = convert_rankings(found)
    write_rankings(rankings, path)

    form = {"run": "trec", "jsonl": "jsonl"}.get(ending, "table")
    assert list_rankings(read_rankings(path, format=form)) == list_rankings(rankings)


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl"])
@given(rows=st.lists(st.tuples(ids, texts, texts), min_size=1, unique_by=lambda row: row[0]))
@modest
def test_queries_are_read_as_they_were_written(tmp_path, ending, rows):
    path = tmp_path / f"queries.{ending}"
    names, words, segments = (tuple(column) for column in zip(*rows, strict=True))
    write_queries(Queries(names, words, {"segment": segments}), path)

    queries = read_queries(path, format="jsonl" if ending == "jsonl" else "table")
    assert (queries.ids, queries.text, queries.columns["segment"]) == (names, words, segments)


def test_subtopics_are_written_in_a_column_of_their_own(tmp_path):
    judgments = convert_judgments({"q": {"d": {"s1": 0, "s2": 2}, "e": {"s1": 1}}})

    for name, form in (("a.tsv", "table"), ("a.qrels", "trec-diversity")):
        write_judgments(judgments, tmp_path / name)
        assert list_subtopics(read_judgments(tmp_path / name, format=form)) == list_subtopics(judgments)
    assert (
        tmp_path / "a.tsv"
    ).read_text() == "query\tsubtopic\tdocument\tgrade\nq\ts1\td\t0\nq\ts2\td\t2\nq\ts1\te\t1\n"


@pytest.mark.parametrize(
    ("write", "value", "name", "complaint"),
    [
        (
            write_judgments,
            convert_judgments({"red mug": {"d": 1}}),
            "a.txt",
            "TREC files cannot store the id 'red mug'\n  write .tsv, .csv or .jsonl",
        ),
        (
            write_queries,
            Queries(("q",), ("a\tb",)),
            "a.tsv",
            "TSV cannot store the tab or line end in 'a\\tb'\n  write .csv or .jsonl (ireval import: --ending csv)",
        ),
        (write_judgments, {"q": {" d": 1, "d": 0}}, "a.jsonl", "files cannot store the spaces around the id ' d'"),
        (
            write_judgments,
            judgments_from_table,
            "a.txt",
            "TREC files cannot store the columns judge, date\n"
            "  write .tsv, .csv or .jsonl, or remove the columns: replace(judgments, columns={})",
        ),
        (
            write_rankings,
            convert_rankings({"q": [], "r": ["d"]}),
            "a.run",
            "a file cannot store the empty ranking of query 'q'",
        ),
        (
            write_queries,
            Queries(('"q"',), ("a",)),
            "a.tsv",
            'TSV cannot store quotes around the id "q"\n  write .csv or .jsonl',
        ),
        (write_queries, Queries(("q",), ("a",)), "a.txt", "unknown format for .txt\n  endings: .tsv, .csv, .jsonl"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_and_the_old_file_stays(tmp_path, write, value, name, complaint):
    path = tmp_path / name
    path.write_text("old")

    with pytest.raises(InputError) as caught:
        write(value, path)

    assert str(caught.value) == f"{path}\n  {complaint}"
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_scores_survive_to_the_last_digit(tmp_path):
    scores = {"a": 0.1 + 0.2, "b": 1e-300, "c": 12345678901234567890.0}
    write_rankings(convert_rankings({"q": scores}), tmp_path / "a.run")

    assert dict(list_rankings(read_rankings(tmp_path / "a.run"))["q"]) == scores


def test_plain_objects_can_be_written_too(tmp_path):
    write_judgments({"q": {"a": 2, "b": 0.5}}, tmp_path / "judgments.tsv")
    write_rankings({"q": ["b", "a"]}, tmp_path / "rankings.csv")
    write_queries({"q": "red mug"}, tmp_path / "queries.jsonl")

    assert (tmp_path / "judgments.tsv").read_text() == "query\tdocument\tgrade\nq\ta\t2\nq\tb\t0.5\n"
    assert (tmp_path / "rankings.csv").read_text() == "query,document,score\nq,b,0\nq,a,-1\n"
    assert (tmp_path / "queries.jsonl").read_text() == '{"id": "q", "text": "red mug"}\n'
