"""The files that a source names: if one of them changes, its rankings may be others."""

from __future__ import annotations

import glob
import importlib.util
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_ireval.sources.command import CommandOptions
from pytest_ireval.sources.foreign_text import within
from pytest_ireval.sources.python import PythonOptions
from pytest_ireval.suites.globs import ANY, pattern_of
from pytest_ireval.suites.suite import Pattern, SourceAsked


def named_by(source: SourceAsked, folder: Path) -> Iterator[Pattern]:
    """Of files, patterns and folders in its options; of a function its module; of a program all that may be a path.

    What the function's module imports, and what the program reads besides, nobody can tell from outside.
    """
    options = source.options
    if isinstance(options, PythonOptions):
        yield from map(exactly, _modules(options, folder))
    elif isinstance(options, CommandOptions):
        yield from map(exactly, _words(options, folder))
    else:
        for name in type(options).model_fields:
            yield from _in_option(getattr(options, name), folder)


def exactly(path: Path) -> Pattern:
    """A path itself, and whatever lies below it if it is a folder."""
    return Pattern(Path(os.path.normpath(path)), (ANY,))


def _in_option(value: Any, folder: Path) -> Iterator[Pattern]:
    """Paths, alone or in lists; one that does not exist may be a pattern, seen from the suite's folder."""
    if isinstance(value, Path):
        text = within(value, folder)
        wild = glob.has_magic(text) and not value.exists()
        yield pattern_of(text, folder) if wild else exactly(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _in_option(each, folder)


def _modules(options: PythonOptions, folder: Path) -> Iterator[Path]:
    """Where the module and the packages around it lie, or lay: in the folders that are looked through."""
    name = options.python.partition(":")[0]
    homes = [folder, *options.path, Path.cwd(), *map(Path, filter(None, sys.path)), *_installed(name.partition(".")[0])]
    parts = name.split(".")
    for home in dict.fromkeys(each.absolute() for each in homes):
        yield from (home.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1))
        yield home.joinpath(*parts[:-1], f"{parts[-1]}.py")


def _installed(name: str) -> Iterator[Path]:
    """The folders that hold a package which Python finds by other means than its path, as editable ones are."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module that is half imported, or has no spec
        return
    if spec is not None:
        yield from (Path(home).parent for home in spec.submodule_search_locations or ())
        if spec.origin and spec.has_location:
            yield Path(spec.origin).parent


def _words(options: CommandOptions, folder: Path) -> Iterator[Path]:
    """Everything in the command that may be the path of a file, options as ``--config=weights.json`` too."""
    words = options.command
    if options.shell:
        try:
            words = tuple(shlex.split(options.command[0]))
        except ValueError:  # quotes that the shell will complain of
            words = tuple(options.command[0].split())
    for word in words:
        for text in {word, word.rpartition("=")[2]}:
            if text and "\0" not in text and "{" not in text:
                yield Path((options.folder or folder) / text)
