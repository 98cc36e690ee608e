"""Explanations of the engine: why it gives the documents behind red rules their scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from pytest_ireval.errors import IrevalError, make_exception_problem
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.fetching import make_request
from pytest_ireval.progress import SILENT
from pytest_ireval.results.outcome import Outcome, Placed
from pytest_ireval.results.suite_result import EngineExplanation, QueryDocuments

_EXPLAINED_QUERIES, _EXPLAINED_DOCUMENTS = 5, 2
_LINES, _LETTERS, _SECONDS = 40, 200, 60.0
"""The size of an explanation, and how long the source may take for it."""


def ask_engine(
    inputs: Inputs, outcomes: Sequence[Outcome], documents: Sequence[QueryDocuments]
) -> tuple[tuple[EngineExplanation, ...], tuple[str, ...]]:
    """Ask the source why documents that moved have their scores, if a rule fails; and a note if it does not say."""
    source, there = inputs.suite.source, {each.query: each for each in documents}
    explain = source.kind.explain if source is not None else None
    red = dict.fromkeys(each.query for outcome in outcomes if outcome.verdict == "fail" for each in outcome.queries)
    pairs = [
        (query, placed)
        for query in islice((query for query in red if query in there), _EXPLAINED_QUERIES)
        for placed in _moved_most(there[query], inputs.suite.depth)
    ]
    if source is None or explain is None or not pairs:
        return (), ()
    documents_keys = inputs.suite.documents
    if documents_keys.spans is not None or documents_keys.collapse:
        wanted = getattr(source.options, "explain", True)
        return (), ("explain has no effect with documents: spans or collapse: the index has other ids",) * wanted
    from pytest_ireval.sources.calls import make_calls
    from pytest_ireval.sources.live.exchange import AttemptError  # which most runs can do without

    request = make_request(inputs.collection)

    def explain_document(number: int) -> list[str]:
        query, placed = pairs[number]
        return [
            str(line)[:_LETTERS] for line in islice(explain(source.options, request, query, placed.document), _LINES)
        ]

    answers = make_calls(explain_document, len(pairs), 2, _SECONDS, SILENT)
    found = tuple(
        EngineExplanation(query, placed.document, placed.now, placed.baseline, tuple(answer.value))
        for (query, placed), answer in zip(pairs, answers, strict=False)
        if answer.value
    )
    if not answers[-1].failed:
        return found, ()
    query, placed = pairs[len(answers) - 1]
    error = answers[-1].error or AttemptError(f"no answer in {_SECONDS:g}s")
    known = isinstance(error, IrevalError | AttemptError)
    why = " ".join((str(error) if known else make_exception_problem("it", error).complaint).split())
    return found, (f"the source does not explain document {placed.document} of query {query}: {why}",)


def _moved_most(documents: QueryDocuments, depth: int) -> list[Placed]:
    """The documents that changed metrics most; then those that moved over most ranks."""

    def size(place: int) -> tuple[float, int]:
        placed = documents.documents[place]
        share = max((abs(shares[place] or 0.0) for shares in documents.shares.values()), default=0.0)
        return share, abs((placed.now or depth + 1) - (placed.baseline or depth + 1))

    sizes = {place: size(place) for place in range(len(documents.documents))}
    most = sorted((place for place in sizes if any(sizes[place])), key=lambda place: sizes[place], reverse=True)
    return [documents.documents[place] for place in most[:_EXPLAINED_DOCUMENTS]]
