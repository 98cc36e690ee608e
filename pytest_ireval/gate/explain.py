"""Step 4: find what stands behind the outcomes: causes, documents of the worst queries, and what to judge next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import IrevalError, make_exception_problem
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.diagnosing import describe_unknown_fields, diagnose_change
from pytest_ireval.gate.fetching import make_request
from pytest_ireval.gate.lost_in_stages import locate_losses
from pytest_ireval.gate.planning import Check
from pytest_ireval.gate.query_documents import collect_query_documents, point_to_documents
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.to_judge import advise_judging
from pytest_ireval.progress import SILENT
from pytest_ireval.results.outcome import Diagnosis, Outcome, Placed
from pytest_ireval.results.suite_result import EngineExplanation, QueryDocuments, ToJudge


class ExplainedOutcomes(NamedTuple):
    """The outcomes with the documents behind them, and why the figures changed."""

    outcomes: tuple[Outcome, ...]
    causes: tuple[Diagnosis, ...]
    documents: tuple[QueryDocuments, ...]
    engine: tuple[EngineExplanation, ...]
    to_judge: tuple[ToJudge, ...]
    notes: tuple[str, ...]


def explain_outcomes(
    inputs: Inputs, scores: Scores, checks: Sequence[Check], outcomes: Sequence[Outcome], last_run: Path | None
) -> ExplainedOutcomes:
    """Explain the outcomes of a suite; ``last_run`` holds the rankings of the run before."""
    diagnoses = diagnose_change(inputs, scores, checks, outcomes, last_run)
    advice = advise_judging(scores, checks, outcomes, diagnoses.causes)
    documents = collect_query_documents(scores, advice.outcomes)
    explained = locate_losses(scores, checks, point_to_documents(scores, advice.outcomes, documents))
    engine = ask_engine(inputs, explained, documents)
    unknown = describe_unknown_fields(inputs.current.unknown_fields)
    named = any(unknown in cause.headline for cause in diagnoses.causes)
    return ExplainedOutcomes(
        outcomes=explained,
        causes=diagnoses.causes,
        documents=documents,
        engine=engine.explanations,
        to_judge=advice.to_judge,
        notes=(*([unknown] if unknown and not named else []), *diagnoses.complaints, *engine.notes),
    )


EXPLAINED_QUERIES, EXPLAINED_DOCUMENTS = 5, 2
MOST_LINES, MOST_LETTERS, MOST_SECONDS = 40, 200, 60.0
"""The size of an explanation, and how long the source may take for it."""


class EngineAnswers(NamedTuple):
    """What the source says of the scores of documents."""

    explanations: tuple[EngineExplanation, ...] = ()
    notes: tuple[str, ...] = ()
    """Why it does not say more."""


def ask_engine(inputs: Inputs, outcomes: Sequence[Outcome], documents: Sequence[QueryDocuments]) -> EngineAnswers:
    """Ask the source why documents that moved have their scores, if a rule fails."""
    source, there = inputs.suite.source, {each.query: each for each in documents}
    explain = source.kind.explain if source is not None else None
    red = dict.fromkeys(each.query for outcome in outcomes if outcome.verdict == "fail" for each in outcome.queries)
    pairs = [
        (query, placed)
        for query in islice((query for query in red if query in there), EXPLAINED_QUERIES)
        for placed in _moved_most(there[query], inputs.suite.depth)
    ]
    if source is None or explain is None or not pairs:
        return EngineAnswers()
    documents_keys = inputs.suite.documents
    if documents_keys.spans is not None or documents_keys.collapse:
        wanted = getattr(source.options, "explain", True)
        note = "explain has no effect with documents: spans or collapse: the index has other ids"
        return EngineAnswers(notes=(note,) if wanted else ())
    from pytest_ireval.sources.calls import make_calls
    from pytest_ireval.sources.live.exchange import AttemptError  # which most runs can do without

    request = make_request(inputs.collection)

    def explain_document(number: int) -> list[str]:
        query, placed = pairs[number]
        return [
            str(line)[:MOST_LETTERS]
            for line in islice(explain(source.options, request, query, placed.document), MOST_LINES)
        ]

    answers = make_calls(explain_document, len(pairs), 2, MOST_SECONDS, SILENT)
    found = tuple(
        EngineExplanation(query, placed.document, placed.now, placed.baseline, tuple(answer.value))
        for (query, placed), answer in zip(pairs, answers, strict=False)
        if answer.value
    )
    if not answers[-1].failed:
        return EngineAnswers(found)
    query, placed = pairs[len(answers) - 1]
    error = answers[-1].error or AttemptError(f"no answer in {MOST_SECONDS:g}s")
    known = isinstance(error, IrevalError | AttemptError)
    why = " ".join((str(error) if known else make_exception_problem("it", error).complaint).split())
    note = f"the source does not explain document {placed.document} of query {query}: {why}"
    return EngineAnswers(found, (note,))


def _moved_most(documents: QueryDocuments, depth: int) -> list[Placed]:
    """The documents that changed metrics most; then those that moved over most ranks."""

    def size(place: int) -> tuple[float, int]:
        placed = documents.documents[place]
        share = max((abs(shares[place] or 0.0) for shares in documents.shares.values()), default=0.0)
        return share, abs((placed.now or depth + 1) - (placed.baseline or depth + 1))

    sizes = {place: size(place) for place in range(len(documents.documents))}
    most = sorted((place for place in sizes if any(sizes[place])), key=lambda place: sizes[place], reverse=True)
    return [documents.documents[place] for place in most[:EXPLAINED_DOCUMENTS]]
