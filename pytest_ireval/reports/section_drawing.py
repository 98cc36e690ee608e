"""The section of a plugin, drawn with the template that the plugin ships, and with nothing but its own data."""

from __future__ import annotations

from markupsafe import Markup

from pytest_ireval.errors import ReportError, one_line
from pytest_ireval.reports.template_errors import told
from pytest_ireval.reports.templates import DrawnSection, SectionTemplate, environment, text_in
from pytest_ireval.results.suite_result import Section


def drawn(section: Section, template: SectionTemplate | None) -> DrawnSection:
    """Its body and style; a problem in place of both, if there is one."""
    if section.problem:
        return _empty(section, section.problem)
    if template is None:
        return _empty(section, f"{section.plugin} draws it, and is not installed here")
    try:
        style = text_in(template.folder / template.style) if template.style else ""
        with told({template.folder: ""}):
            page = environment(template.folder).get_template(template.template)
            return DrawnSection(section, Markup(page.render(dict(section.data))), style)  # noqa: S704 - it escapes
    except ReportError as error:
        return _empty(section, one_line(error))


def _empty(section: Section, problem: str) -> DrawnSection:
    return DrawnSection(section, Markup(), problem=problem)
