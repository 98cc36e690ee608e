"""The plain causes of red checks, and the engine's own explanation of the documents that moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from pytest_ireval.errors import IrevalError, raised
from pytest_ireval.gate.answers import request_of
from pytest_ireval.gate.last_run import LastRun, repeated_run
from pytest_ireval.gate.material import Material, reference_of
from pytest_ireval.progress import SILENT
from pytest_ireval.results.outcome import Diagnosis, Outcome, Placed
from pytest_ireval.results.suite_result import EngineExplanation, QueryDocuments
from pytest_ireval.retrieval.document_texts import titles_of
from pytest_ireval.rules.diagnosis import NAMED, Diagnosed, RankingChange, diagnosed
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Side
from pytest_ireval.sources.run import orders_by_rank


def diagnoses_of(
    material: Material, checks: Sequence[Check], outcomes: Sequence[Outcome], last_run: Path | None
) -> Diagnosed:
    """Plain causes of red or doubtful outcomes; without any, only causes that are a defect in any case."""
    doubtful = [each for each in outcomes if each.verdict != "pass" or each.warning]
    by_id, source = {check.id: check for check in checks}, material.suite.source
    ordered = sorted(doubtful, key=lambda each: each.verdict != "fail")
    compared = (by_id[each.id] for each in ordered if by_id[each.id].asked and each.compares)
    sides = (*(reference_of(check, material) for check in compared), material.comparable)
    baseline = next((side for side in sides if isinstance(side, Side)), None)
    if baseline is None or source is None:
        return Diagnosed((), ())
    now = material.now_beside(baseline)
    metrics = {str(each.metric): each.metric for each in now.scored.values() if each.metric.unit == "query"}
    names = [each.metric for each in ordered] + list(metrics)
    change = RankingChange(
        material.population,
        now,
        baseline,
        next((metrics[name] for name in names if name in metrics and name in baseline.scored), None),
        source_changed=material.cause is not None and material.cause.source,
        ranked_lines=lambda: orders_by_rank(source.options, material.suite.path.parent),
        titles=lambda wanted: titles_of(wanted, *material.document_texts),
        gone=frozenset(map(material.population.called, material.gone)),
    )
    found = diagnosed(change, material.registry.diagnoses, certain=not doubtful)
    before = (*_of_judges(material, change, doubtful), *_of_index(material, change, doubtful))
    found = found._replace(causes=(*before, *found.causes))
    repeated = repeated_run(last_run, material) if doubtful and not change.unchanged else None
    return found if repeated is None else found._replace(causes=(*found.causes, _repeats(repeated, change)))


def _of_judges(material: Material, change: RankingChange, doubtful: Sequence[Outcome]) -> Iterator[Diagnosis]:
    """Other judges than those of the baseline, such as another model, if grades changed with them."""
    cause = material.cause
    if cause is not None and cause.judges and cause.judgments and doubtful:
        prints = material.judged_by.grades_of if material.judged_by else {}
        then = material.stored.grades_of if material.stored else {}
        judged = [query for query in change.queries if prints.get(query) != then.get(query)]
        yield Diagnosis(
            kind="judges_changed",
            headline=f"the judge changed since the baseline: {cause.judges}",
            advice="judge both rankings by one judge, or accept the new judgments before the new ranking.",
            queries=tuple(change.worst_first(judged)[:NAMED]),
            affected=len(judged),
            compared=len(change.queries),
            locates=True,
        )


def _of_index(material: Material, change: RankingChange, doubtful: Sequence[Outcome]) -> Iterator[Diagnosis]:
    """Another index than that of the baseline, before what it did to the rankings."""
    if material.cause is not None and material.cause.index and doubtful and not change.unchanged:
        yield Diagnosis(
            kind="index_changed",
            headline=f"the index changed since the baseline: {material.cause.index}",
            advice="check that the new index is complete, and that its mapping was meant to change.",
            queries=tuple(change.worst_first(change.moved)[:NAMED]),
            affected=len(change.moved),
            compared=len(change.queries),
            locates=True,
        )


def _repeats(run: LastRun, change: RankingChange) -> Diagnosis:
    """The answers of the run before, though the source is another one; other causes that were found come first."""
    return Diagnosis(
        kind="same_answers",
        headline=f"the source changed since {run}, but every ranking is the same as in that run",
        advice="check that the new source was asked: a cache or an old file may have answered.",
        queries=tuple(change.worst_first(change.moved)[:NAMED]),
        affected=len(change.moved),
        compared=len(change.queries),
    )


_EXPLAINED_QUERIES, _EXPLAINED_DOCUMENTS = 5, 2
_LINES, _LETTERS, _SECONDS = 40, 200, 60.0
"""The size of an explanation, and how long the source may take for it."""


def explained(
    material: Material, outcomes: Sequence[Outcome], documents: Sequence[QueryDocuments]
) -> tuple[tuple[EngineExplanation, ...], tuple[str, ...]]:
    """Ask the source why documents that moved have their scores, if a rule fails; and a note if it does not say."""
    source, there = material.suite.source, {each.query: each for each in documents}
    explain = source.kind.explain if source is not None else None
    red = dict.fromkeys(each.query for outcome in outcomes if outcome.verdict == "fail" for each in outcome.queries)
    pairs = [
        (query, placed)
        for query in islice((query for query in red if query in there), _EXPLAINED_QUERIES)
        for placed in _moved_most(there[query], material.suite.depth)
    ]
    if source is None or explain is None or not pairs:
        return (), ()
    documents_asked = material.suite.documents
    if documents_asked.spans is not None or documents_asked.collapse or documents_asked.pattern:
        wanted = getattr(source.options, "explain", True)
        return (), ("explain has no effect with documents: spans or collapse: the index has other ids",) * wanted
    from pytest_ireval.sources.asking import in_threads  # which most runs can do without
    from pytest_ireval.sources.exchange import AttemptError

    request = request_of(material.suite, material.registry, material.population.queries)

    def asked(number: int) -> list[str]:
        query, placed = pairs[number]
        return [
            str(line)[:_LETTERS] for line in islice(explain(source.options, request, query, placed.document), _LINES)
        ]

    told = in_threads(asked, len(pairs), 2, _SECONDS, SILENT)
    found = tuple(
        EngineExplanation(query, placed.document, placed.now, placed.baseline, tuple(answer.value))
        for (query, placed), answer in zip(pairs, told, strict=False)
        if answer.value
    )
    if not told[-1].failed:
        return found, ()
    query, placed = pairs[len(told) - 1]
    error = told[-1].error or AttemptError(f"no answer in {_SECONDS:g}s")
    known = isinstance(error, IrevalError | AttemptError)
    why = " ".join((str(error) if known else raised("it", error).complaint).split())
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
