"""Retrievers of Python frameworks as a source: stand-ins, and the real ones in the examples of the page."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest
import yaml

FILE = Path(__file__).parents[2] / "docs" / "sources.md"
PAGE = FILE.read_text(encoding="utf-8") if FILE.exists() else ""

LANGCHAIN = """
class Document:
    def __init__(self, page_content, metadata, id=None):
        self.id, self.page_content, self.metadata = id, page_content, metadata


class BaseRetriever:
    def transform(self, input, config=None):
        raise NotImplementedError

    def invoke(self, input, config=None, **kwargs):
        return self._get_relevant_documents(input, run_manager=None)


class Shop(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        keys = {"red mug": ("m1", "p1", "m2"), "blue mug": ("m2", "m1")}[query]
        return [Document(page_content=f"about {key}", metadata={"sku": key, "title": key.upper()}) for key in keys]


search = Shop()
"""
LLAMA_INDEX = """
class TextNode:
    def __init__(self, key, text):
        self.id_ = self.node_id = f"chunk of {key}"
        self.text, self.metadata, self.ref_doc_id = text, {"sku": key}, f"page of {key}"


class NodeWithScore:
    def __init__(self, node, score):
        self.node, self.score, self.node_id, self.metadata = node, score, node.node_id, node.metadata


class Shop:
    def retrieve(self, str_or_query_bundle):
        return [NodeWithScore(TextNode("m1", str_or_query_bundle), 2.5), NodeWithScore(TextNode("p1", "pan"), 1.0)]


search = Shop()
"""
HAYSTACK = """
class Document:
    def __init__(self, content, meta, score=None):
        self.id, self.content, self.meta, self.score = str(hash(content)), content, meta, score


class InMemoryBM25Retriever:
    def __init__(self, document_store):
        self.documents = document_store

    def run(self, query, filters=None, top_k=None, scale_score=None):
        return {"documents": found(self.documents, query)}


class InMemoryEmbeddingRetriever:
    def run(self, query_embedding, filters=None, top_k=None):
        raise NotImplementedError


def found(documents, query):
    for each in documents:
        each.score = sum(word in each.content for word in query.split())
    return sorted((each for each in documents if each.score), key=lambda each: -each.score)


store = [Document("red mug", {"sku": "m1"}), Document("blue mug", {"sku": "m2"}), Document("red pan", {"sku": "p1"})]
search = InMemoryBM25Retriever(store)
"""
BM25S = """
from typing import Any, NamedTuple

import numpy


class Results(NamedTuple):
    documents: numpy.ndarray
    scores: numpy.ndarray


class BM25:
    def retrieve(self, query_tokens, corpus=None, k=10, sorted=True, return_as="tuple", show_progress=True):
        ids = {"red": [0, 2, 1], "blue": [1, 0, 2]}[query_tokens[0][0]]
        return Results(numpy.array([ids])[:, :k], numpy.array([[0.5, 0.25, 0.0]], "f4")[:, :k])


def tokenize(text, show_progress=True):
    return [text.split()]


bm25 = BM25()


def search(text, *, depth):
    return bm25.retrieve(tokenize(text, show_progress=False), k=min(depth, 2), show_progress=False)
"""
PYTERRIER = """
import pandas


class Transformer:
    def __call__(self, queries):
        raise NotImplementedError

    transform = __call__

    def search(self, query, qid="1", sort=True):
        return self.transform(pandas.DataFrame([[qid, query]], columns=["qid", "query"]))


class Shop(Transformer):
    def transform(self, queries):
        rows = [[each.qid, each.query, 7 - place, f"d{place}", place, 3.0 - place]
                for each in queries.itertuples() for place in range(2)]
        return pandas.DataFrame(rows, columns=["qid", "query", "docid", "docno", "rank", "score"])


search = Shop()
"""
OF_CI = ("langchain_core", "haystack", "bm25s")
"""Packages of the extra parity."""


def needs(package):
    """Skip the test without the package, or fail where it is required."""
    if importlib.util.find_spec(package) is None:
        if package in OF_CI and os.environ.get("IREVAL_PEERS") == "required":
            pytest.fail(f"{package} is not installed, but IREVAL_PEERS=required")
        pytest.skip(f"{package} is not installed")


@pytest.fixture
def search(shop):
    """Asks ``search`` of a module."""

    def ask(framework, code="", *, lists=True, **options):
        shop.write("search.py", f"{framework}\n{code}")
        sys.modules.pop("search", None)
        return (shop.ask if lists else shop.refused)({"python": "search:search", **options})

    return ask


def test_documents_of_langchain_in_their_order_by_a_key_of_their_metadata(search):
    found = search(LANGCHAIN, id="metadata.sku")

    assert [found.ranking(query) for query in found.queries] == [["m1", "p1", "m2"], ["m2", "m1"]]
    assert found.fields["m1"] == {"page_content": "about m1", "sku": "m1", "title": "M1"}


def test_a_path_that_leads_nowhere_names_what_is_there(search):
    said = search(LANGCHAIN, id="metadata.key", lists=False)

    assert "which has no metadata.key" in said
    assert "in place of key there is sku, title" in said


def test_nodes_of_llama_index(search):
    found = search(LLAMA_INDEX)

    assert found.ranking("q1") == ["chunk of m1", "chunk of p1"]
    assert found.score.tolist() == [2.5, 1.0] * 2
    assert {name: found.fields["chunk of p1"][name] for name in ("text", "sku")} == {"text": "pan", "sku": "p1"}


@pytest.mark.parametrize(("path", "first"), [("metadata.sku", "m1"), ("node.ref_doc_id", "page of m1")])
def test_ids_of_llama_index_by_path(search, path, first):
    assert search(LLAMA_INDEX, id=path).ranking("q1")[0] == first


def test_a_component_of_haystack(search):
    found = search(HAYSTACK, id="meta.sku")

    assert found.ranking("q1")[0] == "m1"
    assert sorted(found.ranking("q1")) == ["m1", "m2", "p1"]
    assert found.fields["p1"] == {"content": "red pan", "sku": "p1"}


def test_a_component_that_takes_no_text_is_refused(search):
    said = search(HAYSTACK, "search = InMemoryEmbeddingRetriever()\n", lists=False)

    assert "search:search is InMemoryEmbeddingRetriever, which cannot be called with the text of a query" in said
    assert "its method run needs query_embedding: name a function that takes the text and calls it" in said
    assert "a retriever with one of the methods invoke, retrieve, get_relevant_documents, search, run" in said


def test_results_of_bm25s(search):
    found = search(BM25S)

    assert found.ranking("q1")[0] == "0"
    assert found.ranking("q2")[0] == "1"
    assert len(found.documents) == 4


def test_a_retriever_that_takes_tokens_is_refused(search):
    assert "its method retrieve needs query_tokens" in search(BM25S, "search = bm25\n", lists=False)


def test_a_transformer_of_pyterrier_is_known_by_docno(search):
    found = search(PYTERRIER)

    assert found.ranking("q1") == ["d0", "d1"]
    assert not found.fields


EXAMPLES = re.findall(r"^```py\n(# with_(\w+)\.py\n.*?)^```\n\n```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
HAYSTACK_ITSELF = """
from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

store = InMemoryDocumentStore()
store.write_documents(
    [Document(content="red mug", meta={"sku": "m1"}), Document(content="blue mug", meta={"sku": "m2"})]
)
retriever = InMemoryBM25Retriever(store, top_k=20)
"""
EXAMPLES.append((HAYSTACK_ITSELF, "haystack", 'source: {python: "with_haystack:retriever", id: meta.sku}'))
FIRST = {"langchain": "m1", "haystack": "m1", "bm25s": "m1"}


@pytest.mark.skipif(not PAGE, reason="needs a checkout of the project")
@pytest.mark.parametrize("name", FIRST)
def test_the_examples_of_the_page_and_haystack_itself(shop, name):
    (found,) = [(code, source) for code, framework, source in EXAMPLES if framework == name]
    needs(re.search(r"^(?:from|import) (\w+)", found[0], re.MULTILINE)[1])
    shop.write(f"with_{name}.py", found[0])

    assert shop.lists(yaml.load(found[1], yaml.BaseLoader)["source"], depth=2)["q1"][0] == FIRST[name]
