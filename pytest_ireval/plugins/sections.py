"""What a section of the report is: a name, a title, a function that returns its data, and a template that draws it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_ireval.errors import PluginError
from pytest_ireval.plugins.kinds import KIND_NAME


@dataclass(frozen=True)
class ReportSection:
    """A section of the report; made by :func:`report_section`."""

    name: str
    """By which the results know it."""
    title: str
    data: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """``data(run)`` gets the run as ``results.json`` has it, and returns what the template is filled in with."""
    folder: Path
    """Where the module of ``data`` lies, and beside it the template."""
    template: str
    """The name of a Jinja template there."""
    style: str = ""
    """The name of a file with CSS there; empty: it has no style of its own."""
    origin: str = ""

    @property
    def source(self) -> str:
        """Who brings it, for messages."""
        return self.origin or f"{self.data.__module__} (not registered)"


def report_section(
    *, name: str, title: str, template: str, style: str = ""
) -> Callable[[Callable[[Mapping[str, Any]], Mapping[str, Any]]], ReportSection]:
    """Make a section of ``function(run) -> data``; ``template`` and ``style`` are files beside its module."""

    def make(function: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> ReportSection:
        if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
            raise PluginError(f"{name!r} cannot name a section: it is lower-case letters, digits and _")
        if not isinstance(title, str) or not title.strip():
            raise PluginError(f"section {name!r}: its title is empty, and that is what a reader sees of it")
        folder = _folder_of(function, name)
        for file in filter(None, (template, style)):
            _refuse_lost(file, folder, name)
        if not template:
            raise PluginError(f"section {name!r}: it names no template, so nothing could draw it")
        return ReportSection(name, title, function, folder, template, style)

    return make


def _folder_of(function: Callable[..., Any], name: str) -> Path:
    """The folder of the function's module."""
    try:
        return Path(inspect.getfile(inspect.unwrap(function))).absolute().parent
    except (TypeError, ValueError):
        raise PluginError(f"section {name!r}: {function!r} is no function of a module, so it has no folder") from None


def _refuse_lost(file: str, folder: Path, name: str) -> None:
    """A file is below the folder, and there: a wheel may have been built without it."""
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts:
        raise PluginError(f"section {name!r}: {file!r} is no name of a file below {folder}")
    if not (folder / path).is_file():
        raise PluginError(f"section {name!r}: there is no file {file!r} in {folder}; was the package built without it?")
