"""What a metric says of itself, in lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.needs import SOURCES
from pytest_ireval.metrics.no_relevant import scored_without_relevant
from pytest_ireval.metrics.parameters import Parameter, text_of
from pytest_ireval.metrics.spellings import HOLE


def signature(metric: Metric) -> str:
    """The name with what must follow it."""
    needed = [p.name for p in metric.parameters if p.required and p.name != metric.at]
    inside = f"({', '.join(f'{name}=…' for name in needed)})" if needed else ""
    parameter = metric.parameter(metric.at) if metric.at else None
    if parameter is None:
        return metric.name + inside
    return (
        f"{metric.name}{inside}@{parameter.name}" if parameter.required else f"{metric.name}{inside}[@{parameter.name}]"
    )


def explained(metric: Metric, width: int) -> Iterator[str]:
    """Everything a metric says of itself, in lines of at most ``width`` where words allow."""
    yield signature(metric)
    for line in _lines(metric):
        yield textwrap.fill(
            line, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )


def _lines(metric: Metric) -> Iterator[str]:
    yield metric.summary
    for title, text in (
        ("formula", metric.formula),
        ("reference", metric.reference),
        ("example", metric.example),
        ("use", f"ireval evaluate judgments.txt rankings.txt {option_for(metric)}"),
        ("range", range_of(metric)),
        ("better", metric.direction),
        ("sums up as", metric.aggregate),
        ("scores", metric.unit),
        ("no relevant documents", without_relevant(metric)),
        ("also called", ", ".join(also_called(metric))),
        ("version", str(metric.version)),
        ("from", metric.origin),
    ):
        if text:
            yield f"{title}: {text}"
    for need in sorted(metric.needs):
        yield f"needs {need}: {SOURCES[need]}"
    for promise, reason in metric.not_promised.items():
        yield f"does not promise {promise}: {reason}"
    for parameter in metric.parameters:
        yield f"{parameter.name}: {described(parameter)}"


def option_for(metric: Metric) -> str:
    """An example of how to ask for it: ``-m 'nDCG@10'``."""
    inside = ", ".join(f"{p.name}={_sample(p)}" for p in metric.parameters if p.required and p.name != metric.at)
    at = metric.parameter(metric.at) if metric.at else None
    name = metric.name + (f"({inside})" if inside else "") + (f"@{_sample(at)}" if at else "")
    quoted = f'"{name}"' if "'" in name else f"'{name}'"
    return f"-m {quoted}{' --collection N' if 'collection' in metric.needs else ''}"


def _sample(parameter: Parameter) -> str:
    """A value that makes sense, as far as the parameter says."""
    values = (10, 0.5, 1, True, *(parameter.choices or ("…",)), {1: 1, 2: 3})
    for value in values:
        try:
            return text_of(parameter.checked(value))
        except ValueError:  # not of this type, or out of its bounds
            continue
    return "…"


def without_relevant(metric: Metric) -> str:
    """What a query without relevant documents scores."""
    if metric.unit != "query":
        return ""
    value = scored_without_relevant(metric)
    if value is None:
        return "depends on the ranking, by the formula"
    return f"{value:g}" if metric.no_relevant is not None else f"{value:g}, by the formula"


def also_called(metric: Metric) -> list[str]:
    """Other names; each that means more than the bare metric with what it stands for."""
    every = ((name, meaning(metric, name)) for name in sorted(metric.spellings, key=str.lower))
    return [name if meant == metric.name else f"{name} = {meant}" for name, meant in every]


def meaning(metric: Metric, spelling: str) -> str:
    """What a spelling stands for, in the grammar of names: ``nDCG(gain='exp')``, ``nDCG@{cutoff}``."""
    given = metric(**metric.spellings[spelling]).arguments
    defaults = {p.name: p.default for p in metric.parameters}
    parts = {name: text_of(value) for name, value in given.items() if value != defaults[name]}
    parts |= {hole["parameter"]: f"{{{hole['parameter']}}}" for hole in HOLE.finditer(spelling)}
    at = f"@{parts.pop(metric.at)}" if metric.at in parts and metric.at else ""
    inside = ", ".join(f"{name}={value}" for name, value in sorted(parts.items()))
    return f"{metric.name}{f'({inside})' if inside else ''}{at}"


def range_of(metric: Metric) -> str:
    """Least and greatest value under default arguments."""
    if callable(metric.range) and metric.missing:
        return "depends on the arguments"
    low, high = metric.bounds
    return f"{low:g} to {high:g}"


def described(parameter: Parameter) -> str:
    """What a parameter means, allows and defaults to."""
    default = "required" if parameter.required else f"default {text_of(parameter.default)}"
    allowed = " or ".join(map(repr, parameter.choices)) or parameter.bounds
    aliases = ", ".join(f"also {name}=" for name in parameter.about.aliases)
    return "; ".join(part for part in (parameter.about.meaning, allowed, default, aliases) if part)
