"""The function that ``module:function`` names: where it is looked for, and what it asks to be told."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pytest_ireval.errors import Problem, SourceError, did_you_mean
from pytest_ireval.sources.foreign_text import raised_at, told, within

QUERY_WORDS = ("text", "query", "queries")
"""Names under which the query itself is handed over where it cannot be by position."""

VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Wanted(NamedTuple):
    """What a function asks to be told."""

    by_position: bool
    """Whether the query (or all queries) is its first argument."""
    by_name: tuple[str, ...]

    @property
    def asks_for_queries(self) -> bool:
        """Whether it can tell one query from another."""
        return self.by_position or bool({*QUERY_WORDS, "query_id"} & {*self.by_name})


@contextmanager
def importable_from(folders: Sequence[Path]) -> Iterator[None]:
    """Modules are looked for in these folders first, in this order, and afterwards no more."""
    added = [str(folder) for folder in folders]
    sys.path[:0] = added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for folder in added:
            with suppress(ValueError):  # the module may have taken it out itself
                sys.path.remove(folder)


def function_named(name: str, folders: Sequence[Path]) -> Callable[..., Any]:
    """The function; an error says where the module was looked for, or where it came from."""
    module_name, _, attributes = name.partition(":")
    module = _imported(module_name, folders)
    _refuse_another(module_name, folders[0])
    found: Any = module
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            raise SourceError(_not_there(name, attribute, found, module, folders[0]))
        found = getattr(found, attribute)
    if not callable(found):
        raise SourceError(f"{name} is {type(found).__name__}, which cannot be called")
    function: Callable[..., Any] = found
    return function


def _imported(name: str, folders: Sequence[Path]) -> ModuleType:
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    # A module may raise anything while it is imported, sys.exit() and a test's skip too.
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise SourceError(_no_module(error.name, folders)) from None
        complaint = f"module {name!r} cannot be imported: {told(error)}"
        raise SourceError(Problem(complaint, suggestion=raised_at(error, folders[0]))) from error


def _no_module(name: str, folders: Sequence[Path]) -> Problem:
    """The mistake that there is no such module, with what ``path`` would have to say if one lies above the suite."""
    here = Path.cwd()
    places = dict.fromkeys(within(folder.resolve(), here.resolve()) for folder in folders)
    words = ["the working folder" if place == "." else place for place in places]
    searched = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    above = next((folder for folder in _above(folders[0]) if _holds(folder, name)), None)
    return Problem(
        f"there is no module {name!r}",
        suggestion=f"looked for in {searched}, and where Python finds modules",
        allowed=f"there is one above the suite: write path: {within(above, folders[0])}"
        if above
        else "path: names more folders, seen from the suite",
    )


def _above(folder: Path) -> Iterator[Path]:
    """The folders in which a suite's project may have its modules, the nearest first."""
    for parent in folder.absolute().parents:
        yield from (parent, parent / "src")


def _holds(folder: Path, name: str) -> bool:
    """Whether such a module lies there; a folder without __init__.py may be anything."""
    spec = PathFinder.find_spec(name, [str(folder)])
    return spec is not None and spec.origin is not None


def _refuse_another(name: str, folder: Path) -> None:
    """A module that was imported under this name before would be asked in place of the suite's own."""
    top = name.partition(".")[0]
    spec = PathFinder.find_spec(top)
    if spec is None:
        return
    if spec.has_location and spec.origin:
        here, loaded = Path(spec.origin), getattr(sys.modules.get(top), "__file__", None)
        same = not loaded or Path(loaded).resolve() == here.resolve()
    else:  # a folder without __init__.py, or several of one name
        homes = [Path(home).resolve() for home in spec.submodule_search_locations or ()]
        loaded = getattr(sys.modules.get(name), "__file__", None)
        same = not loaded or not homes or any(home in Path(loaded).resolve().parents for home in homes)
        here = homes[0] if homes else folder
    if not same:
        complaint = (
            f"module {top!r} would be {within(here, folder)}, but {within(loaded or '', folder)} is imported under"
        )
        suggestion = "Python knows one module of a name: rename one of the two"
        raise SourceError(Problem(f"{complaint} this name already", suggestion=suggestion))


def _not_there(name: str, attribute: str, found: Any, module: ModuleType, folder: Path) -> Problem:
    file = getattr(module, "__file__", None)
    functions = [each for each, value in vars(found).items() if callable(value)] if hasattr(found, "__dict__") else []
    return Problem(
        f"there is no {attribute!r} in {within(file, folder) if file else module.__name__}, which {name} asks for",
        suggestion=did_you_mean(attribute, functions),
    )


def wanted_by(function: Callable[..., Any], name: str, offered: Sequence[str]) -> Wanted:
    """What the function's signature asks for, out of what is ``offered``; an error if it needs anything else."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in another language, and without a signature
        return Wanted(True, ())
    first = _takes_the_query(parameters, offered)
    others = [each for each in parameters if each is not first and each.kind not in VARIABLE]
    can_be_told = {*offered, *(QUERY_WORDS if first is None else ())}
    told = [each for each in others if each.name in can_be_told and each.kind != inspect.Parameter.POSITIONAL_ONLY]
    unknown = [repr(each.name) for each in others if each.default is inspect.Parameter.empty and each not in told]
    if unknown:
        complaint = f"{name} needs {', '.join(unknown)}, which nobody can tell it"
        raise SourceError(Problem(complaint, allowed=f"besides the query it may ask for {', '.join(offered)}"))
    wanted = Wanted(first is not None, tuple(each.name for each in told))
    if not wanted.asks_for_queries:
        raise SourceError(f"{name} takes no query: its first argument would be that")
    return wanted


def _takes_the_query(parameters: Sequence[inspect.Parameter], offered: Sequence[str]) -> inspect.Parameter | None:
    """The first parameter, if it can be given by position and is not called like something else."""
    first = next(iter(parameters), None)
    if first is None or first.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        return None
    named_otherwise = first.name in offered and first.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD
    return None if named_otherwise else first
