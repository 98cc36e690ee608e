"""Rankings in rows, read without their unjudged documents, give what reading all rows gives: values and refusals."""

import csv
import io
import json
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_ireval import evaluate, read_judgments, read_rankings
from pytest_ireval.data.coerce import join_rankings
from pytest_ireval.data.formats import columnar
from pytest_ireval.data.formats.input_file import open_input
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.recognition import choose_reader
from pytest_ireval.data.scan import pieces
from pytest_ireval.errors import InputError
from pytest_ireval.plugins.manager import installed_registry

READERS = installed_registry().readers
COLUMNS = ("query", "rank", "grade", "judgment", "score", "tied_from", "tied_to")
JUDGED = {"q1": {"d1": 3, "d2": 0, "ö 1": 1}, "q2": {"d1": 1, "17": 2}, "17": {"d1": 1, "d3": 2}}

queries = st.sampled_from(["q1", "q2", "17", "unjudged", "ö\u00a0ü"])
documents = st.one_of(
    st.sampled_from(["d1", "d2", "d3", "17", "ö 1"]), st.text("d1ö猫 ,\"'\\\t\u3000\u2009", min_size=1, max_size=5)
)
numbers = st.one_of(st.sampled_from([1, 2, 2.5, -1, 0.1, -0.0, 1e-05, 1e300]), st.floats(-9, 9), st.integers(-30, 30))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("rows")
    lines = [f"{query}\t{document}\t{grade}" for query, of in JUDGED.items() for document, grade in of.items()]
    (made / "judgments.tsv").write_text("query\tdocument\tgrade\n" + "\n".join(lines), encoding="utf-8")
    return made


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "CHUNK", 64)
    monkeypatch.setattr(pieces, "SMALL", 200)
    monkeypatch.setattr(columnar, "BATCH", 4)
    monkeypatch.setattr(columnar, "ROWS", 8)


def read_both(folder, data, *, by_id=True):
    """The results, or the refusals, of the quick way and of the long way; and whether the quick way was enough."""
    path = folder / "rankings"
    path.write_bytes(data)
    judgments = read_judgments(folder / "judgments.tsv")
    found = []
    for everything in (False, True):
        try:
            judged = join_rankings(judgments, path, READERS, how=Reading(by_id=by_id), documents=everything).judged
            hits = {name: getattr(judged.hits, name).tolist() for name in COLUMNS}
            found.append((judged.retrieved.tolist(), judged.present.tolist(), hits))
        except InputError as error:
            found.append(str(error))
    return found[0], found[1], quick(path, judgments)


def quick(path, judgments):
    with ExitStack() as resources:
        try:
            file = resources.enter_context(open_input(path))
            reader = choose_reader(file, "rankings", READERS)
        except InputError:
            return False
        return reader.hits is not None and reader.hits(file, judgments, Reading()) is not None


@st.composite
def rows(draw):
    """Rows of rankings, each document once a query, those of a query together or apart."""
    pairs = draw(
        st.lists(st.tuples(queries, documents), min_size=1, max_size=25, unique_by=lambda row: (row[0], row[1].strip()))
    )
    if draw(st.booleans()):
        pairs.sort(key=lambda row: row[0])
    return [(query, document, draw(numbers)) for query, document in pairs]


def write_delimited(drawn, delimiter, quoting, end, number, blanks="", title="x"):
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(("query", "title", "document", number))
    writer.writerows((query, title, document + blanks, score) for query, document, score in drawn)
    return sink.getvalue()


relaxed = settings(suppress_health_check=list(HealthCheck))


