"""The facts of the index that a live system was asked on, kept with the baseline and compared with it."""

import json
import sqlite3
from types import SimpleNamespace

import pytest
from live_server import Server

from pytest_ireval import load_suite, run_gate
from pytest_ireval.baseline.reading import read_baseline

QUERIES = ["red mug", "blue mug", "red pan"]
RULES = "rules:\n  - no_regression: {metric: RR@3, tolerance: 5%}\n"


class Index:
    """A server that answers as Elasticsearch and Solr do, from documents that a test may change."""

    def __init__(self):
        self.server = Server()
        self.server.respond = self.respond
        self.url = self.server.url
        words = ("red mug", "blue mug", "red pan", "blue pan")
        self.documents = {text.replace(" ", "-"): text for text in words}
        self.name, self.uuid, self.mapping = "products-1", "u1", {"properties": {"title": {"type": "text"}}}
        self.analysis, self.forbidden, self.after = None, (), lambda asked: None
        self.searches, self.qf = 0, "title"

    def respond(self, asked):
        kind = asked.path.rpartition("/")[2]
        if kind in self.forbidden:
            return 403, {"error": "no permission"}, {}
        return {
            "_settings": lambda: {self.name: {"settings": {"index": self._settings()}}},
            "_mapping": lambda: {self.name: {"mappings": self.mapping}},
            "_count": lambda: {"count": len(self.documents), "_shards": {"total": 1, "successful": 1, "failed": 0}},
            "schema": lambda: {"schema": self.mapping},
            "_search": lambda: {"hits": {"hits": [{"_id": each, "_score": 1.0} for each in self.found(asked)]}},
            "select": lambda: self._solr(asked),
            "requestHandler": lambda: {"config": {"requestHandler": {"/select": {"defaults": {"qf": self.qf}}}}},
            "stats": lambda: {"docs": {"count": len(self.documents)}, "fields": self.mapping},
        }[kind]()

    def _settings(self):
        return {"uuid": self.uuid, **({"analysis": self.analysis} if self.analysis else {})}

    def _solr(self, asked):
        found = self.found(asked) if asked.body else []
        docs = [{"id": each, "score": 1.0} for each in found]
        return {"response": {"numFound": len(self.documents), "docs": docs}}

    def found(self, asked):
        query = asked.body["query"]
        if "ids" in query:
            return [each for each in query["ids"]["values"] if each in self.documents]
        if "terms" in query:
            return [each for each in query["terms"]["query"].split("\n") if each in self.documents]
        self.searches += 1
        words = set((asked.body.get("params", {}).get("ireval_text") or query["match"]["title"]).split())
        found = sorted(self.documents, key=lambda each: (-len(words & set(self.documents[each].split())), each))
        self.after(self.searches)
        return found[:3]


@pytest.fixture
def index():
    made = Index()
    yield made
    made.server.close()


@pytest.fixture
def shop(tmp_path, monkeypatch, pytester, index):
    """A suite of the server: ``accept()`` its baseline, and the verdict of ``run()``."""
    for name in ("CI", "IREVAL_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    folder = pytester.path
    rows = "".join(f"q{number}\t{text}\n" for number, text in enumerate(QUERIES))
    (folder / "queries.tsv").write_text(f"id\ttext\n{rows}")
    grades = "".join(f"q{number} 0 {text.replace(' ', '-')} 1\n" for number, text in enumerate(QUERIES))
    (folder / "judgments.txt").write_text(grades)
    query = {"match": {"title": "{text}"}}

    def write(source=None, rules=RULES, **options):
        source = source or {"opensearch": f"{index.url}/products", "query": query}
        head = {"ireval": 1, "suite": "shop", "queries": "queries.tsv", "judgments": "judgments.txt", "depth": 3}
        head["source"] = {**source, "concurrency": 1, **options}
        path = folder / "shop.ireval.yaml"
        path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items()) + rules)
        return path

    def run(*given, **options):
        return run_gate(load_suite(write(*given, **options)))

    def accept(*given, **options):
        path = write(*given, **options)
        done = pytester.runpytest("--ireval", str(path), "--ireval-update-new", "-p", "no:cacheprovider")
        assert done.ret == 0, done.stdout.str()
        return read_baseline(folder / "baselines", "shop")

    return SimpleNamespace(run=run, accept=accept, write=write, folder=folder)


def notes(result):
    return [note for note in result.notes if "index" in note]


