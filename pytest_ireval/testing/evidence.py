"""A broken promise in words: what was promised, the smallest data that break it, both values, what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plurals import counted
from pytest_ireval.testing.advice import advice, chosen_numbers
from pytest_ireval.testing.breaking import Broken, Seen
from pytest_ireval.testing.data import Query
from pytest_ireval.testing.promises import Promise

WIDTH = 110
MOST_QUERIES = 12
MOST_SHOWN = 50
"""So many documents of a list are shown."""


def evidence(metric: Metric, promise: Promise, broken: Broken, asked: Metric) -> str:
    """The whole message; ``asked`` is the metric as its author handed it over, maybe without arguments."""
    return "\n".join(_lines(metric, promise, broken, asked))


def _lines(metric: Metric, promise: Promise, broken: Broken, asked: Metric) -> Iterator[str]:
    yield f"{metric} breaks the promise {promise.name}"
    yield f"  promised: {promise.says}"
    for seen in broken.seen:
        yield from _data(seen)
    if broken.complaint:
        yield f"  it {broken.complaint}"
    yield from map(_filled, chosen_numbers(metric, asked))
    excuse = "; or, if its definition forbids that, say so in the metric:" if promise.optional else ""
    yield _filled(f"what to do: {advice(metric, promise, broken)}{excuse}")
    if promise.optional:
        yield f"    not_promised={{{promise.name!r}: 'the reason'}}"
    yield f"  the metric comes from {metric.source}"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _data(seen: Seen) -> Iterator[str]:
    """Data as short text, and the value beside them."""
    if seen.how:
        yield f"  {seen.how}:"
    shown = [q for i, q in enumerate(seen.data.queries) if i < MOST_QUERIES or q.name == seen.unit]
    for query in shown:
        yield f"  query {query.name}: judged {_judgments(query)}; ranked {_ranking(query, seen.scored)}"
    if len(shown) < len(seen.data.queries):
        yield f"  … and {counted(len(seen.data.queries) - len(shown), 'query')} more"
    if seen.value != "none":
        yield f"  value{f' of {seen.unit}' if seen.unit else ''}: {seen.value}"


def _judgments(query: Query) -> str:
    return _cut([f"{document}={grade:g}" for document, grade in query.grades.items()])


def _ranking(query: Query, scored: bool) -> str:
    """Documents in order of rank; with scores if they are wanted, or if some are equal."""
    if query.ranking is None:
        return "not at all"
    scores = dict(query.ranking)
    plain = not scored and len(set(scores.values())) == len(scores)
    shown = [document if plain else f"{document} ({scores[document]:g})" for document in query.ordered]
    return _cut(shown) or "nothing"


def _cut(entries: list[str]) -> str:
    """A list that is very long is shown by its ends."""
    if len(entries) <= MOST_SHOWN:
        return " ".join(entries)
    return f"{' '.join(entries[:4])} … ({len(entries) - 8} more) … {' '.join(entries[-4:])}"
