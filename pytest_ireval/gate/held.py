"""The baseline that a branch has accepted beside the one that it began with: both found, both scored as of now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_ireval.baselines.at_base import AtBase, Base, baseline_at_base
from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.renamed import Named
from pytest_ireval.errors import BaselineError, BaselineMisfitError, Problem
from pytest_ireval.gate.against import over_the_same, unknown_to
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.misfit import needs_scores
from pytest_ireval.gate.scoring import side_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.rules.planning import by_stored
from pytest_ireval.rules.side import Side
from pytest_ireval.suites.suite import Suite

ON_ITS_OWN = "the two cannot be held side by side: make this change of the suite in a branch of its own, without a base"


@dataclass(frozen=True, eq=False)
class Beginning:
    """What the branch began with, or why nobody can say."""

    at: AtBase | None = None
    error: BaselineError | None = None


@dataclass(frozen=True, eq=False)
class HeldAgainst:
    """Two baselines of one suite under the judgments and metrics of now."""

    beginning: Beginning
    theirs: Side | None = None
    """That of the merge base; None where one of the two does not exist."""
    ours: Side | None = None


def beginning_of(suite: Suite, base: Base, stored: Baseline | None) -> Beginning:
    """The suite's baseline at the merge base; ``stored`` is the one of the branch."""
    ending = "".join(f".{value}" for value in suite.values.values())
    try:
        return Beginning(baseline_at_base(base, suite.baselines, suite.name, stored, Named(suite.files, ending)))
    except BaselineError as error:
        return Beginning(error=error)


def held_against(suite: Suite, gathered: Gathered, beginning: Beginning, stored: Baseline | None) -> HeldAgainst:
    """Both scored by every metric that a rule compares with the stored baseline."""
    at, metrics = beginning.at, list(_metrics(suite))
    if at is None or at.baseline is None or stored is None or not metrics:
        return HeldAgainst(beginning)
    ours = _side(suite, gathered, stored, "the baseline of this branch", metrics)
    if at.same:
        return HeldAgainst(beginning, ours, ours)
    theirs = _side(suite, gathered, at.baseline, f"the baseline at {at.base}", metrics)
    unknown = unknown_to(gathered, stored) | unknown_to(gathered, at.baseline)
    return HeldAgainst(beginning, over_the_same(suite, gathered, ours, theirs, unknown), ours)


def _metrics(suite: Suite) -> Iterator[Metric]:
    found = {str(part.metric): part.metric for asked in suite.rules if by_stored(asked) for part in asked.parts}
    yield from (metric for metric in found.values() if metric is not None and "reference" not in metric.needs)


def _side(suite: Suite, gathered: Gathered, baseline: Baseline, origin: str, metrics: list[Metric]) -> Side:
    rankings = [gathered.names.in_rankings(each) for each in baseline.rankings]
    return side_of(suite, gathered, rankings, origin, unknown=unknown_to(gathered, baseline), metrics=metrics).side


def refuse_too_little(suite: Suite, metric: Metric, at: AtBase, stored: Baseline) -> None:
    """Raise BaselineMisfitError where one of two different baselines keeps less than the metric looks at."""
    if at.same or at.baseline is None:
        return
    cutoff = metric.settings.get("cutoff")
    wanted = min(cutoff, suite.depth) if isinstance(cutoff, int) else suite.depth
    for baseline, where in ((at.baseline, f"at {at.base}"), (stored, "of this branch")):
        if baseline.depth < wanted:
            complaint = (
                f"the baseline {where} holds {baseline.depth} documents of each query, and {metric} looks at {wanted}"
            )
            raise BaselineMisfitError(Problem(complaint, suggestion=ON_ITS_OWN))
        if needs_scores(suite) and not baseline.scored:
            complaint = f"the baseline {where} holds no scores, which are needed now"
            raise BaselineMisfitError(Problem(complaint, suggestion=ON_ITS_OWN))
