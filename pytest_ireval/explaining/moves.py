"""Where each document stands in two rankings, and what it contributes in both."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_ireval.metrics.steps import listing
from pytest_ireval.results.explanation import Explained, Move
from pytest_ireval.retrieval.judged import JudgedRankings


def moves_between(
    first: Explained, other: Explained, first_judged: JudgedRankings, other_judged: JudgedRankings
) -> tuple[Move, ...]:
    """Every document that one of the two looks at, best rank first."""
    ranks, other_ranks = _ranks(first, first_judged), _ranks(other, other_judged)
    shares, other_shares = _shares(first), _shares(other)
    grades = _grades(first) | _grades(other)
    moves = [
        Move(
            document=document,
            grade=grade,
            rank=ranks.get(document),
            other_rank=other_ranks.get(document),
            share=shares.get(document),
            other_share=other_shares.get(document),
        )
        for document, grade in grades.items()
    ]
    return tuple(sorted(moves, key=_best_rank))


def _best_rank(move: Move) -> tuple[int, int]:
    there = [rank for rank in (move.rank, move.other_rank) if rank is not None]
    return min(there), max(there)


def _ranks(explained: Explained, judged: JudgedRankings) -> Mapping[str, int]:
    """Ranks by document, below the cutoff, too; unless the metric counts ranks in its own way."""
    steps = explained.steps
    counted = dict(zip(steps.documents, steps.ranks, strict=True))
    whole = listing(judged)
    ranked = dict(zip(whole.documents, whole.rank.tolist(), strict=True))
    own_way = any(ranked[document] != rank for document, rank in counted.items())
    return counted if own_way else ranked


def _shares(explained: Explained) -> dict[str, float | None]:
    steps = explained.steps
    return {} if steps.shares is None else dict(zip(steps.documents, steps.shares.values, strict=True))


def _grades(explained: Explained) -> dict[str, float | None]:
    return dict(zip(explained.steps.documents, explained.steps.grades, strict=True))
