"""The templates of the report: those of the user's folder before ours, and a plugin's own for its section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ireval.errors import Problem, ReportError
from pytest_ireval.results.suite_result import Section

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

PACKAGE = Path(__file__).parents[1]
OURS = "ireval"
"""``ireval/index.html.jinja`` is ours, whatever the user's folder has."""
EXTRA = ("extra.css", "extra.js")
"""What a user's folder may have besides templates: it comes after everything else."""


@dataclass(frozen=True)
class SectionTemplate:
    """What a plugin ships to draw its section with."""

    folder: Path
    template: str
    """Its name there."""
    style: str = ""
    """The name of a file with CSS; empty: there is none."""


@dataclass(frozen=True)
class DrawnSection:
    """A section as the page shows it: either a body or a problem."""

    section: Section
    body: Markup
    """HTML."""
    style: str = ""
    """CSS."""
    problem: str = ""
    """Why there is nothing to show."""


@dataclass(frozen=True)
class Templates:
    """Made by :func:`templates`."""

    folder: Path | None
    """The user's; None: only ours are looked at."""
    sections: Mapping[str, SectionTemplate]
    """By name of the section, of the plugins that are at hand."""
    environment: jinja2.Environment
    """Names are looked for in the user's folder, then in ours; every value is escaped."""

    def filled(self, name: str, /, **values: Any) -> str:
        """A template filled in; raises ReportError that names the line, whoever's template it is."""
        from pytest_ireval.reports.template_errors import told

        with told({template_folder(): OURS} | ({self.folder: shown(self.folder)} if self.folder else {})):
            return self.environment.get_template(name).render(**values)

    def text_of(self, name: str) -> str:
        """A file of style or script as it is, the user's before ours; empty for an extra file that is not there."""
        for folder in filter(None, (self.folder, template_folder())):
            if (folder / name).is_file():
                return text_in(folder / name)
        if name in EXTRA:
            return ""
        raise ReportError(Problem("there is no such file among the templates", name))

    def drawn(self, section: Section) -> DrawnSection:
        """A section filled into the template of its plugin; what is in the way stands in it, and nothing is raised."""
        from pytest_ireval.reports.section_drawing import drawn

        return drawn(section, self.sections.get(section.name))


def templates(folder: Path | None = None, sections: Mapping[str, SectionTemplate] = MappingProxyType({})) -> Templates:
    """What draws the report; raises ReportError with all that can be known to be wrong with the user's folder."""
    made = Templates(folder, sections, environment(*([folder] if folder else []), template_folder()))
    if folder is not None:
        from pytest_ireval.reports.template_checks import check

        check(folder, made.environment, template_folder())
    return made


def template_folder() -> Path:
    """Inside the package when installed, beside it in a checkout."""
    inside = PACKAGE / "templates"
    return inside if inside.is_dir() else PACKAGE.parent / "templates"


def environment(*folders: Path) -> jinja2.Environment:
    """Load templates from folders, the first of them first; without folders, from ours.

    It escapes every value and stops at an unknown name. That of our own templates is made once, because compiling them
    takes longer than filling them in. A user's folder may get another file at any time.
    """
    ours = template_folder()
    return _kept(ours) if folders in ((), (ours,)) else _made(*folders)


@lru_cache(maxsize=1)
def _kept(ours: Path) -> jinja2.Environment:
    return _made(ours)


def _made(*folders: Path) -> jinja2.Environment:
    import jinja2

    from pytest_ireval.reports.page_filters import FILTERS
    from pytest_ireval.reports.template_errors import Unknown

    found = jinja2.FileSystemLoader(folders)
    ours = jinja2.PrefixLoader({OURS: jinja2.FileSystemLoader(template_folder())})
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader([found, ours]),
        autoescape=True,
        undefined=Unknown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS)
    return made


def text_in(path: Path) -> str:
    """The text of a file that a page is made of; raises ReportError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(Problem(f"is no text in UTF-8 (byte {error.start})", shown(path))) from error
    except OSError as error:
        raise ReportError(Problem(f"cannot be read: {error.strerror or error}", shown(path))) from error


def shown(path: Path) -> str:
    """As messages name it: from where the run began, if it lies below."""
    return (path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path).as_posix()
