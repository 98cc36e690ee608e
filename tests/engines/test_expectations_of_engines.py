"""Real engines bring the counts and fields that expectations need, and tell which documents they do not have."""

import json

import pytest
from suite_files import write_queries

from pytest_ireval import load_suite, run_gate

MATCH = {"query": "{text}", "fields": ["title^3", "description"]}
SOURCES = {
    "opensearch": lambda url: {"opensearch": f"{url}/products", "query": {"multi_match": MATCH}},
    "elasticsearch": lambda url: {"elasticsearch": f"{url}/products", "query": {"multi_match": MATCH}},
    "solr": lambda url: {"solr": f"{url}/products", "body": {"params": {"qf": "title^3 description", "q.op": "OR"}}},
}


@pytest.mark.parametrize("name", SOURCES)
def test_expectations_over_an_engine(name, request, shop, tmp_path):
    engine = request.getfixturevalue(name)
    models = [query for query in shop.queries if query.segment == "model"]
    texts = [*(query.text for query in models), "submarine periscope"]
    skus = [*(f"P0{query.text.partition('-')[2]}" for query in models), ""]
    ids = [f"q{number}" for number in range(len(texts))]
    kinds = ["model"] * len(models) + ["none"]
    write_queries(tmp_path / "queries.tsv", ids, text=texts, kind=kinds, sku=skus)
    rules = [
        {"query": "submarine periscope", "total": "<= 0"},
        {"where": {"kind": "model"}, "field": {"id": "{sku}"}, "top": 1, "share": ">= 90%"},
        {"query": "q0", "total": ">= 1", "name": "some"},
        {"query": "q0", "total": "> 3000", "name": "more than there are"},
        {"query": "q0", "document": "P99999"},
    ]
    keys = {"ireval": 1, "suite": "shop", "queries": "queries.tsv", "depth": 10}
    keys |= {"source": SOURCES[name](engine.url), "rules": [{"expect": rules}]}
    path = tmp_path / "shop.ireval.yaml"
    path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items()))

    result = run_gate(load_suite(path))

    found = [(each.verdict, each.stale) for each in result.outcomes[1:]]
    assert found == [("pass", False)] * 3 + [("fail", False), ("fail", True)], result.outcomes
