"""The conditions of a run, which are the same for all of its suites."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.gate.versus import Versus
from pytest_ireval.repositories.tree import BaseRef


class RunContext(NamedTuple):
    """The day of a run, and what it compares suites with beside their baselines."""

    today: date
    base: BaseRef | None = None
    """The branch whose baselines the stored ones are compared with; None: not compared."""
    lowering_fails: bool = False
    """True if a branch that lowers its baseline fails; else that is a warning."""
    last_run: Path | None = None
    """The rankings of the run before; None where runs write no files."""
    versus: Versus | None = None
    """The rankings of another commit that rules compare with in place of stored baselines."""
