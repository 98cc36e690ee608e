"""Step 3: apply every rule once to each of its slices; check the inputs, the waivers and the branch beside them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import (
    BaselineMisfitError,
    InputError,
    IrevalError,
    MissingAnchorError,
    PluginError,
    make_exception_problem,
)
from pytest_ireval.gate.check_inputs import check_inputs
from pytest_ireval.gate.check_merge_base import check_merge_base
from pytest_ireval.gate.check_waivers import check_waiver, find_losses_of_waived_queries
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.finding import Finding, describe_error
from pytest_ireval.gate.movement import trace_way_from_anchor
from pytest_ireval.gate.noise import describe_time_noise
from pytest_ireval.gate.notes import list_notes
from pytest_ireval.gate.references import describe_restoring
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.score import Scores
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import VERDICTS, Outcome
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.planning import INPUTS, LOWERING, Check, MetricOnSlice, compares_with_anchor, plan_checks
from pytest_ireval.rules.result import RuleResult, describe_statistics, list_numbers
from pytest_ireval.rules.wording import format_size
from pytest_ireval.statistics.multiplicity import holm
from pytest_ireval.suite.suite import RuleSpec
from pytest_ireval.words import format_count


def apply_checks(
    checks: Sequence[Check], inputs: Inputs, scores: Scores, run: RunContext, selected: Container[str] | None = None
) -> tuple[Outcome, ...]:
    """The outcomes of all checks of a suite, or of the ``selected`` ones, in their order."""
    chosen = [check for check in checks if selected is None or check.id in selected]
    outcomes = {outcome.id: outcome for outcome in apply_rules(scores, checks, selected)}
    losses = find_losses_of_waived_queries(scores) if any(check.waiver for check in chosen) else {}
    for check in chosen:
        if check.waiver is not None:
            finding = check_waiver(check.waiver, inputs, losses.get(check.waiver.query))
        elif check.id == LOWERING:
            finding = check_merge_base(check.figures, inputs, scores, run)
        elif check.id == INPUTS:
            finding = check_inputs(inputs, scores, list_notes(inputs, scores), run)
        else:
            outcome = outcomes[check.id]
            if outcome.missing_baseline and inputs.stored.deleted is not None and not outcome.against:
                outcomes[check.id] = _report_deleted_baseline(check, outcome, inputs)
            continue
        outcomes[check.id] = _complete(_begin_outcome(check), finding)
    sound = INPUTS in outcomes and outcomes[INPUTS].verdict in ("pass", "inconclusive")
    if sound and not any(_has_something_to_check(check.rule, check, scores) for check in checks if check.rule):
        outcomes[INPUTS] = _report_nothing_checked(outcomes[INPUTS], checks, scores)
    return tuple(outcomes[check.id] for check in chosen)


def apply_rules(
    scores: Scores, checks: Iterable[Check] | None = None, selected: Container[str] | None = None
) -> tuple[Outcome, ...]:
    """Apply each rule of the suite, or of ``checks``, once to each of its slices.

    ``selected`` are the ids of the outcomes that are wanted. The p values of all checks are corrected for one another,
    whatever was selected.
    """
    if checks is None:
        checks = plan_checks(scores.collection.suite, scores.population.queries)
    of_rules = [check for check in checks if check.rule is not None]
    corrected = correct_p_values(of_rules, scores)
    return tuple(
        _apply_rule(check, check.rule, scores, corrected)
        for check in of_rules
        if check.rule is not None and (selected is None or check.id in selected)
    )


def describe_broken_suite(check: Check, error: IrevalError) -> Outcome:
    """The outcome of a check of a suite whose inputs are broken; the check of the inputs has the whole text."""
    finding = describe_error(error)
    if check.id != INPUTS:
        headline = f"the inputs of this suite are broken: {finding.headline}"
        finding = Finding("error", headline, facts=(f"see the outcome of {INPUTS}",))
    return _complete(_begin_outcome(check), finding)


def make_context(check: Check, rule: RuleSpec, scores: Scores) -> RuleContext:
    """What a rule may look at; raises the error of a reference that it cannot compare with."""
    population = scores.population
    if not rule.kind.compares:
        return RuleContext(population, scores.current, None, check.part, check.slice, stored=scores.baseline_side)
    reference = scores.find_reference(rule)
    if reference.problem is not None:
        raise reference.problem
    comparison = reference.comparison
    if comparison is None:
        return RuleContext(population, scores.current, None, check.part, check.slice)
    chain = None
    if check.part.metric is not None and compares_with_anchor(rule):
        chain = trace_way_from_anchor(scores, reference, MetricOnSlice(check.part.metric, check.slice))
    return RuleContext(
        population,
        comparison.current,
        comparison.reference,
        check.part,
        check.slice,
        unjudged=comparison.effects.measure,
        chain=chain,
    )


@dataclass(frozen=True)
class CorrectedPValues:
    """The p values of all checks that evidence decides, corrected for one another."""

    by_check: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, PluginError] = field(default_factory=dict)
    """By check: the error of a plugin's code that was asked for its p."""


