"""``worsened``: only so many queries may get worse by more than so much."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from pytest_ireval.plugins.kinds import rule
from pytest_ireval.rules.figures import figures_compared
from pytest_ireval.rules.ruling import Ruling
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.wording import much_worse, on, queries_of
from pytest_ireval.rules.worst import worst_changes
from pytest_ireval.suites.options import ComparingOptions
from pytest_ireval.suites.values import AmountText, MetricText, Number


class WorsenedOptions(ComparingOptions):
    """A metric, what counts as worse, and for how many queries that is allowed."""

    metric: MetricText = Field(description="The metric.")
    by_more_than: Number = Field(ge=0, description="A query counts when its value gets worse by more than this.")
    at_most: AmountText = Field(description="How many queries may: 2, or 5%.")
    decide_by: Literal["observed"] = Field("observed", description="What decides: the number that was observed.")

    @model_validator(mode="after")
    def _can_fail(self) -> WorsenedOptions:
        low, high = self.metric.bounds
        if self.by_more_than >= high - low:
            raise ValueError(
                f"no query can get worse by more than {self.by_more_than:g}: {self.metric} lies between {low:g} and "
                f"{high:g}"
            )
        if self.at_most.share is not None and self.at_most.share >= 1:
            raise ValueError(f"at_most: {self.at_most} lets everything pass")
        return self


@rule(name="worsened", options=WorsenedOptions, compares=True)
def worsened(options: WorsenedOptions, seen: Seen) -> Ruling:
    """Not more than so many queries get worse by more than so much."""
    values = seen.paired()
    drops = -seen.sign * values.gain
    count = int(np.count_nonzero(drops > options.by_more_than + 1e-12))
    allowed = options.at_most.of(drops.size)
    failed = count > allowed + 1e-9  # a share of a number may be off by rounding
    figures = replace(figures_compared(seen, values), over=failed)
    changes = worst_changes(seen, values, failed=failed, least=options.by_more_than)
    verb = "lose" if seen.sign > 0 else "gain"
    return Ruling(
        "fail" if failed else "pass",
        f"{queries_of(seen, count)} of {drops.size} {verb if count != 1 else verb + 's'} more than "
        f"{options.by_more_than:g} of {seen.metric}{on(seen)} (at most {options.at_most})",
        much_worse(seen, changes, count, drops.size),
        figures=(figures,),
        queries=changes,
        numbers={"worsened": float(count), "allowed": float(allowed)},
    )
