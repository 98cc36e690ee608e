"""Data in addition to judgments and rankings: size of the collection, sessions, timings, attributes and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.judged import Floats, JudgedRankings, Sessions


def with_companions(
    judged: JudgedRankings,
    *,
    collection: int | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    timings: Mapping[str, float] | None = None,
    attributes: Mapping[str, Mapping[str, Any]] | None = None,
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    reference: JudgedRankings | None = None,
) -> JudgedRankings:
    """The same with the given data, checked and in the order of the queries."""
    for document, known in _entries(attributes, "attributes"):
        if not isinstance(known, Mapping):
            raise _unfit("attributes", f"document {document!r} has {known!r}, not a mapping")
    for query, pairs in _entries(preferences, "preferences"):
        if isinstance(pairs, str) or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
            raise _unfit("preferences", f"query {query!r} has {pairs!r}, not pairs (better, worse)")
    if collection is not None:
        _check_collection(judged, collection)
    return replace(
        judged,
        collection=collection,
        sessions=None if sessions is None else _sessions(judged.queries, sessions),
        timings=None if timings is None else _timings(judged, timings),
        attributes=attributes,
        preferences=preferences,
        reference=reference and replace(reference, collection=collection),
        _memory={},
    )


def _check_collection(judged: JudgedRankings, size: int) -> None:
    """Refuse a size below the number of documents that one query judges or retrieves."""
    known = np.diff(judged.first_ideal) + judged.retrieved - np.diff(judged.first)
    most = int(known.argmax()) if known.size else 0
    if known.size and known[most] > size:
        complaint = (
            f"{size:,} documents are too few: {known[most]:,} are judged or retrieved for query "
            f"{judged.queries[most]!r}"
        )
        raise _unfit("collection", complaint)


def _entries(mapping: object, what: str) -> list[tuple[Any, Any]]:
    if mapping is None:
        return []
    if not isinstance(mapping, Mapping):
        raise _unfit(what, f"{type(mapping).__name__} is not a mapping")
    return list(mapping.items())


def _sessions(queries: Sequence[str], sessions: Mapping[str, tuple[str, int]]) -> Sessions:
    known = set(queries)
    taken: dict[tuple[Any, ...], str] = {}
    for query, place in _entries(sessions, "sessions"):
        if query not in known:
            raise _unfit("sessions", f"query {query!r} is not judged")
        if not _is_place(place):
            raise _unfit("sessions", f"query {query!r} has {place!r}, not (session, position); positions start at 1")
        other = taken.setdefault(tuple(place), query)
        if other != query:
            raise _unfit("sessions", f"queries {other!r} and {query!r} have the same position in session {place[0]!r}")
    names = {name: i for i, name in enumerate(dict.fromkeys(sessions[q][0] for q in queries if q in sessions))}
    places = [sessions.get(query) for query in queries]
    return Sessions(
        tuple(names),
        np.array([names[place[0]] if place else -1 for place in places], np.int64),
        np.array([place[1] if place else 0 for place in places], np.int64),
    )


def _is_place(place: object) -> bool:
    if not isinstance(place, tuple | list) or len(place) != 2:
        return False
    name, position = place
    whole = isinstance(position, Integral) and not isinstance(position, bool)
    return isinstance(name, str) and whole and 1 <= position < 2**62


def _timings(judged: JudgedRankings, timings: Mapping[str, float]) -> Floats:
    for query, seconds in _entries(timings, "timings"):
        if not isinstance(seconds, Real) or isinstance(seconds, bool) or not 0 <= float(seconds) < np.inf:
            raise _unfit("timings", f"query {query!r} took {seconds!r}, which is not a number of seconds")
    for query, there in zip(judged.queries, judged.present.tolist(), strict=True):
        if there and query not in timings:
            raise _unfit("timings", f"query {query!r} has no timing")
    return np.array([timings.get(query, np.nan) for query in judged.queries], np.float64)


def _unfit(what: str, complaint: str) -> InputError:
    return InputError(Problem(complaint, place=what))
