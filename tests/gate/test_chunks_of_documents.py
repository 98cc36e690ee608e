"""Suites of retrieval for language models: chunks stand for judged passages, and rankings fit a budget of tokens."""

import json
import re
from pathlib import Path

import pytest

from pytest_ireval import SuiteError, load_suite, run_gate

SUITE = """\
ireval: 1
suite: handbook
source: {run: rankings.txt}
judgments: judgments.txt
documents: {DOCUMENTS}
rules:
  - threshold: {nDCG@3: ">= 0.99", R@3: ">= 0.99"}
  - no_regression: {metric: nDCG@3, tolerance: 1%}
"""
PASSAGES = ["book#0-100", "book#100-200"]
OVERLAPPING = ["book#0-120", "book#10-90", "book#110-260"]


PAGE = Path(__file__).parents[2] / "docs" / "language_models.md"


class Handbook:
    def __init__(self, shop):
        self.shop, self.path = shop, shop.path
        for file in self.path.glob("*"):
            file.unlink()
        (self.path / "judgments.txt").write_text("q1 0 book#0-100 2\nq1 0 book#100-200 1\n")

    def run(self, chunks, documents, *arguments, fields=None):
        lines = [f"q1 Q0 {chunk} {rank} {-rank} t\n" for rank, chunk in enumerate(chunks, 1)]
        (self.path / "rankings.txt").write_text("".join(lines))
        rows = [json.dumps({"id": chunk, **more}) + "\n" for chunk, more in (fields or {}).items()]
        (self.path / "fields.jsonl").write_text("".join(rows))
        (self.path / "handbook.ireval.yaml").write_text(SUITE.replace("{DOCUMENTS}", documents))
        self.shop.run(*arguments)
        (suite,) = self.shop.results()["suites"]
        return {each["id"].partition("::")[0]: each for each in suite["outcomes"]} | {"suite": suite}


@pytest.fixture
def handbook(shop):
    return Handbook(shop)


def test_other_chunks_of_the_same_passages_are_no_regression(handbook):
    accepted = handbook.run(PASSAGES, "{spans: 50%}", "--ireval-update-new")
    found = handbook.run(OVERLAPPING, "{spans: 50%}")

    assert accepted["threshold"]["verdict"] == found["threshold"]["verdict"] == "pass"
    assert found["no_regression"]["verdict"] == "pass"
    assert found["no_regression"]["numbers"]["change"] == 0


def test_a_chunk_that_must_not_appear_is_found_as_its_passage(handbook):
    handbook.run(OVERLAPPING, "{spans: 50%}")
    path = handbook.path / "handbook.ireval.yaml"
    suite = path.read_text()

    def headline(chunk):
        path.write_text(f"{suite}  - expect: [{{query: q1, never: [{chunk}]}}]\n")
        return run_gate(load_suite(path)).outcomes[-1].headline

    assert headline("book#0-120").startswith("book#0-120 at #1 for query 'q1'")
    assert headline("book#300-400").startswith("none of them for query 'q1'")


def test_chunks_that_cover_too_little_fail(handbook):
    handbook.run(PASSAGES, "{spans: 50%}", "--ireval-update-new")
    found = handbook.run(["book#0-49", "book#100-149"], "{spans: 50%}")

    assert found["no_regression"]["verdict"] == "fail"


@pytest.mark.parametrize(
    ("before", "now", "headline"),
    [
        ("{spans: 50%}", "{spans: 75%}", "the baseline was accepted with spans: 50%, and the suite has spans: 75%"),
        (
            "{spans: 50%}",
            "{spans: 50%, budget: {at_most: 9}, fields: fields.jsonl}",
            "the baseline was accepted with spans: 50%, and the suite has spans: 50%, budget: {at_most: 9, "
            "field: tokens}",
        ),
    ],
)
def test_another_definition_does_not_fit_the_baseline(handbook, before, now, headline):
    sizes = {passage: {"tokens": 4} for passage in PASSAGES}
    handbook.run(PASSAGES, before, "--ireval-update-new")
    found = handbook.run(PASSAGES, now, fields=sizes)

    assert found["no_regression"]["verdict"] == "error"
    assert found["no_regression"]["headline"] == headline


def test_a_suite_that_judged_chunks_can_move_to_passages(handbook):
    passages = (handbook.path / "judgments.txt").read_text()
    (handbook.path / "judgments.txt").write_text("q1 0 c1 2\nq1 0 c2 1\n")
    handbook.run(["c1", "c2"], "{size: 100}", "--ireval-update-new")
    (handbook.path / "judgments.txt").write_text(passages)

    changed = handbook.run(PASSAGES, "{spans: 50%}")
    accept = ("--ireval-update", "--ireval-reason", "passages", "--ireval-force")
    handbook.run(PASSAGES, "{spans: 50%}", *accept)
    accepted = handbook.run(OVERLAPPING, "{spans: 50%}")

    assert changed["no_regression"]["headline"].startswith("the baseline was accepted with no spans and no budget, ")
    assert accepted["no_regression"]["verdict"] == "pass"