@relaxed
@given(
    rows(),
    st.sampled_from([",", ";"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["score", "rank"]),
    st.sampled_from(["", "", " ", "\u00a0"]),
    st.booleans(),
    st.text(',;"\n a', max_size=6),
)
def test_csv_quoted_in_any_way(folder, drawn, delimiter, quoting, end, number, blanks, by_id, title):
    text = write_delimited(drawn, delimiter, quoting, end, number, blanks, title)

    short, long, _ = read_both(folder, text.encode(), by_id=by_id)
    assert short == long


@relaxed
@given(
    rows(),
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")]),
    st.booleans(),
    st.booleans(),
    st.text('"\\/\n\U0001f600\ud7ffdu09', max_size=6),
)
def test_json_lines_written_in_any_way(folder, drawn, ascii_only, separators, numbers_as_text, numbered, title):
    objects = [
        {
            "score": str(score) if numbers_as_text else score,
            "title": title,
            "query": int(query) if numbered and query == "17" else query,
            "meta": {"rank": 1, "tags": ["a", None]},
            "document": int(document) if numbered and document == "17" else document,
        }
        for query, document, score in drawn
    ]
    text = "".join(json.dumps(each, ensure_ascii=ascii_only, separators=separators) + "\n" for each in objects)

    short, long, _ = read_both(folder, text.encode())
    assert short == long


def table_of(drawn, kind, number="score"):
    arrow = pytest.importorskip("pyarrow")
    texts = {
        "text": arrow.string(),
        "large text": arrow.large_string(),
        "dictionary": arrow.dictionary(arrow.int32(), arrow.string()),
    }[kind]
    ids = {
        name: arrow.array([row[i] for row in drawn], arrow.string()).cast(texts)
        for i, name in enumerate(("query", "document"))
    }
    return arrow.table({"title": ["x"] * len(drawn), **ids, number: arrow.array([float(row[2]) for row in drawn])})


def as_parquet(table, rows_in_group=7):
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, row_group_size=rows_in_group)
    return sink.getvalue().to_pybytes()


def as_arrow(table, rows_in_batch=7):
    import pyarrow
    from pyarrow import feather

    sink = pyarrow.BufferOutputStream()
    feather.write_feather(table, sink, chunksize=rows_in_batch, compression="lz4")
    return sink.getvalue().to_pybytes()


@relaxed
@given(
    rows(),
    st.sampled_from(["text", "large text", "dictionary"]),
    st.sampled_from([as_parquet, as_arrow]),
    st.sampled_from(["score", "rank"]),
    st.booleans(),
)
def test_columns_of_parquet_and_arrow(folder, drawn, kind, form, number, by_id):
    short, long, enough = read_both(folder, form(table_of(drawn, kind, number)), by_id=by_id)
    assert short == long
    assert enough or any(not cell.strip() for row in drawn for cell in row[:2])  # which is an error


@relaxed
@given(
    st.text('q1d2,;\t"\r\n .e-[]{}:\\ö\u00a0', max_size=60),
    st.sampled_from(
        [
            "query,document,score\n",
            "query\tdocument\tscore\n",
            "",
            'query,"document",score\r\n',
            "\ufeffquery,document,rank\n",
        ]
    ),
    st.booleans(),
)
def test_nonsense_is_refused_alike(folder, text, header, sound):
    text = header + ("q1,d1,1\n" if sound else "") + text
    short, long, _ = read_both(folder, text.encode())
    assert short == long


@relaxed
@given(st.text('"\\\\ud8Dc/09n', max_size=30), st.text('"\\\\ud8Dc/09n', max_size=30))
def test_escapes_that_json_does_not_have_are_refused_alike(folder, one, other):
    line = '{"query": "q1", "title": "%s", "document": "%s", "score": 1}\n'
    text = line % ("x", "d1") + line % (one, "d2") + line % (other, "d3")
    short, long, _ = read_both(folder, text.encode())
    assert short == long


@relaxed
@given(st.lists(st.text('q{}":, .0123e-+\\u\t', max_size=12), max_size=3), st.integers(0, 60))
def test_damaged_json_lines_are_refused_alike(folder, pieces_of_text, at):
    line = '{"query": "q1", "document": "d1", "rank": 1, "score": 0.5}\n'
    text = line + line.replace("d1", "d2") + line.replace("d1", "d3")
    for piece in pieces_of_text:
        text = text[: len(line) + at] + piece + text[len(line) + at + len(piece) :]
    short, long, _ = read_both(folder, text.encode())
    assert short == long


