"""Asks the source of a suite in a process of its own: modules and caches of an earlier asking would hide a patch."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import date
from multiprocessing import get_context
from pathlib import Path

from pytest_ireval import IrevalError, Rankings, Suite, load_registry, load_suites
from pytest_ireval.cli.options import ProgressBar
from pytest_ireval.gate_api import Component, rank_suite, switch_off
from pytest_ireval.plugin_api import Acceptance


def ask(suite: Suite, today: date, without: Component | None = None) -> tuple[Rankings, ...]:
    """The rankings of a suite, or those without a component; an error of its source is raised here."""
    name, variables = ("", {}) if without is None else (without.name, without.environment)
    if sys.stderr.isatty():
        print(f"asking {f'without {name}' if name else 'again with everything on'}", file=sys.stderr)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            return pool.submit(ask_here, suite.path, suite.shown, suite.name, today, name, dict(variables)).result()
        except BrokenProcessPool:
            raise IrevalError("the process that asked the source has ended without an answer") from None


def ask_here(
    path: Path, shown: str, name: str, today: date, without: str, variables: Mapping[str, str]
) -> tuple[Rankings, ...]:
    environment = dict(os.environ)
    os.environ.update(variables)
    registry = load_registry(path)  # a conftest.py may read them
    suites = load_suites(path, registry, environment=environment, shown=shown)
    suite = next(each for each in suites if each.name == name)
    component = next((each for each in suite.components if each.name == without), None)
    asked = suite if component is None else switch_off(suite, component, registry)
    with ProgressBar() as progress:
        return rank_suite(asked, registry, today, Acceptance(""), progress).rankings
