"""Finds a lowered baseline: a branch accepted worse figures than those accepted where it began."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.at_base import BaselineAtBase
from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.baseline.reading import format_checkout
from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.data.coerce import some
from pytest_ireval.errors import BaselineError
from pytest_ireval.gate.finding import Finding
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.reference import HeldAgainst, find_lack_of_one, refuse_too_little
from pytest_ireval.gate.weakened import Weakened
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.repositories.merge_base import MergeBase
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext, Values
from pytest_ireval.rules.metric_change import compare_figures
from pytest_ireval.rules.planning import MetricOnSlice, compares_with_baseline
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.slices import WHOLE
from pytest_ireval.rules.worst_queries import worst_changes
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count

SAME = 1e-9
"""Figures that are closer, as a share where they are above 1, are one figure."""


class ComparedFigure(NamedTuple):
    """A metric on a slice in both baselines."""

    held: MetricOnSlice
    context: RuleContext
    values: Values
    figures: SliceFigures
    drop: float
    """The loss against the base; negative where it is better."""

    @property
    def lowered(self) -> bool:
        """True if it is worse by more than rounding."""
        return self.drop > SAME * max(1.0, abs(self.figures.baseline or 0.0))

    @property
    def drop_as_share(self) -> float:
        """The loss as a share of the base's figure."""
        return self.drop / abs(self.figures.baseline or 1.0)

    @property
    def numbers(self) -> dict[str, float]:
        """For programs."""
        before, now = self.figures.baseline or 0.0, self.figures.now or 0.0
        return {"value": now, "baseline": before, "change": now - before}

    @property
    def moved(self) -> str:
        """``0.8800 -> 0.6100``."""
        before, now = (f"{value or 0.0:.4f}" for value in (self.figures.baseline, self.figures.now))
        by = f" (worse by {self.drop:.2g})" if self.lowered else ""
        return f"{before} -> {now}" if before != now else before + by

    def __str__(self) -> str:
        return f"{self.held.metric} {self.moved} on {self.held.slice}"


def lowering(held: Sequence[MetricOnSlice], material: Material, *, fails: bool) -> Finding:
    """Compare the stored baseline with the base's; ``fails`` makes a lower one red. Raises IrevalError if it cannot."""
    against, stored = material.held, material.stored
    if against is None:
        raise BaselineError("the baseline was not compared with that of another branch")
    at = against.beginning.at
    if against.beginning.error is not None or at is None:
        raise against.beginning.error or BaselineError("the commit where this branch began is unknown")
    if stored is None and material.baseline_error is not None:
        raise material.baseline_error
    if not any(compares_with_baseline(asked) for asked in material.suite.rules):
        return Finding("pass", f"no rule compares with the baseline; the suite is as strict as at {at.base}")
    if at.baseline is None:
        return _new(at, stored)
    if stored is None:
        return _deleted(at, fails=fails)
    lacks = {each: find_lack_of_one(each.metric, against, at, stored) for each in held}
    lacks = {each: lack for each, lack in lacks.items() if lack}
    held = [each for each in held if each not in lacks]
    found = list(_compared(held, material, at, stored))
    lowered = sorted((each for each in found if each.lowered), key=lambda each: -each.drop_as_share)
    lost = tuple(_lost_queries(material.population, at, against))
    fails = fails and any(decides(each.held.metric, material.suite) for each in lowered)
    said = _lowered(lowered, found, at, fails=fails) if lowered else _not_lowered(held, found, at, stored)
    facts = (*lost, *_since(at, stored)) if not lowered else (*_since(at, stored), *lost)
    facts += tuple(_plugins_gone(at, material.registry.distributions))
    warning = said.warning or (said.verdict == "pass" and bool(lost))
    compared = [each.held for each in found]
    lacking = [each for each in held if each not in compared] if found else []
    unpaired = [
        f"{each.metric} on {each.slice} has no figure over queries that both baselines have" for each in lacking
    ]
    notes = (*dict.fromkeys(lacks.values()), *unpaired, *at.base.notes)
    return replace(said, facts=(*facts, *notes), warning=warning)