def correct_p_values(checks: Iterable[Check], scores: Scores) -> CorrectedPValues:
    """Ask the rules for their p values, and correct these by Holm's method for their number."""
    p_values: dict[str, float] = {}
    errors: dict[str, PluginError] = {}
    for check in checks:
        rule = check.rule
        if rule is None or rule.kind.p_value is None:
            continue
        if rule.kind.compares and scores.find_reference(rule).is_missing:
            continue  # there is nothing yet to compare with
        try:
            p = _validate_p(rule.kind.p_value(rule.options, make_context(check, rule, scores)))
        except IrevalError:
            continue  # what cannot be compared is an error when the rule is asked
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as where the rule is asked
            errors[check.id] = PluginError(make_exception_problem(_name_rule(rule), error))
            continue
        if p is not None:
            p_values[check.id] = p
    corrected = holm(np.array([*p_values.values()], np.float64))
    return CorrectedPValues(dict(zip(p_values, corrected.tolist(), strict=True)), errors)


def _validate_p(p: float | None) -> float | None:
    """That of a plugin may be no probability."""
    if p is not None and not 0 <= float(p) <= 1:
        raise ValueError(f"its p is {p}; a p lies between 0 and 1")
    return None if p is None else float(p)


def _apply_rule(check: Check, rule: RuleSpec, scores: Scores, corrected: CorrectedPValues) -> Outcome:
    """The outcome of one check; what keeps its rule from being asked comes first."""
    if rule.kind.compares:
        return _apply_comparing_rule(check, rule, scores, corrected)
    outcome, metric = _begin_outcome(check), str(check.part.metric)
    if metric in scores.current.errors:
        return _complete(outcome, describe_error(scores.current.errors[metric]))
    if metric in scores.baseline.redefined:
        # A bound was meant for the values of the old definition; accepting the new one says that it still is.
        return replace(_complete(outcome, describe_error(scores.baseline.redefined[metric])), acceptable=True)
    asked = _ask_safely(check, rule, scores, corrected)
    return _finish_outcome(check, scores, _complete(outcome, asked.finding))


def _apply_comparing_rule(check: Check, rule: RuleSpec, scores: Scores, corrected: CorrectedPValues) -> Outcome:
    outcome = replace(_begin_outcome(check), compares=True)
    reference, warns = scores.find_reference(rule), rule.options.on_fail == "warn"
    if reference.is_missing:
        broken = scores.current.errors.get(str(check.part.metric))
        if broken is not None:  # a first baseline without this metric must not be accepted
            return _complete(outcome, describe_error(broken))
        return _soften(_report_missing_baseline(outcome), warns=warns)
    if isinstance(reference.problem, MissingAnchorError):
        return _soften(_report_missing_anchor(outcome, reference.problem), warns=warns)
    asked = _ask_safely(check, rule, scores, corrected)
    outcome = _complete(outcome, asked.finding)
    if scores.compares_with_baseline(rule):
        outcome = replace(outcome, acceptable=asked.finding.verdict == "fail" or asked.is_misfit)
    elif reference.trusted is not None:
        outcome = replace(outcome, against=reference.trusted.reference.origin)
    return _finish_outcome(check, scores, outcome)


