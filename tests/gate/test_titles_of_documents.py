"""Titles stand beside ids wherever documents are shown; they come from a file, or from the source."""

import gzip
import json
from fnmatch import fnmatch

import pytest

from pytest_ireval.data.document_texts import read_document_texts
from pytest_ireval.errors import InputError
from pytest_ireval.results.outcome import DocumentText

MUG = DocumentText("Red mug", "https://shop.example/d1", {"price": "3.5"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", '{"id": "d1", "title": "Red mug", "url": "https://shop.example/d1", "price": 3.5}\n'),
        ("p.csv", 'id,title,url,price\nd1,"Red mug",https://shop.example/d1,3.5\n'),
        ("p.tsv", "docno\tname\tlink\tprice\nd1\tRed mug\thttps://shop.example/d1\t3.5\n"),
        (
            "corpus.jsonl",
            '{"_id": "d1", "title": "Red  mug", "text": "", '
            '"metadata": {"url": "https://shop.example/d1", "price": 3.5}}\n',
        ),
    ],
)
def test_files_of_titles(tmp_path, name, text):
    packed = name == "p.tsv"
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())

    assert read_document_texts(path, {"d1", "d9"}) == {"d1": MUG}


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    arrow = pytest.importorskip("pyarrow")
    columns = {"id": ["d0", "d1"], "title": ["x", "Red mug"], "url": ["", MUG.url], "price": [None, 3.5]}
    parquet.write_table(arrow.table(columns), tmp_path / "p.parquet")

    assert read_document_texts(tmp_path / "p.parquet", {"d1"}) == {"d1": MUG}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("id,title\n1,x\n2,a mug, red\n", ":3\n.*has 3 cells, not 2"),
        ('{"title": "x"}\n', "no field is the id of a document: the fields are 'title'"),
        ('{"id": 1}\n[1]\n', ":2\n.*is not a JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, text, complaint):
    (tmp_path / "p.jsonl").write_text(text)

    with pytest.raises(InputError, match=f"p.jsonl.*{complaint}" if ":2" in complaint else complaint):
        read_document_texts(tmp_path / "p.jsonl", {"1", "2"})


@pytest.fixture
def titled_shop(shop):
    """A red shop whose documents have titles, one of which is hostile."""
    shop.accept()
    rows = [
        {"id": f"q07-d{n}", "title": "<script>alert(1)</script>\nmug" if n == 0 else f"Mug number {n}", "url": url}
        for n, url in enumerate(("javascript:alert(1)", "https://shop.example/1", "", ""))
    ]
    (shop.path / "products.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for query in ("q07", "q08"):
        shop.rankings[query].reverse()
    shop.change(("judgments: judgments.txt", "judgments: judgments.txt\ndocuments: {fields: products.jsonl}"))
    return shop


def test_they_are_shown_beside_ids_and_escaped(titled_shop, ireval, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    text = titled_shop.run().stdout.str()
    summary, page = ((titled_shop.path / "ireval-report" / name).read_text() for name in ("summary.md", "index.html"))

    assert 'q07-d0 "<script>alert(1)</script> mug" (grade 3): #1 -> ' in text
    assert 'q07 top 3 is now q07-d3 "Mug number 3" (grade 0), q07-d2 "Mug number 2" (grade 1)' in " ".join(text.split())
    assert "`q07-d3` Mug number 3 (grade 0)" in summary
    assert "<script>alert" not in summary + page
    assert "javascript:alert" not in page
    assert '<a href="https://shop.example/1" rel="noreferrer noopener">Mug number 1</a>' in page
    (suite,) = titled_shop.results()["suites"]
    assert suite["texts"]["q07-d1"] == {"title": "Mug number 1", "url": "https://shop.example/1", "fields": {}}

    why = ("why", "nDCG@10", "--suite", "shop.ireval.yaml", "--query", "q07")
    header = next(line for line in ireval(*why).out.splitlines() if line.startswith("document"))
    assert header.split()[-1] == "title"
    assert json.loads(ireval(*why, "--format", "json").out)["titles"]["q07-d1"] == "Mug number 1"
    marked = ireval(*why, "--format", "markdown").out
    assert "<script>" not in marked
    assert "\\<script\\>" in marked

    (titled_shop.path / "products.jsonl").write_text("[")
    said = ireval(*why)
    assert "documents have no titles: " in said.err
    assert "title" not in said.out[said.out.rindex("nDCG@10 of query") :]


SOURCE = """\
import json
import pathlib


def search(text, *, query_id):
    rankings = json.loads((pathlib.Path(__file__).parent / "rankings.json").read_text())
    return [{"id": each, "title": f"Title of {each}", "link": "https://shop.example"} for each in rankings[query_id]]
"""


def test_a_source_may_return_them(shop, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    shop.accept()
    (shop.path / "search.py").write_text(SOURCE)
    for query in ("q07", "q08"):
        shop.rankings[query].reverse()
    (shop.path / "rankings.json").write_text(json.dumps(shop.rankings))
    shop.change(("source: {run: rankings.txt}", "source: {python: search:search}"))
    result = shop.run()

    assert result.ret == 1
    assert 'q07-d0 "Title of q07-d0" (grade 3): #1 -> ' in result.stdout.str()
    assert shop.results()["suites"][0]["texts"]["q07-d0"]["url"] == "https://shop.example"


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("p.csv", 'id,title\nq07-d0,"Mug\n', "p.csv:2 is not CSV: the quote opened in line 2 *"),
        ("p.jsonl", '{"id": "q07-d0", "title": ' + "[" * 100_000 + "\n", "p.jsonl:1 is not JSON*"),
        ("p.csv", "id,title\nother,Mug\n", "p.csv: none of the shown documents is in this file"),
    ],
    ids=["an open quote", "deep", "other documents"],
)
def test_a_file_without_titles_is_a_note_and_decides_nothing(titled_shop, name, text, note):
    (titled_shop.path / name).write_text(text)
    titled_shop.change(("products.jsonl", name))

    titled_shop.gate()
    assert [verdict for verdict in titled_shop.verdicts().values() if verdict != "pass"] == ["fail"] * 2
    notes = titled_shop.results()["suites"][0]["notes"]
    assert [each for each in notes if fnmatch(each, f"documents have no titles: {note}")]


def test_half_characters_and_odd_fields_are_written(titled_shop):
    title, odd = (
        r'"title": "half \ud800 mug"',
        r'"more": {"a": [1, {"b": null}]}, "n": NaN, "metadata": {"x": "\u0000"}',
    )
    (titled_shop.path / "products.jsonl").write_text(f'{{"id": "q07-d0", {title}, {odd}}}\n')

    assert titled_shop.run().ret == 1
    assert titled_shop.results()["suites"][0]["texts"]["q07-d0"]["title"] == "half ? mug"