def decides(metric: Metric, suite: Suite) -> bool:
    """Tell whether a lower figure may fail: times only warn, unless a rule says ``on_fail: fail``."""
    rules = (asked for asked in suite.rules if any(part.metric == metric for part in asked.parts))
    return "timings" not in metric.needs or any(not asked.only_warns(metric) for asked in rules)


def with_weaker(finding: Finding, found: Weakened, base: MergeBase, *, fails: bool) -> Finding:
    """Add the changes that make the suite weaker; they fail if ``fails`` is set, else they are a warning."""
    other = tuple(f"also changed: {each}" for each in found.other)
    if not found.weaker:
        return replace(finding, facts=(*finding.facts, *other))
    if finding.verdict != "pass" or finding.warning:
        headline = f"{finding.headline}; the suite is also weaker"
        return replace(finding, headline=headline, facts=(*found.weaker, *other, *finding.facts))
    first, *rest = found.weaker
    return replace(
        finding,
        verdict="fail" if fails else "pass",
        headline=f"the suite is weaker than at {base}: {first}{f', and {len(rest)} more' if rest else ''}",
        sentence="A weaker suite can pass changes that the stricter one would have failed.",
        facts=(*rest, *other, finding.headline, *finding.facts),
        warning=not fails,
    )


def _new(at: BaselineAtBase, stored: Baseline | None) -> Finding:
    """Rule on a suite that had no baseline at the base; git also knows which other baselines are gone."""
    here = "this branch has none either" if stored is None else "it is new on this branch"
    names = ", ".join(at.removed)
    gone = [f"removed since then, and not continued by a baseline of this branch: {names}"] if names else []
    headline = f"the suite had no baseline at {at.base}; {here}"
    return Finding("pass", headline, facts=(*gone, *at.base.notes), warning=bool(gone))


def _deleted(at: BaselineAtBase, *, fails: bool) -> Finding:
    facts = (f"{format_checkout(at.base.short, at.base.top / at.file)} restores it", *at.base.notes)
    headline = f"the branch deleted the baseline that it had at {at.base}"
    return Finding("fail" if fails else "pass", headline, facts=facts, warning=not fails)


def _compared(
    held: Sequence[MetricOnSlice], material: Material, at: BaselineAtBase, stored: Baseline
) -> Iterator[ComparedFigure]:
    """Each figure that both baselines have, over the queries that both have."""
    against = material.held
    if against is None or against.ours is None:
        return
    for each in held:
        refuse_too_little(material.suite, each.metric, at, stored)
        context = RuleContext(material.population, against.ours, against.theirs, Part(metric=each.metric), each.slice)
        if (found := compare_figure(context, each)) is not None:
            yield found


def compare_figure(context: RuleContext, held: MetricOnSlice) -> ComparedFigure | None:
    """A figure of two references; None where no query has a value in both."""
    values = context.paired_values()
    figures = replace(compare_figures(context, values), resolution=None)
    if figures.now is None or figures.baseline is None:
        return None
    return ComparedFigure(held, context, values, figures, -context.sign * (figures.now - figures.baseline))


def add_finding(finding: Finding, found: Finding, *, fails: bool) -> Finding:
    """The finding with one more way in which the branch lowers what later changes are compared with."""
    if finding.verdict == "pass" and not finding.warning:
        return replace(
            found,
            verdict="fail" if fails else "pass",
            warning=not fails,
            facts=(*found.facts, finding.headline, *finding.facts),
        )
    verdict = finding.verdict if finding.verdict != "pass" else "fail" if fails else "pass"
    return replace(
        finding,
        verdict=verdict,
        warning=verdict == "pass",
        headline=f"{finding.headline}; {found.headline}",
        facts=(*found.facts, *finding.facts),
        figures=(*finding.figures, *found.figures),
        numbers=finding.numbers or found.numbers,
    )


def _lowered(
    lowered: Sequence[ComparedFigure], found: Sequence[ComparedFigure], at: BaselineAtBase, *, fails: bool
) -> Finding:
    worst = lowered[0]
    more = f", and {len(lowered) - 1} more" if len(lowered) > 1 else ""
    beside = [each for each in found if each not in lowered and each.held.slice == WHOLE]
    several = len({str(each.held.metric) for each in (*lowered, *beside)}) > 1
    queries = worst_changes(worst.context, worst.values, failed=True)
    return Finding(
        "fail" if fails else "pass",
        f"the branch lowers its baseline: {worst}{more}",
        f"Baseline is what was accepted at {at.base}; now is what this branch has accepted.",
        figures=tuple(figure_line(each, several=several) for each in (*lowered, *beside)),
        queries=queries.queries,
        more_queries=queries.more,
        worst=f"worst by {worst.held.metric}",
        warning=not fails,
        numbers=worst.numbers,
    )