def swap_index(index):
    """Another index behind the alias, whose analysis loses the word mug."""
    index.name, index.uuid, index.analysis = "products-2", "u2", {"filter": {"stop": ["mug"]}}
    index.documents = {each: text.replace("mug", "") for each, text in index.documents.items()}
    index.documents["blue-aaa"] = index.documents["red-aaa"] = "blue red red"


def test_an_index_that_was_rebuilt_with_another_mapping_is_the_cause_of_a_loss(shop, index):
    kept = shop.accept().search.index
    assert (kept.name, kept.build, kept.documents) == ("products-1", "u1", 4)
    swap_index(index)

    result = shop.run()

    assert result.verdict == "fail"
    cause = result.diagnoses[0]
    assert cause.kind == "index_changed"
    assert cause.headline == (
        "the index changed since the baseline: "
        'index.analysis: not set -> {"filter": {"stop": ["mug"]}}; products-1 -> products-2'
    )
    assert result.cause.rebuilt == "the index was rebuilt"
    assert result.about["index"].startswith("name products-2, build u2, mapping ")


def test_a_count_that_moves_is_a_note_and_no_cause(shop, index):
    shop.accept()
    index.documents["zzz"] = "other"

    result = shop.run()

    assert result.verdict == "pass"
    assert notes(result) == ["the index has 5 documents; when the baseline was accepted it had 4"]
    assert not result.cause.index


def test_a_large_loss_of_documents_is_named_with_the_judged_ones_that_are_gone(shop, index):
    shop.accept()
    del index.documents["red-pan"]

    result = shop.run()

    assert result.verdict == "fail"
    assert notes(result) == ["1 relevant document of the judgments not in the index: 'red-pan'"]
    assert result.cause.index == "it lost 25% of its documents (4 -> 3)"
    causes = {each.kind: each.headline for each in result.diagnoses}
    assert causes["index_changed"].endswith("it lost 25% of its documents (4 -> 3)")


def test_an_index_that_is_swapped_while_it_is_asked_is_an_error(shop, index):
    index.after = lambda asked: swap_index(index) if asked == 2 else None

    result = shop.run()

    assert result.verdict == "error"
    assert "the index changed while it was asked: index.analysis: not set -> " in result.error
    assert result.metrics == ()


@pytest.mark.parametrize("forbidden", [("_settings",), ("_settings", "_mapping", "_count")])
def test_a_login_that_may_only_search_gets_one_note(shop, index, forbidden):
    index.forbidden = forbidden

    kept = shop.accept().search.index

    assert (kept.build, kept.mapping) == ("", "")
    result = shop.run()
    assert result.verdict == "pass"
    assert notes(result) == ["index facts could not be read: GET /products/_settings: status 403"]


def test_a_recording_replays_the_facts(shop, index, monkeypatch):
    kept = shop.accept(record="answers").search.index
    index.server.close()
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    result = shop.run(record="answers")

    assert result.verdict == "pass"
    assert result.about["index"] == str(kept)
    assert notes(result) == []


def test_references_that_differ_in_a_header_are_asked_and_recorded_apart(shop, index, monkeypatch):
    def respond(asked):
        bad = (
            asked.headers.get("x-copy") == "bad" and "query" in (asked.body or {}) and "ids" not in asked.body["query"]
        )
        hits = [{"_id": "blue-pan", "_score": 2.0}, {"_id": "red-mug", "_score": 1.0}]
        return {"hits": {"hits": hits}} if bad else index.respond(asked)

    index.server.respond = respond
    query = {"match": {"title": "{text}"}}
    copies = [
        {"opensearch": f"{index.url}/products", "query": query, "record": "answers", "headers": {"X-Copy": copy}}
        for copy in ("good", "bad")
    ]
    rule = "  - no_regression: {{name: {}, metric: RR@3, tolerance: 5%, against: {}}}\n"
    rules = "".join(rule.format(each["headers"]["X-Copy"], json.dumps(each)) for each in copies)
    asked = [shop.run(copies[1], rules=f"rules:\n{rules}")]
    index.server.close()
    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    asked.append(shop.run(copies[1], rules=f"rules:\n{rules}"))

    assert [[each.verdict for each in result.outcomes[1:]] for result in asked] == [["fail", "pass"]] * 2


