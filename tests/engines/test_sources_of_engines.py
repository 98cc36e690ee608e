"""Suites that ask real engines: the rankings are the engine's own, and what goes wrong in life makes them red."""

import json
import re
import sqlite3
from contextlib import closing

import pytest
from engines import collection, indexing

from pytest_ireval import load_suite, run_gate

FIELDS = [f"{name}^{weight}" for name, weight in indexing.WEIGHTS.items()]
MATCH = {"query": "{text}", "fields": FIELDS, "type": "most_fields"}
EDISMAX = {"qf": " ".join(FIELDS), "tie": "1", "q.op": "OR"}
GROONGA = "/d/select?table=Products&output_columns=_key&sort_keys=-_score,_key&limit={depth}"
GROONGA += "&match_columns=" + "||".join(f"{name}*{weight}" for name, weight in indexing.WEIGHTS.items())
POSTGRESQL = """
select id, title from products, websearch_to_tsquery('english', replace(:text, ' ', ' or ')) as query
where words @@ query order by ts_rank('{0.33, 0.33, 0.67, 1.0}', words, query) desc, id limit :depth
"""
NEAREST = "select id, title from products order by embedding <=> cast(:vector as vector), id limit :depth"


def database(url):
    return url.replace("postgresql:", "postgresql+psycopg:")


SOURCES = {
    "opensearch": lambda url: {"opensearch": f"{url}/products", "query": {"multi_match": MATCH}, "fields": ["title"]},
    "elasticsearch": lambda url: {"elasticsearch": f"{url}/products", "body": {"query": {"multi_match": MATCH}}},
    "solr": lambda url: {"solr": f"{url}/products", "body": {"params": EDISMAX}, "fields": ["title"]},
    "groonga": lambda url: {"http": url + GROONGA, "params": {"query": "{text}"}, "hits": "[1][0][2:]", "id": "[0]"},
    "postgresql": lambda url: {"sql": POSTGRESQL, "database": database(url)},
    "pgvector": lambda url: {"sql": NEAREST, "database": database(url)},
}
RULES = """
rules:
  - no_regression: {metric: nDCG@10, tolerance: 2%}
  - no_regression: {metric: nDCG@10, per: segment, tolerance: 5%}
"""


@pytest.fixture
def folder(shop, tmp_path, monkeypatch):
    """The shop's queries and judgments, and a suite for a source."""
    collection.write(shop, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def suite(folder, source, rules=RULES, queries="queries.tsv"):
    head = {
        "ireval": 1,
        "suite": "shop",
        "source": source,
        "queries": queries,
        "judgments": "judgments.txt",
        "depth": 20,
    }
    path = folder / "shop.ireval.yaml"
    path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items()) + rules, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SOURCES)
def test_the_rankings_of_a_source_are_those_of_the_engine(name, request, shop, folder):
    if name in ("postgresql", "pgvector"):
        pytest.importorskip("psycopg", reason="needs psycopg")
    engine = request.getfixturevalue(name)
    some = [query for query in shop.queries[::12] if query.segment != "model"]
    vectors(folder / "some.tsv", some)
    churn = "missing_queries: ignore\nrules:\n  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 10%}\n"
    path = suite(folder, SOURCES[name](engine.url) | {"repeat": 2}, churn, queries="some.tsv")

    loaded = load_suite(path)
    (answer, again) = ask_source(loaded)

    for query in some:
        if name != "groonga":  # it joins words by AND, which the other search of the tests does not
            assert answer.rankings.ranking(query.id) == indexing.SEARCH[name](engine.url, query.text, size=20)
    assert answer.rankings.ranking(some[0].id)
    assert answer.rankings.queries == again.rankings.queries
    assert set(answer.rankings.timings) == {query.id for query in some}


def vectors(path, queries):
    lines = (f"{query.id}\t{query.text}\t{indexing.vector(query.text)}\n" for query in queries)
    path.write_text("id\ttext\tvector\n" + "".join(lines), encoding="utf-8")


