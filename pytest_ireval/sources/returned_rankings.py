"""The ranking of one query in what a function, a retriever or a database returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise
from math import isfinite
from typing import Any
from uuid import UUID

from pytest_ireval.data.document_texts import TITLES, URLS
from pytest_ireval.data.tables import NumberName, Unfit, check_id, check_number
from pytest_ireval.errors import quote
from pytest_ireval.words import format_count

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

Pairs = list[tuple[str, float]]

Described = dict[str, Mapping[str, Any]]
"""By document, the fields of an answer other than id and score."""


def read_ranking(returned: Any, query: str, described: Described, id_at: str = "") -> Pairs | Unfit:
    """Documents with scores, which decide about the order; or the problem with them. ``id_at`` is the path of ids."""
    try:
        return _read_pairs(_gather(returned), query, described, id_at)
    except Unfit as unfit:
        return unfit


def read_rankings_of_all(returned: Any, described: Described, id_at: str) -> dict[str, Pairs | Unfit] | Unfit:
    """The ranking of each query of a dictionary."""
    if not isinstance(returned, Mapping):
        wrong = f"{type(returned).__name__}, not a dictionary"
        what = "None: is a return statement missing?" if returned is None else wrong
        return Unfit(f"returned {what}", "mode: all returns {query id: ranking}")
    answers = dict(returned.items())
    return {str(query): _read_keyed(query, each, answers, described, id_at) for query, each in answers.items()}


def find_rising_scores(pairs: Pairs) -> str:
    """Two neighbours of which the lower one has the higher score; "" if there are none."""
    for (above, first), (below, second) in pairwise(pairs):
        if second > first:
            return f"{quote(below)} ({second:g}) is below {quote(above)} ({first:g})"
    return ""


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


def _read_keyed(
    query: Any, returned: Any, answers: Mapping[Any, Any], described: Described, id_at: str
) -> Pairs | Unfit:
    """The ranking of a query, whose id may be a number in Python."""
    if not isinstance(query, str) and str(query) in answers:
        return Unfit("occurs twice, as text and as a number")
    try:
        return read_ranking(returned, check_id(query), described, id_at)
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
        return [(check_id(_unwrap(document)), -float(place)) for place, (document, _) in enumerate(entries)]
    return _read_scored(entries, query)


def _read_scored(entries: Iterable[tuple[Any, Any]], query: str) -> Pairs:
    return [(check_id(_unwrap(document)), _read_score(score, document, query)) for document, score in entries]


def _read_score(value: Any, document: Any, query: str) -> float:
    if type(value) is float and isfinite(value):  # nearly always, and there are many
        return value
    return check_number(_unwrap(value), NumberName("score", document, query))


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
        described.setdefault(check_id(_unwrap(document)), more)
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
