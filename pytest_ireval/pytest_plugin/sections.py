"""The sections that plugins add to the report."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_ireval.errors import IrevalError, PluginError, format_inline
from pytest_ireval.masking import mask_text, mask_values
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins, call_plugin
from pytest_ireval.report.templates import SectionTemplate, check_sections
from pytest_ireval.results.plain import to_plain
from pytest_ireval.results.suite_result import RunResult, Section

HOOK = b"ireval_report_sections"
"""A conftest.py that only workers have imported is imported here, too, if it contains this."""


@dataclass
class SectionSource:
    """A kind of section, and the suites that it may see: those that its plugin serves."""

    kind: ReportSection
    suites: list[str]


def add_sections(
    result: RunResult, suites: Sequence[PlannedSuite], plugins: RunPlugins
) -> tuple[RunResult, dict[str, SectionTemplate]]:
    """Return the run with the sections of plugins, and the templates that render them."""
    sources, problems = _find_sources(result, suites, plugins)
    first_by_name = {source.kind.name: source.kind for source in reversed(sources)}
    made = [_make_section(source, first_by_name[source.kind.name], result, plugins.root) for source in sources]
    sections = [section for section in made if section.data or section.problem]
    templates = make_section_templates(first_by_name.values())
    result = check_sections(replace(result, sections=(*sections, *problems)), templates)
    visible = (
        replace(section, data=mask_values(section.data), problem=mask_text(section.problem))
        for section in result.sections
    )
    return replace(result, sections=tuple(visible)), templates


def make_section_templates(kinds: Iterable[ReportSection]) -> dict[str, SectionTemplate]:
    return {kind.name: SectionTemplate(kind.folder, kind.template, kind.style) for kind in kinds}


def _find_sources(
    result: RunResult, suites: Sequence[PlannedSuite], plugins: RunPlugins
) -> tuple[list[SectionSource], list[Section]]:
    """Every kind of section once, in the order of the suites; and a section with the problem of each broken plugin."""
    sources: dict[tuple[str, str], SectionSource] = {}
    problems: dict[str, Section] = {}
    verdicts = {suite.name: suite.verdict for suite in result.suites}
    for suite in suites:
        if suite.name not in verdicts:
            continue
        try:
            plugins.adopt_conftests(suite.path, HOOK)
            registry = plugins.registry_for(suite.path)
        except IrevalError as error:
            if verdicts[suite.name] != "error":  # or the suite has reported the same
                problem = format_inline(error)
                problems[str(error)] = Section("plugins", "Sections of plugins", suite.shown_path, problem=problem)
            continue
        for kind in registry.sections.values():
            sources.setdefault((kind.name, kind.origin), SectionSource(kind, [])).suites.append(suite.name)
    return list(sources.values()), list(problems.values())


def _make_section(source: SectionSource, first: ReportSection, result: RunResult, root: Path) -> Section:
    kind = source.kind
    section = Section(kind.name, kind.title, kind.source)
    if first is not kind:
        return replace(section, problem=f"its name {kind.name!r} is claimed twice: also by {first.source}")
    visible = replace(result, suites=tuple(suite for suite in result.suites if suite.name in source.suites))
    try:
        return replace(section, data=copy_plain_data(call_plugin(lambda: kind.data(to_plain(visible)), root)))
    except PluginError as error:
        return replace(section, problem=format_inline(error))


MAX_DEPTH = 50
"""Levels; a value that holds itself has no end."""


def copy_plain_data(data: Any) -> dict[str, Any]:
    """A copy with lists for tuples; raises PluginError that names the path to what JSON does not know."""
    if not isinstance(data, dict):
        raise PluginError(f"returned {_describe_type(data)}, where a dict is expected")
    mistakes = list(islice(_find_mistakes(data, "", 0), 3))
    if mistakes:
        raise PluginError(f"did not return plain data: {'; '.join(mistakes)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    except ValueError as error:  # a whole number of thousands of digits
        raise PluginError(f"did not return plain data: {error}") from error
    return copy


def _find_mistakes(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield f"{path[:200]} is nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                yield f"{path or 'it'} has the key {key!r}, which is not text"
        for key, item in value.items():
            yield from _find_mistakes(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _find_mistakes(item, f"{path}[{number}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path} is {float(value)!r}"
    elif value is not None and not isinstance(value, str | bool | int | float):
        yield f"{path} is {_describe_type(value)}"


def _describe_type(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