@pytest.mark.parametrize(("breadth", "verdict"), [(400, "pass"), (1, "fail")])
def test_an_approximate_search_is_compared_with_the_exact_one(breadth, verdict, pgvector, shop, folder):
    pytest.importorskip("psycopg", reason="needs psycopg")
    vectors(folder / "all.tsv", shop.queries)
    exact = SOURCES["pgvector"](pgvector.url)
    sql = "select id from indexed order by embedding <=> cast(:vector as vector) limit :depth"
    setup = f"SET enable_seqscan = off; SET hnsw.ef_search = {breadth}"
    recall = {"overlap": "Overlap@20", "below": 0.8, "at_most": "10%", "against": exact}
    rules = f"rules: {json.dumps([{'churn': recall}])}\n"

    result = run_gate(load_suite(suite(folder, exact | {"sql": sql, "setup": setup}, rules, queries="all.tsv")))

    assert [outcome.verdict for outcome in result.outcomes] == ["pass", verdict], result.outcomes


def ask_source(loaded):
    from pytest_ireval import Request, load_registry, read_queries
    from pytest_ireval.sources.answers import fetch_answers

    queries = read_queries(loaded.queries.file.path)
    request = Request(
        queries,
        loaded.depth,
        loaded.path.parent,
        loaded.name,
        load_registry().readers,
        by_id=loaded.policies.ties != "input",
    )
    return fetch_answers(loaded.source, request)


