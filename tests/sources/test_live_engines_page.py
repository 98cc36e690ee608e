"""The page about live engines is true: its suites load, its options exist, its recipes read what the engines answer."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

pytest.importorskip("sqlalchemy", reason="needs pytest-ireval[sql]")


from pytest_ireval import Queries, load_suite

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "live_engines.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
BLOCKS = {
    title: (language, code)
    for language, title, code in re.findall(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', TEXT, re.MULTILINE | re.DOTALL)
}
SUITES = [title for title in BLOCKS if title.startswith("suites/")]

pytestmark = pytest.mark.skipif(not TEXT, reason="needs a checkout of the project")


def tree(title):
    return yaml.load(BLOCKS[title][1], yaml.BaseLoader)


@pytest.mark.parametrize("title", SUITES)
def test_the_suites_of_the_page_are_read(tmp_path, monkeypatch, title):
    monkeypatch.delenv("ENGINE_URL", raising=False)
    (tmp_path / "data").mkdir()
    for name in ("queries.tsv", "judgments.txt"):
        (tmp_path / "data" / name).touch()
    path = tmp_path / Path(title).name
    path.write_text(BLOCKS[title][1], encoding="utf-8")

    suite = load_suite(path)

    name = path.name.partition(".")[0]
    assert suite.source.kind.name == {"postgresql": "sql"}.get(name, name)


def test_images_have_the_versions_that_the_tests_start():
    java = ROOT / "tests" / "engines" / "java"
    for name, image in {
        "opensearch": "opensearchproject/opensearch",
        "elasticsearch": "elasticsearch/elasticsearch",
    }.items():
        version = re.search(r"<engine>([\d.]+)<", (java / name / "pom.xml").read_text("utf-8"))[1]
        assert set(re.findall(rf"{image}:([\d.]+)", TEXT)) == {version}
    assert re.search(r"<(?:engine|version)>([\d.]{5,})<", (java / "solr" / "pom.xml").read_text("utf-8"))[1] in TEXT


HITS = ["m2", "m1"]
ANSWERS = {
    "typesense": {
        "facet_counts": [],
        "found": 2,
        "out_of": 3000,
        "page": 1,
        "request_params": {"collection_name": "products", "per_page": 10, "q": "red mug"},
        "search_cutoff": False,
        "search_time_ms": 3,
        "hits": [
            {"document": {"id": key, "title": key.upper()}, "highlight": {}, "highlights": [], "text_match": 578730123}
            for key in HITS
        ],
    },
    "meilisearch": {
        "hits": [{"id": key, "title": key.upper()} for key in HITS],
        "query": "red mug",
        "processingTimeMs": 3,
        "limit": 10,
        "offset": 0,
        "estimatedTotalHits": 2,
    },
    "algolia": {
        "hits": [{"objectID": key, "title": key.upper(), "_highlightResult": {}} for key in HITS],
        "nbHits": 2,
        "page": 0,
        "nbPages": 1,
        "hitsPerPage": 10,
        "exhaustiveNbHits": True,
        "query": "red mug",
        "processingTimeMS": 3,
    },
    "qdrant": {
        "usage": {"hardware": None},
        "time": 0.003,
        "status": "ok",
        "result": {
            "points": [
                {"id": n, "version": 3, "score": 0.9 - n / 10, "payload": {"sku": key, "title": key.upper()}}
                for n, key in enumerate(HITS)
            ]
        },
    },
}
"""Answers in the format of the engines' references."""
KEYS = {
    "typesense": ("x-typesense-api-key", "a-key-that-searches"),
    "meilisearch": ("authorization", "Bearer a-key-that-searches"),
    "algolia": ("x-algolia-api-key", "a-key-that-searches"),
    "qdrant": ("api-key", "a-key-that-searches"),
}
WANTED = {
    "typesense": {"q": "red mug", "query_by": "title,description", "per_page": "10"},
    "meilisearch": {"q": "red mug", "limit": 10, "attributesToRetrieve": ["id", "title"]},
    "algolia": {
        "query": "red mug",
        "hitsPerPage": 10,
        "attributesToRetrieve": ["title"],
        "analytics": False,
        "enableABTest": False,
        "enablePersonalization": False,
    },
    "qdrant": {
        "query": "5c56c793-69f3-4fbf-87e6-c4bf54c28c26",
        "lookup_from": {"collection": "queries"},
        "limit": 10,
        "with_payload": ["sku", "title"],
    },
}


@pytest.fixture
def make_source(shop, server, monkeypatch):
    """The source of a recipe, at a server of our own."""
    from pytest_ireval.suite import yaml_tree
    from pytest_ireval.suite.scalars import File

    monkeypatch.setenv("SEARCH_KEY", "a-key-that-searches")
    monkeypatch.setenv("ALGOLIA_APPLICATION", "application")
    point = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"
    shop.queries = Queries(("q1",), ("red mug",), {"point": (point,)}, "queries.tsv")

    def source(name):
        code = re.sub(r"https://search\.example(:\d+)?", server.url, BLOCKS[name][1])
        code = code.replace("${SEARCH_KEY}", "a-key-that-searches").replace("${ALGOLIA_APPLICATION}", "application")
        return yaml_tree.tree_of(code.encode(), File("shop.ireval.yaml", ".")).top["source"]

    return source


@pytest.mark.parametrize("name", ANSWERS)
def test_recipes_ask_and_read_as_the_references_of_the_engines_say(shop, server, make_source, name):
    server.respond = lambda _: ANSWERS[name]

    rankings = shop.ask(make_source(name), by_id=False)

    assert rankings.ranking("q1") == HITS
    assert rankings.fields["m1"] == {"title": "M1"}
    (request,) = server.requests
    address = urlsplit(tree(name)["source"]["http"])
    assert (request.path, address.hostname) == (address.path, "search.example")
    assert (request.body or request.params) == WANTED[name]
    assert request.method == ("POST" if request.body else "GET")
    assert request.headers[KEYS[name][0]] == KEYS[name][1]


@pytest.mark.parametrize(
    ("name", "incomplete"), [("typesense", {"search_cutoff": True}), ("qdrant", {"status": "acknowledged"})]
)
def test_an_incomplete_answer_is_an_error(shop, server, make_source, name, incomplete):
    server.respond = lambda _: ANSWERS[name] | incomplete
    source = make_source(name)
    source["attempts"] = "1"

    assert "the answer is incomplete" in shop.refused(source)
