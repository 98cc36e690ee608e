"""What a search function may return for a query, as ids with scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from math import isfinite
from typing import Any
from uuid import UUID

from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.tables import Named, Unfit, id_of, number_of

IDS = ("id", "_id", "document", "document_id", "doc_id", "docid", "docno")
SCORES = ("score", "_score")
MOST = 1_000_000
"""A generator that goes on after so many documents may never end."""
FORMS = (
    "allowed: a list of document ids, of pairs (id, score), of objects or dictionaries with id and score; "
    "or a dictionary of ids and scores"
)


def gathered(returned: Any) -> Any:
    """The same with everything in it: a generator is run to its end, a data frame becomes rows."""
    if hasattr(returned, "columns") and hasattr(returned, "__getitem__"):
        names = list(returned.columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*(returned[name] for name in names), strict=True)]
    if isinstance(returned, Mapping):
        return dict(returned.items())
    if isinstance(returned, str | bytes | set | frozenset) or not isinstance(returned, Iterable):
        return returned
    found = list(islice(returned, MOST + 1))
    if len(found) > MOST:
        raise Unfit(f"returned more than {MOST:,} documents: does it ever end?")
    return found


Pairs = list[tuple[str, float]]


def ranking_of(returned: Any, query: str) -> Pairs | Unfit:
    """Documents with scores, which decide about the order; or what is wrong with them."""
    try:
        return _pairs(gathered(returned), query)
    except Unfit as unfit:
        return unfit


def rankings_of_all(returned: Any) -> dict[str, Pairs | Unfit] | Unfit:
    """The same for each query of a dictionary."""
    if not isinstance(returned, Mapping):
        what = "None: is a return missing?" if returned is None else f"{type(returned).__name__}, not a dictionary"
        return Unfit(f"returned {what}", "mode: all returns {query id: ranking}")
    answers = dict(returned.items())
    return {str(query): _keyed(query, each, answers) for query, each in answers.items()}


def _keyed(query: Any, returned: Any, answers: Mapping[Any, Any]) -> Pairs | Unfit:
    """A ranking under a query's id, which may be a number in Python."""
    if not isinstance(query, str) and str(query) in answers:
        return Unfit("is there twice, as text and as a number")
    try:
        return ranking_of(returned, id_of(query))
    except Unfit as unfit:
        return unfit


def _pairs(returned: Any, query: str) -> Pairs:
    """Without any scores the order of the list decides."""
    if isinstance(returned, dict):
        return _scored(returned.items(), query)
    if not isinstance(returned, list):
        raise Unfit(_is_no_list(returned), FORMS)
    entries = [_entry(entry) for entry in returned]
    scored = sum(score is not None for _, score in entries)
    if scored not in (0, len(entries)):
        raise Unfit(f"returned {counted(scored, 'document')} with a score and {len(entries) - scored} without one")
    if not scored:
        return [(id_of(_plain(document)), -float(place)) for place, (document, _) in enumerate(entries)]
    return _scored(entries, query)


def _scored(entries: Iterable[tuple[Any, Any]], query: str) -> Pairs:
    return [(id_of(_plain(document)), _score(score, document, query)) for document, score in entries]


def _score(value: Any, document: Any, query: str) -> float:
    if type(value) is float and isfinite(value):  # nearly always, and there are many
        return value
    return number_of(_plain(value), Named("score", document, query))


def _plain(value: Any) -> Any:
    """What databases and models return for a number or an id, as Python's own."""
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


def _is_no_list(returned: Any) -> str:
    if returned is None:
        return "returned None: is a return missing?"
    if isinstance(returned, str | bytes):
        return f"returned the text {returned[:60]!r}, not a list of documents"
    if isinstance(returned, set | frozenset):
        return "returned a set, which has no order"
    return f"returned {type(returned).__name__}, not a list of documents"


def _entry(entry: Any) -> tuple[Any, Any]:
    """The id of one document and its score, or None."""
    if isinstance(entry, str):
        return entry, None
    named = type(entry) not in (tuple, list) and _fields(entry)
    if named:
        document = next((named[name] for name in IDS if named.get(name) is not None), None)
        if document is None:
            raise Unfit(f"returned {_cut(entry)}, which has no id", f"allowed: {', '.join(IDS)} for the id")
        return document, next((named[name] for name in SCORES if named.get(name) is not None), None)
    if not isinstance(entry, tuple | list):
        return entry, None
    if len(entry) != 2:
        raise Unfit(f"returned {_cut(entry)}, which is no pair (id, score)", FORMS)
    if entry[1] is None:
        raise Unfit(f"returned {_cut(entry)}, whose score is None", FORMS)
    return entry[0], entry[1]


def _fields(entry: Any) -> dict[str, Any]:
    """What an object says under the names that are looked at; nothing for what has no names."""
    if isinstance(entry, Mapping):
        return dict(entry) or {"": None}
    if callable(keys := getattr(entry, "keys", None)):  # a row of sqlite3
        return {name: entry[name] for name in keys()}
    if isinstance(entry, int | float | UUID):
        return {}
    named = {name: getattr(entry, name) for name in (*IDS, *SCORES) if hasattr(entry, name)}
    is_value = isinstance(entry, tuple | list) or type(entry).__module__ in ("builtins", "numpy")
    return named if named or is_value else {"": None}


def _cut(entry: Any) -> str:
    text = repr(entry)
    return text if len(text) <= 100 else f"{text[:100]}…"
