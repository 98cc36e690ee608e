"""The function or retriever that ``module:name`` names: where it is, and the arguments that it takes."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pytest_ireval.errors import Problem, SourceError, describe_exception, did_you_mean, find_raise_place, relative_path

QUERY_WORDS = ("text", "query", "queries")
"""Names of the parameter for the query itself, if it cannot be passed by position."""

VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

RETRIEVERS = ("invoke", "retrieve", "get_relevant_documents", "search", "run")
"""Methods of the retrievers of frameworks that take the text of a query."""

TEXTS = ("input", "query", "str_or_query_bundle", "text")
"""The name of their first parameter. Any other name is not a text: tokens, a vector, or inputs of a pipeline."""


class WantedArguments(NamedTuple):
    """The arguments that a function wants."""

    by_position: bool
    """True if the query (or all queries) is its first argument."""
    by_name: tuple[str, ...]

    @property
    def asks_for_queries(self) -> bool:
        """True if it gets the query in any form."""
        return self.by_position or bool({*QUERY_WORDS, "query_id"} & {*self.by_name})


@contextmanager
def importable_from(folders: Sequence[Path]) -> Iterator[None]:
    """Make modules importable from these folders first, in this order, until the end of the block."""
    added = [str(folder) for folder in folders]
    sys.path[:0] = added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for folder in added:
            with suppress(ValueError):  # the module may have removed it
                sys.path.remove(folder)


def find_object(name: str, folders: Sequence[Path]) -> Any:
    """The function or object; an error names the searched folders, or the origin of the module."""
    module_name, _, attributes = name.partition(":")
    module = _import_module(module_name, folders)
    _refuse_another(module_name, folders[0])
    found: Any = module
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            raise SourceError(_describe_missing_attribute(name, attribute, found, module, folders[0]))
        found = getattr(found, attribute)
    return found


def find_search_method(found: Any, name: str) -> Callable[..., Any]:
    """The function itself, or the method of a retriever that takes the text of a query."""
    offered = ((each, getattr(found, each, None)) for each in RETRIEVERS)
    methods: dict[str, Callable[..., Any]] = {each: method for each, method in offered if callable(method)}
    steps = "search" in methods and hasattr(found, "transform")  # PyTerrier: a call takes a table of queries
    if callable(found) and not steps:
        function: Callable[..., Any] = found
        return function
    wants = {each: list(inspect.signature(method).parameters.values()) for each, method in methods.items()}
    for each, parameters in wants.items():
        others = [more for more in parameters[1:] if more.kind not in VARIABLE]
        if parameters and parameters[0].name in TEXTS and all(more.default is not more.empty for more in others):
            return methods[each]
    complaint = f"{name} is {type(found).__name__}, which cannot be called with the text of a query"
    needs = [
        f"{each} needs {' and '.join(more.name for more in parameters if more.default is more.empty)}"
        for each, parameters in wants.items()
        if parameters
    ]
    told = f"its method {needs[0]}: name a function that takes the text and calls it" if needs else ""
    allowed = f"allowed: a function, or a retriever with one of the methods {', '.join(RETRIEVERS)}"
    raise SourceError(Problem(complaint, suggestion=told, allowed=allowed))


def _import_module(name: str, folders: Sequence[Path]) -> ModuleType:
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    # A module may raise anything while it is imported, sys.exit() and a test's skip too.
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise SourceError(_describe_missing_module(error.name, folders)) from None
        complaint = f"module {name!r} cannot be imported: {describe_exception(error)}"
        raise SourceError(Problem(complaint, suggestion=find_raise_place(error, folders[0]))) from error


def _describe_missing_module(name: str, folders: Sequence[Path]) -> Problem:
    """The problem of a missing module, with the right value of ``path`` if there is one above the suite."""
    here = Path.cwd()
    places = dict.fromkeys(relative_path(folder.resolve(), here.resolve()) for folder in folders)
    words = ["the working folder" if place == "." else place for place in places]
    searched = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    above = next((folder for folder in _find_folders_above(folders[0]) if _has_module(folder, name)), None)
    return Problem(
        f"module {name!r} not found",
        suggestion=f"searched in {searched}, and in Python's module path",
        allowed=f"it exists above the suite: write path: {relative_path(above, folders[0])}"
        if above
        else "path: adds folders to search, relative to the suite",
    )


def _find_folders_above(folder: Path) -> Iterator[Path]:
    """The folders in which a suite's project may have its modules, the nearest first."""
    for parent in folder.absolute().parents:
        yield from (parent, parent / "src")


