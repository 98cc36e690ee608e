"""The sections of plugins, added to the report once the run has ended; their errors move no verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_ireval.errors import IrevalError, PluginError, one_line, raised
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.pytest_adapter.planned_suite import PlannedSuite
from pytest_ireval.pytest_adapter.run_plugins import RunPlugins
from pytest_ireval.reports.templates import SectionTemplate, Templates, settled_sections, templates
from pytest_ireval.results.plain import to_plain
from pytest_ireval.results.suite_result import RunResult, Section

MENTIONED = b"ireval_report_sections"
"""Conftest.py files that only workers have imported are imported here, too, if they contain this."""


@dataclass
class Served:
    """A section and the suites that it may see: those that its plugin serves."""

    kind: ReportSection
    suites: list[str]


def with_sections(
    result: RunResult, suites: Sequence[PlannedSuite], plugins: RunPlugins, using: Templates | None
) -> tuple[RunResult, Templates | None]:
    """The run with the sections of plugins, and the templates that draw it."""
    found, troubles = _served(result, suites, plugins)
    kinds = {each.kind.name: each.kind for each in reversed(found)}
    sections = [_section(each, kinds[each.kind.name], result, plugins.root) for each in found]
    if not sections and not troubles:
        return result, using
    drawing = replace(using or templates(), sections=templates_of(kinds.values()))
    return settled_sections(replace(result, sections=(*sections, *troubles)), drawing), drawing


def templates_of(kinds: Iterable[ReportSection]) -> dict[str, SectionTemplate]:
    """The templates of sections, by their names."""
    return {kind.name: SectionTemplate(kind.folder, kind.template, kind.style) for kind in kinds}


def _served(
    result: RunResult, suites: Sequence[PlannedSuite], plugins: RunPlugins
) -> tuple[list[Served], list[Section]]:
    """Every section once, in the order of the suites; and the problems of plugins that cannot be asked."""
    found: dict[tuple[str, str], Served] = {}
    troubles: dict[str, Section] = {}
    judged = {each.name: each for each in result.suites}
    for suite in suites:
        if suite.name not in judged:
            continue
        try:
            registry = plugins.registry_beside(suite.path, MENTIONED)
        except IrevalError as error:
            if judged[suite.name].verdict != "error":  # or it has been told the same
                troubles[str(error)] = Section("plugins", "Sections of plugins", suite.shown, problem=one_line(error))
            continue
        for kind in registry.sections.values():
            found.setdefault((kind.name, kind.origin), Served(kind, [])).suites.append(suite.name)
    return list(found.values()), list(troubles.values())


def _section(served: Served, first: ReportSection, result: RunResult, root: Path) -> Section:
    kind = served.kind
    empty = Section(kind.name, kind.title, kind.source)
    if first is not kind:
        return replace(empty, problem=f"its name {kind.name!r} is claimed twice: also by {first.source}")
    seen = replace(result, suites=tuple(suite for suite in result.suites if suite.name in served.suites))
    try:
        return replace(empty, data=plain_data(_asked(kind, to_plain(seen), root)))
    except PluginError as error:
        return replace(empty, problem=one_line(error))


def _asked(kind: ReportSection, run: dict[str, Any], root: Path) -> Any:
    try:
        return kind.data(run)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, skips and exits among it
        raise PluginError(raised("", error, folder=root)) from error


DEEPEST = 50
"""Levels; a value that holds itself has no end."""


def plain_data(data: Any) -> dict[str, Any]:
    """A copy of it with lists for tuples; raises PluginError that names the path to what JSON does not know."""
    if not isinstance(data, dict):
        raise PluginError(f"returned {_called(data)}, where a dict is expected")
    wrong = list(islice(_wrong(data, "", 0), 3))
    if wrong:
        raise PluginError(f"did not return plain data: {'; '.join(wrong)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    except ValueError as error:  # a whole number of thousands of digits
        raise PluginError(f"did not return plain data: {error}") from error
    return copy


def _wrong(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        yield f"{path[:200]} is nested deeper than {DEEPEST} levels"
    elif isinstance(value, dict):
        yield from (
            f"{path or 'it'} has the key {key!r}, which is not text" for key in value if not isinstance(key, str)
        )
        for key, each in value.items():
            yield from _wrong(each, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _wrong(each, f"{path}[{number}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path} is {float(value)!r}"
    elif value is not None and not isinstance(value, str | bool | int | float):
        yield f"{path} is {_called(value)}"


def _called(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
