"""Every check of a suite judged: one outcome each, whatever happens; tests of one family are corrected together."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.coerce import some
from pytest_ireval.errors import (
    BaselineError,
    BaselineMisfitError,
    InputError,
    IrevalError,
    MissingAnchorError,
    PluginError,
    error_lines,
    raised,
)
from pytest_ireval.gate.finding import Finding
from pytest_ireval.gate.lowering import lowering, with_weaker
from pytest_ireval.gate.material import Material, by_stored_baseline, reference_of, seen_of
from pytest_ireval.gate.moved_references import find_moved_references, with_moved_references
from pytest_ireval.gate.reference import bring_back, without_anchor
from pytest_ireval.gate.regrading import (
    find_regraded_since_base,
    find_regraded_since_baseline,
    with_regraded,
    with_regraded_inputs,
)
from pytest_ireval.gate.scoring import time_noise
from pytest_ireval.gate.to_judge import changed_ids
from pytest_ireval.gate.waived_queries import rule_on_waiver
from pytest_ireval.gate.weakened import weakened
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.results.outcome import VERDICTS, Outcome
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import MetricChange
from pytest_ireval.rules.new_document import NewDocumentOptions, find_prominent
from pytest_ireval.rules.planning import INPUTS, LOWERING, Check
from pytest_ireval.rules.result import RuleResult, describe_statistics, list_numbers
from pytest_ireval.rules.side import Side
from pytest_ireval.rules.wording import format_size
from pytest_ireval.statistics.multiplicity import holm
from pytest_ireval.suite.suite import RuleAsked
from pytest_ireval.words import format_count


class Circumstances(NamedTuple):
    """The conditions of a run, beside the material of its suites."""

    today: date
    base: BaseRef | None = None
    """The branch whose baselines the stored ones are compared with; None: not compared."""
    lowering_fails: bool = False
    """True if a branch that lowers its baseline fails; else that is a warning."""
    last_run: Path | None = None
    """The rankings of the run before; None where runs write no files."""


def judged_all(
    checks: Sequence[Check], material: Material, circumstances: Circumstances, selected: Container[str] | None = None
) -> tuple[Outcome, ...]:
    """Judge all checks of a suite, or the ``selected`` ones; the correction is always for all verdicts."""
    family = family_of(checks, material)
    chosen = [check for check in checks if selected is None or check.id in selected]
    found = tuple(judged(check, material, circumstances, family) for check in chosen)
    sound = any(outcome.id == INPUTS and outcome.verdict in ("pass", "inconclusive") for outcome in found)
    if sound and not any(_judges(check, material) for check in checks if check.asked is not None):
        return tuple(_none_judged(each, checks, material) if each.id == INPUTS else each for each in found)
    return found


def _judges(check: Check, material: Material) -> bool:
    """Tell whether the rule has anything to judge; a rule that is an error, or red, counts: it says so itself."""
    asked = check.asked
    if asked is None or (asked.kind.compares and not isinstance(reference_of(check, material), Side)):
        return True
    try:
        return _has_enough(asked, seen_of(check, material))
    except IrevalError:
        return True


def _none_judged(inputs: Outcome, checks: Sequence[Check], material: Material) -> Outcome:
    """The outcome of the inputs of a suite whose rules judged nothing."""
    said = "no rule of this suite judged anything"
    if not material.population.counting.any():
        said += ": all queries are waived"
    new = any(check.asked and check.asked.kind.compares and _is_new(seen_of(check, material)) for check in checks)
    way = "accept the current rankings" if new else "give it more queries, or lower min_queries"
    if not material.population.counting.any():
        way = "end a waiver"
    return replace(
        inputs,
        verdict="fail",
        headline=said,
        sentence="A suite that judges nothing cannot find a bad change.",
        facts=(way, inputs.headline, *inputs.facts),
        acceptable=new,
    )


def judged(check: Check, material: Material, circumstances: Circumstances, family: _Family) -> Outcome:
    """The outcome of one check."""
    plain = _plain_outcome(check)
    if check.waiver is not None:
        return _with(plain, rule_on_waiver(check.waiver, material, circumstances.today))
    if check.asked is None:
        rule_on = _lowering if check.id == LOWERING else _inputs
        return _with(plain, rule_on(check, material, circumstances))
    asked = check.asked
    plain = replace(plain, compares=asked.kind.compares)
    reference = reference_of(check, material) if asked.kind.compares else None
    redefined = {} if asked.kind.compares else material.redefined  # a bound was meant for the values of then
    errors = {**redefined, **material.now.errors}
    broken = errors.get(str(check.part.metric))
    if broken is not None and reference is None:  # a first baseline without this metric must not be accepted
        return replace(_with(plain, _error_finding(broken)), acceptable=broken in redefined.values())
    if asked.kind.compares and reference is None:
        return _lenient(_without_baseline(plain, material), warns=asked.options.on_fail == "warn")
    if isinstance(reference, MissingAnchorError):
        return _lenient(without_anchor(plain, reference), warns=asked.options.on_fail == "warn")
    told = _errors_told(asked, lambda: _finding_of_rule(check, asked, lambda: seen_of(check, material), family))
    outcome = _with(plain, told.finding)
    if asked.kind.compares and isinstance(reference, Side) and not by_stored_baseline(check, material):
        outcome = replace(outcome, against=reference.origin)
    if by_stored_baseline(check, material):
        outcome = replace(outcome, acceptable=told.finding.verdict == "fail" or told.mendable)
    if check.part.timed is not None and outcome.verdict != "error":
        outcome = replace(outcome, facts=(*outcome.facts, _about_time(check.part.timed, check, material, outcome)))
    return _lenient(outcome, warns=check.only_warns)


def _lenient(outcome: Outcome, *, warns: bool) -> Outcome:
    """Turn a failure of a rule that only warns into a warning, whatever the failure is."""
    if outcome.verdict == "fail" and warns:
        return replace(outcome, verdict="pass", warning=True, broken=True)
    return outcome


def _about_time(metric: Metric, check: Check, material: Material, outcome: Outcome) -> str:
    """The noise of the times that a verdict rests on, and the option that lets them decide."""
    noise = time_noise(material.now, metric, material.population.mask(check.slice))
    failed = outcome.verdict == "fail" if check.only_warns else outcome.verdict == "pass" and outcome.warning
    if failed and check.asked is not None and "on_fail" not in check.asked.options.model_fields_set:
        return f"only a warning, as times vary from run to run: {noise}; on_fail: fail lets this rule decide"
    return noise


def _plain_outcome(check: Check) -> Outcome:
    """The parts of an outcome that are known before anything is evaluated."""
    metric = check.part.metric
    return Outcome(
        id=check.id,
        kind=check.family,
        verdict="error",
        headline="",
        file=check.place.file,
        line=check.place.line,
        column=check.place.column,
        name=check.asked.options.name if check.asked else "",
        metric="" if metric is None else str(metric),
        explained=metric is not None and metric.unit == "query" and not metric.needs & {"reference", "sessions"},
        slice=str(check.slice),
        tags=check.tags,
    )


def _with(plain: Outcome, finding: Finding) -> Outcome:
    return replace(plain, **{each.name: getattr(finding, each.name) for each in fields(Finding)})


def _without_baseline(plain: Outcome, material: Material) -> Outcome:
    """Fail; a deleted baseline must be restored, not accepted again."""
    plain = replace(plain, verdict="fail", headline="no baseline to compare with")
    if material.deleted is not None:
        headline = f"{plain.headline}, but the last commit has one\n  {bring_back(material.deleted)}"
        sentence = "The baseline of this suite was deleted."
        return replace(plain, headline=headline, sentence=sentence, compares=False)  # nor can it simply be accepted
    sentence = "No rankings of this suite have been accepted yet."
    return replace(plain, sentence=sentence, missing_baseline=True, acceptable=True)


def _finding_of_rule(check: Check, asked: RuleAsked, look: Callable[[], RuleContext], family: _Family) -> Finding:
    if check.id in family.broken:
        return family.broken[check.id]
    context = look()
    if check.id in family.adjusted:
        context = replace(context, adjusted_p=family.adjusted[check.id], tested_verdicts=len(family.adjusted))
    few = _too_few(asked, context)
    return few if few is not None else _check_rule(asked, context)


def _check_rule(asked: RuleAsked, context: RuleContext) -> Finding:
    """Ask the function of a rule; what that of a plugin returns is looked at before it is used."""
    rule = f"rule {asked.kind.name} of {asked.kind.source}"
    result: object = asked.kind.check(asked.options, context)
    if not isinstance(result, RuleResult):
        return Finding("error", f"{rule} returned {type(result).__name__}, not a RuleResult")
    if result.verdict not in VERDICTS:
        return Finding("error", f"{rule} returned {result.verdict!r}; a verdict is one of {', '.join(VERDICTS)}")
    headline: object = asked.kind.describe(asked.options, context, result)
    if not isinstance(headline, str) or not headline.strip():
        return Finding("error", f"{rule} described its result as {headline!r}; it returns a sentence")
    finding = Finding(
        result.verdict,
        headline,
        result.sentence,
        result.figures,
        result.queries,
        result.more_queries,
        worst=result.queries_title,
        facts=result.notes,
        warning=result.warning,
        broken=result.broken,
        numbers=result.numbers,
        statistics=result.statistics,
    )
    if not asked.kind.check.__module__.startswith("pytest_ireval."):
        finding = _as_plain(finding, rule)
    if not finding.figures:
        return finding
    figures = finding.figures[0]
    return replace(
        finding,
        numbers={**list_numbers(figures), **finding.numbers},
        statistics=(*describe_statistics(figures, context.tested_verdicts), *finding.statistics),
    )


def _lowering(check: Check, material: Material, circumstances: Circumstances) -> Finding:
    fails = circumstances.lowering_fails
    try:
        finding = lowering(check.held, material, fails=fails)
        if circumstances.base is None:
            return finding
        tree = circumstances.base.find_tree(material.suite.path.parent)
        at = None if material.held is None else material.held.beginning.at
        ranked = () if at is None or at.baseline is None else at.baseline.rankings[0].queries
        moved = find_moved_references(material, circumstances.base)
        finding = with_moved_references(finding, moved, material.suite, tree.base, fails=fails)
        finding = with_regraded(finding, find_regraded_since_base(material, tree), fails=fails)
        found = weakened(material.suite, material.registry, tree, material.population.queries, ranked)
        return with_weaker(finding, found, tree.base, fails=fails)
    except IrevalError as error:
        return _error_finding(error)


def _inputs(_: Check, material: Material, circumstances: Circumstances) -> Finding:
    """Rule on the inputs, which fit together once they are gathered; the facts tell what a reader should know."""
    error = material.baseline_error
    locked = material.suite.judgments is not None and material.suite.judgments.lock
    if locked and error is not None and not isinstance(error, BaselineMisfitError):
        return _error_finding(error)
    renamed = material.strange or changed_ids(material)
    if renamed is not None:
        return _error_finding(renamed)
    counts = material.counts
    headline = f"{format_count(counts.queries, 'query')}, {counts.judged} of them judged; rankings: {material.source}"
    unheld = locked and material.stored is None
    facts = ["judgments are locked, but the suite has no baseline yet to compare them with"] if unheld else []
    if material.recorded is not None:
        facts, headline = [headline, *facts], str(material.recorded)
    warning = unheld or material.recorded is not None
    finding = Finding("pass", headline, facts=(*facts, *_facts(material)), warning=warning)
    if circumstances.base is None:  # with a base, only grades that the branch itself changed are told
        finding = with_regraded_inputs(finding, find_regraded_since_baseline(material))
    return _with_new_documents(material, finding)


def _with_new_documents(material: Material, finding: Finding) -> Finding:
    """Make it inconclusive if a new document tops too many lists; a rule about these on all queries decides itself."""
    asked = [rule.options for rule in material.suite.rules if isinstance(rule.options, NewDocumentOptions)]
    reference = _accepted(material)
    if reference is None or any(not options.where for options in asked):
        return finding
    called = material.population.called
    expected = frozenset(called(document) for options in asked for document in options.expected)
    found = find_prominent(RuleContext(material.population, material.now, reference, Part()), expected)
    if not found.documents:
        return finding
    them = "it" if len(found.documents) == 1 else "them"
    judged = material.population.judgments is not None
    return replace(
        finding,
        verdict="inconclusive",
        headline=found.describe(),
        sentence=f"Metrics count {them} as irrelevant, although no judgment says so." if judged else "",
        facts=(
            f"{f'judge {them}, or ' if judged else ''}if you expect {them} add the rule "
            f"new_document: {{{found.option}}}",
            finding.headline,
            *finding.facts,
        ),
        warning=True,
    )


def _accepted(material: Material) -> Side | None:
    """The reference of the rules: the stored baseline, or the first one that a rule names instead."""
    if not any(rule.kind.compares for rule in material.suite.rules):
        return None
    if material.stored is not None:
        return material.comparable
    return next((each for each in material.others.values() if isinstance(each, Side)), None)


def _facts(material: Material) -> Iterator[str]:
    counts = material.counts
    for what, names in (("without a ranking", counts.missing), ("with an empty ranking", counts.empty)):
        if names:
            yield f"{format_count(len(names), 'query')} {what}: {some(names)}"
    if counts.without_judgments:
        yield f"{format_count(len(counts.without_judgments), 'ranked query')} without judgments"
    if isinstance(material.baseline_error, BaselineError):
        yield str(material.baseline_error)
    yield from material.notes


def broken_outcome(check: Check, error: IrevalError) -> Outcome:
    """The outcome of a check of a suite whose inputs are broken; the check of the inputs has the whole text."""
    finding = _error_finding(error)
    if check.id != INPUTS:
        first = f"the inputs of this suite are broken: {finding.headline}"
        finding = Finding("error", first, facts=(f"see the outcome of {INPUTS}",))
    return _with(_plain_outcome(check), finding)


@dataclass(frozen=True)
class _Family:
    """The verdicts that are corrected for one another."""

    adjusted: Mapping[str, float] = field(default_factory=dict)
    """By id: the corrected p, over all rules of the suite, whatever was selected."""
    broken: Mapping[str, Finding] = field(default_factory=dict)
    """By id: the error of a plugin's code that was asked for a p."""


