"""Expectations over search engines: they are asked for counts and fields that rules need, and for documents by id."""

import json

import pytest
from live_server import Server
from suite_files import write_queries

from pytest_ireval import load_suite, run_gate

PRODUCTS = {"p1": "red mug", "p2": "red pan", "p3": "blue mug"}


class Engine:
    """A server that answers searches as Elasticsearch, Solr and a service of our own do; it has no document p9."""

    def __init__(self):
        self.server = Server()
        self.server.respond = self.respond
        self.url, self.total, self.searches = self.server.url, None, []

    def respond(self, asked):
        kind = asked.path.rpartition("/")[2]
        if kind not in ("_search", "_msearch", "select", "own") or (kind == "select" and not asked.body):
            return 404, {}, {}
        if kind == "_msearch":
            return {"responses": [self.search(kind, body) for body in asked.lines[1::2]]}
        return self.search(kind, asked.body)

    def search(self, kind, body):
        query = body["query"]
        looked_up = query.get("ids", query.get("terms")) if isinstance(query, dict) else None
        if looked_up is not None:
            ids = looked_up["values"] if "values" in looked_up else looked_up["query"].split("\n")
            found = [each for each in ids if each in PRODUCTS]
        else:
            self.searches.append(body)
            word = body["params"]["ireval_text"] if kind == "select" else query["match"]["title"]
            found = [each for each, title in PRODUCTS.items() if word in title]
        if kind == "select":
            docs = [{"id": each, "score": 1.0, "title": PRODUCTS[each]} for each in found]
            return {"response": {"numFound": len(found), "numFoundExact": self.total is None, "docs": docs}}
        hits = [{"_id": each, "_score": 1.0, "_source": {"title": PRODUCTS[each]}} for each in found]
        total = {"value": len(found), "relation": "eq"} if self.total is None else self.total
        return {"status": 200, "hits": {"total": total, "hits": hits}}


@pytest.fixture
def engine():
    made = Engine()
    yield made
    made.server.close()


@pytest.fixture
def check(tmp_path, monkeypatch, engine):
    """The outcomes of expectations over a kind of engine, by what was expected."""
    monkeypatch.chdir(tmp_path)
    write_queries(tmp_path / "queries.tsv", ["q1", "q2"], text=["mug", "tent"], title=["red mug", ""])
    match = {"match": {"title": "{text}"}}
    sources = {
        "elasticsearch": {"elasticsearch": f"{engine.url}/products", "query": match},
        "opensearch": {"opensearch": f"{engine.url}/products", "query": match, "batch": 2},
        "solr": {"solr": f"{engine.url}/solr/products"},
        "http": {
            "http": f"{engine.url}/own",
            "body": {"query": match},
            "hits": "hits.hits",
            "id": "_id",
            "total": "hits.total.value",
            "fields": {"title": "_source.title"},
        },
    }

    def run(kind, *expectations, **options):
        keys = {"ireval": 1, "suite": "shop", "queries": "queries.tsv", "depth": 3}
        keys |= {"source": {**sources[kind], **options}, "rules": [{"expect": list(expectations)}]}
        path = tmp_path / "shop.ireval.yaml"
        path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items()))
        result = run_gate(load_suite(path))
        assert not result.error, result.error
        return result.outcomes[1:]

    return run


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch", "solr", "http"])
def test_counts_and_fields_come_from_the_engine(check, kind):
    outcomes = check(
        kind,
        {"query": "q1", "total": "<= 2"},
        {"query": "q1", "total": "> 2", "name": "more"},
        {"query": "q2", "total": "<= 0"},
        {"query": "q1", "field": {"title": "{title}"}, "top": 1},
    )

    assert [each.verdict for each in outcomes] == ["pass", "fail", "pass", "pass"]
    assert outcomes[1].headline == "2 documents for query 'q1' (expected > 2)"


