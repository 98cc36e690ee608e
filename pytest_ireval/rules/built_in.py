"""Registers the built-in kinds of rules through the hook that is open to everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ireval.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pytest_ireval.plugins.kinds import RuleKind


@hookimpl
def ireval_rules() -> list[RuleKind]:
    """All of them; imported now, for they bring the models of suites."""
    return []