def family_of(checks: Sequence[Check], material: Material) -> _Family:
    """The corrected verdicts of all checks of a suite."""
    of_rules = (check for check in checks if check.asked is not None)
    comparable = [check for check in of_rules if reference_of(check, material) is not None]
    return _correct_together(comparable, lambda check: seen_of(check, material))


def apply_rules(checks: Sequence[Check], look: Callable[[Check], RuleContext]) -> dict[str, Finding]:
    """Apply rules to what ``look`` lets each of them see, as in a run: with p corrected for all of them."""
    family = _correct_together(checks, look)
    return {
        check.id: _errors_told(
            check.asked, partial(_finding_of_rule, check, check.asked, partial(look, check), family)
        ).finding
        for check in checks
        if check.asked is not None
    }


def _correct_together(checks: Sequence[Check], look: Callable[[Check], RuleContext]) -> _Family:
    tested: dict[str, float] = {}
    broken: dict[str, Finding] = {}
    for check in checks:
        if check.asked is None or check.asked.kind.p_value is None:
            continue
        try:
            p = _checked(check.asked.kind.p_value(check.asked.options, look(check)))
        except IrevalError:
            continue  # what cannot be compared is an error when the rule is asked
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the verdict says what
            rule = f"rule {check.asked.kind.name} of {check.asked.kind.source}"
            broken[check.id] = _error_finding(PluginError(raised(rule, error)))
            continue
        if p is not None:
            tested[check.id] = p
    adjusted = holm(np.array([*tested.values()], np.float64))
    return _Family(dict(zip(tested, adjusted.tolist(), strict=True)), broken)


