"""Files of a folder and Arrow streams evaluate to what one file does, to the last bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError, Policies, SideData, evaluate, read_judgments, read_rankings

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

METRICS = ["nDCG@3", "AP", "RR", "R@2", "Judged@2", "NumRet"]
EACH_WAY = pytest.mark.parametrize("more", [{}, {"reference": True}], ids=["judged documents", "all documents"])
"""Metrics that compare with a reference look at all documents."""
LENIENT = Policies(missing_queries="zero")
JUDGMENTS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": {"b": 3, "c": 0}}
ROWS = [
    ("q1", "a", 0.5),
    ("q1", "b", 0.5),
    ("q1", "x", 0.9),
    ("q2", "x", 3.0),
    ("q2", "a", 1.0),
    ("q3", "c", 2.0),
    ("q3", "b", 1.0),
]


def make_table(rows):
    columns = zip(*rows, strict=True)
    return pyarrow.table(dict(zip(("query", "document", "score"), map(list, columns), strict=True)))


def format_trec(rows):
    return "".join(f"{query} Q0 {document} 1 {score!r} x\n" for query, document, score in rows)


def evaluate_source(source, more=(), judgments=JUDGMENTS):
    """An evaluation that keeps judged documents, or with a reference all of them."""
    if more:
        return evaluate(judgments, source, [*METRICS, "KendallTau"], side_data=SideData(reference=ROWS))
    return evaluate(judgments, source, METRICS)


def list_figures(evaluation):
    """Everything but the name of the rankings."""
    return {name: value for name, value in evaluation.to_dict(per_query=True).items() if name != "rankings"}


names = st.sampled_from([f"q{i}" for i in range(1, 7)])
documents = st.sampled_from("abcxyz")
scores = st.sampled_from([0.1, 0.25, 1.0, 1e-300, -3.5])


@given(st.dictionaries(st.tuples(names, documents), scores, min_size=1), st.data(), st.sampled_from(["trec", "input"]))
def test_files_of_a_folder_are_bit_for_bit_what_rows_are(tmp_path_factory, pairs, data, ties):
    rows = data.draw(st.permutations([(query, document, score) for (query, document), score in pairs.items()]))
    if not {query for query, _, _ in rows} & set(JUDGMENTS):
        rows.append(("q1", "a", 1.0))
    home = {query: data.draw(st.integers(0, 3)) for query in dict.fromkeys(query for query, _, _ in rows)}
    folder = tmp_path_factory.mktemp("runs")
    for number in set(home.values()):
        parquet.write_table(make_table([row for row in rows if home[row[0]] == number]), folder / f"{number}.parquet")

    policies = replace(LENIENT, ties=ties)
    whole = list_figures(evaluate(JUDGMENTS, rows, METRICS, policies=policies))
    apart = list_figures(evaluate(JUDGMENTS, folder, METRICS, policies=policies))

    assert sorted(apart.pop("without_judgments")) == sorted(whole.pop("without_judgments"))
    assert repr(apart) == repr(whole)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder in three formats, with the files that other tools leave beside them."""
    monkeypatch.chdir(tmp_path)
    folder = Path("runs")
    (folder / "day=1").mkdir(parents=True)
    (folder / "one.trec").write_text(format_trec(ROWS[:3]))
    (folder / "day=1" / "two.csv").write_text("query,document,score\n" + "q2,x,3.0\nq2,a,1.0\n")
    parquet.write_table(make_table(ROWS[5:]), folder / "day=1" / "three.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".one.trec.crc").write_bytes(b"crc")
    return folder


@pytest.mark.more_metrics
@EACH_WAY
@pytest.mark.parametrize("source", ["runs/", "runs/**/*.*"], ids=str)
def test_a_folder_or_a_pattern_is_all_of_its_files(runs, source, more):
    evaluation = evaluate_source(source, more)

    assert list_figures(evaluation) == list_figures(evaluate_source(ROWS, more))
    assert evaluation.rankings == f"{source} (3 files)"
    assert set(read_rankings(source).queries) == {"q1", "q2", "q3"}


@pytest.mark.more_metrics
def test_a_query_in_two_files_is_an_error_that_names_both(runs):
    (runs / "zero.trec").write_text(format_trec(ROWS[4:5]))

    for more in ({}, {"reference": True}):
        with pytest.raises(InputError) as error:
            evaluate_source(runs, more)
        assert str(error.value) == (
            "runs/zero.trec\n  query 'q2' is also in runs/day=1/two.csv\n  all rows of a query belong into one file"
        )


def test_a_broken_file_among_others_is_named(runs):
    (runs / "day=1" / "two.csv").write_text("query,document,score\nq2,x,high\n")

    with pytest.raises(InputError, match=r"runs/day=1/two\.csv:2\n.*'high', not a number"):
        evaluate(JUDGMENTS, runs, "AP")


@pytest.mark.parametrize(("log", "kind"), [("_delta_log/0000.json", "Delta Lake")])
def test_a_folder_whose_files_may_not_count_is_refused(runs, log, kind):
    (runs / log).parent.mkdir()
    (runs / log).write_text("{}")

    with pytest.raises(
        InputError, match=f"runs\n  this is a table of {kind}: some of its files may have been replaced"
    ):
        evaluate(JUDGMENTS, runs, "AP")


@pytest.mark.parametrize("source", ["none*", "empty"])
def test_no_file_is_an_error(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()

    with pytest.raises(InputError, match="there is no file"):
        evaluate(JUDGMENTS, source, "AP")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "run[1].trec").write_text(format_trec(ROWS))
    (tmp_path / "run1.trec").write_text(format_trec(ROWS[:1]))

    assert evaluate(JUDGMENTS, tmp_path / "run[1].trec", "NumRet")["NumRet"].value == 7


@pytest.mark.more_metrics
@EACH_WAY
def test_the_query_may_be_in_the_path(tmp_path, more):
    for query in ("q1", "q2", "q3"):
        folder = tmp_path / "runs" / "system=a" / f"query_id={query}"
        folder.mkdir(parents=True)
        table = make_table([row for row in ROWS if row[0] == query]).drop_columns(["query"])
        parquet.write_table(table, folder / "part-0.parquet")

    assert list_figures(evaluate_source(tmp_path / "runs", more)) == list_figures(evaluate_source(ROWS, more))


def test_a_query_in_the_path_is_text_and_gives_way_to_a_column(tmp_path):
    for name, table in (
        ("query=01", make_table(ROWS[:3]).drop_columns(["query"])),
        ("query=q7", make_table(ROWS[3:5])),
    ):
        (tmp_path / name).mkdir()
        parquet.write_table(table, tmp_path / name / "part.parquet")

    assert set(read_rankings(tmp_path).queries) == {"01", "q2"}


TABLE = make_table(ROWS)
SHUFFLED = TABLE.take(np.random.default_rng(3).permutation(len(ROWS)))


class Streamed:
    """Any other library: an object with nothing but the method of Arrow's protocol, and used up by it."""

    def __init__(self, table):
        self.reader = table.to_reader(max_chunksize=2)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


@pytest.mark.more_metrics
@pytest.mark.parametrize(
    "make",
    [
        lambda table: table.combine_chunks().to_batches()[0],
        Streamed,
        lambda table: table.to_pandas(),
        lambda table: table.set_column(0, "query", table["query"].dictionary_encode()),
    ],
    ids=["batch", "protocol", "pandas", "dictionary"],
)
@EACH_WAY
@pytest.mark.parametrize("table", [TABLE, SHUFFLED], ids=["grouped", "scattered"])
def test_an_arrow_stream_is_taken_as_rankings(make, more, table):
    assert (
        list_figures(evaluate_source(make(table), more))["metrics"]
        == (list_figures(evaluate_source(ROWS, more))["metrics"])
    )


@pytest.mark.more_metrics
def test_an_arrow_stream_is_taken_as_judgments_queries_and_a_reference():
    rows = [(query, document, grade) for query, grades in JUDGMENTS.items() for document, grade in grades.items()]
    graded = dict(zip(("query", "document", "grade"), map(list, zip(*rows, strict=True)), strict=True))
    graded["judge"] = ["ann"] * len(rows)
    for judgments in (pyarrow.table(graded), Streamed(pyarrow.table(graded))):
        read = read_judgments(judgments)
        assert (read.queries, read.columns["judge"][0]) == (("q1", "q2", "q3"), "ann")
        assert evaluate(read, ROWS, "KendallTau", side_data=SideData(reference=Streamed(TABLE)))["KendallTau"].mean == 1


@pytest.mark.parametrize("make", [Streamed, lambda table: table.to_pandas()])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("q1", "a", 1.0), ("q1", "a", 2.0)], "rankings, row 2\n  document 'a' is ranked twice for query 'q1'"),
        (
            [("q1", "a", float("nan")), ("q1", "b", float("inf"))],
            "rankings, row 1\n  the score of document 'a' for query 'q1' is nan, not finite\n"
            "rankings, row 2\n  the score of document 'b' for query 'q1' is inf, not finite",
        ),
        ([("q1", "a", True)], "rankings, row 1\n  the score of document 'a' for query 'q1' is True, not a number"),
    ],
)
def test_mistakes_in_a_stream_are_named_by_row(make, rows, said):
    with pytest.raises(InputError) as error:
        evaluate(JUDGMENTS, make(make_table(rows)), "AP")
    assert str(error.value) == said


