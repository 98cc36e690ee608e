"""Step 3: apply every rule once to each of its slices; check the inputs, the waivers and the branch beside them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import (
    BaselineMisfitError,
    InputError,
    IrevalError,
    MissingAnchorError,
    NothingToCompareError,
    PluginError,
    format_error_lines,
    make_exception_problem,
)
from pytest_ireval.gate.check_inputs import check_inputs
from pytest_ireval.gate.check_waivers import check_waiver, find_losses_of_waived_queries
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.few_queries import count_units, has_min_queries, is_new_slice, report_too_few
from pytest_ireval.gate.movement import trace_way_from_anchor
from pytest_ireval.gate.noise import describe_time_noise
from pytest_ireval.gate.notes import list_notes
from pytest_ireval.gate.outcomes import begin_outcome, report_error, report_exception
from pytest_ireval.gate.planning import (
    INPUTS,
    Check,
    LoweringCheck,
    MetricOnSlice,
    RuleCheck,
    WaiverCheck,
    compares_with_anchor,
    compares_with_baseline,
    plan_checks,
    select_rule_checks,
)
from pytest_ireval.gate.references import describe_restoring
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.score import Scores
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import Outcome, Verdict
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.result import RuleResult, RuleVerdict, describe_statistics, list_numbers
from pytest_ireval.statistics.multiplicity import holm, holm_factors
from pytest_ireval.suite.suite import RuleSpec


def apply_checks(
    checks: Sequence[Check], inputs: Inputs, scores: Scores, run: RunContext, selected: Container[str] | None = None
) -> tuple[Outcome, ...]:
    """The outcomes of all checks of a suite, or of the ``selected`` ones, in their order."""
    chosen = [check for check in checks if selected is None or check.id in selected]
    prepared = prepare_checks(checks, scores)
    outcomes = {outcome.id: outcome for outcome in _apply_prepared(prepared, scores, selected)}
    losses = find_losses_of_waived_queries(scores) if any(isinstance(check, WaiverCheck) for check in chosen) else {}
    for check in chosen:
        outcome = begin_outcome(check)
        if isinstance(check, WaiverCheck):
            outcomes[check.id] = check_waiver(outcome, check.waiver, inputs, losses.get(check.waiver.query))
        elif isinstance(check, LoweringCheck):
            from pytest_ireval.gate.check_merge_base import check_merge_base  # most runs are compared with no base

            outcomes[check.id] = check_merge_base(outcome, check.figures, inputs, scores, run)
        elif check.id == INPUTS:
            outcome = check_inputs(outcome, inputs, scores, list_notes(inputs, scores), run)
            is_sound = outcome.verdict in ("pass", "inconclusive")
            if is_sound and not any(map(_has_something_to_check, prepared)):
                outcome = _report_nothing_checked(outcome, prepared, scores)
            outcomes[check.id] = outcome
    return tuple(outcomes[check.id] for check in chosen)


def apply_rules(
    scores: Scores,
    checks: Iterable[Check] | None = None,
    selected: Container[str] | None = None,
    *,
    lists_queries: bool = True,
) -> tuple[Outcome, ...]:
    """Apply each rule of the suite, or of ``checks``, once to each of its slices.

    ``selected`` are the ids of the outcomes that are wanted. The p values of all checks are corrected for one another,
    whatever was selected. Without ``lists_queries`` outcomes have verdicts and figures, and most lack the lists of
    their worst queries, which take a third of the time.
    """
    if checks is None:
        checks = plan_checks(scores.collection.suite, scores.population.queries)
    return _apply_prepared(prepare_checks(checks, scores, lists_queries=lists_queries), scores, selected)


class PreparedCheck(NamedTuple):
    """A check of a rule, and what the rule may look at."""

    check: RuleCheck
    context: RuleContext | None
    """None where its reference is missing, or cannot be compared with."""


def prepare_checks(checks: Iterable[Check], scores: Scores, *, lists_queries: bool = True) -> list[PreparedCheck]:
    """Prepare the checks of rules."""
    contexts = ((check, make_context(check, scores)) for check in select_rule_checks(checks))
    return [
        PreparedCheck(check, context and replace(context, lists_queries=lists_queries)) for check, context in contexts
    ]


def make_context(check: RuleCheck, scores: Scores) -> RuleContext | None:
    """What the rule of a check may look at; None where its reference is missing, or cannot be compared with."""
    rule = check.rule
    context = RuleContext(scores.population, scores.current, None, check.part, check.slice)
    if not rule.compares:
        # Such a rule only looks up which documents are known, so a baseline that cannot be compared with serves, too.
        return replace(context, stored=scores.baseline_side)
    reference = scores.find_reference(rule)
    comparison = reference.trusted
    if comparison is None:
        return None
    chain = None
    if check.part.metric is not None and compares_with_anchor(rule):
        chain = trace_way_from_anchor(scores, reference, MetricOnSlice(check.part.metric, check.slice))
    return replace(
        context, current=comparison.current, baseline=comparison.baseline, effects=comparison.effects, chain=chain
    )


@dataclass
class CorrectedPValues:
    """The p values of all checks that evidence decides, corrected for one another."""

    by_check: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)
    """By check: what its p was multiplied by."""
    errors: Mapping[str, PluginError] = field(default_factory=dict)
    """By check: the error of a plugin's code that was asked for its p."""


