"""Suites with a component switched off, for the question whether it changes any ranking."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from pytest_ireval.errors import Problem, SuiteError
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suite.inheriting import LIVE
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Component, Suite

RUN_NO_CODE_HERE = ("run", "sql", *LIVE)
"""Sources that see no variable of the environment but those that the suite names."""


def switch_off(suite: Suite, component: Component, registry: Registry) -> Suite:
    """The suite with the source that it has without the component, also under the variables of its patch."""
    environment = {**os.environ, **component.environment}
    suites = load_suites(suite.path, registry, environment=environment, shown=suite.shown)
    sources = (each.source for other in suites if other.name == suite.name for each in other.components)
    names = (each.name for other in suites if other.name == suite.name for each in other.components)
    source = dict(zip(names, sources, strict=True)).get(component.name)
    if source is None:
        complaint = f"under its variables the suite has no component {component.name!r} of this name"
        raise SuiteError(Problem(complaint, str(component.place)))
    return replace(suite, source=source)


def find_idle_components(suite: Suite, registry: Registry) -> Iterator[Problem]:
    """Components whose patch changes nothing in the request or in the environment."""
    assert suite.source is not None  # noqa: S101 - a suite of a file has one
    for component in suite.components:
        variables = component.environment
        source = switch_off(suite, component, registry).source
        if source is None or source.options != suite.source.options:
            continue
        where = str(component.place), ("components", component.name)
        names = ", ".join(variables)
        if not variables:
            yield Problem("its patch changes nothing: the source has these values already", *where)
        elif all(os.environ.get(name) == value for name, value in variables.items()):
            yield Problem(f"its patch changes nothing: the environment has this value of {names} already", *where)
        elif suite.source.kind.name in RUN_NO_CODE_HERE:
            complaint = f"its patch changes nothing: the source {suite.source.kind.name} does not see variables"
            named = " or ".join(f"${{{name}}}" for name in variables)
            yield Problem(complaint, *where, suggestion=f"write {named} in the source, or change it with set:")
