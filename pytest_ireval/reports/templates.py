"""The templates of the report: those of the user's folder before ours, and a plugin's own for its section."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass, replace
from functools import lru_cache, partial
from importlib.util import cache_from_source
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import meta, nodes
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.filters import FILTERS
from jinja2.tests import TESTS
from jinja2.utils import missing
from markupsafe import Markup

from pytest_ireval.errors import IrevalError, Problem, ReportError, did_you_mean, one_line
from pytest_ireval.reports.commands import link_to, query_anchor, sound
from pytest_ireval.reports.query_view import worst_views
from pytest_ireval.reports.summary_table import chance_words
from pytest_ireval.reports.wording import change, decimals_of, figure, interval, percent, share_decimals_of, tone_of
from pytest_ireval.results.suite_result import MetricFigures, RunResult, Section, SuiteResult
from pytest_ireval.text_table import magnitude, printable

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

    from pytest_ireval.reports.page import Cell


PACKAGE = Path(__file__).parents[1]
OURS = "ireval"
"""``ireval/index.html.jinja`` is ours, whatever the user's folder has."""
EXTRA = ("extra.css", "extra.js")
"""The extra files of a user's folder; they come after everything else."""


@dataclass(frozen=True)
class SectionTemplate:
    """A plugin's files to draw its section with."""

    folder: Path
    template: str
    style: str = ""
    """The name of a file with CSS; empty: there is none."""


@dataclass(frozen=True)
class DrawnSection:
    """A section as the page shows it: either a body or a problem."""

    section: Section
    body: Markup
    style: str = ""
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
        """A template filled in; raises ReportError that names the line, also of a user's template."""
        with _told({template_folder(): OURS} | ({self.folder: shown_folder(self.folder)} if self.folder else {})):
            return self.environment.get_template(name).render(**values)

    def text_of(self, name: str) -> str:
        """A file of style or script as it is, the user's before ours; empty for an extra file that is not there."""
        for folder in filter(None, (self.folder, template_folder())):
            if (folder / name).is_file():
                return _text_in(folder / name)
        if name in EXTRA:
            return ""
        raise ReportError(Problem("template file not found", name))

    def drawn(self, section: Section) -> DrawnSection:
        """A section filled into the template of its plugin, or the problem in its place; nothing is raised."""
        template = self.sections.get(section.name)
        if section.problem and not section.data:
            return _empty(section, section.problem)
        if template is None:
            where = "install it, or name its folder with ireval report --suites"
            return _empty(section, f"{section.plugin}, which draws it, is missing: {where}")
        try:
            style = _style(template)
            with _told({template.folder: ""}):
                page = environment(template.folder).get_template(template.template)
                return DrawnSection(section, Markup(page.render(dict(section.data))), style)  # noqa: S704 - it escapes
        except ReportError as error:
            return _empty(section, one_line(error))


def templates(folder: Path | None = None, sections: Mapping[str, SectionTemplate] = MappingProxyType({})) -> Templates:
    """The templates of the report; raises ReportError with all mistakes in the user's folder that can be found now."""
    made = Templates(folder, sections, environment(*([folder] if folder else []), template_folder()))
    if folder is not None:
        _check(folder, made.environment, template_folder())
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
    made = _made(ours)
    made.bytecode_cache = _CompiledTemplates()
    return made


