"""What an author can do about a broken promise: what the promise advises, and what the breach itself points to."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.parameters import Parameter, text_of
from pytest_ireval.metrics.score import bounds_of
from pytest_ireval.testing.arguments import tried
from pytest_ireval.testing.breaking import Broken
from pytest_ireval.testing.promises import Promise

ABOUT_ORDER = ("perfect_is_best", "promotion_never_harms")


def advice(metric: Metric, promise: Promise, broken: Broken) -> str:
    """What to do, in a sentence."""
    if promise.name not in ABOUT_ORDER:
        return promise.advice
    if _of_an_empty_ranking(broken):
        return _about_empty(metric)
    others = " or ".join(repr(way) for way in ("higher", "lower", "neither") if way != metric.direction)
    return f"correct the formula, or declare direction={others}"


def _of_an_empty_ranking(broken: Broken) -> bool:
    seen = broken.seen[0]
    return any(query.name == seen.unit and not query.ranking for query in seen.data.queries)


def _about_empty(metric: Metric) -> str:
    """An empty ranking that is better than a perfect one needs a value of its own."""
    low, high = bounds_of(metric)
    worst = high if metric.direction == "lower" else low
    now = "" if metric.empty is None else f"; empty={metric.empty:g} is better than a perfect one"
    example = f", as empty={worst:g}" if math.isfinite(worst) else ""
    return f"say with empty= what an empty ranking deserves{example}{now}"


def chosen_numbers(metric: Metric, asked: Metric) -> Iterator[str]:
    """A line for each number that was tried though its parameter does not say where it ends.

    ``asked`` is the metric as its author handed it over.
    """
    for parameter in metric.parameters:
        if parameter.name in metric.arguments and parameter.name not in asked.arguments and _is_open(parameter):
            values = ", ".join(text_of(value) for value in tried(parameter))
            yield (
                f"{parameter.name}={text_of(metric.arguments[parameter.name])} was chosen here (tried are {values}): "
                f"if it makes no sense, say which numbers do, as {parameter.name}: "
                f"Annotated[{parameter.kind}, Param('…', low=0, below=1)]"
            )


def _is_open(parameter: Parameter) -> bool:
    about = parameter.about
    bounded = (about.low, about.above) != (None, None) and (about.high, about.below) != (None, None)
    return parameter.kind in ("int", "float") and parameter.name != "cutoff" and not bounded
