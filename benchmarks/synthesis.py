"""How a synthetic data set is drawn: queries, ranked documents, scores with ties, judgments.

The draws follow one seed, so one NumPy version always writes the same files. Rankings are ordered
by score, as retrieval tools write them, and about 2 % of the neighbours are tied. A shuffled data
set holds the lines of its ordered twin, those of each query in random order.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from datasets import Shape

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

SEED = 7
SYSTEM = "bm25"
NEWSPAPERS = ("FBIS3-", "FBIS4-", "FT911-", "FT934-", "LA0710", "LA0416", "FR9402")
SHARE_OF_TIES = 0.02
SHARE_OF_SECOND_JUDGMENTS = 0.06
SHARE_OF_RELEVANT_RETRIEVED = 0.85
SHARE_OF_GRADE_TWO = 0.3


def write_data_set(shape: Shape, judgments_path: Path, rankings_path: Path) -> None:
    """Both files are complete afterwards, queries in the same order in both."""
    random = np.random.default_rng(SEED)
    line_order = np.random.default_rng(SEED + 1)  # its own, so that shuffling changes no draw of the content
    with (
        judgments_path.open("w", encoding="ascii", newline="\n") as judgments,
        rankings_path.open("w", encoding="ascii", newline="\n") as rankings,
    ):
        for query in _query_ids(shape, random):
            documents = random.choice(shape.collection, shape.depth, replace=False)
            judgments.writelines(_judgment_lines(shape, query, _judge(shape, documents, random)))
            lines = _ranking_lines(shape, query, documents, _scores(shape, random))
            if shape.shuffled:
                lines = [lines[position] for position in line_order.permutation(len(lines))]
            rankings.write("".join(lines))


def _query_ids(shape: Shape, random: np.random.Generator) -> Iterator[str]:
    if shape.first_query is not None:
        yield from map(str, range(shape.first_query, shape.first_query + shape.queries))
    else:
        yield from map(str, random.choice(1_200_000, shape.queries, replace=False).tolist())


def _judge(shape: Shape, documents: Integers, random: np.random.Generator) -> dict[int, int]:
    if shape.judging == "sparse":
        return _judge_few(shape.collection, documents, random)
    return _judge_pool(shape.judging, shape.collection, documents, random)


def _judge_few(collection: int, documents: Integers, random: np.random.Generator) -> dict[int, int]:
    """One relevant document, seldom two; most are retrieved, usually near the top."""
    grades = {}
    for _ in range(1 + int(random.random() < SHARE_OF_SECOND_JUDGMENTS)):
        position = int(random.pareto(0.6) * 3)
        retrieved = random.random() < SHARE_OF_RELEVANT_RETRIEVED and position < len(documents)
        grades[int(documents[position]) if retrieved else int(random.integers(collection))] = 1
    return grades


def _judge_pool(size: int, collection: int, documents: Integers, random: np.random.Generator) -> dict[int, int]:
    """About `size` judged documents: a sample of the ranking, dense at its top, and others."""
    sampled = random.random(len(documents)) < np.linspace(0.9, 0.15, len(documents))
    retrieved = documents[sampled][: int(size * 0.6)]
    others = random.integers(0, collection, size - len(retrieved))
    relevant = np.concatenate([np.linspace(0.5, 0.05, len(retrieved)), np.full(len(others), 0.02)])
    draw = random.random(size)
    grades = (draw < relevant).astype(np.int64) + (draw < relevant * SHARE_OF_GRADE_TWO)
    pool = np.concatenate([retrieved, others])
    return dict(zip(reversed(pool.tolist()), reversed(grades.tolist()), strict=True))


def _scores(shape: Shape, random: np.random.Generator) -> list[str]:
    steps = random.exponential(0.012, shape.depth)
    steps[random.random(shape.depth) < SHARE_OF_TIES] = 0.0
    scores: Floats = 10 + 25 * random.random() - np.cumsum(steps)
    if shape.scores == "six decimals":
        return [f"{score:.6f}" for score in scores.tolist()]
    return [repr(score) for score in scores.astype(np.float32).astype(np.float64).tolist()]


def _judgment_lines(shape: Shape, query: str, grades: dict[int, int]) -> list[str]:
    names = _names(shape, list(grades))
    return [f"{query} 0 {name} {grade}\n" for name, grade in sorted(zip(names, grades.values(), strict=True))]


def _ranking_lines(shape: Shape, query: str, documents: Integers, scores: list[str]) -> list[str]:
    names = _names(shape, documents.tolist())
    return [
        f"{query} Q0 {name} {rank} {score} {SYSTEM}\n"
        for rank, (name, score) in enumerate(zip(names, scores, strict=True), start=1)
    ]


def _names(shape: Shape, documents: list[int]) -> list[str]:
    """The ids of the documents with these numbers; different numbers have different ids."""
    if shape.document_ids == "numbers":
        return [str(number) for number in documents]
    if shape.document_ids == "news":
        return [f"{NEWSPAPERS[n % len(NEWSPAPERS)]}{n % 97:02d}-{n:05d}" for n in documents]
    return [f"msmarco_v2.1_segment_{n % 60:02d}_{n * 2_654_435_761 % 2**31}#{n % 29}_{n}" for n in documents]
