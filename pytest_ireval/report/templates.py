"""Templates: those of our own pages, and those that plugins bring for their sections of a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from pytest_ireval.errors import IrevalError, format_inline, make_exception_problem
from pytest_ireval.report.commands import make_fragment, make_query_anchor, replace_unreadable
from pytest_ireval.report.formatting import (
    choose_change_decimals,
    choose_share_decimals,
    choose_tone,
    format_change,
    format_interval,
    format_percent,
    format_value,
)
from pytest_ireval.report.query_view import make_worst_views
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.results.suite_result import MetricFigures, RunResult, Section, SuiteResult
from pytest_ireval.text_table import escape_unprintable
from pytest_ireval.words import format_magnitude

if TYPE_CHECKING:
    from pytest_ireval.report.page import Cell

PACKAGE = Path(__file__).parents[1]


def find_template_folder() -> Path:
    """Inside the package when installed, beside it in a checkout."""
    inside = PACKAGE / "templates"
    return inside if inside.is_dir() else PACKAGE.parent / "templates"


class TemplateCache(jinja2.FileSystemBytecodeCache):
    """Keeps compiled templates, as Python keeps modules: to compile them takes a fifth of the run of a small suite.

    One that is damaged, or cannot be written, costs time and nothing else.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), f"%s.{sys.implementation.cache_tag}.jinja")

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - it is a pickle, and a damaged one may raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                os.makedirs(self.directory, exist_ok=True)
                super().dump_bytecode(bucket)


@lru_cache(maxsize=1)
def get_environment() -> jinja2.Environment:
    """The environment of our own templates, with the compiled ones beside them."""
    environment = _make_environment(find_template_folder())
    environment.bytecode_cache = TemplateCache(find_template_folder() / "__pycache__")
    return environment


def _make_environment(folder: Path) -> jinja2.Environment:
    """Every value is escaped, and an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # a page with thousands of charts would ask thousands of times whether the file changed
    )
    made.filters.update(_FILTERS)
    return made


def read_asset(name: str) -> str:
    """A style or script of ours without indentation and comment lines: no string in one has several lines."""
    lines = map(str.strip, (find_template_folder() / name).read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


class SectionTemplate(NamedTuple):
    """A plugin's files to draw its section with."""

    folder: Path
    template: str
    style: str = ""
    """The name of a file with CSS; empty: there is none."""


class RenderedSection(NamedTuple):
    """A section as the page shows it: either a body or a problem."""

    section: Section
    body: str = ""
    """Markup, if there is one."""
    style: str = ""
    problem: str = ""
    """Why there is nothing to show."""


def render_section(section: Section, templates: Mapping[str, SectionTemplate]) -> RenderedSection:
    """Fill the section into the template of its plugin, or give the problem in its place; nothing is raised."""
    template = templates.get(section.name)
    if section.problem and not section.data:
        return RenderedSection(section, problem=section.problem)
    if template is None:
        where = "install it, or name its folder with ireval report --suites"
        return RenderedSection(section, problem=f"{section.plugin}, which draws it, is missing: {where}")
    try:
        page = _make_environment(template.folder).get_template(template.template)
        body = Markup(page.render(dict(section.data)))  # noqa: S704 - it escapes
        style = (template.folder / template.style).read_text(encoding="utf-8") if template.style else ""
    except Exception as error:  # noqa: BLE001 - a template is code, and may raise anything
        return RenderedSection(
            section, problem=format_inline(IrevalError(make_exception_problem("", error, folder=template.folder)))
        )
    if "</style" in style.lower():
        return RenderedSection(section, problem=f"{template.style} contains </style, which would end its element")
    return RenderedSection(section, body, style)


def check_sections(run: RunResult, templates: Mapping[str, SectionTemplate]) -> RunResult:
    """Draw each section, and keep why it cannot be drawn; one that could not may have a better template now."""
    sections = (replace(section, problem=render_section(section, templates).problem) for section in run.sections)
    return replace(run, sections=tuple(sections))


def format_spread(each: MetricFigures | SliceFigures | Cell) -> str:
    """The interval of a change."""
    return "-" if each.low is None or each.high is None else format_interval(each.low, each.high)


def format_resolution(resolution: float | None) -> str:
    """The smallest change that this number of queries shows."""
    return "-" if resolution is None else format_magnitude(resolution)


def format_moment(date: str) -> str:
    """``2027-03-03 09:00 UTC``."""
    day, _, time = date.partition("T")
    return f"{day} {time[:5]} UTC" if time.endswith("Z") else date


def first_line(text: str) -> str:
    """The first line."""
    return text.strip().partition("\n")[0]


def escape_lines(text: str) -> str:
    """Lines with whatever has no picture spelled out."""
    return "\n".join(escape_unprintable(line) for line in text.splitlines())


def make_query_link(suite: SuiteResult, query: str) -> str:
    """The address of a query's view."""
    return make_fragment(make_query_anchor(suite, query))


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "change": format_change,
    "decimals_of": choose_change_decimals,
    "figure": format_value,
    "first_line": first_line,
    "link": make_fragment,
    "moment": format_moment,
    "percent": format_percent,
    "printable": escape_unprintable,
    "printable_lines": escape_lines,
    "query_link": make_query_link,
    "share_decimals_of": choose_share_decimals,
    "sight": format_resolution,
    "sound": replace_unreadable,
    "spread": format_spread,
    "tone": choose_tone,
    "worst_views": make_worst_views,
}
