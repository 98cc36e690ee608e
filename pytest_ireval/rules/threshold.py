"""``threshold``: a figure of a metric must be at least, or at most, a given value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue

from pytest_ireval.errors import MetricError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregate_values
from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext, Values
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import format_queries, format_slice
from pytest_ireval.rules.worst_queries import list_lowest_values
from pytest_ireval.sides.slices import WHOLE
from pytest_ireval.suite.editor_types import FILLED_IN, METRIC
from pytest_ireval.suite.option_types import Against, BoundText, FigureText, MetricText, Text, read_metric, read_with
from pytest_ireval.suite.options import IN_PARTS, RuleTraits, StagedOptions
from pytest_ireval.suite.quantities import Bound, refuse_unit
from pytest_ireval.suite.suite import STORED
from pytest_ireval.words import choose_decimals

FIGURE_PATTERN = re.compile(r"mean|min|max|median|p\d{1,2}(\.\d+)?")
FIGURES_IN_WORDS = "mean, min, max, median, p1 to p99"


class Limit(NamedTuple):
    """The bounds of a figure."""

    aggregate: str
    """``p10`` of the metric's values, ``min`` and so on; empty for the metric's own figure."""
    bounds: tuple[Bound, ...]

    def always_holds(self, range_of_values: tuple[float, float]) -> bool:
        """Tell whether no value in a range breaks it."""
        low, high = range_of_values
        return not self.aggregate and all(bound.holds(low) and bound.holds(high) for bound in self.bounds)

    def is_looser_than(self, other: Limit) -> bool:
        """Tell whether it lets more pass: a bound is gone, or is looser."""
        for other_bound in other.bounds:
            same_side = [bound for bound in self.bounds if bound.sign[0] == other_bound.sign[0]]
            if not same_side or same_side[0].is_looser_than(other_bound):
                return True
        return False

    def __str__(self) -> str:
        return " and ".join(map(str, self.bounds))


class MetricKey(NamedTuple):
    """A metric as a key of the short form."""

    metric: Metric
    text: str
    """As the suite writes it, for the places of messages."""


def _read_metric_key(value: Any, info: ValidationInfo) -> MetricKey:
    return MetricKey(read_metric(value, info), str(value))


class ThresholdOptions(StagedOptions):
    """Short: a metric and its bound, ``nDCG@10: ">= 0.85"``, as many as you like; long: metric, of, min, max."""

    # Most thresholds are one bound of a metric's own figure, and a suite has many: the short form is a table of them.
    # The long form says what the table cannot: another figure, such as p10, or a lower and an upper bound in one rule.
    # Neither is read as the other: a bound of the table may exclude its value, "> 0.85", and its keys name its lines.
    metric: Annotated[MetricText | None, IN_PARTS] = Field(None, description="Long form: the metric.")
    of: Annotated[Text, IN_PARTS] = Field(
        "",
        description=f"Long form: a figure of the metric's values, {FIGURES_IN_WORDS}. Default: the "
        "metric's own figure.",
    )
    min: Annotated[FigureText | None, IN_PARTS] = Field(None, description="Long form: the lowest allowed value.")
    max: Annotated[FigureText | None, IN_PARTS] = Field(None, description="Long form: the highest allowed value.")
    against: Against = Field(
        STORED,
        description="For metrics that compare two lists, such as Overlap@10: the reference, as baseline, anchor, or "
        "{run: file}.",
    )
    limits: Annotated[dict[Annotated[MetricKey, read_with(_read_metric_key, METRIC)], BoundText], IN_PARTS] = Field(
        default_factory=dict, description="Short form."
    )

    @property
    def traits(self) -> RuleTraits:
        """The traits, with the reference."""
        return replace(super().traits, reference=self.against)

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, data: Any) -> Any:
        """Put all keys that are no options into ``limits``: they are metrics."""
        if not isinstance(data, Mapping):
            return data
        options = {key: value for key, value in data.items() if key in cls.model_fields and key != "limits"}
        limits = {key: value for key, value in data.items() if key not in options}
        return {**options, "limits": limits} if limits else options

    @model_validator(mode="after")
    def _check_limits(self) -> ThresholdOptions:
        has_bound = self.min is not None or self.max is not None
        if self.metric is None and (has_bound or self.of):
            raise ValueError("of, min and max belong to the long form, which has a key metric")
        if self.metric is not None and not has_bound:
            raise ValueError(f"sets no limit for {self.metric}: write min, max or both")
        if self.metric is None and not self.limits:
            raise ValueError('names no metric: write nDCG@10: ">= 0.85", or metric, min and max')
        if len({str(key.metric) for key in self.limits}) < len(self.limits):
            raise ValueError(f"names one metric twice: {', '.join(key.text for key in self.limits)}")
        if self.of and not FIGURE_PATTERN.fullmatch(self.of):
            raise ValueError(f"of: {self.of!r} is not a figure; allowed: {FIGURES_IN_WORDS}")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min: {self.min:g} is more than max: {self.max:g}")
        values = [(key.metric, bound.value) for key, bound in self.limits.items()]
        if self.metric is not None:
            values += [(self.metric, value) for value in (self.min, self.max) if value is not None]
        for metric, value in values:
            if not metric.compares_lists and "against" in self.model_fields_set:
                raise ValueError(f"against has no effect on {metric}, which does not compare two lists")
            _refuse_unreachable(metric, value)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Tell editors that any other key is a metric with a bound: no suite writes a key ``limits``."""
        rule_schema = handler.resolve_ref_schema(handler(schema))
        limits = rule_schema["properties"].pop("limits")
        rule_schema["additionalProperties"] = limits["additionalProperties"]
        rule_schema[FILLED_IN] = "keys"  # the names of all metrics, which are known once the plugins are
        return rule_schema