class _CompiledTemplates(jinja2.BytecodeCache):
    """Our compiled templates, beside the compiled modules: compiling them takes longer than a small gate."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the code that an earlier process compiled, if the source is still the same."""
        with suppress(OSError), self._file(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code for the next process, where Python may write its compiled modules as well."""
        file = self._file(bucket)
        if sys.dont_write_bytecode or not file.parent.is_dir():
            return
        own = file.with_suffix(f".{os.getpid()}")
        try:
            own.write_bytes(bucket.bytecode_to_string())
            own.replace(file)
        except OSError:  # a full disk, or a folder that only others may write
            with suppress(OSError):
                own.unlink()

    def _file(self, bucket: Bucket) -> Path:
        return Path(cache_from_source(__file__)).with_name(f"{bucket.key}.{sys.implementation.cache_tag}.jinja")


def _made(*folders: Path) -> jinja2.Environment:
    found = jinja2.FileSystemLoader(folders)
    ours = jinja2.PrefixLoader({OURS: jinja2.FileSystemLoader(template_folder())})
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader([found, ours]),
        autoescape=True,
        undefined=_Unknown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_FILTERS)
    return made


def _text_in(path: Path) -> str:
    """The text of a file that a page is made of; raises ReportError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(Problem(f"is not UTF-8 text (byte {error.start})", shown_folder(path))) from error
    except OSError as error:
        raise ReportError(Problem(f"cannot be read: {error.strerror or error}", shown_folder(path))) from error


def shown_folder(path: Path) -> str:
    """The name of a path in messages: from where the run began, if it is inside."""
    return (path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path).as_posix()


def _style(template: SectionTemplate) -> str:
    """Its CSS; one that ends the page's element would be refused with the whole page."""
    style = _text_in(template.folder / template.style) if template.style else ""
    if "</style" in style.lower():
        raise ReportError(Problem("contains </style, which would end its element", template.style))
    return style


def settled_sections(run: RunResult, using: Templates) -> RunResult:
    """Try each section again: one that could not be drawn may have a better template now."""
    sections = (replace(each, problem=using.drawn(each).problem) for each in run.sections)
    return replace(run, sections=tuple(sections))


def _empty(section: Section, problem: str) -> DrawnSection:
    return DrawnSection(section, Markup(), problem=problem)


def _check(folder: Path, environment: jinja2.Environment, ours: Path) -> None:
    """Raise ReportError with everything that is wrong: a misspelt name would otherwise be ignored in silence."""
    if not folder.is_dir():
        raise ReportError(Problem("template folder not found", shown_folder(folder)))
    # these are of ``ireval evaluate`` and ``ireval judge``, which know no folder of templates
    named = [*_files(ours, but=("evaluation.html.jinja", "judge.html.jinja", "judge.css", "judge.js")), *EXTRA]
    files = _files(folder)
    used, problems, dynamic = _used(folder, files, named, environment)
    problems += [] if dynamic else [_unused(folder, each, named) for each in files if each not in used]
    if problems:
        raise ReportError(*problems)


def _files(folder: Path, but: Iterable[str] = ()) -> list[str]:
    """Names below a folder, without notes, hidden files and what editors leave."""
    paths = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
    names = [path.relative_to(folder).as_posix() for path in paths]
    return [n for n in names if n not in but and not f"/{n}".count("/.") and not n.endswith((".md", "~"))]


def _used(
    folder: Path, files: Iterable[str], named: Iterable[str], environment: jinja2.Environment
) -> tuple[set[str], list[Problem], bool]:
    """The files that take part, what is wrong with them, and whether a name is computed: then any may take part."""
    waiting = [each for each in files if each in set(named)]
    used, problems, dynamic = set(waiting), list[Problem](), False
    while waiting:
        name = waiting.pop(0)
        try:
            text = _text_in(folder / name)
            text, path = text if name.endswith(".jinja") else "", str(folder / name)
            environment.compile(text, name, path)  # it also finds unknown filters
            tree = environment.parse(text, name, path)
        except ReportError as error:
            problems.extend(error.problems)
            continue
        except jinja2.TemplateSyntaxError as error:
            problems.append(_problem_of(error, {folder: shown_folder(folder)}))
            continue
        problems += _unknown_blocks(tree, f"{shown_folder(folder)}/{name}", environment)
        wanted = set(meta.find_referenced_templates(tree))
        dynamic = dynamic or None in wanted
        found = {each for each in files if each in wanted and each not in used}
        waiting += sorted(found)
        used |= found
    return used, problems, dynamic


def _unused(folder: Path, name: str, named: Iterable[str]) -> Problem:
    complaint = "is not used: the report has no template of this name, and none of your templates includes it"
    allowed = f"the report has: {', '.join(named)}"
    return Problem(complaint, f"{shown_folder(folder)}/{name}", suggestion=did_you_mean(name, named), allowed=allowed)


def _unknown_blocks(tree: nodes.Template, place: str, environment: jinja2.Environment) -> Iterator[Problem]:
    """Blocks that the extended template does not have; Jinja passes over them."""
    known = _blocks_above(tree, environment)
    if known is None:
        return
    for block in tree.body:
        if isinstance(block, nodes.Block) and block.name not in known:
            yield Problem(
                f"the template that it extends has no block {block.name!r}",
                f"{place}:{block.lineno}",
                suggestion=did_you_mean(block.name, known),
                allowed=f"it has: {', '.join(sorted(known))}",
            )


def _blocks_above(tree: nodes.Template, environment: jinja2.Environment) -> set[str] | None:
    """The blocks of all templates that one extends; None where it extends none, or where they are unknown."""
    found: set[str] = set()
    seen: set[str] = set()
    while (extends := tree.find(nodes.Extends)) is not None:
        parent = extends.template
        if not isinstance(parent, nodes.Const) or parent.value in seen:
            return None
        seen.add(parent.value)
        assert environment.loader is not None  # noqa: S101 - every environment of ours has one
        try:
            tree = environment.parse(environment.loader.get_source(environment, parent.value)[0])
        except jinja2.TemplateError:
            return None  # told where it is drawn, or by the check of that file
        found |= {block.name for block in tree.find_all(nodes.Block)}
    return found if seen else None


Folders = Mapping[Path, str]
"""The folders of templates with their names in messages; empty: a file goes by its name."""
LISTED = 40
"""The most names that a message lists."""
ITSELF = 'does a template extend or include itself? the built-in one is "ireval/index.html.jinja", and so on'
UNKNOWN = re.compile(r"No (filter|test) named '(\w+)'")


class NotThereError(jinja2.UndefinedError):
    """A name that nothing has; ``thing`` is what was asked for it, or ``missing``."""

    def __init__(self, message: str | None = None, *, thing: Any, name: str) -> None:
        super().__init__(message)
        self.thing = thing
        self.name = name


class _Unknown(jinja2.StrictUndefined):
    """A name that is missing: any use raises, and reports the name."""

    def __init__(self, hint: str | None = None, obj: Any = missing, name: str | None = None, **_: Any) -> None:
        asked: Any = partial(NotThereError, thing=obj, name=str(name))
        super().__init__(hint, obj, name, asked)


@contextmanager
def _told(folders: Folders) -> Iterator[None]:
    """Turn all that a template raises into a ReportError that names its line."""
    try:
        yield
    except IrevalError:
        raise
    except Exception as error:  # a template is code, and may raise anything
        raise ReportError(_problem_of(error, folders)) from error


def _problem_of(error: Exception, folders: Folders) -> Problem:
    place, frame = _place(error, folders)
    if isinstance(error, jinja2.TemplateSyntaxError):
        return Problem((error.message or "is not a valid template").rstrip("."), place, suggestion=_meant(error))
    if isinstance(error, jinja2.TemplateNotFound):
        return Problem(f"unknown template {error.message or error.name!r}", place)
    if isinstance(error, jinja2.UndefinedError):
        return _undefined(error, place, frame)
    if isinstance(error, RecursionError):
        return Problem("endless recursion", place, suggestion=ITSELF)
    return Problem(f"raised {type(error).__name__}: {error}".rstrip(": "), place)


def _place(error: Exception, folders: Folders) -> tuple[str, FrameType | None]:
    """``file:line`` of the innermost template, and its frame."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return _named(error.filename or error.name or "a template", error.lineno, folders), None
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if any(Path(frame.f_code.co_filename).is_relative_to(folder) for folder in folders):
            return _named(frame.f_code.co_filename, line, folders), frame
    return "", None


def _named(file: str, line: int, folders: Folders) -> str:
    for folder, name in folders.items():
        if Path(file).is_relative_to(folder):
            path = Path(file).relative_to(folder).as_posix()
            return f"{name}/{path}:{line}" if name else f"{path}:{line}"
    return f"{file}:{line}"


def _meant(error: jinja2.TemplateSyntaxError) -> str:
    match = UNKNOWN.search(error.message or "")
    if match is None:
        return ""
    return did_you_mean(match[2], FILTERS if match[1] == "filter" else TESTS)


def _undefined(error: jinja2.UndefinedError, place: str, frame: FrameType | None) -> Problem:
    complaint = error.message or "undefined name"
    if not isinstance(error, NotThereError):
        return Problem(complaint, place)
    names = _names(error.thing, frame)
    listed = f"{', '.join(names[:LISTED])}{', …' if len(names) > LISTED else ''}"
    allowed = f"available: {listed}" if names else ""
    return Problem(complaint, place, suggestion=did_you_mean(error.name, names), allowed=allowed)


def _names(thing: Any, frame: FrameType | None) -> list[str]:
    """The names that a thing has; without a thing, the names that the template knows."""
    known: Iterable[Any] = ()
    if thing is missing:
        known = set(frame.f_locals) - set(DEFAULT_NAMESPACE) if frame else ()
    elif isinstance(thing, Mapping):
        known = thing
    elif is_dataclass(thing):
        known = dir(thing)
    return sorted(str(name) for name in known if not str(name).startswith("_"))


def spread(each: MetricFigures | Cell) -> str:
    """The interval of a change."""
    return "-" if each.low is None or each.high is None else interval(each.low, each.high)


def sight(resolution: float | None) -> str:
    """The smallest change that this number of queries shows."""
    return "-" if resolution is None else magnitude(resolution)


def moment(date: str) -> str:
    """``2027-03-03 09:00 UTC``."""
    day, _, time = date.partition("T")
    return f"{day} {time[:5]} UTC" if time.endswith("Z") else date


def first_line(text: str) -> str:
    """The first line."""
    return text.strip().partition("\n")[0]


def printable_lines(text: str) -> str:
    """Lines with whatever has no picture spelled out."""
    return "\n".join(printable(line) for line in text.splitlines())


def query_link(suite: SuiteResult, query: str) -> str:
    """The address of a query's view."""
    return link_to(query_anchor(suite, query))


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "chance_words": chance_words,
    "change": change,
    "decimals_of": decimals_of,
    "figure": figure,
    "first_line": first_line,
    "link": link_to,
    "moment": moment,
    "percent": percent,
    "printable": printable,
    "printable_lines": printable_lines,
    "query_link": query_link,
    "share_decimals_of": share_decimals_of,
    "sight": sight,
    "sound": sound,
    "spread": spread,
    "tone": tone_of,
    "worst_views": worst_views,
}
