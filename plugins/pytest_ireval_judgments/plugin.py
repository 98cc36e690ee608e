"""Registers the commands of this package, its hook, and its own policies for clicks.

Every run of the gate and ``ireval --help`` import it, so it imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ireval import CommandSpec, hookimpl
from pytest_ireval_judgments import hookspecs

if TYPE_CHECKING:
    from pytest_ireval_judgments.click_policies import ClickPolicy

COMMANDS = {
    "import": "Convert files of other tools to queries and judgments.",
    "sample": "Draw queries from a log that stand for its searches.",
    "pool": "Collect documents to judge from rankings, in random order.",
    "judge": "Judge a pool in the browser, or by a program that is checked against humans.",
    "clicks": "Make judgments or preferences of click logs.",
    "agreement": "Show how far judges agree, and whether it matters.",
    "collection": "Describe queries, judgments and documents.",
    "lint": "Report doubtful judgments and queries.",
}


@hookimpl
def ireval_commands() -> list[CommandSpec]:
    """Each is in the module of its name."""
    folder = "pytest_ireval_judgments.commands"
    return [CommandSpec(name, summary, f"{folder}.{name}_command:command") for name, summary in COMMANDS.items()]


@hookimpl
def ireval_hookspecs() -> list[object]:
    """The hook for policies."""
    return [hookspecs]


@hookimpl
def ireval_click_policies() -> list[ClickPolicy]:
    """Those of this package."""
    from pytest_ireval_judgments.clicks import POLICIES  # imports NumPy, and only `ireval clicks` needs it

    return POLICIES