def _refuse_unreachable(metric: Metric, value: float) -> None:
    """Refuse a bound that no value reaches: a mistake, such as 85 where 0.85 is meant."""
    refuse_unit(value, metric)
    low, high = metric.bounds
    if not low <= value <= high:
        raise ValueError(f"{value:g} is outside of the range of {metric}: {low:g} to {high:g}")


def _list_parts(options: ThresholdOptions) -> Iterator[Part]:
    for key, bound in options.limits.items():
        yield Part(metric=key.metric, item=Limit("", (bound,)), keys=(key.text,))
    if options.metric is not None:
        signs = ((">=", options.min), ("<=", options.max))
        bounds = tuple(Bound(sign, value) for sign, value in signs if value is not None)
        label = f"{options.metric}.{options.of}" if options.of else ""
        yield Part(label=label, metric=options.metric, item=Limit(options.of, bounds), keys=("metric",))


@rule(name="threshold", options=ThresholdOptions, parts=_list_parts)
def threshold(options: ThresholdOptions, context: RuleContext) -> RuleResult:  # noqa: ARG001 - the part has it
    """Require a figure of a metric to be at least, or at most, a given value."""
    limit: Limit = context.part.item  # from _list_parts
    values = context.values()
    aggregate = limit.aggregate or context.metric.aggregate
    value = _aggregate(values, aggregate)
    if value is None:
        raise MetricError(f"{_name_figure(context, limit)} has no value{format_slice(context)}: no query counts")
    failed = not all(bound.holds(value) for bound in limit.bounds)
    figures = [
        SliceFigures(
            str(context.slice), values.current.size, value, share=context.population.share(context.slice), over=failed
        )
    ]
    if context.slice.conditions:
        whole = replace(context, slice=WHOLE).values()
        figures.append(SliceFigures("all", whole.current.size, _aggregate(whole, aggregate)))
    # A bound of a sum says nothing of single queries.
    outside = None if aggregate == "sum" else _count_outside(values, limit)
    # The list begins with the worst values. These are the ones outside only if the one bound excludes bad values.
    excludes_worst = len(limit.bounds) == 1 and limit.bounds[0].sign.startswith(">") == (context.sign > 0)
    lowest = list_lowest_values(context, values, failed=failed, first=outside if outside and excludes_worst else None)
    bounds = {"min" if bound.sign[0] == ">" else "max": float(bound.value) for bound in limit.bounds}
    return RuleResult(
        "fail" if failed else "pass",
        _describe(context, limit, value),
        figures=tuple(figures),
        queries=lowest.queries,
        more_queries=lowest.omitted_count,
        queries_title="lowest queries" if context.sign > 0 else "highest queries",
        numbers={"value": value, **bounds},
        sentence="" if outside is None else _describe_outside(context, limit, outside, values.current.size),
    )


def _count_outside(values: Values, limit: Limit) -> int:
    return int(np.count_nonzero(~np.all([bound.mark_valid(values.current) for bound in limit.bounds], axis=0)))


def _describe_outside(context: RuleContext, limit: Limit, outside: int, count: int) -> str:
    return f"{outside} of {format_queries(context, count)} {'is' if outside == 1 else 'are'} outside {limit}."


def _describe(context: RuleContext, limit: Limit, value: float) -> str:
    # As many decimals as tell the figure from the bounds beside it.
    least, unit = (1, " ms") if context.metric.milliseconds else (4, "")
    decimals = max(choose_decimals(value, bound.value, least) for bound in limit.bounds)
    return f"{_name_figure(context, limit)} is {value:.{decimals}f}{unit}{format_slice(context)} (must be {limit})"


def _name_figure(context: RuleContext, limit: Limit) -> str:
    return f"{limit.aggregate} of {context.metric}" if limit.aggregate else str(context.metric)


def _aggregate(values: Values, aggregate: str) -> float | None:
    percentiles = {"min": "p0", "median": "p50", "max": "p100"}
    return aggregate_values(values.current, percentiles.get(aggregate, aggregate)) if values.current.size else None
