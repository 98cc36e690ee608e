"""``risk``: limits how far losses of single queries outweigh gains, when a loss counts more than a gain."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from pytest_ireval.plugins.kinds import rule
from pytest_ireval.rules.context import Ruling, Seen
from pytest_ireval.rules.evidence import Chances, Tries
from pytest_ireval.rules.question import Question, figures_of
from pytest_ireval.rules.wording import on, worst_changes
from pytest_ireval.statistics.estimate import risk_of
from pytest_ireval.suites.options import LESS, ComparingOptions, MetricText, Number


class RiskOptions(ComparingOptions):
    """A metric, the weight of its losses, and the least TRisk."""

    metric: MetricText = Field(description="The metric.")
    aversion: Annotated[Number, LESS] = Field(
        1, ge=0, description="A loss counts 1 + aversion times as much as a gain of the same size."
    )
    at_least: Annotated[Number, LESS] = Field(
        -2,
        le=0,
        description="The least TRisk: the mean of the weighted changes in standard errors. -2 is a clear risk.",
    )


def _chances_of_risk(options: RiskOptions, tries: Tries) -> Chances:
    found = [risk_of(each, options.aversion).t for each in tries.sign * tries.changes]
    return Chances(np.array(found) < options.at_least)


@rule(name="risk", options=RiskOptions, compares=True, chances=_chances_of_risk)
def risk(options: RiskOptions, seen: Seen) -> Ruling:
    """Limit the risk of a change: losses of single queries, each counted more than a gain of the same size."""
    question = Question(seen, seen.paired())
    found = risk_of(question.gains, options.aversion)
    if np.isnan(found.t):
        size = question.gains.size
        return Ruling("inconclusive", f"the risk of {seen.metric}{on(seen)} needs two queries; here is {size}")
    failed = found.t < options.at_least
    worst = worst_changes(seen, question.values, failed=failed)
    return Ruling(
        "fail" if failed else "pass",
        f"TRisk of {seen.metric} is {found.t:.2f}{on(seen)} (must be >= {options.at_least:g}; "
        f"a loss counts {1 + options.aversion:g} times)",
        "Losses of single queries outweigh what others gain." if failed else "",
        figures=(replace(figures_of(question), over=failed),),
        queries=worst.queries,
        more_queries=worst.more,
        numbers={"urisk": found.mean, "min": options.at_least, **({"trisk": found.t} if np.isfinite(found.t) else {})},
        statistics=(f"URisk {found.mean:+.4f}: the mean change, each loss counted {1 + options.aversion:g} times",),
    )