QUICK = {
    "CSV": "query,document,score\nq1,d1,2\nq1,d9,1\nq2,d1,1\n",
    "CSV with a byte order mark and CR LF": "\ufeffquery,document,score\r\nq1,d1,2\r\nq1,d9,1\r\n",
    "CSV with a comma and a line break in quotes": 'query,document,score\n"q1","d1",2\nq1,"d,9",1\nq2,"d\n1",1\n',
    "CSV with doubled quotes beside ids": 'query,title,document,score\nq1,"a, ""b""\n",d1,2\nq1,"",d9,1\n',
    "CSV by rank": "query,document,rank\nq1,d1,1\nq1,d9,2\n",
    "scattered": "query,document,score\nq1,d1,2\nq2,d1,1\nq1,d9,1\n",
    "TSV": "query\tdocument\tscore\nq1\tö 1\t2\nq1\td9\t1\n",
    "JSONL": '{"query": "q1", "document": "d1", "score": 2}\n{"query": "q1", "document": "d9", "score": 1.5}\n',
    "JSONL with another order": (
        '{"query": "q1", "document": "d1", "score": 2}\n{"score": 1, "query": "q1", "document": "d9"}\n'
    ),
    "JSONL with escapes": (
        '{"query": "q1", "document": "\\u00f6 1", "score": 2}\n{"query": "q1", "document": "d", "score": 1}\n'
    ),
    "JSONL with whole numbers as ids": (
        '{"query": 17, "document": "d1", "score": 2}\n{"query": 17, "document": 4, "score": 1e-5}\n'
    ),
}


@pytest.mark.parametrize("name", QUICK)
def test_unjudged_rows_are_not_kept(folder, name):
    short, long, enough = read_both(folder, QUICK[name].encode())

    assert short == long
    assert sum(short[0]) > 0
    assert enough


REFUSED = {
    "a repeated document": ("query,document,score\nq1,d1,2\nq2,d1,1\nq1,d1,1\n", ":4\n  document 'd1' is ranked twice"),
    "a cell too many": ("query,document,score\nq1,d1,2,3\n", ":2\n  has 4 cells, not 3"),
    "no number": ("query,document,score\nq1,d1,2\nq1,d2,x\n", ":3\n  the score of document 'd2' for query 'q1' is 'x'"),
    "an empty id": ("query,document,score\nq1,,2\n", ":2\n  '' is not an id"),
    "an id in quotes in TSV": ('query\tdocument\tscore\nq1\t"d1"\t2\n', ':2\n  the id "d1" is in quotes'),
    "an open quote": ('query,document,score\nq1,"d1,2\n', ":2\n  is not CSV"),
    "a number twice in JSON": (
        '{"query": "q1", "document": "d", "score": 1, "score": 2}\n' * 2,
        ":1\n  is not JSON ('score' occurs",
    ),
    "a score that is null": (
        '{"query": "q1", "document": "d", "score": 1}\n{"query": "q1", "document": "e", "score": null}\n',
        ":2\n  the score of document 'e' for query 'q1' is None, not a number",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_rows_are_refused_with_their_line(folder, name):
    text, complaint = REFUSED[name]
    short, long, enough = read_both(folder, text.encode())

    assert short == long
    assert complaint in short
    assert not enough


@pytest.mark.parametrize("form", [as_parquet, as_arrow])
def test_missing_cells_are_refused_with_their_row(folder, form):
    arrow = pytest.importorskip("pyarrow")
    cells = {"query": ["q1"] * 9, "document": [f"d{i}" for i in range(9)], "score": [float(i) for i in range(9)]}
    for name, complaint in (("query", "is empty"), ("document", "is empty"), ("score", "holds no finite number")):
        damaged = {**cells, name: [*cells[name][:6], None, *cells[name][7:]]}
        short, long, _ = read_both(folder, form(arrow.table(damaged)))
        assert short == long == f"{folder / 'rankings'}, row 7\n  column {name!r} {complaint}"


@pytest.mark.parametrize("form", [as_parquet, as_arrow])
def test_a_file_that_is_cut_off_or_empty_is_refused(folder, form):
    arrow = pytest.importorskip("pyarrow")
    data = form(table_of([("q1", f"d{i}", i) for i in range(30)], "text"))
    for cut in range(8, len(data), 97):
        short, long, _ = read_both(folder, data[:cut])
        assert short == long
        assert "data cannot be read (" in short
    empty = arrow.table(
        {
            "query": arrow.array([], arrow.string()),
            "document": arrow.array([], arrow.string()),
            "score": arrow.array([], arrow.float64()),
        }
    )
    assert read_both(folder, form(empty))[0] == f"{folder / 'rankings'}\n  it contains no rankings"


def test_whole_numbers_are_ids_and_scores_in_columns(folder):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"query": [17, 17, 18], "document": ["d1", "d2", "d3"], "score": [1, 2, 3]})

    short, long, enough = read_both(folder, as_parquet(table))
    assert short == long
    assert short[0] == [0, 0, 2]
    assert enough