def _finish_outcome(check: Check, scores: Scores, outcome: Outcome) -> Outcome:
    """Say how noisy times are, and turn a failure into a warning where the rule only warns."""
    metric = check.part.time_metric
    if metric is not None and outcome.verdict != "error":
        noise = _describe_noise_of_times(metric, check, scores, outcome)
        outcome = replace(outcome, facts=(*outcome.facts, noise))
    return _soften(outcome, warns=check.only_warns)


class _AskedRule(NamedTuple):
    finding: Finding
    is_misfit: bool = False
    """True for an error of a baseline that does not fit: accepting the current rankings mends it."""


def _ask_safely(check: Check, rule: RuleSpec, scores: Scores, corrected: CorrectedPValues) -> _AskedRule:
    """Ask a rule; an error of ours, or whatever a plugin's code raises, becomes a finding too."""
    try:
        return _AskedRule(_check_slice(check, rule, scores, corrected))
    except IrevalError as error:
        return _AskedRule(describe_error(error), isinstance(error, BaselineMisfitError))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, skips among it; the message names it
        return _AskedRule(describe_error(PluginError(make_exception_problem(_name_rule(rule), error))))


def _check_slice(check: Check, rule: RuleSpec, scores: Scores, corrected: CorrectedPValues) -> Finding:
    if check.id in corrected.errors:
        raise corrected.errors[check.id]
    context = make_context(check, rule, scores)
    if check.id in corrected.by_check:
        tests = len(corrected.by_check)
        context = replace(context, adjusted_p=corrected.by_check[check.id], tested_verdicts=tests)
    few = _report_too_few(rule, context)
    return few if few is not None else _ask_rule(rule, context)


def _ask_rule(rule: RuleSpec, context: RuleContext) -> Finding:
    """Ask the function of a rule; what that of a plugin returns is looked at before it is used."""
    name = _name_rule(rule)
    result: object = rule.kind.check(rule.options, context)
    if not isinstance(result, RuleResult):
        return Finding("error", f"{name} returned {type(result).__name__}, not a RuleResult")
    if result.verdict not in VERDICTS:
        return Finding("error", f"{name} returned {result.verdict!r}; a verdict is one of {', '.join(VERDICTS)}")
    headline: object = rule.kind.describe(rule.options, context, result)
    if not isinstance(headline, str) or not headline.strip():
        return Finding("error", f"{name} described its result as {headline!r}; it returns a sentence")
    finding = Finding(  # under the names of results.json, which an outcome has, too
        verdict=result.verdict,
        headline=headline,
        sentence=result.sentence,
        figures=result.figures,
        queries=result.queries,
        more_queries=result.more_queries,
        worst=result.queries_title,
        facts=result.notes,
        warning=result.warning,
        broken=result.broken,
        numbers=result.numbers,
        statistics=result.statistics,
    )
    if not rule.kind.is_built_in:
        finding = _make_plain(finding, name)
    if not finding.figures:
        return finding
    figures = finding.figures[0]
    return replace(
        finding,
        numbers={**list_numbers(figures), **finding.numbers},
        statistics=(*describe_statistics(figures, context.tested_verdicts), *finding.statistics),
    )


