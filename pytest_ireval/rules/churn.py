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
from pytest_ireval.suite.options import LESS, ListOptions
from pytest_ireval.suite.quantities import refuse_everything
from pytest_ireval.words import format_percent


class ChurnOptions(ListOptions):
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
        if not self.overlap.compares_lists or self.overlap.direction != "higher":
            raise ValueError(
                f"{self.overlap} does not measure how similar two lists are: use RBO(p=0.9), Overlap@10, or a "
                "similar metric"
            )
        low, high = self.overlap.bounds
        if not low < self.below <= high:
            raise ValueError(
                f"below: {self.below:g} is outside of the range of {self.overlap}: above {low:g}, up to {high:g}"
            )
        refuse_everything(self.at_most)
        return self


def _list_parts(options: ChurnOptions) -> Iterator[Part]:
    yield Part(metric=options.overlap, keys=("overlap",))


@rule(name="churn", options=ChurnOptions, parts=_list_parts)
def churn(options: ChurnOptions, context: RuleContext) -> RuleResult:
    """Limit how many queries get a very different list; needs no judgments."""
    values = context.values()
    size, changed = values.current.size, int(np.count_nonzero(values.current < options.below))
    if not size:
        raise InputError(f"no query has a list on both sides{format_slice(context)}")
    failed = not options.at_most.allows(changed, size)
    mean, weight = float(values.current.mean()), context.population.share(context.slice)
    lowest = list_lowest_values(context, values, failed=failed, first=changed)
    return RuleResult(
        "fail" if failed else "pass",
        _describe(options, context, changed, size),
        figures=(SliceFigures(str(context.slice), size, mean, share=weight, over=failed),),
        queries=lowest.queries,
        more_queries=lowest.omitted_count,
        queries_title="most different lists",
        numbers={"changed": float(changed), "share": changed / size},
        sentence=f"{changed} of {format_queries(context, size)} got a very different list.",
    )


def _describe(options: ChurnOptions, context: RuleContext, changed: int, size: int) -> str:
    """``40 of 400 queries (10%) got a list with RBO(p=0.9) below 0.5 (at most 5%)``."""
    share = format_percent(changed / size, options.at_most.share)
    return (
        f"{changed} of {format_queries(context, size)} ({share}) got a list with {context.metric} below "
        f"{options.below:g}{format_slice(context)} (at most {options.at_most})"
    )
