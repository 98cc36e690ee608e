"""``churn``: limits how many queries may get a very different list; needs no judgments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from pytest_ireval.errors import InputError
from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import format_queries, format_slice
from pytest_ireval.rules.worst_queries import list_lowest_values
from pytest_ireval.suite.option_types import AmountText, MetricText, Number
from pytest_ireval.suite.options import LESS, ComparingOptions
from pytest_ireval.suite.quantities import SHARE_ROUNDING
from pytest_ireval.words import format_percent


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


def _list_parts(options: ChurnOptions) -> Iterator[Part]:
    yield Part(metric=options.overlap, place=("overlap",))


def _describe(options: ChurnOptions, context: RuleContext, result: RuleResult) -> str:
    changed = format_queries(context, int(result.numbers["changed"]))
    share = format_percent(result.numbers["share"], options.at_most.share)
    return (
        f"the list of {changed} of {result.figures[0].queries} ({share}) changed to {context.metric} below "
        f"{options.below:g}{format_slice(context)} (at most {options.at_most})"
    )


@rule(
    name="churn",
    options=ChurnOptions,
    describe=_describe,
    parts=_list_parts,
    compares=True,
    compares_lists=True,
    needs_judgments=False,
)
def churn(options: ChurnOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries get a very different list."""
    values = context.values()
    changed = int(np.count_nonzero(values.now < options.below))
    size = values.now.size
    if not size:
        raise InputError(f"no query has a list on both sides{format_slice(context)}")
    failed = changed > options.at_most.of(size) + SHARE_ROUNDING
    mean = float(values.now.mean())
    share = context.population.share(context.slice)
    lowest = list_lowest_values(context, values, failed=failed, first=changed)
    return RuleResult(
        "fail" if failed else "pass",
        figures=(SliceFigures(str(context.slice), size, mean, share=share, over=failed),),
        queries=lowest.queries,
        more_queries=lowest.omitted_count,
        queries_title="most different lists",
        numbers={"changed": float(changed), "share": changed / size},
        sentence=f"{format_queries(context, changed)} of {size} got a very different list.",
    )
