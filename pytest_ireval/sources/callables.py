"""The function or retriever that ``module:name`` names: where it is, the arguments it takes, and what it returns."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from importlib.machinery import PathFinder
from itertools import islice, pairwise
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from uuid import UUID

from pytest_ireval.data.document_texts import TITLES, URLS
from pytest_ireval.data.tables import Named, Unfit, id_of, number_of
from pytest_ireval.errors import Problem, SourceError, did_you_mean, raised_at, shown, told, within
from pytest_ireval.words import format_count

QUERY_WORDS = ("text", "query", "queries")
"""Names of the parameter for the query itself, if it cannot be passed by position."""

VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


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


RETRIEVERS = ("invoke", "retrieve", "get_relevant_documents", "search", "run")
"""Methods of the retrievers of frameworks that take the text of a query."""
TEXTS = ("input", "query", "str_or_query_bundle", "text")
"""The name of their first parameter. Any other name is not a text: tokens, a vector, or inputs of a pipeline."""


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
        complaint = f"module {name!r} cannot be imported: {told(error)}"
        raise SourceError(Problem(complaint, suggestion=raised_at(error, folders[0]))) from error


def _describe_missing_module(name: str, folders: Sequence[Path]) -> Problem:
    """The problem of a missing module, with the right value of ``path`` if there is one above the suite."""
    here = Path.cwd()
    places = dict.fromkeys(within(folder.resolve(), here.resolve()) for folder in folders)
    words = ["the working folder" if place == "." else place for place in places]
    searched = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    above = next((folder for folder in _find_folders_above(folders[0]) if _has_module(folder, name)), None)
    return Problem(
        f"module {name!r} not found",
        suggestion=f"searched in {searched}, and in Python's module path",
        allowed=f"it exists above the suite: write path: {within(above, folders[0])}"
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
        other = within(loaded or "", folder)
        complaint = f"module {top!r} is {within(here, folder)}, but {other} is already imported under this name"
        suggestion = "Python imports only one module per name: rename one of the two"
        raise SourceError(Problem(complaint, suggestion=suggestion))


def _describe_missing_attribute(name: str, attribute: str, found: Any, module: ModuleType, folder: Path) -> Problem:
    file = getattr(module, "__file__", None)
    functions = [each for each, value in vars(found).items() if callable(value)] if hasattr(found, "__dict__") else []
    return Problem(
        f"there is no {attribute!r} in {within(file, folder) if file else module.__name__}, but {name} needs it",
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


IDS = ("id", "_id", "document", "document_id", "doc_id", "docno", "docid", "node_id")
"""Names of the id; the first one counts. PyTerrier's docid is a number of its index."""
SCORES = ("score", "_score")
OF_QUERIES = ("qid", "query", "rank")
"""Columns of a data frame of PyTerrier that describe the ranking, not the document."""
MOST = 1_000_000
"""A generator with more documents may never end."""
FORMS = (
    "allowed: a list of document ids, of pairs (id, score), of objects or dictionaries with id and score; "
    "or a dictionary of ids and scores"
)


def _gather(returned: Any) -> Any:
    """The whole value: a generator is run to its end, a data frame becomes rows."""
    if hasattr(returned, "columns") and hasattr(returned, "__getitem__"):
        names = list(returned.columns)
        if "qid" in names:  # PyTerrier
            if (count := len(set(returned["qid"]))) > 1:
                raise Unfit(f"returned the rankings of {count} queries, not of one")
            names = [name for name in names if name not in OF_QUERIES]
        return [dict(zip(names, row, strict=True)) for row in zip(*(returned[name] for name in names), strict=True)]
    if isinstance(returned, Mapping):
        documents = returned.get("documents")  # Haystack: the ranking is an output of that name
        return documents if isinstance(documents, list) else dict(returned.items())
    if getattr(returned, "_fields", ()) == ("documents", "scores"):  # bm25s: a row for each query
        if len(returned.documents) != 1:
            raise Unfit(f"returned the rankings of {len(returned.documents)} queries, not of one")
        return list(zip(returned.documents[0], returned.scores[0], strict=True))
    if isinstance(returned, str | bytes | set | frozenset) or not isinstance(returned, Iterable):
        return returned
    found = list(islice(returned, MOST + 1))
    if len(found) > MOST:
        raise Unfit(f"returned more than {MOST:,} documents; does it end?")
    return found


Pairs = list[tuple[str, float]]
Described = dict[str, Mapping[str, Any]]
"""By document, the fields of an answer other than id and score."""


def read_ranking(returned: Any, query: str, described: Described, id_at: str = "") -> Pairs | Unfit:
    """Documents with scores, which decide about the order; or the problem with them. ``id_at`` is the path of ids."""
    try:
        return _read_pairs(_gather(returned), query, described, id_at)
    except Unfit as unfit:
        return unfit


def find_rising_scores(pairs: Pairs) -> str:
    """Two neighbours of which the lower one has the higher score; "" if there are none."""
    for (above, first), (below, second) in pairwise(pairs):
        if second > first:
            return f"{shown(below)} ({second:g}) is below {shown(above)} ({first:g})"
    return ""


def read_rankings_of_all(returned: Any, described: Described, id_at: str) -> dict[str, Pairs | Unfit] | Unfit:
    """The ranking of each query of a dictionary."""
    if not isinstance(returned, Mapping):
        wrong = f"{type(returned).__name__}, not a dictionary"
        what = "None: is a return statement missing?" if returned is None else wrong
        return Unfit(f"returned {what}", "mode: all returns {query id: ranking}")
    answers = dict(returned.items())
    return {str(query): _read_keyed(query, each, answers, described, id_at) for query, each in answers.items()}


