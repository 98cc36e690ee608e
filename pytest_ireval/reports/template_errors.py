"""What goes wrong while a template is filled in, told with its file, its line, and what there is instead."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import jinja2
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.filters import FILTERS
from jinja2.tests import TESTS
from jinja2.utils import missing

from pytest_ireval.errors import IrevalError, Problem, ReportError, did_you_mean

Folders = Mapping[Path, str]
"""Where templates lie, and what messages call these folders; empty: a file goes by its name."""
LISTED = 40
"""So many names of what there is are told."""
ITSELF = 'a template that extends or includes itself? ours is "ireval/index.html.jinja", and so on'
UNKNOWN = re.compile(r"No (filter|test) named '(\w+)'")


class NotThereError(jinja2.UndefinedError):
    """A name that nothing has; ``thing`` is what was asked for it, or ``missing``."""

    def __init__(self, message: str | None = None, *, thing: Any, name: str) -> None:
        super().__init__(message)
        self.thing = thing
        self.name = name


class Unknown(jinja2.StrictUndefined):
    """Stops whoever uses it, and remembers what was asked for."""

    def __init__(self, hint: str | None = None, obj: Any = missing, name: str | None = None, **_: Any) -> None:
        asked: Any = partial(NotThereError, thing=obj, name=str(name))
        super().__init__(hint, obj, name, asked)


@contextmanager
def told(folders: Folders) -> Iterator[None]:
    """Whatever a template raises is a ReportError that names its line."""
    try:
        yield
    except IrevalError:
        raise
    except Exception as error:  # a template is code, and may raise anything
        raise ReportError(problem_of(error, folders)) from error


def problem_of(error: Exception, folders: Folders) -> Problem:
    """Place, complaint, and what was probably meant."""
    place, frame = _place(error, folders)
    if isinstance(error, jinja2.TemplateSyntaxError):
        return Problem(_message(error), place, suggestion=_meant(error))
    if isinstance(error, jinja2.TemplateNotFound):
        return Problem(f"there is no template {error.message or error.name!r}", place)
    if isinstance(error, jinja2.UndefinedError):
        return _undefined(error, place, frame)
    if isinstance(error, RecursionError):
        return Problem("it never ends", place, suggestion=ITSELF)
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


def _message(error: jinja2.TemplateSyntaxError) -> str:
    return (error.message or "is no template").rstrip(".")


def _meant(error: jinja2.TemplateSyntaxError) -> str:
    """The filter or the test that is called nearly so."""
    match = UNKNOWN.search(error.message or "")
    if match is None:
        return ""
    return did_you_mean(match[2], FILTERS if match[1] == "filter" else TESTS)


def _undefined(error: jinja2.UndefinedError, place: str, frame: FrameType | None) -> Problem:
    """A name or an attribute that is not there."""
    complaint = error.message or "a name is not there"
    if not isinstance(error, NotThereError):
        return Problem(complaint, place)
    names = _names(error.thing, frame)
    return Problem(complaint, place, suggestion=did_you_mean(error.name, names), allowed=_listed(names))


def _names(thing: Any, frame: FrameType | None) -> list[str]:
    """What could have been asked of it; of nothing at all: which names the template knows."""
    known: Iterable[Any] = ()
    if thing is missing:
        known = set(frame.f_locals) - set(DEFAULT_NAMESPACE) if frame else ()
    elif isinstance(thing, Mapping):
        known = thing
    elif is_dataclass(thing):
        known = dir(thing)
    return sorted(str(name) for name in known if not str(name).startswith("_"))


def _listed(names: list[str]) -> str:
    if not names:
        return ""
    more = ", …" if len(names) > LISTED else ""
    return f"there is: {', '.join(names[:LISTED])}{more}"