def test_blanks_around_ids_do_not_count_in_a_stream_either():
    spaced = make_table([(f" {query}", f"{document}\u3000", score) for query, document, score in ROWS])

    for given_rows in (spaced, spaced.to_pandas(), Streamed(spaced)):
        assert evaluate(JUDGMENTS, given_rows, "AP")["AP"].values == evaluate(JUDGMENTS, ROWS, "AP")["AP"].values


@pytest.mark.parametrize("make", [lambda table: table, Streamed])
def test_a_stream_without_rows_or_without_a_column_is_an_error(make):
    with pytest.raises(InputError, match="it contains no rankings"):
        evaluate(JUDGMENTS, make(TABLE.slice(0, 0)), "AP")
    with pytest.raises(InputError, match="there is no column for the score: the columns are 'query', 'document'"):
        evaluate(JUDGMENTS, make(TABLE.drop_columns(["score"])), "AP")
    with pytest.raises(InputError, match="rankings_format='trec' applies only to files"):
        evaluate(JUDGMENTS, make(TABLE), "AP", rankings_format="trec")


@pytest.fixture
def store(tmp_path):
    """An address of fsspec without a server."""
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for name, rows in (("a=1/one", ROWS[:3]), ("a=1/two", ROWS[3:5]), ("a=2/three", ROWS[5:])):
        files.pipe_file(f"/bucket/runs/{name}.trec", format_trec(rows).encode())
    files.pipe_file("/bucket/runs/_SUCCESS", b"")
    files.pipe_file("/bucket/judgments.txt", b"q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\nq3 0 b 3\nq3 0 c 0\n")
    yield files
    files.rm("/bucket", recursive=True)


