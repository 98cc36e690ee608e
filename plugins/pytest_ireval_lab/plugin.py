"""Registers the commands of this package and its section; ``ireval --help`` imports it, so it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ireval import CommandSpec, hookimpl, report_section

if TYPE_CHECKING:
    from pytest_ireval.plugin_api import ReportSection

COMMANDS = {
    "self-test": "Show how often a suite fails by chance, and which damage it detects.",
    "alive": "Show which components change rankings, and which rules guard them.",
    "discriminate": "Show which metrics tell many systems apart.",
    "stress": "Show which metrics need few judgments for the same order of systems.",
    "reliability": "Show how many queries give a stable order of systems.",
    "interleave": "Compare two rankings with the clicks of real or simulated users.",
    "plan-online": "Show how long an A/B test takes, and what looking early costs.",
    "load": "Show how times of a live system rise as more is asked of it.",
    "history": "Show the figures of earlier runs, from reports that were kept.",
}


@hookimpl
def ireval_commands() -> list[CommandSpec]:
    """Each is in the module of its name."""
    return [
        CommandSpec(name, summary, f"pytest_ireval_lab.commands.{name.replace('-', '_')}_command:command")
        for name, summary in COMMANDS.items()
    ]


@report_section(name="alive", title="Proof of life", template="alive.html.jinja", style="alive.css")
def alive(run: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG001 - its data come from ``ireval alive --report``
    """Nothing: a run does not ask for components."""
    return {}


@hookimpl
def ireval_report_sections() -> list[ReportSection]:
    """The section of ``ireval alive``."""
    return [alive]
