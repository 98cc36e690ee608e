"""``churn``: limits how many queries may get a very different list; needs no judgments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext, RuleResult, percent
from pytest_ireval.rules.wording import lowest_values, on, queries_of
from pytest_ireval.suite.option_types import AmountText, MetricText, Number
from pytest_ireval.suite.options import LESS, ComparingOptions


class ChurnOptions(ComparingOptions):
    """The least similarity of two lists, and the number of queries that may have less."""

    overlap: MetricText = Field(
        description="The metric of the similarity of two lists: RBO(p=0.9), Overlap@10, or a similar one."
    )
    below: Annotated[Number, LESS] = Field(
        description="A list counts as changed if its similarity is below this value."
    )
    at_most: AmountText = Field(description="The share or number of queries that may have a changed list: 10%, or 3.")

    @model_validator(mode="after")
    def _can_fail(self) -> ChurnOptions:
        if "reference" not in self.overlap.needs or self.overlap.direction != "higher":
            raise ValueError(
                f"{self.overlap} does not measure how similar two lists are: use RBO(p=0.9), Overlap@10, or a "
                "similar metric"
            )
        low, high = self.overlap.bounds
        if not low < self.below <= high:
            raise ValueError(
                f"below: {self.below:g} is outside of the range of {self.overlap}: above {low:g}, up to {high:g}"
            )
        if self.at_most.share is not None and self.at_most.share >= 1:
            raise ValueError(f"at_most: {self.at_most} lets everything pass")
        return self


def _parts_of_churn(options: ChurnOptions) -> Iterator[Part]:
    yield Part(metric=options.overlap, place=("overlap",))


@rule(name="churn", options=ChurnOptions, parts=_parts_of_churn, compares=True, judged=False, lists=True)
def churn(options: ChurnOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries get a very different list."""
    values = context.values()
    changed = values.now < options.below
    count, size = int(np.count_nonzero(changed)), values.now.size
    if not size:
        return RuleResult("error", f"no query has a list on both sides{on(context)}")
    failed = count > options.at_most.of(size) + 1e-9  # a share may be off by rounding
    figures = SliceFigures(
        str(context.slice), size, float(values.now.mean()), share=context.population.share(context.slice), over=failed
    )
    share = percent(count / size, options.at_most.share)
    different = lowest_values(context, values, failed=failed, first=count)
    return RuleResult(
        "fail" if failed else "pass",
        f"the list of {queries_of(context, count)} of {size} ({share}) changed to {context.metric} below "
        f"{options.below:g}{on(context)} (at most {options.at_most})",
        f"{queries_of(context, count)} of {size} got a very different list.",
        figures=(figures,),
        queries=different.queries,
        more_queries=different.more,
        worst="most different lists",
        numbers={"changed": float(count), "share": count / size},
    )
