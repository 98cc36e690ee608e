"""Several systems under the same judgments: what their commands share, from the command line to the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import combinations
from typing import Any, TypeAlias

import click
import numpy as np
from numpy.typing import NDArray

from pytest_ireval import Comparison, Judgments, Metric, Policies, SideData, compare, read_judgments
from pytest_ireval.cli.options import (
    METRICS,
    format_options,
    load_command_registry,
    metrics_option,
    name_files,
    policy_options,
    svg_option,
)
from pytest_ireval.cli.sheets import sheet_format
from pytest_ireval.plugin_api import MetricComparison, Progress, Registry

Floats: TypeAlias = NDArray[np.float64]

FEW_SYSTEMS = 5
"""Orders of fewer systems than this can take few values."""
TIE = 1e-12
"""A smaller difference is rounding."""


@dataclass
class Systems:
    """The files and options that a command line names."""

    judgments: str
    rankings: Mapping[str, str]
    """The file of each system by its name."""
    metrics: tuple[str, ...]
    policies: Policies
    side_data: SideData
    judgments_format: str | None
    rankings_format: str | None
    registry: Registry

    def read_judgments(self, progress: Progress) -> Judgments:
        """The judgments, for a comparison under some of them."""
        return read_judgments(
            self.judgments,
            format=self.judgments_format,
            grades=self.policies.grades,
            registry=self.registry,
            progress=progress,
        )

    def compare(
        self,
        progress: Progress,
        judgments: Judgments | None = None,
        metrics: Sequence[Metric] | None = None,
        **options: Any,
    ) -> Comparison:
        """Compare all systems, under these judgments and on these metrics or those of the command line."""
        return compare(
            self.judgments if judgments is None else judgments,
            self.rankings,
            self.metrics if metrics is None else metrics,
            extremes=0,
            policies=self.policies,
            side_data=self.side_data,
            judgments_format=self.judgments_format,
            rankings_format=self.rankings_format,
            registry=self.registry,
            progress=progress,
            **options,
        )

    def with_policies(self, **changes: Any) -> Systems:
        """The same under other policies."""
        return replace(self, policies=replace(self.policies, **changes))


def systems_command(
    name: str, *own_options: Callable[[Any], Any], metrics: tuple[str, ...] = METRICS
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of JUDGMENTS and RANKINGS; ``metrics`` are those that it takes if none is named.

    The function gets ``systems``, ``svg``, ``form`` and its own options. With the own option ``suite`` a command needs
    no rankings.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        @wraps(function)
        def build_systems(
            judgments: str,
            rankings: tuple[str, ...],
            policies: Policies,
            side_data: SideData,
            judgments_format: str | None,
            rankings_format: str | None,
            **options: Any,
        ) -> None:
            if len(rankings) < 2 and (rankings or options.get("suite") is None):
                or_suite = ", or --suite" if "suite" in options and not rankings else ""
                raise click.UsageError(f"give at least two RANKINGS{or_suite}")
            systems = Systems(
                judgments,
                name_files(rankings),
                options.pop("metrics") or metrics,
                policies,
                side_data,
                judgments_format,
                rankings_format,
                load_command_registry(None),
            )
            function(systems=systems, **options)

        command = policy_options(build_systems)
        for option in (
            format_options("judgments", "rankings"),
            sheet_format,
            svg_option("Write the curves as a picture."),
            *reversed(own_options),
            metrics_option(metrics),
            click.argument("rankings", nargs=-1, metavar="RANKINGS RANKINGS..."),
            click.argument("judgments"),
        ):  # click shows the last one first
            command = option(command)
        return click.command(name=name, context_settings={"show_default": True})(command)

    return decorate


def collect_values(comparison: Comparison, metric: MetricComparison) -> Floats:
    """The values of a metric, a row a system, a column a query (or session) that has a value in all."""
    values = [evaluation[metric.name].values for evaluation in comparison.rankings.values()]
    units = [unit for unit in values[0] if all(unit in of_system for of_system in values)]
    return np.array([[of_system[unit] for unit in units] for of_system in values], np.float64)


def subtract(one: Floats, other: Floats | float) -> Floats:
    """The difference, exactly 0 where only rounding tells the two apart: equal systems must not have an order."""
    return np.where(np.isclose(one, other, rtol=TIE, atol=TIE), 0.0, np.subtract(one, other))


def note_doubts(comparison: Comparison, metrics: Sequence[MetricComparison]) -> Iterator[str]:
    """Sentences about systems that are too few, or the same."""
    names = list(comparison.rankings)
    if len(names) < FEW_SYSTEMS:
        yield (
            f"{len(names)} systems are too few for figures that you can rely on: "
            "an order of few systems can change in few ways; name ten or more"
        )
    for metric in metrics:
        values = collect_values(comparison, metric)
        same = [
            f"{names[a]} = {names[b]}"
            for a, b in combinations(range(len(names)), 2)
            if values.size and not subtract(values[a], values[b]).any()
        ]
        if same:
            more = f" and {len(same) - 3} more pairs" if len(same) > 3 else ""
            yield f"{metric.name}: the same values on every query: {', '.join(same[:3])}{more}"