def _checked(p: float | None) -> float | None:
    """Check the p of a rule: that of a plugin may be no probability."""
    if p is not None and not 0 <= float(p) <= 1:
        raise ValueError(f"its p is {p}; a p lies between 0 and 1")
    return None if p is None else float(p)


class _Told(NamedTuple):
    """The finding of a rule; ``mendable`` marks an error that accepting the current rankings fixes."""

    finding: Finding
    mendable: bool = False


def _error_finding(error: IrevalError) -> Finding:
    """An error in the shape of a finding: its first line is the headline."""
    first, *others = error_lines(error)
    return Finding("error", first, facts=tuple(line.strip() for line in others))


def _too_few(asked: RuleAsked, context: RuleContext) -> Finding | None:
    """Rule on a slice that has no queries to judge, or fewer than the rule wants; None if it has enough."""
    if context.part.metric is None and not asked.kind.compares:
        return None
    if not _counting(asked, context):
        return _nothing_to_judge(asked, context)
    count, size = _size(asked, context)
    if count >= asked.options.fewest or _cannot_tell(asked, context):
        return None
    return Finding(
        "inconclusive", f"{context.slice} has {size}, fewer than min_queries: {asked.options.fewest}; not judged"
    )


def _has_enough(asked: RuleAsked, context: RuleContext) -> bool:
    """Tell whether the rule has enough queries to judge; one that can only report too few judges nothing.

    A rule without a metric and without a baseline looks at lists, and there is always one.
    """
    if context.part.metric is None and not asked.kind.compares:
        return True
    count, _ = _size(asked, context)
    if count >= max(1, asked.options.fewest):
        return True
    return bool(count) and asked.options.can_fail_few