@pytest.mark.parametrize("address", ["memory://bucket/runs", "memory://bucket/runs/*/*.trec"])
def test_addresses_are_read_as_folders_are(store, address):
    evaluation = evaluate("memory://bucket/judgments.txt", address, METRICS)

    assert list_figures(evaluation)["metrics"] == list_figures(evaluate(JUDGMENTS, ROWS, METRICS))["metrics"]
    assert evaluation.rankings == f"{address} (3 files)"
    assert evaluate(JUDGMENTS, "memory://bucket/runs/a=2/three.trec", "AP", policies=LENIENT).missing == ("q1", "q2")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory://bucket/none.trec", "memory://bucket/none.trec\n  there is no such file"),
        ("memory://bucket/none*", "memory://bucket/none*\n  there is no file"),
        (
            "elsewhere://bucket/run",
            "elsewhere://bucket/run\n  cannot be read: ValueError: Protocol not known: elsewhere",
        ),
    ],
)
def test_an_address_that_cannot_be_read_is_named(store, address, said):
    with pytest.raises(InputError) as error:
        evaluate(JUDGMENTS, address, "AP")
    assert str(error.value).startswith(said)


@pytest.mark.parametrize("pattern", ["part-?????.trec"])
def test_a_pattern_has_no_parameters_that_would_be_hidden(tmp_path, pattern):
    (tmp_path / "part-00002.trec").write_text("q1\n")
    with pytest.raises(InputError) as error:
        evaluate(JUDGMENTS, f"file://{tmp_path}/{pattern}", "AP")
    assert str(error.value).startswith(f"file://{tmp_path}/part-00002.trec\n")


def test_a_password_too_short_to_hide_is_refused(store):
    with pytest.raises(InputError) as refused:
        evaluate(JUDGMENTS, "elsewhere://ada:pw@bucket/run", "AP")

    assert "fewer than 8 characters" in str(refused.value)
    assert "pw" not in str(refused.value)


def test_a_password_in_an_address_is_in_no_message(store):
    with pytest.raises(InputError) as error:
        evaluate(JUDGMENTS, "elsewhere://ada:s3cret-password@bucket/run?sig=TOP-SECRET", "AP")
    assert str(error.value).startswith("elsewhere://bucket/run\n  cannot be read")
    assert "s3cret" not in str(error.value)
    assert "TOP" not in str(error.value)
