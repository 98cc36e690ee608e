"""Registers the built-in kinds of sources through the hook that is open to everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ireval.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pytest_ireval.plugins.kinds import SourceKind


@hookimpl
def ireval_sources() -> list[SourceKind]:
    """All of them; imported now, for they bring the models of suites."""
    from pytest_ireval.sources.command import command
    from pytest_ireval.sources.python import python
    from pytest_ireval.sources.run import run

    return [run, python, command]
