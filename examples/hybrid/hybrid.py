"""A hybrid search: BM25 and vectors retrieve, their ranks are fused, and the best of them are reranked."""

import csv
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np

RETRIEVERS = os.environ.get("HYBRID_RETRIEVERS", "bm25 dense").split()
"""Without dense, as if the index of the vectors had not been loaded."""
SAME = dict(pair.split() for pair in ("cup mug", "skillet pan", "couch sofa", "sweater jumper", "light lamp"))

with open(Path(__file__).parent / "data" / "products.tsv", encoding="utf-8", newline="") as file:
    TITLES = {row["id"]: row["title"] for row in csv.DictReader(file, delimiter="\t")}
IDS = list(TITLES)
COUNTS = [Counter(title.split()) for title in TITLES.values()]
LENGTH = sum(map(len, COUNTS)) / len(COUNTS)
FOUND_IN = Counter(word for counts in COUNTS for word in counts)
TERMS = {word: number for number, word in enumerate(FOUND_IN)}


def search(text):
    """Return the ranking of each stage."""
    rankings = [{"bm25": retrieve_bm25, "dense": retrieve_dense}[name](text) for name in RETRIEVERS]
    retrieved = fuse(rankings)[:12]
    return {"retrieve": retrieved, "rerank": rerank(text, retrieved)[:10]}


def retrieve_bm25(text, k1=1.2, b=0.75):
    """Documents that have a word of the query."""
    scores = np.zeros(len(IDS))
    for word in text.split():
        worth = math.log(1 + (len(IDS) - FOUND_IN[word] + 0.5) / (FOUND_IN[word] + 0.5))
        for row, counts in enumerate(COUNTS):
            scores[row] += worth * counts[word] * (k1 + 1) / (counts[word] + k1 * (1 - b + b * len(counts) / LENGTH))
    return [IDS[row] for row in np.argsort(-scores, kind="stable")[:50] if scores[row] > 0]


def retrieve_dense(text):
    """The documents with the closest vectors (latent semantic analysis)."""
    scores = np.round(VECTORS @ embed([text])[0], 6)  # the same order on every machine
    return [IDS[row] for row in np.argsort(-scores, kind="stable")[:50]]


def embed(texts):
    """Sums of the vectors of the words, of length 1."""
    counts = np.array([[Counter(text.split())[word] for word in TERMS] for text in texts], float)
    vectors = counts @ WORD_VECTORS
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def fuse(rankings, k=60):
    """Reciprocal rank fusion."""
    scores = Counter()
    for ranking in rankings:
        for rank, document in enumerate(ranking, 1):
            scores[document] += 1 / (k + rank)
    return [document for document, _ in scores.most_common()]


def rerank(text, documents):
    """Sort by shared words, of which the reranker knows those that mean the same."""
    wanted = {SAME.get(word, word) for word in text.split()}

    def count_shared(document):
        title = TITLES[document].split()
        return len(wanted & {SAME.get(word, word) for word in title}) + ("vintage" in title) / 10

    return sorted(documents, key=count_shared, reverse=True)


_counts = np.array([[counts[word] for word in TERMS] for counts in COUNTS], float)
WORD_VECTORS = np.linalg.svd(_counts, full_matrices=False)[2][:16].T
VECTORS = embed(TITLES.values())
