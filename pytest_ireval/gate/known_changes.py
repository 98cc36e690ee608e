"""Causes that are known and not guessed from rankings: a changed request, file, judge, index or field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_ireval.gate.material import Material
from pytest_ireval.results.outcome import Cause, Diagnosis
from pytest_ireval.rules.ranking_change import MOST_NAMED, RankingChange
from pytest_ireval.words import list_changes

CORRECT = "correct the name of the field in the request, or add the field to the mapping."
UNDO = "undo this change alone, and run again: if the figures return, it is the cause."


def with_known_changes(
    material: Material, change: RankingChange, found: Sequence[Diagnosis], *, red: bool
) -> tuple[Diagnosis, ...]:
    """Add the known changes to the causes that were found in rankings.

    What somebody changed by intention comes first: the request, then judges, then the index. That a file of the source
    changed, or that another system is asked, says less than a pattern in rankings, and comes last; but a file comes
    before the index, which each job may build again.
    """
    cause, unknown = material.cause or Cause(), unknown_fields_words(material.unknown_fields)

    def make_diagnosis(kind: str, headline: str, advice: str = "") -> Diagnosis:
        queries = tuple(change.sort_by_loss(change.moved_queries)[:MOST_NAMED])
        return Diagnosis(
            kind, headline, advice, queries, affected=len(change.moved_queries), compared=len(change.queries)
        )

    if not red or change.is_unchanged:
        lacking = [make_diagnosis("unknown_fields", unknown, CORRECT)] if unknown else []
        return (*(_changes_of_judges(material, change) if red else ()), *lacking, *found)
    request, files, index, system = [], [], [], []
    source = material.suite.source
    if source is not None and source.kind.name == "run":  # that the files have other names does not say why they differ
        cause = replace(cause, request=(), system=(), source=False)
    if cause.request:
        said = f"the request changed since the baseline: {list_changes(cause.request)}"
        request.append(make_diagnosis("request_changed", _joined(said, unknown), CORRECT if unknown else UNDO))
    if cause.files:
        said = f"{list_changes(cause.files)} changed since the baseline, and makes the rankings"
        files.append(make_diagnosis("source_file_changed", said, UNDO))
    if cause.index:
        said = f"the index changed since the baseline: {cause.index}"
        advice = "check that the new index is complete, and that its mapping was meant to change."
        index.append(make_diagnosis("index_changed", said if request else _joined(said, unknown), advice))
    if cause.system:
        said = f"the source is not that of the baseline: {list_changes(cause.system)}"
        system.append(make_diagnosis("source_changed", said))
    elif cause.source and material.stored is not None and not material.stored.search.request:
        said = "the source is described in other words than in the baseline, which does not keep its options"
        system.append(make_diagnosis("source_changed", said))
    if unknown and not (request or index):
        system.append(make_diagnosis("unknown_fields", unknown, CORRECT))
    before, last = (files, system) if index else ([], [*files, *system])
    return (*request, *_changes_of_judges(material, change), *before, *index, *found, *last)


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def unknown_fields_words(fields: Sequence[str]) -> str:
    """A sentence that names the fields; empty without any."""
    if not fields:
        return ""
    what = "a field" if len(fields) == 1 else "fields"
    return f"the request searches {what} that the index does not have: {', '.join(fields)}"


def _changes_of_judges(material: Material, change: RankingChange) -> Iterator[Diagnosis]:
    """Other judges than those of the baseline, such as another model, if grades changed with them."""
    cause = material.cause
    if cause is not None and cause.judges and cause.judgments:
        prints = material.judged_by.grades_of if material.judged_by else {}
        then = material.stored.judgments.grades_of if material.stored else {}
        judged = [query for query in change.queries if prints.get(query) != then.get(query)]
        yield Diagnosis(
            kind="judges_changed",
            headline=f"the judge changed since the baseline: {cause.judges}",
            advice="judge both rankings by one judge, or accept the new judgments before the new ranking.",
            queries=tuple(change.sort_by_loss(judged)[:MOST_NAMED]),
            affected=len(judged),
            compared=len(change.queries),
        )
