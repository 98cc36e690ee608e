"""The suites that a command is about: those in files, or in folders and below."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from pytest_ireval.errors import Problem, SuiteError, did_you_mean
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.suites.finding import is_partial, suites_at
from pytest_ireval.suites.loading import load_suites
from pytest_ireval.suites.suite import Suite


def suites_named(paths: Iterable[Path], named: str | None = None, conftests: Conftests | None = None) -> list[Suite]:
    """In the order of their files; ``named`` chooses one of them. That there is none is an error."""
    conftests = conftests or Conftests()
    files = [path for path in suites_at(tuple(paths)) if not is_partial(path)]
    suites = [suite for path in files for suite in load_suites(path, conftests.registry_for(path))]
    if not suites:
        raise click.UsageError("no suite was found (*.ireval.yaml, or YAML with a line that begins with ireval:)")
    if named is None:
        return suites
    chosen = [suite for suite in suites if suite.name == named]
    if not chosen:
        names = [suite.name for suite in suites]
        meant = did_you_mean(named, names)
        raise SuiteError(
            Problem(f"there is no suite {named!r}", suggestion=meant, allowed=f"--named is one of {', '.join(names)}")
        )
    return chosen