@pytest.fixture
def accepted_folder(folder, opensearch, pytester):
    """The suite of a healthy OpenSearch, whose rankings are the baseline."""
    path = suite(folder, SOURCES["opensearch"](opensearch.url))
    done = pytester.runpytest("--ireval", str(path), "--ireval-update-new", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert done.ret == 0, done.stdout.str()
    return folder


def verdict(folder, source):
    return run_gate(load_suite(suite(folder, source)))


def list_red(result):
    return [outcome for outcome in result.outcomes if outcome.verdict in ("fail", "error")]


def test_a_second_run_and_a_new_index_of_the_same_documents_are_green(accepted_folder, opensearch, shop):
    documents = collection.documents(shop)
    indexing.index_elastic(opensearch.url, documents[::-1], index="reindexed")
    source = SOURCES["opensearch"](opensearch.url)

    assert list_red(verdict(accepted_folder, source)) == []
    assert list_red(verdict(accepted_folder, source | {"opensearch": f"{opensearch.url}/reindexed"})) == []


def rename_documents(url, documents):
    indexing.index_elastic(url, [{**each, "id": f"sku-{each['id']}"} for each in documents], index="renamed")
    return {"opensearch": f"{url}/renamed"}


CHANGES = {
    "stopwords count": (lambda *_: {"query": {"multi_match": {**MATCH, "analyzer": "simple"}}}, "return nothing now"),
    "queries that find nothing": (
        lambda *_: {"query": {"multi_match": {**MATCH, "operator": "and"}}},
        "return fewer documents",
    ),
    "renamed ids": (rename_documents, "'sku-"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_harms_is_red(accepted_folder, opensearch, shop, name):
    change, says = CHANGES[name]
    other = change(opensearch.url, collection.documents(shop))

    result = verdict(accepted_folder, {**SOURCES["opensearch"](opensearch.url), **other})

    causes = " ".join(each.headline for each in result.diagnoses)

    assert list_red(result)
    assert says in causes


def test_a_lost_half_of_the_index_is_counted_in_judged_documents(accepted_folder, opensearch, shop):
    left = collection.documents(shop)[::2]
    indexing.index_elastic(opensearch.url, left, index="other-half")

    result = verdict(
        accepted_folder, SOURCES["opensearch"](opensearch.url) | {"opensearch": f"{opensearch.url}/other-half"}
    )

    there = {each["id"] for each in left}
    lines = (accepted_folder / "judgments.txt").read_text().splitlines()
    gone = {line.split()[2] for line in lines if line.split()[3] != "0"} - there
    assert any(
        note.startswith(f"{len(gone)} relevant documents of the judgments not in the index: ") for note in result.notes
    )
    assert any("lost relevant documents that the index no longer has" in each.headline for each in result.diagnoses)


def test_an_index_behind_an_alias(folder, opensearch, shop, pytester):
    documents = collection.documents(shop)

    def swap(index, **how):
        indexing.index_elastic(opensearch.url, documents, index=index, **how)
        actions = [{"remove": {"index": "*", "alias": "shop"}}] if how else []
        actions.append({"add": {"index": index, "alias": "shop"}})
        indexing.ask(opensearch.url, "/_aliases", {"actions": actions})

    swap("shop-1")
    source = SOURCES["opensearch"](opensearch.url) | {"opensearch": f"{opensearch.url}/shop"}
    path = suite(folder, source)
    done = pytester.runpytest("--ireval", str(path), "--ireval-update-new", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert done.ret == 0, done.stdout.str()
    first = verdict(folder, source)
    swap("shop-2", analyzer="standard")
    second = verdict(folder, source)

    assert first.verdict == "pass"
    assert first.cause.index == ""
    assert re.fullmatch(r"name shop-1, build [\w-]+, mapping \w+, documents 3000", first.about["index"])
    assert second.diagnoses[0].kind == "index_changed"
    assert "title.analyzer: english -> standard" in second.diagnoses[0].headline
    assert second.diagnoses[0].headline.endswith("; shop-1 -> shop-2")
    assert second.cause.rebuilt == "the index was rebuilt, with the same number of documents (3,000)"
    assert not [note for note in (*first.notes, *second.notes) if "could not be read" in note]


def test_the_facts_of_solr(folder, solr):
    judgments = folder / "judgments.txt"
    judgments.write_text(judgments.read_text() + "q000 0 no-such-product 3\n")

    result = verdict(folder, SOURCES["solr"](solr.url))

    assert re.fullmatch(r"mapping \w+, documents 3000", result.about["index"])
    assert "1 relevant document of the judgments not in the index: 'no-such-product'" in result.notes
    assert not [note for note in result.notes if "could not be read" in note]


def test_a_page_that_comes_twice_is_red(accepted_folder, opensearch):
    pages = {
        "http": f"{opensearch.url}/products/_search?page={{page}}",
        "hits": "hits.hits",
        "id": "_id",
        "page_size": 10,
    }
    body = {"query": {"multi_match": MATCH}, "size": "{size}"}  # without from, each page is the first

    (wrong, *_) = list_red(verdict(accepted_folder, {**pages, "body": body}))

    assert wrong.verdict == "error"
    assert "twice" in wrong.headline


class Killing:
    """A progress that kills a node when some queries have been answered."""

    def __init__(self, node, after):
        self.node, self.after = node, after

    def expect(self, amount, what):
        pass

    def advance(self, amount):
        self.after -= amount
        if self.after <= 0 and self.node.process.poll() is None:
            self.node.kill()


def test_a_shard_that_stops_in_the_middle_of_a_run_is_never_scored(folder, opensearch_nodes):
    first, second = opensearch_nodes
    source = SOURCES["opensearch"](first.url) | {"concurrency": 1, "attempts": 2, "timeout": "10s"}
    path = suite(folder, source)
    assert not [each for each in run_gate(load_suite(path)).outcomes if each.verdict == "error"]

    result = run_gate(load_suite(path), progress=Killing(second, 40))

    assert second.process.poll() is not None
    assert result.verdict == "error"
    assert re.search(r"incomplete: 1 of 2 shards (answered|failed)", result.outcomes[0].headline)
    assert all(metric.value is None for metric in result.metrics)


def test_fts5_of_sqlite(folder, shop):
    indexing.index_sqlite(folder / "shop.db", collection.documents(shop))
    sql = (
        "select id, title from products where products match :text order by bm25(products, 0, 3, 1, 2), id limit :depth"
    )
    (folder / "one.tsv").write_text("id\ttext\nq000\ttent\n", encoding="utf-8")
    source = {"sql": sql, "database": f"sqlite:///{folder}/shop.db"}
    path = suite(folder, source, "missing_queries: ignore\nrules:\n  - threshold: {P@1: '>= 0'}\n", queries="one.tsv")

    (answer,) = ask_source(load_suite(path))

    assert answer.rankings.ranking("q000") == indexing.search_sqlite(folder / "shop.db", "tent", size=20)
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        assert database.execute("select count(*) from products").fetchone() == (3000,)


TEMPLATE = {
    "script": {
        "lang": "mustache",
        "source": {"query": {"multi_match": {**MATCH, "query": "{{words}}"}}, "size": "{{size}}", "_source": False},
    }
}


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])
def test_batches_and_stored_templates_find_what_single_searches_find(name, request, shop, folder):
    engine = request.getfixturevalue(name)
    indexing.ask(engine.url, "/_scripts/shop-search", TEMPLATE, "PUT")
    address = {name: f"{engine.url}/products", "concurrency": 2}
    template = {"id": "shop-search", "params": {"words": "{text}", "size": "{depth}"}}
    queries = [query for query in shop.queries if query.segment != "model"][:45]
    lines = ("\t".join((query.id, query.text)) for query in queries)
    (folder / "some.tsv").write_text("id\ttext\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    churn = "missing_queries: ignore\nrules:\n  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 10%}\n"
    found = {}
    for way in (
        {"query": {"multi_match": MATCH}},
        {"query": {"multi_match": MATCH}, "batch": 20, "params": {"preference": "_local"}},
        {"template": template},
        {"template": template, "batch": 20},
    ):
        (answer,) = ask_source(load_suite(suite(folder, {**address, **way}, churn, queries="some.tsv")))
        found[json.dumps(way)] = [answer.rankings.ranking(query.id) for query in queries]
        assert answer.notes == ()

    alone = found.popitem()[1]
    assert len(alone) == 45
    assert any(alone)
    assert all(each == alone for each in found.values())


def test_a_search_pipeline_of_opensearch_alone_and_in_batches(shop, folder, opensearch):
    indexing.ask(opensearch.url, "/_search/pipeline/plain", {"request_processors": []}, "PUT")
    query = {"opensearch": f"{opensearch.url}/products", "query": {"multi_match": MATCH}, "attempts": 1}
    rules = "rules:\n  - threshold: {P@1: '>= 0'}\n"
    found = []
    for batch in (1, 50):
        source = {**query, "batch": batch, "params": {"search_pipeline": "plain"}}
        (answer,) = ask_source(load_suite(suite(folder, source, rules)))
        found.append([answer.rankings.ranking(each.id) for each in shop.queries])
        assert answer.notes == ()
        missing = {**source, "params": {"search_pipeline": "missing"}}
        assert "Pipeline missing is not defined" in str(run_gate(load_suite(suite(folder, missing, rules))).outcomes)

    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch", "solr"])
def test_an_engine_explains_the_scores_of_documents_behind_a_red_rule(name, request, shop, folder):
    engine = request.getfixturevalue(name)
    source = SOURCES[name](engine.url) | {"explain": True}

    result = run_gate(load_suite(suite(folder, source, "rules:\n  - threshold: {P@1: '>= 1'}\n")))

    assert result.verdict == "fail"
    assert [note for note in result.notes if "explain" in note] == []
    assert 5 <= len(result.explanations) <= 10
    best = next(each for each in result.explanations if each.now)
    assert re.match(r"[\d.]+  \w", best.lines[0])
    assert re.search(r"weight\((title|description|brand):", "\n".join(best.lines))