def _has_module(folder: Path, name: str) -> bool:
    """True if the folder has such a module; a folder without __init__.py may be anything."""
    spec = PathFinder.find_spec(name, [str(folder)])
    return spec is not None and spec.origin is not None


def _refuse_another(name: str, folder: Path) -> None:
    """Refuse another module of this name that is already imported: it would be used instead of the suite's own."""
    top = name.partition(".")[0]
    specs = (finder.find_spec(top, None) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    spec = next(filter(None, specs), None)  # as the next import would find it; find_spec of importlib asks sys.modules
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
        other = relative_path(loaded or "", folder)
        complaint = f"module {top!r} is {relative_path(here, folder)}, but {other} is already imported under this name"
        suggestion = "Python imports only one module per name: rename one of the two"
        raise SourceError(Problem(complaint, suggestion=suggestion))


def _describe_missing_attribute(name: str, attribute: str, found: Any, module: ModuleType, folder: Path) -> Problem:
    file = getattr(module, "__file__", None)
    functions = [each for each, value in vars(found).items() if callable(value)] if hasattr(found, "__dict__") else []
    return Problem(
        f"there is no {attribute!r} in {relative_path(file, folder) if file else module.__name__}, but {name} needs it",
        suggestion=did_you_mean(attribute, functions),
    )


def find_wanted_arguments(function: Callable[..., Any], name: str, offered: Sequence[str]) -> WantedArguments:
    """The arguments that the function's signature wants of the ``offered`` ones; an error if it needs others."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in another language, and without a signature
        return WantedArguments(True, ())
    first = _find_query_parameter(parameters, offered)
    others = [each for each in parameters if each is not first and each.kind not in VARIABLE]
    known = {*offered, *(QUERY_WORDS if first is None else ())}
    given = [each for each in others if each.name in known and each.kind != inspect.Parameter.POSITIONAL_ONLY]
    unknown = [repr(each.name) for each in others if each.default is inspect.Parameter.empty and each not in given]
    if unknown:
        complaint = f"unsupported parameter of {name}: {', '.join(unknown)}"
        raise SourceError(Problem(complaint, allowed=f"allowed after the query: {', '.join(offered)}"))
    wanted = WantedArguments(first is not None, tuple(each.name for each in given))
    if not wanted.asks_for_queries:
        raise SourceError(f"{name} has no parameter for the query; the query is its first argument")
    return wanted


def _find_query_parameter(parameters: Sequence[inspect.Parameter], offered: Sequence[str]) -> inspect.Parameter | None:
    """The first parameter, if it can be passed by position and does not have the name of another argument."""
    first = next(iter(parameters), None)
    if first is None or first.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        return None
    named_otherwise = first.name in offered and first.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD
    return None if named_otherwise else first


def list_module_places(name: str, folders: Iterable[Path]) -> Iterator[Path]:
    """The files that a module and the packages around it may have, in these folders and where Python looks."""
    homes = [*folders, Path.cwd(), *map(Path, filter(None, sys.path)), *_find_package_folders(name.partition(".")[0])]
    parts = name.split(".")
    for home in dict.fromkeys(each.absolute() for each in homes):
        yield from (home.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1))
        yield home.joinpath(*parts[:-1], f"{parts[-1]}.py")


def _find_package_folders(name: str) -> Iterator[Path]:
    """The folders of a package that Python finds by other means than its path, such as an editable one."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module that is half imported, or has no spec
        return
    if spec is not None:
        yield from (Path(home).parent for home in spec.submodule_search_locations or ())
        if spec.origin and spec.has_location:
            yield Path(spec.origin).parent
