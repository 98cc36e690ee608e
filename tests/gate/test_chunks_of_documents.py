"""Suites of retrieval for language models: chunks stand for judged passages."""

import re
import sys
from pathlib import Path

import pytest
from suite_files import accept_suites, run_suite, write_judgments, write_rankings, write_suite

from pytest_ireval import SuiteError, load_suite, run_gate

RULES = "threshold: {nDCG@3: '>= 0.99', R@3: '>= 0.99'}", "no_regression: {metric: nDCG@3, tolerance: 1%}"
PASSAGES = ["book#0-100", "book#100-200"]
OVERLAPPING = ["book#0-120", "book#10-90", "book#110-260"]


PAGE = Path(__file__).parents[2] / "docs" / "judgments.md"


class Handbook:
    def __init__(self, shop):
        self.path = shop.path
        for file in self.path.glob("*"):
            file.unlink()
        write_judgments(self.path / "judgments.txt", {"q1": {"book#0-100": 2, "book#100-200": 1}})

    def write(self, chunks, documents):
        write_rankings(self.path / "rankings.txt", {"q1": chunks})
        return write_suite(self.path, *RULES, suite="handbook", documents=documents)

    def gate(self, chunks, documents):
        result = run_gate(load_suite(self.write(chunks, documents)))
        return {outcome.id.partition("::")[0]: outcome for outcome in result.outcomes}


@pytest.fixture
def handbook(shop):
    return Handbook(shop)


def test_other_chunks_of_the_same_passages_are_no_regression_unless_they_cover_too_little(handbook):
    accept_suites(handbook.write(PASSAGES, "{spans: 50%}"))
    accepted = handbook.gate(PASSAGES, "{spans: 50%}")
    found = handbook.gate(OVERLAPPING, "{spans: 50%}")
    less = handbook.gate(["book#0-49", "book#100-149"], "{spans: 50%}")

    assert accepted["threshold"].verdict == found["threshold"].verdict == "pass"
    assert found["no_regression"].verdict == "pass"
    assert found["no_regression"].numbers["change"] == 0
    assert less["no_regression"].verdict == "fail"

    other = handbook.gate(PASSAGES, "{spans: 75%}")["no_regression"]
    said = "the baseline was accepted with spans: 50%, and the suite has spans: 75%"
    assert (other.verdict, other.headline) == ("error", said)


def test_a_chunk_that_must_not_appear_is_found_as_its_passage(handbook):
    handbook.write(OVERLAPPING, "{spans: 50%}")

    def headline(chunk):
        rule = f"expect: [{{query: q1, never: [{chunk}]}}]"
        return run_suite(handbook.path, rule, suite="handbook", documents="{spans: 50%}").outcomes[-1].headline

    assert headline("book#0-120").startswith("book#0-120 at #1 for query 'q1'")
    assert headline("book#300-400").startswith("none of them for query 'q1'")


def test_a_suite_that_judged_chunks_can_move_to_passages(handbook):
    passages = (handbook.path / "judgments.txt").read_text()
    write_judgments(handbook.path / "judgments.txt", {"q1": {"c1": 2, "c2": 1}})
    accept_suites(handbook.write(["c1", "c2"], "{size: 100}"))
    (handbook.path / "judgments.txt").write_text(passages)

    changed = handbook.gate(PASSAGES, "{spans: 50%}")
    accept_suites(handbook.write(PASSAGES, "{spans: 50%}"), "passages", force=True)
    accepted = handbook.gate(OVERLAPPING, "{spans: 50%}")

    assert changed["no_regression"].headline.startswith("the baseline was accepted with no spans, ")
    assert accepted["no_regression"].verdict == "pass"


def test_a_ranked_document_without_a_span_is_an_error(handbook):
    found = handbook.gate([*PASSAGES, "book"], "{spans: 50%}")

    assert found["inputs"].headline == "run: rankings.txt: document 'book' has no span"


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ({"judgments": None}, "spans needs judged passages, but the suite names no judgments"),
        ({"documents": "{spans: 50}"}, "share: write 60%"),
    ],
)
def test_definitions_that_cannot_be_right(tmp_path, keys, complaint):
    write_judgments(tmp_path / "judgments.txt", {"q1": {"book#0-100": 2}})
    write_rankings(tmp_path / "rankings.txt", {"q1": ["book#0-100"]})

    with pytest.raises(SuiteError, match=complaint):
        run_suite(tmp_path, *RULES, **{"documents": "{spans: 50%}", **keys})


@pytest.mark.skipif(not PAGE.exists(), reason="needs a checkout of the project")
def test_the_suite_of_the_page_passes(tmp_path, request):
    request.addfinalizer(lambda: sys.modules.pop("shelf", None))  # other suites have a module of this name
    for name, text in re.findall(r"^```\w*\n# (\S+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    found = run_gate(load_suite(tmp_path / "handbook.ireval.yaml"))
    assert {each.id: each.verdict for each in found.outcomes if "threshold" in each.id} == {
        "threshold::R_5": "pass",
        "threshold::nDCG_5": "pass",
    }
