"""With which arguments a metric is tried: sensible ones for those it requires, and others one at a time."""

from __future__ import annotations

from typing import Any

from pytest_ireval.errors import MetricError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.parameters import Parameter

CUTOFFS = (1, 3, 10)
WHOLE_NUMBERS = (*CUTOFFS, 1000)
NUMBERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
OTHER_NUMBERS = (0.5, 2)
"""Tried in place of a default."""
GAINS = {1: 1, 2: 3, 3: 7}


def variants(metric: Metric) -> tuple[Metric, ...]:
    """The metric as it was handed over if it has arguments, else with sensible ones; raises MetricError if none fit."""
    if metric.arguments:
        return (metric,)
    required = {p.name: _candidates(p) for p in metric.parameters if p.required}
    for name, found in required.items():
        if not found:
            raise MetricError(
                Problem(
                    f"no value is known that makes sense for {name}",
                    place=str(metric),
                    suggestion=f"hand the metric over with arguments, as {metric.name}({name}=…)",
                )
            )
    plain = {name: found[len(found) // 2] for name, found in required.items()}
    chosen = [{**plain, name: value} for name, found in required.items() for value in found] or [plain]
    short = {**plain, "cutoff": CUTOFFS[1]} if metric.parameter("cutoff") else plain
    for parameter in metric.parameters:
        if not parameter.required:
            start = plain if parameter.name == "cutoff" else short
            chosen += [{**start, parameter.name: value} for value in _others(parameter)]
    return tuple({str(made): made for made in (metric(**arguments) for arguments in chosen)}.values())


def siblings(metric: Metric) -> tuple[Metric, ...]:
    """The metric with one argument changed each."""
    return tuple(
        metric(**{parameter.name: value})
        for parameter in metric.parameters
        for value in tried(parameter)
        if value != metric.settings.get(parameter.name)
    )


def tried(parameter: Parameter) -> list[Any]:
    """The values with which a parameter is tried unless its author says which."""
    return _candidates(parameter) if parameter.required else _others(parameter)


def _candidates(parameter: Parameter) -> list[Any]:
    """Values for a parameter that has no default."""
    possible: dict[str, tuple[Any, ...]] = {
        "int": CUTOFFS if parameter.name == "cutoff" else WHOLE_NUMBERS,
        "float": NUMBERS,
        "bool": (False, True),
        "text": parameter.choices,
        "map": (GAINS,),
    }
    return _allowed(parameter, possible[parameter.kind])


def _others(parameter: Parameter) -> list[Any]:
    """Values in place of the default; none where the default is None and nothing says what would fit."""
    if parameter.name == "cutoff":
        return _allowed(parameter, CUTOFFS)
    if parameter.default is None:
        return []
    possible: dict[str, tuple[Any, ...]] = {
        "int": OTHER_NUMBERS[1:],
        "float": OTHER_NUMBERS,
        "bool": (False, True),
        "text": parameter.choices,
        "map": (),
    }
    return [value for value in _allowed(parameter, possible[parameter.kind]) if value != parameter.default]


def _allowed(parameter: Parameter, values: tuple[Any, ...]) -> list[Any]:
    fitting = []
    for value in values:
        try:
            fitting.append(parameter.checked(value))
        except ValueError:  # outside its bounds: not a value of this parameter
            continue
    return fitting