def test_a_ranked_document_without_a_span_is_an_error(handbook):
    found = handbook.run([*PASSAGES, "book"], "{spans: 50%}")

    assert found["inputs"]["headline"] == "run: rankings.txt: document 'book' has no span"


@pytest.mark.parametrize(
    ("budget", "fields", "verdict"),
    [
        ("{at_most: 120}", {"tokens": 60}, "pass"),
        ("{at_most: 119}", {"tokens": 60}, "fail"),
        ("{at_most: 120, field: size}", {"size": "60"}, "pass"),  # as a table has it
        ("{at_most: 6, text: body}", {"body": "x" * 12}, "pass"),
        ("{at_most: 6, text: body}", {"body": "x" * 13}, "fail"),
    ],
)
def test_metrics_see_what_fits_the_budget(handbook, budget, fields, verdict):
    documents = f"{{budget: {budget}, fields: fields.jsonl}}"

    assert handbook.run(PASSAGES, documents, fields=dict.fromkeys(PASSAGES, fields))["threshold"]["verdict"] == verdict


def test_repeated_chunks_take_their_part_of_the_budget(handbook):
    documents = "{spans: 50%, budget: {at_most: 25}, fields: fields.jsonl}"
    found = handbook.run(OVERLAPPING, documents, fields={chunk: {"tokens": 10} for chunk in OVERLAPPING})

    assert found["threshold"]["verdict"] == "fail"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "document 'book#0-100' has no field 'tokens', which the budget needs"),
        ({"tokens": "many"}, "the field 'tokens' of document 'book#0-100' is 'many', not a number of 0 or more"),
        ({"tokens": -1}, "the field 'tokens' of document 'book#0-100' is -1, not a number of 0 or more"),
    ],
)
def test_a_document_without_a_size_is_an_error(handbook, more, said):
    documents = "{budget: {at_most: 9}, fields: fields.jsonl}"
    found = handbook.run(PASSAGES, documents, fields=dict.fromkeys(PASSAGES, more))

    assert found["inputs"]["verdict"] == "error"
    assert said in found["inputs"]["headline"]


def test_sizes_and_spans_from_a_python_source(tmp_path):
    (tmp_path / "chunks.py").write_text(
        "def search(text):\n"
        "    return [{'id': f'book#{n * 100}-{n * 100 + 110}', 'tokens': 60, 'text': 'part'} for n in range(3)]\n"
    )
    (tmp_path / "judgments.txt").write_text("q1 0 book#0-100 2\nq1 0 book#100-200 1\nq1 0 book#200-300 1\n")
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\trules\n")
    documents = "documents: {spans: 90%, budget: {at_most: 120}}\nqueries: queries.tsv"
    suite = SUITE.replace("run: rankings.txt", "python: 'chunks:search'").replace("documents: {DOCUMENTS}", documents)
    (tmp_path / "handbook.ireval.yaml").write_text(suite.replace('R@3: ">= 0.99"', 'R@3: "<= 0.67", P@2: ">= 1"'))

    found = run_gate(load_suite(tmp_path / "handbook.ireval.yaml"))
    assert {each.id: each.verdict for each in found.outcomes if "threshold" in each.id} == {
        "threshold::nDCG_3": "fail",
        "threshold::R_3": "pass",
        "threshold::P_2": "pass",
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("judgments: judgments.txt\n", "", "spans needs judged passages, but the suite names no judgments"),
        ("at_most: 9", "at_most: 0", "at_most"),
        ("at_most: 9", "at_most: 9, field: a, text: b", "field and text both name the size of a document"),
        ("spans: 50%", "spans: 50", "share: write 60%"),
        ("spans: 50%", "spans: 0%", "share: write 60%"),
        ("{spans: 50%, ", "{", "the budget needs the field 'tokens', and the source run returns only rankings"),
    ],
)
def test_definitions_that_cannot_be_right(tmp_path, old, new, said):
    (tmp_path / "judgments.txt").write_text("q1 0 book#0-100 2\n")
    (tmp_path / "rankings.txt").write_text("q1 Q0 book#0-100 1 1 t\n")
    suite = SUITE.replace("{DOCUMENTS}", "{spans: 50%, budget: {at_most: 9}}")
    (tmp_path / "handbook.ireval.yaml").write_text(suite.replace(old, new, 1))

    with pytest.raises(SuiteError) as caught:
        run_gate(load_suite(tmp_path / "handbook.ireval.yaml"))
    assert said in str(caught.value)


@pytest.mark.skipif(not PAGE.exists(), reason="needs a checkout of the project")
def test_the_suite_of_the_page_passes(tmp_path):
    for name, text in re.findall(r"^```\w*\n# (\S+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    found = run_gate(load_suite(tmp_path / "handbook.ireval.yaml"))
    assert {each.id: each.verdict for each in found.outcomes if "threshold" in each.id} == {
        "threshold::R_5": "pass",
        "threshold::nDCG_5": "pass",
    }
