"""Results in a notebook: what it shows, data frames, and the notebook of the examples."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from suite_files import write_judgments, write_rankings, write_suite

from pytest_ireval import IrevalError, compare, evaluate, load_suite, notebooks, run_gate, why

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK = json.loads((EXAMPLES / "gate_in_a_notebook.ipynb").read_text(encoding="utf-8"))
JUDGMENTS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
GOOD, BAD = {"q1": ["a", "b"], "q2": ["c"]}, {"q1": ["x", "b"], "q2": ["y", "c"]}


def cells_of(html):
    """The rows of all tables in it, as lists of texts."""
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_an_evaluation_is_a_table_and_a_frame():
    result = evaluate(JUDGMENTS, BAD, ["P@1", "RR"])

    assert cells_of(result._repr_html_()) == [
        ["metric", "value", "queries"],
        ["P@1", "0.0000", "2"],
        ["RR", "0.5000", "2"],
    ]
    assert result.to_frame().to_dict("list") == {"query": ["q1", "q2"], "P@1": [0, 0], "RR": [0.5, 0.5]}


def test_a_comparison_shows_the_best_bold_and_has_a_column_for_each_ranking():
    result = compare(JUDGMENTS, {"new": GOOD, "old": BAD}, ["P@1"])
    html = result._repr_html_()

    assert cells_of(html)[:3] == [["", "ranking", "P@1"], ["a", "new", "1.0000"], ["b", "old", "0.0000"]]
    assert "<b>1.0000</b>" in html
    assert "bold: the best figure of its column" in html
    assert result.to_frame().to_dict("list") == {
        "metric": ["P@1"] * 2,
        "query": ["q1", "q2"],
        "new": [1.0, 1.0],
        "old": [0.0, 0.0],
    }


def test_an_explanation_shows_its_steps_and_has_a_row_for_each_document():
    result = why("DCG@2", JUDGMENTS, GOOD, query="q1")

    assert ["1", "a", "2", "2"] in [row[:4] for row in cells_of(result._repr_html_())]
    assert result.to_frame()[["rank", "document", "grade"]].to_dict("list") == {
        "rank": [1, 2],
        "document": ["a", "b"],
        "grade": [2, 1],
    }


@pytest.fixture
def gate_result(tmp_path):
    write_judgments(tmp_path / "judgments.txt", {"q1": {"a": 1}})
    write_rankings(tmp_path / "rankings.txt", {"q1": ["<b>&", "a"]})
    return run_gate(load_suite(write_suite(tmp_path, "threshold: {P@1: '> 0.9'}")))


def test_a_gate_shows_its_verdicts_and_its_page(gate_result):
    html = gate_result._repr_html_()

    assert html.startswith("<div><p><b>shop: fail</b></p>")
    assert ["fail", "threshold::P_1", "P@1 is 0.0000 (must be &gt; 0.9)"] in cells_of(html.partition("<iframe")[0])
    assert html.count("<iframe") == 1
    assert 'sandbox="allow-scripts"' in html
    assert gate_result.to_frame().to_dict("list") == {"query": ["q1"], "text": [""], "P@1": [0.0]}


def test_a_page_that_is_too_large_is_said_to_be(gate_result, monkeypatch):
    monkeypatch.setattr(notebooks, "LARGEST", 1000)

    html = gate_result._repr_html_()
    assert "<iframe" not in html
    assert "too large for a notebook" in html


def test_ids_cannot_write_html():
    result = evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])
    spoilt = compare({"q": {"a": 1}}, {"<script>": {"q": ["a"]}, "b": {"q": ["b"]}}, ["AP"])

    assert "<script>" not in spoilt._repr_html_()
    assert "&lt;script&gt;" in spoilt._repr_html_()
    assert set(result._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert result._repr_mimebundle_()["text/plain"].startswith("metric   value  queries\nAP      1.0000        1\n")


def test_a_library_that_is_not_there_or_unknown_is_named(monkeypatch):
    result = evaluate(JUDGMENTS, GOOD, ["AP"])
    with pytest.raises(IrevalError, match="'numpy' is not a library of data frames"):
        result.to_frame("numpy")
    monkeypatch.setattr(notebooks, "find_spec", lambda _: None)
    with pytest.raises(IrevalError, match="needs pandas or polars, which is not installed\n  pip install pandas"):
        result.to_frame()
    with pytest.raises(IrevalError, match="needs polars, which is not installed\n  pip install polars"):
        result.to_frame("polars")


def test_the_notebook_of_the_examples_shows_what_its_cells_return_today(monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    names = {}
    compared = 0
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code":
            *before, last = "".join(cell["source"]).strip().splitlines()
            exec("\n".join(before), names)
            value = eval(last, names)
            (output,) = cell["outputs"]
            if isinstance(value, pd.DataFrame):
                continue  # its text is pandas' own
            shown = value._repr_mimebundle_()
            assert "".join(output["data"]["text/plain"]) == shown["text/plain"]
            kept = "".join(output["data"]["text/html"])
            assert cells_of(kept.partition("<iframe")[0]) == cells_of(shown["text/html"].partition("<iframe")[0])
            compared += 1
    assert compared == 4
