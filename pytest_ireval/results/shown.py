"""A result as it may be shown: without the secrets that free text in it has caught."""

from __future__ import annotations

from dataclasses import replace

from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.secrets import hidden, hidden_in


def shown_result(result: SuiteResult) -> SuiteResult:
    """Ids, queries and figures stay as they are; all that somebody put into words is looked through."""
    return replace(
        result,
        error=hidden(result.error),
        source=hidden(result.source),
        judgments=hidden(result.judgments),
        notes=hidden_in(result.notes),
        affected_by=hidden(result.affected_by),
        metrics=tuple(replace(each, error=hidden(each.error)) for each in result.metrics),
        outcomes=tuple(map(_outcome, result.outcomes)),
    )


def _outcome(outcome: Outcome) -> Outcome:
    return replace(
        outcome,
        headline=hidden(outcome.headline),
        sentence=hidden(outcome.sentence),
        worst=hidden(outcome.worst),
        facts=hidden_in(outcome.facts),
        against=hidden(outcome.against),
        queries=tuple(replace(each, note=hidden(each.note)) for each in outcome.queries),
    )
