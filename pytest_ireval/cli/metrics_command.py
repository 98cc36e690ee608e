"""``ireval metrics``: what can be measured, and how exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import click

from pytest_ireval.cli.table import table
from pytest_ireval.metrics.elsewhere import PACKAGES, counterparts, without_counterpart
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.needs import SOURCES
from pytest_ireval.metrics.parameters import Parameter, text_of
from pytest_ireval.plugins.manager import load_registry


@click.command(name="metrics")
@click.argument("names", nargs=-1)
@click.option("--for", "package", type=click.Choice(list(PACKAGES)), help="What another package calls them.")
def command(names: tuple[str, ...], package: str | None) -> None:
    """List the metrics that are installed, or explain those with the given NAMES.

    With --for it lists the names of another package, ours, and whether the values are equal.
    """
    registry = load_registry()
    if package:
        asked = [registry.vocabulary.family(name) for name in names] or registry.metrics.values()
        click.echo("\n".join(for_readers_of(package, asked, whole=not names)))
        return
    if not names:
        for plugin in registry.plugins:
            found = sorted((m for m in registry.metrics.values() if m.origin == str(plugin)), key=_by_name)
            rows = [[signature(metric), metric.summary] for metric in found]
            click.echo(table([str(plugin), ""], rows) + "\n")
        click.echo("ireval metrics NAME explains one.")
        return
    metrics = [registry.vocabulary.family(name) for name in names]
    click.echo("\n\n".join("\n".join(explained(metric)) for metric in metrics))


def for_readers_of(package: str, metrics: Collection[Metric], whole: bool = True) -> Iterator[str]:
    """The names of a package with ours; if ``whole``, those that have no counterpart as well."""
    rows = [[*row.names, row.equal] for row in counterparts(metrics, package)]
    yield table([PACKAGES[package], "pytest-ireval", "equal"], rows)
    for why, names in reasons(metrics, package) if whole else ():
        yield f"\nno counterpart: {', '.join(names)}\n  {why}"


def reasons(metrics: Collection[Metric], package: str) -> list[tuple[str, list[str]]]:
    """Why names of a package have no counterpart, each reason with the names it holds for."""
    by_why: dict[str, list[str]] = {}
    for absent in without_counterpart(metrics, package):
        by_why.setdefault(absent.why, []).append(absent.name)
    return list(by_why.items())


def _by_name(metric: Metric) -> str:
    return metric.name.lower()


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


def explained(metric: Metric) -> Iterator[str]:
    """Everything a metric says of itself."""
    yield signature(metric)
    yield f"  {metric.summary}"
    for title, text in (
        ("formula", metric.formula),
        ("reference", metric.reference),
        ("example", metric.example),
        ("range", range_of(metric)),
        ("better", metric.direction),
        ("sums up as", metric.aggregate),
        ("scores", metric.unit),
        (
            "no relevant documents",
            "whatever the formula gives" if metric.no_relevant is None else f"{metric.no_relevant:g}",
        ),
        ("also called", ", ".join(sorted(metric.spellings))),
        ("version", str(metric.version)),
        ("from", metric.origin),
    ):
        if text:
            yield f"  {title}: {text}"
    for need in sorted(metric.needs):
        yield f"  needs {need}: {SOURCES[need]}"
    for promise, reason in metric.not_promised.items():
        yield f"  does not promise {promise}: {reason}"
    for parameter in metric.parameters:
        yield f"  {parameter.name}: {described(parameter)}"


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
