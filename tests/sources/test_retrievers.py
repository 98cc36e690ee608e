"""Retrievers of Python frameworks as a source: the objects themselves, and stand-ins that offer the same."""

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
"""
LLAMA_INDEX = """
class TextNode:
    def __init__(self, id_, text, metadata, ref_doc_id):
        self.id_, self.node_id, self.text, self.metadata, self.ref_doc_id = id_, id_, text, metadata, ref_doc_id


class ImageNode:
    def __init__(self, id_):
        self.id_, self.node_id, self.metadata = id_, id_, {}


class NodeWithScore:
    def __init__(self, node, score=None):
        self.node, self.score = node, score
        self.node_id = self.id_ = node.node_id
        self.metadata = node.metadata

    @property
    def text(self):
        if not isinstance(self.node, TextNode):
            raise ValueError("Node must be a TextNode to get text.")
        return self.node.text


class BaseRetriever:
    def retrieve(self, str_or_query_bundle):
        class QueryBundle:
            query_str = str_or_query_bundle

        return self._retrieve(QueryBundle)


def node(key, text, score):
    return NodeWithScore(TextNode(f"chunk of {key}", text, {"sku": key}, f"page of {key}"), score)
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


class Pipeline:
    def run(self, data, include_outputs_from=None):
        raise NotImplementedError


def found(documents, query):
    for each in documents:
        each.score = sum(word in each.content for word in query.split())
    return sorted((each for each in documents if each.score), key=lambda each: -each.score)


store = [Document("red mug", {"sku": "m1"}), Document("blue mug", {"sku": "m2"}), Document("red pan", {"sku": "p1"})]
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
"""
PYTERRIER = """
import pandas


class Transformer:
    def __call__(self, queries):
        raise NotImplementedError

    transform = __call__

    def search(self, query, qid="1", sort=True):
        return self.transform(pandas.DataFrame([[qid, query]], columns=["qid", "query"]))
"""
ANSWERS = {
    "langchain_core": """
class Shop(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        keys = {"red mug": ("m1", "p1", "m2"), "blue mug": ("m2", "m1")}[query]
        return [Document(page_content=f"about {key}", metadata={"sku": key, "title": key.upper()}) for key in keys]


search = Shop()
""",
    "llama_index": """
class Shop(BaseRetriever):
    def _retrieve(self, query):
        return [node("m1", query.query_str, 2.5), node("p1", "pan", 1.0)]


search = Shop()
""",
    "haystack": "search = InMemoryBM25Retriever(store)\n",
    "bm25s": "def search(text, *, depth):\n"
    "    return bm25.retrieve(tokenize(text, show_progress=False), k=min(depth, 2), show_progress=False)\n",
    "pyterrier": """
class Shop(Transformer):
    def transform(self, queries):
        rows = [[each.qid, each.query, 7 - place, f"d{place}", place, 3.0 - place]
                for each in queries.itertuples() for place in range(2)]
        return pandas.DataFrame(rows, columns=["qid", "query", "docid", "docno", "rank", "score"])


search = Shop()
""",
}
STAND_INS = {
    "langchain_core": LANGCHAIN,
    "llama_index": LLAMA_INDEX,
    "haystack": HAYSTACK,
    "bm25s": BM25S,
    "pyterrier": PYTERRIER,
}
REAL = {
    "langchain_core": "from langchain_core.documents import Document\n"
    "from langchain_core.retrievers import BaseRetriever\n",
    "llama_index": """
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import ImageNode, NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode


def node(key, text, score):
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"page of {key}")}
    return NodeWithScore(
        node=TextNode(id_=f"chunk of {key}", text=text, metadata={"sku": key}, relationships=source), score=score
    )
""",
    "haystack": """
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

store = InMemoryDocumentStore()
texts = {"m1": "red mug", "m2": "blue mug", "p1": "red pan"}
store.write_documents([Document(content=text, meta={"sku": key}) for key, text in texts.items()])
""",
    "bm25s": """
from bm25s import BM25, tokenize

bm25 = BM25()
bm25.index(tokenize(["red red mug", "blue mug", "red pan pan"], show_progress=False), show_progress=False)
""",
    "pyterrier": "import pandas\nfrom pyterrier import Transformer\n",
}
OF_CI = ("langchain_core", "haystack", "bm25s")
"""Packages of the extra parity."""


def needs(package):
    """Skip the test without the package, or fail where it is required."""
    if importlib.util.find_spec(package) is None:
        if package in OF_CI and os.environ.get("IREVAL_PEERS") == "required":
            pytest.fail(f"{package} is not installed, but IREVAL_PEERS=required")
        pytest.skip(f"{package} is not installed")


@pytest.fixture(params=["stand-in", "real"])
def search(request, shop):
    """Asks ``search`` of a module that has the classes of a framework, its own or stand-ins."""

    def ask(framework, code=None, *, lists=True, **options):
        if request.param == "real":
            needs(framework)
        classes = (REAL if request.param == "real" else STAND_INS)[framework]
        shop.write("search.py", f"{classes}\n{ANSWERS[framework] if code is None else code}")
        sys.modules.pop("search", None)
        return (shop.ask if lists else shop.refused)({"python": "search:search", **options})

    return ask


def test_documents_of_langchain_in_their_order_by_a_key_of_their_metadata(search):
    found = search("langchain_core", id="metadata.sku")

    assert [found.ranking(query) for query in found.queries] == [["m1", "p1", "m2"], ["m2", "m1"]]
    assert found.fields["m1"] == {"page_content": "about m1", "sku": "m1", "title": "M1"}


def test_documents_of_langchain_without_ids_name_the_option(search):
    said = search("langchain_core", lists=False)

    assert "which has no id" in said
    assert "say where it is, as in id: metadata.sku" in said


def test_a_path_that_leads_nowhere_names_what_is_there(search):
    said = search("langchain_core", id="metadata.key", lists=False)

    assert "which has no metadata.key" in said
    assert "in place of key there is sku, title" in said


def test_documents_with_scores_beside_them(search):
    """As LangChain's similarity_search_with_relevance_scores returns them."""
    code = """
def search(text):
    return [(Document(id=each, page_content=each, metadata={}), -n) for n, each in enumerate(text.split())]
"""

    assert search("langchain_core", code).ranking("q1") == ["red", "mug"]