@pytest.mark.parametrize("compress", ["gzip", "zstandard"])
@pytest.mark.parametrize("name", ["CSV", "TSV", "JSONL"])
def test_compressed_rows(folder, compress, name):
    import gzip

    import zstandard

    data = QUICK[name].encode()
    packed = gzip.compress(data) if compress == "gzip" else zstandard.ZstdCompressor().compress(data)
    short, long, enough = read_both(folder, packed)

    assert short == long == read_both(folder, data)[0]
    assert enough


def test_two_columns_of_one_name_are_an_error_in_parquet_too(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    names = ["query", "document", "score", "score"]
    columns = [["q1"], ["d1"], [1.0], [2.0]]
    parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array(each) for each in columns], names), tmp_path / "run")

    for read in (lambda path: evaluate({"q1": {"d1": 1}}, path, ["AP"]), read_rankings):
        with pytest.raises(InputError, match="score"):
            read(tmp_path / "run")


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("size", [3, 9])
def test_columns_are_sorted_only_if_rows_of_a_query_are_apart(size, coded, monkeypatch):
    """Batches end anywhere, and each may have a dictionary of its own."""
    pyarrow = pytest.importorskip("pyarrow")
    kind = pyarrow.dictionary(pyarrow.int32(), pyarrow.string()) if coded else pyarrow.string()
    sorted_whole, scattered = [], columnar._Scan.read_scattered
    monkeypatch.setattr(columnar._Scan, "read_scattered", lambda scan: sorted_whole.append(scan) or scattered(scan))

    def batch(rows):
        ids = [pyarrow.array(column, kind) for column in ([row[0] for row in rows], [row[1] for row in rows])]
        scores = pyarrow.array([row[2] for row in rows], pyarrow.float64())
        return pyarrow.RecordBatch.from_arrays([*ids, scores], ["query", "document", "score"])

    def ranks(rows):
        table = pyarrow.Table.from_batches([batch(rows[at : at + size]) for at in range(0, len(rows), size)])
        return evaluate({f"q{query}": {f"d{query % 3}": 1} for query in range(9) if query != 4}, table, ["RR"])["RR"]

    lengths = [3, 1, 4, 9, 2, 5, 1, 8, 6]
    rows = [(f"q{query}", f"d{rank}", -rank) for query, length in enumerate(lengths) for rank in range(length)]
    expected = {
        f"q{query}": 1 / (1 + query % 3) if query % 3 < length else 0
        for query, length in enumerate(lengths)
        if query != 4
    }
    assert ranks(rows).values == expected
    assert not sorted_whole

    assert ranks([*rows[1:], rows[0]]).values == expected
    assert len(sorted_whole) == 1