def _make_plain(finding: Finding, rule: str) -> Finding:
    """Reduce the finding of a plugin to plain values, which files can hold and other processes understand."""
    try:
        return from_plain(to_plain(finding), Finding)
    except InputError as error:
        (problem,) = error.problems[:1]
        what = f"{' > '.join(problem.path)}: {problem.complaint}"
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error)
    return Finding("error", f"{rule} returned a RuleResult that cannot be written to a file: {what}")


def _name_rule(rule: RuleSpec) -> str:
    return f"rule {rule.kind.name} of {rule.kind.source}"


def _begin_outcome(check: Check) -> Outcome:
    """The parts of an outcome that are known before anything is checked."""
    metric = check.part.metric
    return Outcome(
        id=check.id,
        kind=check.family,
        verdict="error",
        headline="",
        file=check.place.file,
        line=check.place.line,
        column=check.place.column,
        name=check.rule.options.name if check.rule else "",
        metric="" if metric is None else str(metric),
        explained=metric is not None and metric.unit == "query" and not metric.needs & {"reference", "sessions"},
        slice=str(check.slice),
        tags=check.tags,
    )


def _complete(outcome: Outcome, finding: Finding) -> Outcome:
    return replace(outcome, **{each.name: getattr(finding, each.name) for each in fields(Finding)})


def _soften(outcome: Outcome, *, warns: bool) -> Outcome:
    """Turn a failure of a rule that only warns into a warning, whatever the failure is."""
    if outcome.verdict == "fail" and warns:
        return replace(outcome, verdict="pass", warning=True, broken=True)
    return outcome


def _describe_noise_of_times(metric: Metric, check: Check, scores: Scores, outcome: Outcome) -> str:
    """The noise of the times that a verdict rests on, and the option that lets them decide."""
    noise = describe_time_noise(scores.current, metric, scores.population.mask(check.slice))
    # A rule that only warns has failed here, and _soften() has not yet made a pass of it.
    failed = outcome.verdict == "fail" if check.only_warns else outcome.verdict == "pass" and outcome.warning
    if failed and check.rule is not None and "on_fail" not in check.rule.options.model_fields_set:
        return f"only a warning, as times vary from run to run: {noise}; on_fail: fail lets this rule decide"
    return noise


def _report_missing_baseline(outcome: Outcome) -> Outcome:
    return replace(
        outcome,
        verdict="fail",
        headline="no baseline to compare with",
        sentence="No rankings of this suite have been accepted yet.",
        missing_baseline=True,
        acceptable=True,
    )


def _report_deleted_baseline(check: Check, outcome: Outcome, inputs: Inputs) -> Outcome:
    """A deleted baseline must be restored; accepting the current rankings would hide what they lost."""
    assert inputs.stored.deleted is not None  # noqa: S101 - asked for by the caller
    deleted = replace(
        outcome,
        verdict="fail",
        warning=False,
        broken=False,
        headline=f"{outcome.headline}, but the last commit has one\n  {describe_restoring(inputs.stored.deleted)}",
        sentence="The baseline of this suite was deleted.",
        compares=False,
        missing_baseline=False,
        acceptable=False,
    )
    return _soften(deleted, warns=check.rule is not None and check.rule.options.on_fail == "warn")


def _report_missing_anchor(outcome: Outcome, error: MissingAnchorError) -> Outcome:
    """Fail, like a missing baseline; but accepting the current rankings pins nothing."""
    (problem,) = error.problems
    return replace(
        outcome,
        verdict="fail",
        headline=f"{problem.complaint}\n  {problem.suggestion}",
        sentence="The rule compares with a pinned release of this suite, but none is pinned.",
        against="the anchor",
        missing_baseline=True,
    )


def _has_something_to_check(rule: RuleSpec, check: Check, scores: Scores) -> bool:
    """Tell whether a rule has anything to look at; one that is an error, or red, says so itself."""
    if rule.kind.compares and scores.find_reference(rule).trusted is None:
        return True
    try:
        return _has_enough(rule, make_context(check, rule, scores))
    except IrevalError:
        return True


