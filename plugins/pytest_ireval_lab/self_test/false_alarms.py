"""False alarms: baseline and candidate change places by chance, and the rules that turn red are counted.

If a change makes queries better or worse only by chance, each query might as well have had its two values the other way
round. So they are swapped at random, for all metrics of a query together, and every rule is applied again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from pytest_ireval import Scores
from pytest_ireval.gate_api import LEVEL, TIE, Mask, RuleCheck, correct_p_values, prepare_checks
from pytest_ireval.plugin_api import SILENT, Progress, share_limits
from pytest_ireval_lab.self_test.rehearsal import RED, Rehearsal, draw_numbers
from pytest_ireval_lab.self_test.results import FalseAlarms

WHOLE_SUITE = ""


def count_different_queries(rehearsal: Rehearsal, scores: Scores) -> int:
    """The number of queries with different values of some metric on the two sides of some comparison."""
    different = np.zeros(len(scores.population.queries), bool)
    references = [scores.find_reference(check.rule) for check in list_swappable(rehearsal)]
    for reference in {id(reference): reference for reference in references}.values():
        comparison = reference.trusted
        if comparison is None:
            continue
        for name, before in comparison.baseline.scored.items():
            after = comparison.current.scored.get(name)
            if after is not None and after.metric.unit == "query":
                different |= np.abs(after.values - before.values) > TIE
    return int(np.count_nonzero(different & scores.population.counted_queries))


def count_different_values(check: RuleCheck, scores: Scores) -> int | None:
    """The number of values of the rule's metric in its slice that differ between the two sides; None: unknown."""
    metric, comparison = check.part.metric, scores.find_reference(check.rule).trusted
    if metric is None or comparison is None:
        return None
    before, after = (side.scored.get(str(metric)) for side in (comparison.baseline, comparison.current))
    if before is None or after is None or before.names != after.names:
        return None
    different = ~np.isclose(after.values, before.values, rtol=0.0, atol=TIE, equal_nan=True)
    if metric.unit == "query":
        different &= check.slice.mask(scores.population.queries) & scores.population.counted_queries
    return int(np.count_nonzero(different))


def list_swappable(rehearsal: Rehearsal) -> tuple[RuleCheck, ...]:
    """Rules that compare values; swapping the sides of lists does not change the result of a comparison of lists."""
    return tuple(check for check in rehearsal.checks if check.rule.compares and not check.rule.compares_lists)


def count_false_alarms(
    rehearsal: Rehearsal, scores: Scores, trials: int, progress: Progress = SILENT
) -> tuple[FalseAlarms, ...]:
    """The alarms of the whole suite, then of each rule; both sides of the comparisons in ``scores`` change places."""
    checks = list_swappable(rehearsal)
    if not checks:
        return ()
    lists = any(not check.rule.kind.is_built_in for check in checks)
    by_evidence = [check for check in checks if _name_decision(check) == "evidence"]
    red: Counter[str] = Counter()
    proven: Counter[str] = Counter()
    progress.expect(trials, "false alarms")
    for trial in range(trials):
        swapped = scores.swap(toss_coins(rehearsal, trial), lists=lists)
        outcomes = rehearsal.check(swapped, checks)
        failed = {outcome.id for outcome in outcomes if outcome.verdict in RED}
        significant = _find_significant(by_evidence, swapped, failed)
        warned = {outcome.id for outcome in outcomes if outcome.verdict == "pass" and outcome.warning}
        red.update(failed | warned | ({WHOLE_SUITE} if failed else set()))
        proven.update(significant | ({WHOLE_SUITE} if significant else set()))
        progress.advance(1)
    rules = [
        replace(
            _count_alarms(check.id, (check,), trials, red[check.id], proven[check.id]),
            differing=count_different_values(check, scores),
            only_warns=check.only_warns,
        )
        for check in checks
    ]
    whole = _count_alarms(WHOLE_SUITE, checks, trials, red[WHOLE_SUITE], proven[WHOLE_SUITE])
    return (whole, *rules)


def toss_coins(rehearsal: Rehearsal, trial: int) -> Mask:
    """Heads for half of the queries; variants of one intent change places together."""
    heads: Mask = draw_numbers(rehearsal.urn, "swap", trial) < 0.5
    clusters = rehearsal.scores.population.clusters
    if clusters is None:
        return heads
    _, first, codes = np.unique(clusters, return_index=True, return_inverse=True)
    return heads[first[codes]]


def _count_alarms(rule: str, checks: Sequence[RuleCheck], trials: int, red: int, by_evidence: int) -> FalseAlarms:
    limits = share_limits(red, trials)
    promised = LEVEL if any(_name_decision(check) == "evidence" for check in checks) else None
    low = share_limits(by_evidence, trials).low
    return FalseAlarms(
        rule=rule,
        decided_by=_name_decision(checks[0]) if rule else "",
        runs=trials,
        alarms=red,
        share=red / trials,
        low=limits.low,
        high=limits.high,
        by_evidence=by_evidence,
        promised=promised,
        broken=promised is not None and low > promised,
    )


def _find_significant(checks: Sequence[RuleCheck], scores: Scores, failed: Container[str]) -> set[str]:
    """Rules that failed by evidence; without those that failed by the observed value alone."""
    corrected = correct_p_values(prepare_checks(checks, scores)).by_check if checks else {}
    return {check.id for check in checks if check.id in failed and corrected.get(check.id, 1.0) < LEVEL}


def _name_decision(check: RuleCheck) -> str:
    return "evidence" if check.rule.traits.by_evidence else "observed"
