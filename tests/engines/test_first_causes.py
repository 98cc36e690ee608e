"""Each job of CI builds its own index of a real engine: the first cause is what somebody changed, not the new uuid."""

import json
from types import SimpleNamespace

import pytest
from engines import collection, indexing

from pytest_ireval import load_suite, run_gate

RULES = "rules:\n  - no_regression: {metric: nDCG@10, tolerance: 2%}\n"
FIELDS = ["title^3", "description", "brand^2"]


def searching(*fields):
    return {"multi_match": {"query": "{text}", "fields": list(fields), "type": "most_fields"}}


@pytest.fixture(params=["opensearch", "elasticsearch"])
def job(request, shop, tmp_path, monkeypatch, pytester):
    """A job of CI, which builds an index: ``accept()`` the baseline of a source, or give the result of a later run."""
    engine = request.getfixturevalue(request.param)
    monkeypatch.delenv("CI", raising=False)
    collection.write(shop, tmp_path)
    documents, path = collection.documents(shop), tmp_path / "shop.ireval.yaml"

    def build(share=1, **how):
        indexing.ask(engine.url, "/jobs?ignore_unavailable=true", method="DELETE")
        indexing.index_elastic(engine.url, documents[::share], index="jobs", **how)

    def write(asked):
        head = {"ireval": 1, "suite": "shop", "queries": "queries.tsv", "judgments": "judgments.txt", "depth": 20}
        head["source"] = {request.param: f"{engine.url}/jobs", **asked}
        path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items()) + RULES)

    def accept(asked):
        build()
        write(asked)
        done = pytester.runpytest(
            "--ireval", str(path), "--ireval-update-new", "-p", "no:cacheprovider", "-p", "no:xdist"
        )
        assert done.ret == 0, done.stdout.str()

    def run(asked, **how):
        build(**how)
        write(asked)
        result = run_gate(load_suite(path))
        assert not [note for note in result.notes if "could not be read" in note]
        return result

    return SimpleNamespace(accept=accept, run=run, url=engine.url, name=request.param)


def causes(result):
    assert result.verdict == "fail"
    return [each.headline for each in result.diagnoses]


def test_what_changed_in_a_rebuilt_index(job):
    asked = {"query": searching(*FIELDS)}
    job.accept(asked)

    same = job.run(asked)
    boosted = causes(job.run({"query": searching(FIELDS[0], "description^5", FIELDS[2])}))
    misspelt = causes(job.run({"query": searching("titel^3", *FIELDS[1:])}))
    analyzed = causes(job.run(asked, analyzer="standard"))
    half = causes(job.run(asked, share=2))

    assert (same.verdict, same.diagnoses, same.cause.index) == ("pass", (), "")
    assert (
        same.cause.rebuilt == "the index was rebuilt, with the same mapping, settings and number of documents (3,000)"
    )
    assert (
        boosted[0]
        == "the request changed since the baseline: query.multi_match.fields[1]: description -> description^5"
    )
    assert misspelt[0] == (
        "the request changed since the baseline: query.multi_match.fields[0]: title^3 -> titel^3; "
        "the request searches a field that the index does not have: titel (did you mean title?)"
    )
    changes = {"title.analyzer: english -> standard", "description.analyzer: english -> standard"}
    start = "the index changed since the baseline: "
    assert {*analyzed[0].removeprefix(start).split(", ")} == changes
    assert half[0] == f"{start}it lost 50% of its documents (3,000 -> 1,500)"
    assert not [each for each in (*boosted, *misspelt) if each.startswith(start)]


def test_a_template_of_the_engine_that_changed(job):
    def store(*fields):
        source = json.dumps({"query": searching(*fields), "size": 20}).replace("{text}", "{{text}}")
        indexing.ask(job.url, "/_scripts/shop", {"script": {"lang": "mustache", "source": source}}, "PUT")

    asked = {"template": {"id": "shop", "params": {"text": "{text}"}}}
    store(*FIELDS)
    job.accept(asked)
    same = job.run(asked)
    store(FIELDS[0], "description^5", FIELDS[2])

    changed = causes(job.run(asked))

    assert same.verdict == "pass"
    key = "template shop.query.multi_match.fields[1]: description -> description^5"
    assert changed[0] == f"the request changed since the baseline: {key}"


def test_a_search_pipeline_that_changed(job):
    if job.name == "elasticsearch":
        pytest.skip("it has no search pipelines")

    def store(description):
        indexing.ask(job.url, "/_search/pipeline/more", {"description": description}, "PUT")

    asked = {"query": searching(*FIELDS), "params": {"search_pipeline": "more"}}
    store("first")
    job.accept(asked)
    store("second")

    assert job.run(asked).cause.request == ("pipeline more.description: first -> second",)


def test_the_parameters_of_a_handler_of_solr(solr, shop, tmp_path, monkeypatch, pytester):
    monkeypatch.delenv("CI", raising=False)
    collection.write(shop, tmp_path)
    path = tmp_path / "shop.ireval.yaml"
    source = {"solr": f"{solr.url}/products", "body": {"params": {"qf": "title^3 description"}}}
    head = {"ireval": 1, "suite": "shop", "queries": "queries.tsv", "judgments": "judgments.txt", "depth": 20}
    head["source"] = source
    path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items()) + RULES)

    def define(**defaults):
        handler = {"name": "/select", "class": "solr.SearchHandler", "defaults": defaults}
        indexing.ask(solr.url, "/products/config", {"update-requesthandler": handler})

    try:
        define(mm="1")
        done = pytester.runpytest(
            "--ireval", str(path), "--ireval-update-new", "-p", "no:cacheprovider", "-p", "no:xdist"
        )
        define(mm="100%")
        result = run_gate(load_suite(path))
    finally:
        define()  # other tests ask this engine, too

    assert done.ret == 0, done.stdout.str()
    assert not [note for note in result.notes if "could not be read" in note]
    assert result.cause.request == ("handler /select.defaults.mm: 1 -> 100%",)
