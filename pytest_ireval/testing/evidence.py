"""A broken promise in words: what was promised, the smallest data that break it, both values, what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.testing.breaking import Broken, Seen
from pytest_ireval.testing.data import Query
from pytest_ireval.testing.promises import Promise

WIDTH = 110


def evidence(metric: Metric, promise: Promise, broken: Broken) -> str:
    """The whole message."""
    return "\n".join(_lines(metric, promise, broken))


def _lines(metric: Metric, promise: Promise, broken: Broken) -> Iterator[str]:
    yield f"{metric} breaks the promise {promise.name}"
    yield f"  promised: {promise.says}"
    for seen in broken.seen:
        yield from _data(seen)
    if broken.complaint:
        yield f"  it {broken.complaint}"
    excuse = "; or, if its definition forbids that, say so in the metric:" if promise.optional else ""
    yield textwrap.fill(f"what to do: {promise.advice}{excuse}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    if promise.optional:
        yield f"    not_promised={{{promise.name!r}: 'the reason'}}"
    yield f"  the metric comes from {metric.source}"


def _data(seen: Seen) -> Iterator[str]:
    """Data as short text, and the value beside them."""
    if seen.how:
        yield f"  {seen.how}:"
    for query in seen.data.queries:
        yield f"  query {query.name}: judged {_judgments(query)}; ranked {_ranking(query, seen.scored)}"
    if seen.value != "none":
        yield f"  value{f' of {seen.unit}' if seen.unit else ''}: {seen.value}"


def _judgments(query: Query) -> str:
    return " ".join(f"{document}={grade:g}" for document, grade in query.grades.items())


def _ranking(query: Query, scored: bool) -> str:
    """Documents in order of rank; with scores if they are wanted, or if some are equal."""
    if query.ranking is None:
        return "not at all"
    scores = dict(query.ranking)
    plain = not scored and len(set(scores.values())) == len(scores)
    shown = [document if plain else f"{document} ({scores[document]:g})" for document in query.ordered]
    return " ".join(shown) or "nothing"
