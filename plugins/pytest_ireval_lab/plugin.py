"""Registers the commands of this package; ``ireval --help`` imports it, so it imports nothing heavy."""

from __future__ import annotations

from pytest_ireval import CommandSpec, hookimpl

COMMANDS = {
    "self-test": "Show how often a suite fails by chance, and which damage it detects.",
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
