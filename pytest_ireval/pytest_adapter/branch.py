"""What the command line and the ini file say of the branch that baselines are held against."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import pytest

from pytest_ireval.baselines.at_base import Base
from pytest_ireval.errors import IrevalError, Problem, did_you_mean
from pytest_ireval.gate.verdicts import Circumstances

INI = "ireval_baseline_lowering"
MODES = ("report", "fail")


BASE = pytest.StashKey[Base]()
"""What git has said of the base so far."""


class Branch(NamedTuple):
    """The git ref, empty if none is given; and whether a lowered baseline fails."""

    base: str = ""
    lowering_fails: bool = False


def branch_of(config: pytest.Config) -> Branch:
    """As it was said; an empty ref, as of a variable that is not set, must not mean that nobody looks."""
    mode, base = str(config.getini(INI)).strip(), config.getoption("ireval_base")
    if mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise IrevalError(
            Problem(
                f"{mode!r} is no way to treat a lowered baseline", INI, suggestion=hint, allowed="allowed: report, fail"
            )
        )
    if base is not None and not base.strip():
        raise IrevalError("--ireval-base is empty: it names a git ref, such as origin/main")
    return Branch((base or "").strip(), mode == "fail")


def circumstances_of(config: pytest.Config, today: date) -> Circumstances:
    """For all suites of a process; what git says of the base is remembered there."""
    base, fails = branch_of(config)
    if base and BASE not in config.stash:
        config.stash[BASE] = Base(base)
    return Circumstances(today, config.stash.get(BASE, None), fails)
