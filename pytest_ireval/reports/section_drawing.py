"""The section of a plugin, drawn with the template that the plugin ships, and with nothing but its own data."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from pytest_ireval.errors import Problem, ReportError, one_line
from pytest_ireval.reports.template_errors import told
from pytest_ireval.reports.templates import DrawnSection, SectionTemplate, Templates, environment, text_in
from pytest_ireval.results.suite_result import RunResult, Section


def drawn(section: Section, template: SectionTemplate | None) -> DrawnSection:
    """Its body and style; a problem in place of both, if there is one."""
    if section.problem and not section.data:
        return _empty(section, section.problem)
    if template is None:
        where = "install it, or name its folder with ireval report --suites"
        return _empty(section, f"{section.plugin}, which draws it, is not at hand: {where}")
    try:
        style = _style(template)
        with told({template.folder: ""}):
            page = environment(template.folder).get_template(template.template)
            return DrawnSection(section, Markup(page.render(dict(section.data))), style)  # noqa: S704 - it escapes
    except ReportError as error:
        return _empty(section, one_line(error))


def _style(template: SectionTemplate) -> str:
    """Its CSS; one that ends the page's element would be refused with the whole page."""
    style = text_in(template.folder / template.style) if template.style else ""
    if "</style" in style.lower():
        raise ReportError(Problem("holds </style, which would end it", template.style))
    return style


def settled(run: RunResult, using: Templates) -> RunResult:
    """Each section says whether it can be drawn; one that could not be may have a better template now."""
    sections = (replace(each, problem=using.drawn(each).problem) for each in run.sections)
    return replace(run, sections=tuple(sections))


def _empty(section: Section, problem: str) -> DrawnSection:
    return DrawnSection(section, Markup(), problem=problem)
