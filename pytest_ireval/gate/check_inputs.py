"""Checks what the verdicts rest on: documents that nobody judged under these ids, new documents, changed grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pytest_ireval.data.ids import Ids, are_among
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import (
    BaselineError,
    BaselineMisfitError,
    InputError,
    IrevalError,
    NothingToCompareError,
    Problem,
)
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.comparison import ComparedSides
from pytest_ireval.gate.outcomes import report_exception
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.score import Scores, find_unknown_ids
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.new_at_top import find_prominent
from pytest_ireval.rules.new_document import NewDocumentOptions
from pytest_ireval.words import format_count, format_some

COLLAPSED = 1 / 3
"""If less than this part of the share of judged documents is left, ids may have changed."""
ONCE_JUDGED = 0.2
"""If less was judged before, a smaller share shows nothing."""
MOST_CHANGED = 0.8
"""A broken ranker lists known documents; so large a share of unknown ones has new names."""


def check_inputs(outcome: Outcome, inputs: Inputs, scores: Scores, notes: Sequence[str], run: RunContext) -> Outcome:
    """Check the inputs, which fit together once they are collected; the facts tell what a reader should know."""
    suite, problem = inputs.suite, scores.baseline.problem
    locked = suite.judgments is not None and suite.judgments.lock
    if locked and problem is not None and not isinstance(problem, BaselineMisfitError | NothingToCompareError):
        return report_exception(outcome, problem)
    renamed = find_id_problem(scores)
    if renamed is not None:
        return report_exception(outcome, renamed)
    counts, recorded = scores.counts, inputs.current.recorded
    headline = f"{format_count(counts.queries, 'query')}, {counts.judged} of them judged; rankings: {inputs.source}"
    not_locked_yet = locked and inputs.stored.baseline is None
    facts = ["judgments are locked, but the suite has no baseline yet to compare them with"] if not_locked_yet else []
    if recorded is not None:
        facts, headline = [headline, *facts], str(recorded)
    uncomputed = _describe_uncomputed_metric(scores)
    if uncomputed:
        facts, headline = [headline, *facts], uncomputed
    warning = not_locked_yet or recorded is not None or bool(uncomputed)
    facts = [*facts, *_list_facts(scores), *notes]
    outcome = replace(outcome, verdict="pass", headline=headline, facts=tuple(facts), warning=warning)
    cause = scores.baseline.cause
    if run.base is None and cause is not None and cause.judgments:  # with a base only grades that the branch changed
        from pytest_ireval.gate.regrading import add_regraded_inputs, find_regraded_since_baseline  # rarely needed

        outcome = add_regraded_inputs(outcome, find_regraded_since_baseline(inputs, scores))
    return _add_new_documents(outcome, inputs, scores)


def _describe_uncomputed_metric(scores: Scores) -> str:
    """A metric of the suite that has no values and no rule, so that no other check tells of it."""
    suite, errors = scores.collection.suite, scores.current.errors
    in_rules = {part.metric for rule in suite.rules for part in rule.parts}
    names = [str(metric) for metric in suite.metrics if metric not in in_rules and str(metric) in errors]
    if not names:
        return ""
    more = f"; {format_count(len(names) - 1, 'more metric')} as well" if len(names) > 1 else ""
    return f"{names[0]} could not be computed: {scores.current.errors[names[0]].problems[0].complaint}{more}"


def _list_facts(scores: Scores) -> Iterator[str]:
    counts, problem = scores.counts, scores.baseline.problem
    for what, queries in (("without a ranking", counts.missing), ("with an empty ranking", counts.empty)):
        if queries:
            yield f"{format_count(len(queries), 'query')} {what}: {format_some(queries)}"
    if counts.without_judgments:
        yield f"{format_count(len(counts.without_judgments), 'ranked query')} without judgments"
    if isinstance(problem, BaselineError):
        yield str(problem)


def find_id_problem(scores: Scores) -> IrevalError | None:
    """The error of documents that have other ids than the judgments, or than they had; None if they fit."""
    return find_unknown_ids(scores) or find_changed_ids(scores)


def find_changed_ids(scores: Scores) -> InputError | None:
    """The error of changed ids; None where enough of the listed documents are known."""
    counts, judgments = scores.counts, scores.population.judgments
    now, before = counts.judged_share, counts.judged_share_before
    if now is None or before is None or before < ONCE_JUDGED or now >= COLLAPSED * before:
        return None
    comparison = scores.baseline.comparison
    if comparison is None or judgments is None:
        return None
    listed = _list_documents(scores.current.rankings[0], counts.judged_depth)
    share = _share_of_unknown_documents(listed, scores, comparison)
    if share < MOST_CHANGED:
        return None
    return InputError(
        Problem(
            f"{share:.0%} of the documents listed now stand neither in the judgments nor in the baseline's rankings; "
            f"were ids renamed? judged: {counts.judged_share:.0%} now, {counts.judged_share_before:.0%} in the "
            "baseline",
            place=scores.current.origin,
            suggestion=f"listed: {format_some(listed.texts(np.arange(min(len(listed), 3))))}; "
            f"judged: {format_some(judgments.documents.texts(np.arange(min(len(judgments), 3))))}",
            allowed="list renamed documents in the suite: documents: {aliases: FILE}",
        )
    )


def _share_of_unknown_documents(listed: Ids, scores: Scores, comparison: ComparedSides) -> float:
    """The share of the documents listed now that occur for no query of the judgments or of the baseline."""
    judgments = scores.population.judgments
    if judgments is None or not len(listed):
        return 0.0
    listed_before = (rankings.documents for rankings in comparison.baseline.rankings)
    return float(1.0 - are_among(listed, [judgments.documents, *listed_before]).mean())


def _list_documents(rankings: Rankings, depth: int) -> Ids:
    """The first documents of all queries."""
    rank = np.arange(int(rankings.first[-1])) - np.repeat(rankings.first[:-1], np.diff(rankings.first))
    return rankings.documents.take(np.flatnonzero(rank < depth))


def _add_new_documents(outcome: Outcome, inputs: Inputs, scores: Scores) -> Outcome:
    """Make it inconclusive if a new document tops too many lists; a rule about these on all queries decides itself."""
    rules = [rule.options for rule in inputs.suite.rules if isinstance(rule.options, NewDocumentOptions)]
    comparison = _find_accepted(inputs, scores)
    if comparison is None or any(not options.where for options in rules):
        return outcome
    find_name = scores.population.find_current_name
    expected = frozenset(find_name(document) for options in rules for document in options.expected)
    context = RuleContext(scores.population, comparison.current, comparison.baseline, Part())
    found = find_prominent(context, expected)
    if not found.documents:
        return outcome
    them = "it" if len(found.documents) == 1 else "them"
    judged = scores.population.judgments is not None
    return replace(
        outcome,
        verdict="inconclusive",
        headline=found.describe(),
        sentence=f"Metrics count {them} as irrelevant, although no judgment says so." if judged else "",
        facts=(
            f"{f'judge {them}, or ' if judged else ''}if you expect {them} add the rule "
            f"new_document: {{{found.option}}}",
            outcome.headline,
            *outcome.facts,
        ),
        warning=True,
    )


def _find_accepted(inputs: Inputs, scores: Scores) -> ComparedSides | None:
    """What the rules compare with: the stored baseline, or the first reference that a rule names instead."""
    if not any(rule.compares for rule in inputs.suite.rules):
        return None
    if inputs.reference.baseline is not None:
        return scores.baseline.trusted
    return next((each.comparison for each in scores.others.values() if each.comparison is not None), None)