def _size(asked: RuleAsked, context: RuleContext) -> tuple[float, str]:
    """The number of queries of the slice, or their worth if drawn in clusters; and the same in words."""
    count = _counting(asked, context)
    if count and asked.options.facts.by_evidence and context.population.clusters is not None:
        question = MetricChange(context, context.paired_values())
        return question.effective_size, format_size(question)
    return count, format_count(count, "query")


def _counting(asked: RuleAsked, context: RuleContext) -> int:
    """The number of units of the slice that the rule looks at; queries, where it is about no metric."""
    if context.part.metric is None:
        return context.places_on_both_sides().size
    paired = asked.kind.compares and "reference" not in context.part.metric.needs
    return (context.paired_values() if paired else context.values()).now.size


def _cannot_tell(asked: RuleAsked, context: RuleContext) -> bool:
    """Tell whether the rule itself rules on too little evidence; on all queries it always does."""
    return asked.options.judges_few or (asked.options.facts.by_evidence and not context.slice.conditions)


def _nothing_to_judge(asked: RuleAsked, context: RuleContext) -> Finding:
    """Rule on a slice without any value; it is an error only if the reason is unknown."""
    inside = context.slice.mask(context.population.queries)
    if inside.any() and not (inside & context.population.counting).any():
        return Finding("inconclusive", f"all queries of {context.slice} are waived; not judged")
    if not asked.kind.compares:
        return Finding("error", f"no query of {context.slice} counts")
    if _is_new(context):
        return Finding("inconclusive", f"no query of {context.slice} is in the baseline yet; not judged")
    raise BaselineMisfitError(f"no query of {context.slice} has a value on both sides")


def _is_new(context: RuleContext) -> bool:
    """Tell whether the baseline has no query of the slice yet."""
    position = context.baseline.position if context.baseline is not None else {}
    inside = context.slice.mask(context.population.queries).tolist()
    return not any(q in position for q, there in zip(context.population.queries.ids, inside, strict=True) if there)


def _errors_told(asked: RuleAsked, judge: Callable[[], Finding]) -> _Told:
    """Ask the rule; an error of ours, or whatever a plugin's code raises, becomes a finding too."""
    rule = f"rule {asked.kind.name} of {asked.kind.source}"
    try:
        return _Told(judge())
    except IrevalError as error:
        return _Told(_error_finding(error), isinstance(error, BaselineMisfitError))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, skips among it; the message names it
        return _Told(_error_finding(PluginError(raised(rule, error))))


def _as_plain(finding: Finding, rule: str) -> Finding:
    """Reduce a plugin's finding to plain values, which files can hold and other processes understand."""
    try:
        return from_plain(to_plain(finding), Finding)
    except InputError as error:
        (problem,) = error.problems[:1]
        what = f"{' > '.join(problem.path)}: {problem.complaint}"
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error)
    return Finding("error", f"{rule} returned a RuleResult that cannot be written to a file: {what}")
