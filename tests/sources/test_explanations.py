"""Red rules come with the engine's own reasons for the scores of documents that moved."""

import json
import types

import pytest
from live_server import Server

from pytest_ireval import SourceError, hookimpl, load_suite, run_gate, source
from pytest_ireval.options import SourceOptions, Text
from pytest_ireval.plugins.manager import Plugins

TREE = {
    "value": 2.5,
    "description": "sum  of:",
    "details": [{"value": 1.25, "description": "weight(title:mug)", "details": []}, {"value": 0, "description": "x"}],
}
LINES = ("2.5  sum of:", "  1.25  weight(title:mug)", "  0  x")


@pytest.fixture
def server():
    made = Server()
    made.explained = lambda request: {"matched": True, "explanation": TREE}

    def respond(request):
        if "_explain" in request.path:
            return made.explained(request)
        hits = [{"_id": f"d/{i}", "_score": 9 - i} for i in range(4)]
        return {"hits": {"hits": hits}}

    made.respond = respond
    yield made
    made.close()


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Judges a suite of seven queries, whose only relevant document is at rank 3."""
    monkeypatch.delenv("IREVAL_OFFLINE", raising=False)
    queries = [f"q{i}" for i in range(7)]
    (tmp_path / "q.tsv").write_text("id\ttext\n" + "".join(f"{each}\tmug {each}\n" for each in queries))
    (tmp_path / "judgments.txt").write_text("".join(f"{each} 0 d/2 1\n" for each in queries))

    def judge(asked, limit=1.0, registry=None):
        head = {"ireval": 1, "suite": "shop", "source": asked, "queries": "q.tsv", "judgments": "judgments.txt"}
        path = tmp_path / "shop.ireval.yaml"
        head["source"] = {key: value for key, value in asked.items() if value is not None}
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in head.items()]
        path.write_text("".join(lines) + f'rules:\n  - threshold: {{P@1: ">= {limit}"}}\n', encoding="utf-8")
        return run_gate(load_suite(path, registry), registry=registry)

    return judge


def opensearch(server, **options):
    query = {"match": {"title": "{text}"}}
    return {"opensearch": f"{server.url}/products", "query": query, "attempts": 1, "explain": "true", **options}


def list_explain_requests(server):
    return [request for request in server.requests if "_explain" in request.path]


def test_a_few_documents_of_a_few_queries_are_explained(gate, server):
    result = gate(opensearch(server, params={"routing": "eu", "search_pipeline": "p"}))

    assert result.verdict == "fail"
    assert len(result.explanations) == 10
    assert len({each.query for each in result.explanations}) == 5
    first = result.explanations[0]
    assert (first.query, first.document, first.now, first.lines) == ("q0", "d/0", 1, LINES)
    request = next(each for each in list_explain_requests(server) if each.path.endswith("d%2F0"))
    assert (request.path, request.params) == ("/products/_explain/d%2F0", {"routing": "eu"})
    assert request.body["query"]["match"]["title"].startswith("mug q")


def test_green_rules_and_sources_without_the_option_ask_for_nothing(gate, server):
    assert gate(opensearch(server), limit=0).explanations == ()
    assert gate(opensearch(server, explain="false")).explanations == ()
    assert list_explain_requests(server) == []


def test_a_document_that_the_index_does_not_have(gate, server):
    server.explained = lambda _: (404, {"matched": False}, {})

    result = gate(opensearch(server))

    assert {each.lines for each in result.explanations} == {("the index does not have this document",)}


@pytest.mark.parametrize(
    ("answer", "why"),
    [((400, {"error": "no such field"}, {}), "status 400"), ({"matched": False}, "it raised KeyError")],
)
def test_an_engine_that_does_not_explain_is_a_note(gate, server, answer, why):
    server.explained = lambda _: answer

    result = gate(opensearch(server))

    assert result.verdict == "fail"
    assert result.explanations == ()
    assert f"the source does not explain document d/0 of query q0: {why}" in str(result.notes)


def test_an_explanation_without_end_is_cut(gate, server):
    deep = {"value": 1, "description": "x" * 999, "details": []}
    for _ in range(9):
        deep = {"value": 1, "description": "y", "details": [deep, *[{"value": 1, "description": "x" * 999}] * 9]}
    server.explained = lambda _: {"explanation": deep}

    lines = gate(opensearch(server)).explanations[0].lines

    assert len(lines) == 40
    assert max(len(line) - len(line.lstrip()) for line in lines) == 10
    assert max(map(len, lines)) == 200


class AcmeOptions(SourceOptions):
    acme: Text


def test_a_source_of_a_plugin_may_explain(gate):
    def why(options, request, query, document):
        if query == "q1":
            raise SourceError("the index is closed")
        return [f"{options.acme}: {request.queries.text_of(query)} in {document}"]

    @source(name="acme", options=AcmeOptions, explain=why)
    def acme(options, request):
        """Documents of Acme."""
        return {query: ["d/0", "d/1", "d/2"] for query in request.queries.ids}

    plugins = Plugins()
    plugins.load_installed()
    module = types.ModuleType("acme")
    module.ireval_sources = hookimpl(lambda: [acme], specname="ireval_sources")
    plugins.register_module(module, "acme")

    result = gate({"acme": "v2"}, registry=plugins.make_registry())

    assert [each.lines for each in result.explanations] == [("v2: mug q0 in d/0",), ("v2: mug q0 in d/1",)]
    assert "the source does not explain document d/0 of query q1: the index is closed" in str(result.notes)
