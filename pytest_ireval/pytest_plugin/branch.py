"""What a run is compared with: the options about the base of a branch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.errors import BaselineError, IrevalError, Problem, did_you_mean
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.gate.versus import Versus
from pytest_ireval.repositories.tree import BaseRef

LOWERING_INI = "ireval_baseline_lowering"
LOWERING_MODES = ("report", "fail")
BASE = pytest.StashKey[BaseRef]()
"""The answers of git about the base so far."""


class BranchOptions(NamedTuple):
    base: str = ""
    """A git ref; empty if none is given."""
    lowering_fails: bool = False


def read_branch_options(config: pytest.Config) -> BranchOptions:
    mode, base = str(config.getini(LOWERING_INI)).strip(), config.getoption("ireval_base")
    if mode not in LOWERING_MODES:
        hint = did_you_mean(mode, LOWERING_MODES)
        raise IrevalError(
            Problem(f"invalid {LOWERING_INI}: {mode!r}", suggestion=hint, allowed="allowed: report, fail")
        )
    if base is not None and not base.strip():  # it may come from a variable that is not set
        raise IrevalError("--ireval-base is empty: give a git ref, such as origin/main")
    return BranchOptions((base or "").strip(), mode == "fail")


def make_run_context(
    config: pytest.Config, today: date, last_run: Path | None, versus: Versus | None = None
) -> RunContext:
    """The conditions of all suites of a process, which share the answers of git about the base."""
    options = read_branch_options(config)
    if options.base and BASE not in config.stash:
        config.stash[BASE] = BaseRef(options.base)
    return RunContext(today, config.stash.get(BASE, None), options.lowering_fails, last_run, versus)


INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
LOWERING_FAILS = re.compile(rf"^[^#;\n]*{LOWERING_INI}[\"']?\s*=\s*[\"']?fail".encode(), re.MULTILINE)


def find_relaxed_setting(config: pytest.Config, base: BaseRef, folders: Iterable[Path]) -> str | None:
    """A warning about a lowered baseline that only warns here, although an ini file at the merge base lets it fail."""
    if any(LOWERING_INI in word for word in config.invocation_params.args):  # a person chose it
        return None
    for folder in folders:
        with suppress(BaselineError):  # each suite says that there is no base
            tree = base.find_tree(folder)
            real = folder.resolve()
            for home in (path for path in (real, *real.parents) if path.is_relative_to(tree.base.top)):
                names = [tree.path_from_top(home / name) for name in INI_FILES]
                for path, content in tree.read_files(names).items():
                    if LOWERING_FAILS.search(content):
                        return (
                            f"{LOWERING_INI} is {config.getini(LOWERING_INI)} here, but fail in {path} at {tree.base}, "
                            "so a lowered baseline only warns"
                        )
    return None