def correct_p_values(prepared: Iterable[PreparedCheck]) -> CorrectedPValues:
    """Ask the rules for their p values, and correct these by Holm's method for their number."""
    p_values: dict[str, float] = {}
    errors: dict[str, PluginError] = {}
    for check, context in prepared:
        rule = check.rule
        if rule.kind.p_value is None or context is None:
            continue
        try:
            with _translate_foreign_errors(rule):
                p = _validate_p(rule.kind.p_value(rule.options, context))
        except _RuleCodeError as error:
            errors[check.id] = error
            continue
        except IrevalError:
            continue  # what cannot be compared is an error when the rule is asked
        if p is not None:
            p_values[check.id] = context.adjust_p(p)  # for earlier comparisons with an anchor
    every_p = np.array([*p_values.values()], np.float64)
    corrected, factors = holm(every_p).tolist(), holm_factors(every_p).tolist()
    return CorrectedPValues(
        dict(zip(p_values, corrected, strict=True)), dict(zip(p_values, factors, strict=True)), errors
    )


class _RuleCodeError(PluginError):
    """An exception of the code of a rule that is none of ours."""


@contextmanager
def _translate_foreign_errors(rule: RuleSpec) -> Iterator[None]:
    """Raise _RuleCodeError, which names the rule, in place of whatever a plugin's code raises."""
    try:
        yield
    except (IrevalError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a plugin may raise anything, and a skip of pytest must not skip the check
        raise _RuleCodeError(make_exception_problem(_name_rule(rule), error)) from error


def _validate_p(p: float | None) -> float | None:
    """Return the p value of a rule; raises ValueError if it is no probability, as that of a plugin may be."""
    if p is not None and not 0 <= float(p) <= 1:
        raise ValueError(f"its p is {p}; a p lies between 0 and 1")
    return None if p is None else float(p)


def _apply_prepared(
    prepared: Sequence[PreparedCheck], scores: Scores, selected: Container[str] | None
) -> tuple[Outcome, ...]:
    corrected = correct_p_values(prepared)
    chosen = (each for each in prepared if selected is None or each.check.id in selected)
    return tuple(_apply_rule(check, context, scores, corrected) for check, context in chosen)


def _apply_rule(check: RuleCheck, context: RuleContext | None, scores: Scores, corrected: CorrectedPValues) -> Outcome:
    """The outcome of one check."""
    if context is None:
        # Without anything to compare with, rules about times fail as others do, unless they say on_fail: warn.
        outcome = _report_missing_reference(check, scores)
        return _soften(outcome, warns=check.rule.options.on_fail == "warn")
    outcome = _ask_safely(check, context, scores, corrected)
    if check.rule.compares:
        outcome = _add_reference(outcome, check.rule, scores)
    metric = check.part.time_metric
    if metric is not None and outcome.verdict != "error":
        noise = _describe_noise_of_times(metric, check, scores, outcome)
        outcome = replace(outcome, facts=(*outcome.facts, noise))
    return _soften(outcome, warns=check.only_warns)


def _report_missing_reference(check: RuleCheck, scores: Scores) -> Outcome:
    outcome, reference = begin_outcome(check), scores.find_reference(check.rule)
    if isinstance(reference.problem, MissingAnchorError):
        return _report_missing_anchor(outcome, reference.problem)
    if isinstance(reference.problem, NothingToCompareError):
        return _report_nothing_to_compare(outcome, reference.problem)
    if reference.problem is not None:
        return _add_reference(_report_check_error(outcome, reference.problem), check.rule, scores)
    metric_error = scores.current.errors.get(outcome.metric)
    if metric_error is not None:  # a first baseline without this metric must not be accepted
        return replace(report_exception(outcome, metric_error), compares=True)
    return _report_missing_baseline(outcome, reference.deleted)


def _report_nothing_to_compare(outcome: Outcome, error: NothingToCompareError) -> Outcome:
    """A warning: the branch brings what the other commit does not have."""
    headline, *facts = format_error_lines(error)
    return replace(outcome, verdict="inconclusive", headline=headline, facts=tuple(facts), warning=True, compares=True)


def _report_check_error(outcome: Outcome, error: IrevalError) -> Outcome:
    """Accepting the current rankings mends the error of a baseline that does not fit, and no other."""
    if isinstance(error, NothingToCompareError):
        return _report_nothing_to_compare(outcome, error)
    return replace(report_exception(outcome, error), acceptable=isinstance(error, BaselineMisfitError))


def _add_reference(outcome: Outcome, rule: RuleSpec, scores: Scores) -> Outcome:
    """Say what a rule compared with, and whether accepting the current rankings ends a verdict against them."""
    if compares_with_baseline(rule):
        may_accept = outcome.acceptable or outcome.verdict == "fail"
        return replace(outcome, compares=True, acceptable=may_accept and not scores.baseline.is_versus)
    trusted = scores.find_reference(rule).trusted
    against = "" if trusted is None else trusted.baseline.origin
    return replace(outcome, compares=True, acceptable=False, against=against)


def _ask_safely(check: RuleCheck, context: RuleContext, scores: Scores, corrected: CorrectedPValues) -> Outcome:
    """Ask a rule; an error of ours, or whatever a plugin's code raises, is its outcome."""
    outcome = begin_outcome(check)
    if not check.rule.compares and outcome.metric in scores.current.errors:
        return report_exception(outcome, scores.current.errors[outcome.metric])
    if not check.rule.compares and outcome.metric in scores.baseline.redefined:
        # A bound was meant for the values of the old definition; accepting the new one says that it still is.
        return replace(report_exception(outcome, scores.baseline.redefined[outcome.metric]), acceptable=True)
    if check.id in corrected.errors:
        return report_exception(outcome, corrected.errors[check.id])
    try:
        with _translate_foreign_errors(check.rule):
            if check.id in corrected.by_check:
                tests = len(corrected.by_check)
                context = replace(context, holm_factor=corrected.factors[check.id], tested_checks=tests)
            few = report_too_few(outcome, check.rule, context)
            return few if few is not None else _ask_rule(outcome, check.rule, context)
    except IrevalError as error:
        return _report_check_error(outcome, error)


OUTCOME_VERDICTS: Mapping[RuleVerdict, Verdict] = {
    "pass": "pass",
    "warn": "pass",
    "known_failure": "pass",
    "inconclusive": "inconclusive",
    "stale": "fail",
    "fail": "fail",
}
"""The verdict of an outcome, which says in its warnings what else a rule means."""


def _ask_rule(outcome: Outcome, rule: RuleSpec, context: RuleContext) -> Outcome:
    """Ask the function of a rule; what that of a plugin returns is looked at before it is used."""
    name = _name_rule(rule)
    result: object = rule.kind.check(rule.options, context)
    if not isinstance(result, RuleResult):
        return report_error(outcome, f"{name} returned {type(result).__name__}, not a RuleResult")
    if result.verdict not in tuple(OUTCOME_VERDICTS):
        allowed = f"a verdict is one of {', '.join(OUTCOME_VERDICTS)}"
        return report_error(outcome, f"{name} returned {result.verdict!r}; {allowed}")
    if not isinstance(result.headline, str) or not result.headline.strip():
        return report_error(outcome, f"{name} returned the headline {result.headline!r}; it is a sentence")
    decided = replace(  # under the names of results.json
        outcome,
        verdict=OUTCOME_VERDICTS[result.verdict],
        headline=result.headline,
        sentence=result.sentence,
        figures=result.figures,
        queries=result.queries,
        more_queries=result.more_queries,
        queries_title=result.queries_title,
        facts=result.facts,
        warning=result.verdict in ("warn", "known_failure", "inconclusive"),
        broken=result.verdict == "known_failure",
        stale=result.verdict == "stale",
        numbers=result.numbers,
        statistics=result.statistics,
    )
    if not rule.kind.is_built_in:
        try:  # files hold plain values, and other processes understand no others
            decided = from_plain(to_plain(decided), Outcome)
        except (InputError, TypeError, ValueError, AttributeError, OverflowError) as error:
            why = _describe_unwritable(error)
            return report_error(outcome, f"{name} returned a RuleResult that cannot be written to a file: {why}")
    if not decided.figures:
        return decided
    figures = decided.figures[0]
    return replace(
        decided,
        numbers={**list_numbers(figures), **decided.numbers},
        statistics=(*describe_statistics(figures, context.tested_checks), *decided.statistics),
    )


def _describe_unwritable(error: Exception) -> str:
    if not isinstance(error, InputError):
        return str(error)
    problem = error.problems[0]
    return f"{' > '.join(problem.path)}: {problem.complaint}"


def _name_rule(rule: RuleSpec) -> str:
    return f"rule {rule.kind.name} of {rule.kind.source}"


def _soften(outcome: Outcome, *, warns: bool) -> Outcome:
    """Turn a failure of a rule that only warns into a warning, whatever the failure is."""
    if outcome.verdict == "fail" and warns:
        return replace(outcome, verdict="pass", warning=True, broken=True)
    return outcome


def _describe_noise_of_times(metric: Metric, check: RuleCheck, scores: Scores, outcome: Outcome) -> str:
    """The noise of the times that a verdict rests on, and the option that lets them decide."""
    noise = describe_time_noise(scores.current, metric, scores.population.mask(check.slice))
    # A rule that only warns has failed here, and _soften() has not yet made a pass of it.
    failed = outcome.verdict == "fail" if check.only_warns else outcome.verdict == "pass" and outcome.warning
    if failed and "on_fail" not in check.rule.options.model_fields_set:
        return f"only a warning, as times vary from run to run: {noise}; on_fail: fail lets this rule decide"
    return noise


def _report_missing_baseline(outcome: Outcome, deleted: Path | None) -> Outcome:
    if deleted is not None:  # it must be restored: accepting the current rankings would hide what they lost
        return replace(
            outcome,
            verdict="fail",
            headline=f"no baseline to compare with, but the last commit has one\n  {describe_restoring(deleted)}",
            sentence="The baseline of this suite was deleted.",
        )
    return replace(
        outcome,
        verdict="fail",
        headline="no baseline to compare with",
        sentence="No rankings of this suite have been accepted yet.",
        compares=True,
        missing_baseline=True,
        acceptable=True,
    )


def _report_missing_anchor(outcome: Outcome, error: MissingAnchorError) -> Outcome:
    """Fail, like a missing baseline; but accepting the current rankings pins nothing."""
    (problem,) = error.problems
    return replace(
        outcome,
        verdict="fail",
        headline=f"{problem.complaint}\n  {problem.suggestion}",
        sentence="The rule compares with a pinned release of this suite, but none is pinned.",
        compares=True,
        against="the anchor",
        missing_baseline=True,
    )


def _has_something_to_check(prepared: PreparedCheck) -> bool:
    """Tell whether a rule has enough to look at to ever fail; one that is an error, or red, says so itself."""
    if prepared.context is None:
        return True
    rule, context = prepared.check.rule, prepared.context
    try:
        with _translate_foreign_errors(rule):
            if has_min_queries(rule, context):
                return True
            return rule.options.below_min_queries == "can fail" and count_units(rule, context) > 0
    except IrevalError:
        return True


def _report_nothing_checked(outcome: Outcome, prepared: Sequence[PreparedCheck], scores: Scores) -> Outcome:
    """The outcome of the inputs of a suite whose rules had nothing to look at."""
    headline = "no rule of this suite judged anything"
    new = any(is_new_slice(context) for check, context in prepared if context is not None and check.rule.compares)
    remedy = "accept the current rankings" if new else "give it more queries, or lower min_queries"
    if not scores.population.counted_queries.any():
        headline += ": all queries are waived"
        remedy = "end a waiver"
    return replace(
        outcome,
        verdict="fail",
        headline=headline,
        sentence="A suite that judges nothing cannot find a bad change.",
        facts=(remedy, outcome.headline, *outcome.facts),
        acceptable=new,
    )
