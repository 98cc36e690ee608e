"""The recipe of the page that gates the recall of approximate search against exact search, on a server of our own."""

import json
import re
from pathlib import Path

import pytest
from live_server import Server

from pytest_ireval import SuiteError, load_suite, run_gate

PAGE = Path(__file__).parents[2] / "docs" / "sources.md"
RECIPE = re.findall(r"^```yaml\n(ireval: 1\nsuite: recall\n.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
DOCUMENTS = {f"d{number}": [number / 20, 1 - number / 20] for number in range(20)}


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """The suite of the page, and a server whose approximate search loses some of the nearest documents."""
    monkeypatch.chdir(tmp_path)
    server = Server()
    lost = set()

    def respond(asked):
        if asked.method == "GET":
            return 403, {}, {}
        query = asked.body.get("knn") or asked.body["query"]["script_score"]["script"]["params"]
        vector = query.get("query_vector") or query["vector"]
        scores = {name: sum(a * b for a, b in zip(vector, each, strict=True)) for name, each in DOCUMENTS.items()}
        found = sorted(scores, key=scores.get, reverse=True)
        if "knn" in asked.body:
            found = [each for each in found if each not in lost]
        return {"hits": {"hits": [{"_id": each, "_score": scores[each]} for each in found[: asked.body["size"]]]}}

    server.respond = respond
    rows = "".join(f"q{i}\twords\t{json.dumps([i / 4, 1 - i / 4])}\n" for i in range(4))
    (tmp_path / "queries.tsv").write_text(f"id\ttext\tvector\n{rows}")
    (tmp_path / "recall.ireval.yaml").write_text(RECIPE[0].replace("https://search.example:9200", server.url))
    yield tmp_path / "recall.ireval.yaml", lost
    server.close()


def test_the_share_of_exact_neighbours_that_approximate_search_finds_is_gated(vectors):
    path, lost = vectors

    green = run_gate(load_suite(path))
    assert green.verdict == "pass"
    assert not any("no value" in note for note in green.notes)

    lost |= {"d0", "d1"}
    result = run_gate(load_suite(path))
    (outcome,) = (each for each in result.outcomes if each.kind == "threshold")
    assert outcome.verdict == "fail"
    assert outcome.headline == "Overlap@10 is 0.8500 (must be >= 0.95)"


def test_against_needs_a_metric_that_compares_two_lists(vectors):
    path, _ = vectors
    path.write_text(path.read_text().replace("Overlap@10:", "RR@10:"))

    with pytest.raises(SuiteError, match="against has no effect on RR@10, which does not compare two lists"):
        load_suite(path)