def _report_nothing_checked(inputs: Outcome, checks: Sequence[Check], scores: Scores) -> Outcome:
    """The outcome of the inputs of a suite whose rules had nothing to look at."""
    headline = "no rule of this suite judged anything"
    compared = ((check, check.rule) for check in checks if check.rule is not None and check.rule.kind.compares)
    new = any(_is_new(make_context(check, rule, scores)) for check, rule in compared)
    remedy = "accept the current rankings" if new else "give it more queries, or lower min_queries"
    if not scores.population.counted_queries.any():
        headline += ": all queries are waived"
        remedy = "end a waiver"
    return replace(
        inputs,
        verdict="fail",
        headline=headline,
        sentence="A suite that judges nothing cannot find a bad change.",
        facts=(remedy, inputs.headline, *inputs.facts),
        acceptable=new,
    )


def _report_too_few(rule: RuleSpec, context: RuleContext) -> Finding | None:
    """Rule on a slice that has no queries, or fewer than the rule wants; None if it has enough."""
    if context.part.metric is None and not rule.kind.compares:
        return None
    if not _count_units(rule, context):
        return _report_no_values(rule, context)
    worth, size = _measure_size(rule, context)
    if worth >= rule.options.query_minimum or _decides_itself(rule, context):
        return None
    return Finding(
        "inconclusive", f"{context.slice} has {size}, fewer than min_queries: {rule.options.query_minimum}; not judged"
    )


def _has_enough(rule: RuleSpec, context: RuleContext) -> bool:
    """Tell whether the rule has enough queries; one that can only report too few decides nothing.

    A rule without a metric and without a baseline looks at lists, and there is always one.
    """
    if context.part.metric is None and not rule.kind.compares:
        return True
    worth, _ = _measure_size(rule, context)
    if worth >= max(1, rule.options.query_minimum):
        return True
    return bool(worth) and rule.options.can_fail_few


def _measure_size(rule: RuleSpec, context: RuleContext) -> tuple[float, str]:
    """The number of queries of the slice, or their worth if drawn in clusters; and the same in words."""
    count = _count_units(rule, context)
    if count and rule.options.facts.by_evidence and context.population.clusters is not None:
        change = MetricChange(context, context.paired_values())
        return change.effective_size, format_size(change)
    return count, format_count(count, "query")


def _count_units(rule: RuleSpec, context: RuleContext) -> int:
    """The number of units of the slice that the rule looks at; queries, where it is about no metric."""
    if context.part.metric is None:
        return context.places_on_both_sides().size
    paired = rule.kind.compares and "reference" not in context.part.metric.needs
    return (context.paired_values() if paired else context.values()).now.size


def _decides_itself(rule: RuleSpec, context: RuleContext) -> bool:
    """Tell whether the rule itself rules on too little evidence; on all queries it always does."""
    return rule.options.checks_few or (rule.options.facts.by_evidence and not context.slice.conditions)


def _report_no_values(rule: RuleSpec, context: RuleContext) -> Finding:
    """Rule on a slice without any value; it is an error only if the reason is unknown."""
    inside = context.slice.mask(context.population.queries)
    if inside.any() and not (inside & context.population.counted_queries).any():
        return Finding("inconclusive", f"all queries of {context.slice} are waived; not judged")
    if not rule.kind.compares:
        return Finding("error", f"no query of {context.slice} counts")
    if _is_new(context):
        return Finding("inconclusive", f"no query of {context.slice} is in the baseline yet; not judged")
    raise BaselineMisfitError(f"no query of {context.slice} has a value on both sides")


def _is_new(context: RuleContext) -> bool:
    """Tell whether the baseline has no query of the slice yet."""
    position = context.baseline.position if context.baseline is not None else {}
    inside = context.slice.mask(context.population.queries).tolist()
    return not any(q in position for q, there in zip(context.population.queries.ids, inside, strict=True) if there)