def figure_line(each: ComparedFigure, *, several: bool) -> SliceFigures:
    """Its line in a table, with the name of the metric where there are several."""
    named = f"{each.held.metric} {each.held.slice}" if several else each.figures.slice
    return replace(each.figures, slice=named, over=each.lowered)


def _not_lowered(
    held: Sequence[MetricOnSlice], found: Sequence[ComparedFigure], at: BaselineAtBase, stored: Baseline
) -> Finding:
    if at.unchanged:
        headline = f"the baseline is the one of {at.base}"
    elif found:
        headline = f"the branch lowers nothing of the baseline at {at.base}"
    elif held:
        return Finding("inconclusive", f"no query has a value both in this baseline and in the one at {at.base}")
    else:
        before = at.baseline.rankings if at.baseline is not None else ()
        changed = format_count(len(find_changed_queries(before, stored.rankings, stored.depth)), "query")
        headline = f"lists have no figure to lower; the lists of {changed} differ from those at {at.base}"
    whole = [each for each in found if each.held.slice == WHOLE]
    said = f": {', '.join(map(str, whole))}" if whole else ""
    several = len(whole) > 1
    return Finding("pass", headline + said, figures=tuple(figure_line(each, several=several) for each in whole))


NAMED = 10
"""The most acceptances to name, the last ones."""


def _since(at: BaselineAtBase, stored: Baseline) -> Iterator[str]:
    """The events on the branch: acceptances, the newest first, and another name of the baseline."""
    before = at.baseline
    if before is None or at.unchanged:
        return
    new = [each for each in stored.acceptances if each not in before.acceptances]
    yield from map(_accepted, new[: -NAMED - 1 : -1])
    if len(new) > NAMED:
        yield f"and {format_count(len(new) - NAMED, 'earlier acceptance')} on this branch"
    unknown = [each for each in before.acceptances if each not in stored.acceptances]
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        last = f"the last one on {unknown[-1].date[:10]}"
        yield f"{format_count(len(unknown), 'acceptance')} of the base {verb} not part of this baseline, {last}"
    if at.renamed:
        yield f"the baseline was called {at.file} then"


def _plugins_gone(at: BaselineAtBase, plugins: Sequence[str]) -> Iterator[str]:
    """Distributions that were active when the base was accepted and are not now; another version is not a loss."""
    now = {each.partition(" ")[0] for each in plugins}
    for each in at.baseline.plugins if at.baseline is not None else ():
        if each.partition(" ")[0] not in now:
            yield f"plugin {each} was active when the base was accepted, but is not active now"


def _accepted(acceptance: Acceptance) -> str:
    """``accepted 2026-11-20 abc1234: synonyms v2``."""
    commit = f" {acceptance.commit[:7]}" if acceptance.commit else ""
    dirty = " with uncommitted changes" if acceptance.dirty else ""
    forced = ", forced" if acceptance.forced else ""
    return f"accepted {acceptance.date[:10]}{commit}{dirty}{forced}: {acceptance.reason or 'no reason was given'}"


def _lost_queries(population: Population, at: BaselineAtBase, held: HeldAgainst) -> Iterator[str]:
    """Queries that have a value at the base and none here: figures over the others do not show their loss."""
    if at.unchanged or at.baseline is None or held.ours is None or held.theirs is None:
        return
    lost = dict.fromkeys(
        query
        for name, before in held.theirs.scored.items()
        if before.metric.unit == "query" and name in held.ours.scored
        for lacks in [~np.isnan(before.values) & np.isnan(held.ours.scored[name].values) & population.counting]
        for query in np.array(before.names, object)[lacks].tolist()
    )
    if lost:
        yield f"{format_count(len(lost), 'query')} of the base without a value in this baseline: {some(list(lost))}"