def _read_keyed(
    query: Any, returned: Any, answers: Mapping[Any, Any], described: Described, id_at: str
) -> Pairs | Unfit:
    """The ranking of a query, whose id may be a number in Python."""
    if not isinstance(query, str) and str(query) in answers:
        return Unfit("occurs twice, as text and as a number")
    try:
        return read_ranking(returned, id_of(query), described, id_at)
    except Unfit as unfit:
        return unfit


def _read_pairs(returned: Any, query: str, described: Described, id_at: str) -> Pairs:
    """Documents with scores; without scores the order of the list decides."""
    if isinstance(returned, dict) and not id_at:
        return _read_scored(returned.items(), query)
    if not isinstance(returned, list):
        raise Unfit(_describe_no_list(returned), FORMS)
    entries = [_read_entry(entry, described, id_at) for entry in returned]
    scored = sum(score is not None for _, score in entries)
    if scored not in (0, len(entries)):
        raise Unfit(f"returned {format_count(scored, 'document')} with a score and {len(entries) - scored} without one")
    if not scored:
        return [(id_of(_unwrap(document)), -float(place)) for place, (document, _) in enumerate(entries)]
    return _read_scored(entries, query)


def _read_scored(entries: Iterable[tuple[Any, Any]], query: str) -> Pairs:
    return [(id_of(_unwrap(document)), _read_score(score, document, query)) for document, score in entries]


def _read_score(value: Any, document: Any, query: str) -> float:
    if type(value) is float and isfinite(value):  # nearly always, and there are many
        return value
    return number_of(_unwrap(value), Named("score", document, query))


def _unwrap(value: Any) -> Any:
    """A number or an id of a database or model as a plain Python value."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal | Fraction):
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    item = getattr(value, "item", None)  # a tensor that holds one number
    if callable(item) and getattr(value, "ndim", None) == 0:
        return item()
    return value


def _describe_no_list(returned: Any) -> str:
    if returned is None:
        return "returned None: is a return statement missing?"
    if isinstance(returned, str | bytes):
        return f"returned the text {returned[:60]!r}, not a list of documents"
    if isinstance(returned, set | frozenset):
        return "returned a set, which has no order"
    return f"returned {type(returned).__name__}, not a list of documents"


def _read_entry(entry: Any, described: Described, id_at: str) -> tuple[Any, Any]:
    """The id of one document and its score, or None."""
    if isinstance(entry, str) and not id_at:
        return entry, None
    named = {} if type(entry) in (tuple, list) else _read_fields(entry)
    if isinstance(entry, tuple | list) and not named:
        if len(entry) != 2:
            raise Unfit(f"returned {_shorten(entry)}, which is not a pair (id, score)", FORMS)
        if entry[1] is None:
            raise Unfit(f"returned {_shorten(entry)}, whose score is None", FORMS)
        document = entry[0]  # an id, or a document with fields
        return document if isinstance(document, tuple | list) else _read_entry(document, described, id_at)[0], entry[1]
    if not named and not id_at:
        return entry, None
    document = _read_path(entry, id_at) if id_at else next((named[n] for n in IDS if named.get(n) is not None), None)
    if document is None:
        remedy = f"allowed: {', '.join(IDS)} for the id; or say where it is, as in id: metadata.sku"
        raise Unfit(f"returned {_shorten(entry)}, which has no id", remedy)
    more = {name: value for name, value in named.items() if name and name not in (*IDS, *SCORES)}
    if more:
        described.setdefault(id_of(_unwrap(document)), more)
    return document, next((named[name] for name in SCORES if named.get(name) is not None), None)


def _read_path(entry: Any, path: str) -> Any:
    """The value at a path of keys and attributes; an error lists the names where the path ends too early."""
    found = entry
    for name in path.split("."):
        keys = getattr(found, "keys", None)
        names = [str(each) for each in (keys() if callable(keys) else getattr(found, "__dict__", ()))]
        value = getattr(found, name, None) if not callable(keys) else found[name] if name in names else None
        if value is None:
            public = ", ".join(each for each in names if not each.startswith("_")) or "nothing"
            raise Unfit(f"returned {_shorten(entry)}, which has no {path}", f"in place of {name} there is {public}")
        found = value
    return found


def _read_fields(entry: Any) -> dict[str, Any]:
    """The fields of an object under the known names; empty for a value without names."""
    if isinstance(entry, Mapping):
        return dict(entry) or {"": None}
    if callable(keys := getattr(entry, "keys", None)):  # a row of sqlite3
        return {name: entry[name] for name in keys()}
    if isinstance(entry, str | int | float | UUID):
        return {}
    if (node := getattr(entry, "node", None)) is not None:  # LlamaIndex: the score is beside the document
        return {**_read_fields(node), "score": getattr(entry, "score", None)}
    known = (*IDS, *SCORES, *TITLES, *URLS, "metadata", "meta")
    named = {name: getattr(entry, name) for name in known if hasattr(entry, name)}
    is_value = isinstance(entry, tuple | list) or type(entry).__module__ in ("builtins", "numpy")
    if not any(name in named for name in IDS):
        named = {}
    return named if named or is_value else {"": None}


def _shorten(entry: Any) -> str:
    text = repr(entry)
    return text if len(text) <= 100 else f"{text[:100]}…"