def test_an_engine_counts_only_as_far_as_rules_look_and_sends_only_the_fields_that_they_need(check, engine):
    check("elasticsearch", {"query": "q1", "total": ">= 3"}, {"query": "q1", "field": {"title": "red mug"}})
    check("elasticsearch", {"query": "q1", "document": "p1"})

    asked = [(each["track_total_hits"], each["_source"]) for each in engine.searches[::2]]
    assert asked == [(4, ["title"]), (False, False)]


@pytest.mark.parametrize("kind", ["elasticsearch", "solr"])
def test_a_capped_count_satisfies_only_what_it_can(check, engine, kind):
    engine.total = {"value": 2, "relation": "gte"}

    outcomes = check(
        kind,
        {"query": "q1", "total": ">= 2"},
        {"query": "q1", "total": "< 2", "name": "less"},
        {"query": "q1", "total": "<= 500", "name": "few"},
    )

    assert [each.verdict for each in outcomes] == ["pass", "fail", "error"]
    assert outcomes[2].facts[0].startswith("let the engine count to the end, such as by track_total_hits: true")


def test_without_a_count_the_returned_documents_decide(check):
    body = {"query": {"match": {"title": "{text}"}}, "track_total_hits": False}

    assert check("elasticsearch", {"query": "q1", "total": "<= 2"}, query=None, body=body)[0].verdict == "pass"


def test_a_path_that_leads_to_no_count_is_an_error(check):
    with pytest.raises(AssertionError, match=r"the answer has no number of documents at hits\.totl"):
        check("http", {"query": "q1", "total": "<= 2"}, total="hits.totl")


@pytest.mark.parametrize("kind", ["elasticsearch", "solr"])
def test_a_document_that_the_index_does_not_have_any_more_is_stale_and_not_broken(check, kind):
    stale, known, rest, other, never, any_of = check(
        kind,
        {"query": "q1", "document": "p9", "top": 1},
        {"query": "q1", "document": "p9", "top": 2, "known_failure": "SHOP-1", "name": "known"},
        {"query": "q1", "all_of": ["p1", "p9"]},
        {"query": "q1", "all_of": ["p2", "p9"], "name": "other"},
        {"query": "q1", "never": ["p9"]},
        {"query": "q1", "any_of": ["p2", "p9"]},
    )

    assert [(each.verdict, each.stale) for each in (stale, rest)] == [("fail", True)] * 2
    assert stale.headline == "stale: 'p9' is not in the index any more (query 'q1', expected in the top 1)"
    assert stale.facts == ("remove 'p9' from the expectation, or name the document that took its place",)
    assert (known.verdict, known.broken, known.stale) == ("pass", True, False)
    assert [(each.verdict, each.stale) for each in (other, any_of)] == [
        ("fail", False)
    ] * 2  # p2 is there, and not listed
    assert "the index does not have 'p9' any more" in other.facts
    assert never.verdict == "pass"


def test_without_a_look_up_a_document_that_is_gone_is_broken(check):
    (outcome,) = check("elasticsearch", {"query": "q1", "document": "p9"}, check_documents=False)

    assert (outcome.verdict, outcome.stale) == ("fail", False)


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_every_report_counts_what_is_stale_apart(check, pytester, tmp_path, arguments):
    check("elasticsearch", {"query": "q1", "document": "p9"}, {"query": "q1", "document": "p2"})

    done = pytester.runpytest("--ireval", str(tmp_path), "--ireval-report", str(tmp_path / "report"), *arguments)

    done.stdout.fnmatch_lines(["*ireval: fail: 2 of 3 checks of shop failed, 1 of them stale*"])
    read = {file.name: file.read_text("utf-8") for file in (tmp_path / "report").glob("*.*") if file.suffix != ".zip"}
    assert "### shop: 2 of 3 failed, 1 of them stale" in read["summary.md"]
    assert "2 of 3 checks failed, 1 of them stale" in read["comment.md"]
    assert read["index.html"].count('<span class="word signed stale">stale</span>') == 1
    outcomes = json.loads(read["results.json"])["suites"][0]["outcomes"]
    assert [(each["id"], each["stale"]) for each in outcomes if each["verdict"] == "fail"] == [
        ("expect::q1.p9", True),
        ("expect::q1.p2", False),
    ]