def test_passages_are_not_looked_up_in_the_index_or_explained(shop, index):
    index.documents = {f"{each}#0-9": text for each, text in index.documents.items()}
    judgments = shop.folder / "judgments.txt"
    judgments.write_text(judgments.read_text().replace(" 1\n", "#0-8 1\n"))
    rules = 'documents: {spans: 50%}\nrules:\n  - threshold: {P@3: ">= 0.9"}\n'
    query = {"match": {"title": "{text}"}}

    result = shop.run({"opensearch": f"{index.url}/products", "query": query, "explain": "true"}, rules=rules)

    assert result.outcomes[1].verdict == "fail"
    assert notes(result) == ["explain has no effect with documents: spans or collapse: the index has other ids"]


def test_the_facts_of_solr(shop, index):
    solr = {"solr": f"{index.url}/solr/products"}
    index.mapping = {"fields": [{"name": "title", "type": "text_en"}]}
    kept = shop.accept(solr).search.index
    index.mapping = {"fields": [{"name": "title", "type": "text_general"}]}
    del index.documents["red-pan"]

    result = shop.run(solr)

    assert kept.documents == 4
    assert result.cause.index.startswith("title.type: text_en -> text_general; it lost 25% of its documents")
    assert "1 relevant document of the judgments not in the index: 'red-pan'" in result.notes


def test_facts_by_a_request_of_the_suite(shop, index):
    facts = {"url": f"{index.url}/stats", "documents": "docs.count", "mapping": "fields"}
    source = {"http": f"{index.url}/_search", "body": {"query": {"match": {"title": "{text}"}}}, "hits": "hits.hits"}
    source |= {"id": "_id", "index": facts}

    assert shop.run(source).about["index"].endswith("documents 4")
    assert (
        shop.run(source | {"index": {**facts, "build": "docs.uuid"}})
        .notes[0]
        .startswith(
            "index facts could not be read: the answer has an unexpected form (ValueError: nothing at docs.uuid)"
        )
    )
    for wrong, said in (
        ({"url": "https://elsewhere.example/stats", "documents": "n"}, "index asks another host than the source"),
        ({"documents": "n"}, "index lacks url or a path"),
        ({"url": f"{index.url}/stats", "size": "n"}, "index has unknown 'size'"),
    ):
        with pytest.raises(Exception, match=said):
            shop.run(source | {"index": wrong})


def test_facts_of_a_database(shop):
    with sqlite3.connect(shop.folder / "shop.db") as database:
        database.execute("create table products (id text, title text)")
        database.executemany("insert into products values (?, ?)", [("red-mug", "red mug"), ("red-pan", "red pan")])
    database.close()
    sql = {
        "sql": "select id from products order by title <> :text, id limit :depth",
        "database": f"sqlite:///{shop.folder}/shop.db",
        "index": "select count(*) as documents, 'v7' as build from products",
    }

    assert shop.run(sql).about["index"] == "build v7, documents 2"
    assert shop.run(sql | {"index": "select 1 from nothing"}).notes[0].startswith("index facts could not be read: ")


def test_facts_of_a_python_function(shop):
    (shop.folder / "facts.py").write_text(
        "from pytest_ireval import Answer\n"
        "def search(text, query_id):\n"
        "    return Answer([text.replace(' ', '-')], index={'build': 'v1', 'documents': 7})\n"
        "def moving(text, query_id):\n"
        "    return Answer([text.replace(' ', '-')], index={'build': query_id})\n"
        "def other(text):\n"
        "    return Answer([text.replace(' ', '-')], index={'build': 'v2'})\n"
        "def late(text, query_id):\n"
        "    seen = {'q0': {}, 'q1': {'build': 'v1'}, 'q2': {'build': 'v2'}}\n"
        "    return Answer([text.replace(' ', '-')], index=seen[query_id])\n"
        "def wrong(text):\n"
        "    return Answer([text.replace(' ', '-')], index={'size': 7})\n"
    )

    assert shop.run({"python": "facts:search"}).about["index"] == "build v1, documents 7"
    assert (
        "the index changed while it was asked: it was rebuilt (q0 -> q1)" in shop.run({"python": "facts:moving"}).error
    )
    assert "it was rebuilt (v1 -> v2)" in shop.run({"python": "facts:late"}).error
    other = RULES.replace("tolerance: 5%", "tolerance: 5%, against: {python: 'facts:other'}")
    note = "against, line 8: it searched another index than the source: it was rebuilt (v2 -> v1)"
    assert notes(shop.run({"python": "facts:search"}, rules=other)) == [note]
    assert "unknown fact of the index: 'size'" in shop.run({"python": "facts:wrong"}).error