def test_nodes_of_llama_index(search):
    found = search("llama_index")

    assert found.ranking("q1") == ["chunk of m1", "chunk of p1"]
    assert found.score.tolist() == [2.5, 1.0] * 2
    assert {name: found.fields["chunk of p1"][name] for name in ("text", "sku")} == {"text": "pan", "sku": "p1"}


@pytest.mark.parametrize(("path", "first"), [("metadata.sku", "m1"), ("node.ref_doc_id", "page of m1")])
def test_ids_of_llama_index_by_path(search, path, first):
    assert search("llama_index", id=path).ranking("q1")[0] == first


def test_a_node_without_text_and_without_score(search):
    code = """
class Shop(BaseRetriever):
    def _retrieve(self, query):
        return [NodeWithScore(node=ImageNode(id_=each)) for each in ("b", "a")]


search = Shop()
"""

    assert search("llama_index", code).ranking("q1") == ["b", "a"]


def test_a_component_of_haystack(search):
    found = search("haystack", id="meta.sku")

    assert found.ranking("q1")[0] == "m1"
    assert sorted(found.ranking("q1")) == ["m1", "m2", "p1"]
    assert found.fields["p1"] == {"content": "red pan", "sku": "p1"}


@pytest.mark.parametrize(
    ("made", "kind", "needs"),
    [
        (".__new__(InMemoryEmbeddingRetriever)", "InMemoryEmbeddingRetriever", "run needs query_embedding"),
        ("()", "Pipeline", "run needs data"),
    ],
)
def test_a_component_that_takes_no_text_is_refused(search, made, kind, needs):
    said = search("haystack", f"search = {kind}{made}\n", lists=False)

    assert f"search:search is {kind}, which cannot be called with the text of a query" in said
    assert f"its method {needs}: name a function that takes the text and calls it" in said
    assert "a retriever with one of the methods invoke, retrieve, get_relevant_documents, search, run" in said


def test_results_of_bm25s(search):
    found = search("bm25s")

    assert found.ranking("q1")[0] == "0"
    assert found.ranking("q2")[0] == "1"
    assert len(found.documents) == 4


def test_a_retriever_that_takes_tokens_is_refused(search):
    assert "its method retrieve needs query_tokens" in search("bm25s", "search = bm25\n", lists=False)


def test_a_transformer_of_pyterrier_is_known_by_docno(search):
    found = search("pyterrier")

    assert found.ranking("q1") == ["d0", "d1"]
    assert not found.fields


def test_rankings_of_several_queries_are_not_one_ranking(search):
    code = "def search(text):\n    return pandas.DataFrame({'qid': ['1', '2'], 'docno': ['a', 'b'], 'score': [2, 1]})\n"

    assert "returned the rankings of 2 queries, not of one" in search("pyterrier", code, lists=False)


def test_scores_of_a_retriever_that_rise_are_refused(search):
    code = """
class Shop(BaseRetriever):
    def _retrieve(self, query):
        return [node("m1", "near", 0.1), node("p1", "far", 0.9)]


search = Shop()
"""
    said = search("llama_index", code, lists=False)

    assert "not in the order of their scores: 'chunk of p1' (0.9) is below 'chunk of m1' (0.1)" in said
    assert "distances with a minus sign" in said


def test_a_path_needs_documents(shop):
    shop.write("search.py", "def search(text):\n    return {'a': 1} if 'red' in text else ['a']\n")
    sys.modules.pop("search", None)
    said = shop.refused({"python": "search:search", "id": "metadata.sku"})

    assert "query 'q1': returned dict, not a list of documents" in said
    assert "query 'q2': returned 'a', which has no metadata.sku" in said


def test_a_retriever_gets_one_query_at_a_time(search):
    said = search("haystack", mode="all", lists=False)

    assert "mode: all needs a function, but search:search is InMemoryBM25Retriever" in said


def test_a_function_with_a_method_of_a_retriever_is_called_itself(shop):
    code = """
class Shop:
    def __call__(self, text):
        return ["called"]

    def search(self, text):
        raise NotImplementedError


search = Shop()
"""
    shop.write("search.py", code)
    sys.modules.pop("search", None)

    assert shop.lists({"python": "search:search"})["q1"] == ["called"]


EXAMPLES = re.findall(r"^```py\n(# with_(\w+)\.py\n.*?)^```\n\n```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FIRST = {"langchain": "m1", "haystack": "m1", "bm25s": "m1", "faiss": "m1"}


@pytest.mark.skipif(not PAGE, reason="needs a checkout of the project")
@pytest.mark.parametrize("name", FIRST)
def test_the_examples_of_the_page(shop, name):
    (found,) = [(code, source) for code, framework, source in EXAMPLES if framework == name]
    needs(re.search(r"^(?:from|import) (\w+)", found[0], re.MULTILINE)[1])
    shop.write(f"with_{name}.py", found[0])

    assert shop.lists(yaml.load(found[1], yaml.BaseLoader)["source"], depth=2)["q1"][0] == FIRST[name]


@pytest.mark.skipif(not PAGE, reason="needs a checkout of the project")
def test_every_example_of_the_page_is_tried():
    assert [framework for _, framework, _ in EXAMPLES] == list(FIRST)
