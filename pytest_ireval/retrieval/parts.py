"""Rankings in parts: several files, or what other processes have read; a query belongs to one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Mistakes, Problem, shown
from pytest_ireval.retrieval.formats.input_file import is_address
from pytest_ireval.retrieval.ids import concatenated
from pytest_ireval.retrieval.judged import Hits, JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.secrets import shown_address

PATTERN = "*?["


@dataclass(frozen=True, eq=False)
class JudgedPart:
    """The judged documents of some rankings, small enough to be sent to another process.

    ``query`` has the positions of its queries in the judgments, and ``retrieved`` the number of documents of each.
    """

    origin: str
    judgments: str
    """The fingerprint of the judgments that it was joined with: the rows of ``hits`` are theirs."""
    query: NDArray[np.int64]
    retrieved: NDArray[np.int64]
    hits: Hits
    without_judgments: tuple[str, ...]
    by_id: bool = True
    """Ids order equal scores; else their order in the source does."""

    @cached_property
    def size(self) -> int:
        """The bytes of its arrays."""
        return sum(column.nbytes for column in (self.query, self.retrieved, *self.hits))


def part_of(
    judged: JudgedRankings, origin: str, without_judgments: tuple[str, ...], fingerprint: str, *, by_id: bool
) -> JudgedPart:
    """The arrays of judged rankings that are needed to evaluate them."""
    query = np.flatnonzero(judged.present)
    return JudgedPart(origin, fingerprint, query, judged.retrieved[query], judged.hits, without_judgments, by_id)


def judged_in_parts(
    judgments: Judgments, parts: Sequence[JudgedPart], highest_grade: float | None, *, by_id: bool
) -> JudgedRankings:
    """The judged rankings of all parts, whatever their order; a query in two of them is an error."""
    _refuse_others(judgments.fingerprint, parts, by_id)
    _refuse_twice(
        (part.origin, [*(judgments.queries[i] for i in part.query.tolist()), *part.without_judgments]) for part in parts
    )
    count = len(judgments.queries)
    retrieved, present = np.zeros(count, np.int64), np.zeros(count, bool)
    for part in parts:
        retrieved[part.query], present[part.query] = part.retrieved, True
    hits = Hits(*(np.concatenate(columns) for columns in zip(*(part.hits for part in parts), strict=True)))
    return JudgedRankings(
        queries=judgments.queries,
        retrieved=retrieved,
        present=present,
        hits=hits.at(np.argsort(hits.query, kind="stable")),
        ideal=judgments.ideal,
        highest_grade=judgments.highest_grade if highest_grade is None else highest_grade,
        judgments=judgments,
        subtopics=judgments.subtopics,
        _judgments=judgments,
    )


def _refuse_others(fingerprint: str, parts: Sequence[JudgedPart], by_id: bool) -> None:
    mistakes = Mistakes()
    for part in parts:
        if part.judgments != fingerprint:
            same = "give judged_part and evaluate the same judgments"
            mistakes.add(Problem("this part was joined with other judgments", part.origin, suggestion=same))
        elif part.by_id != by_id:
            ties = "give judged_part and evaluate the same ties"
            mistakes.add(Problem("this part has equal scores in another order", part.origin, suggestion=ties))
    mistakes.refuse()


ONE_PART = "all rows of a query belong into one file or part"


def _refuse_twice(parts: Iterable[tuple[str, Iterable[str]]]) -> None:
    home: dict[str, int] = {}
    names: list[str] = []
    mistakes = Mistakes()
    for number, (origin, queries) in enumerate(parts):
        names.append(origin)
        for query in queries:
            first = home.setdefault(query, number)
            if first != number:
                complaint = f"query {shown(query)} is also in {names[first]}"
                mistakes.add(Problem(complaint, origin, suggestion=ONE_PART))
    mistakes.refuse()


def together(parts: Sequence[Rankings], origin: str) -> Rankings:
    """All documents of several rankings of different queries."""
    _refuse_twice((part.origin, part.queries) for part in parts)
    before = np.cumsum([0, *(part.score.size for part in parts)]).tolist()
    first = [part.first[:-1] + at for part, at in zip(parts, before, strict=False)]
    return Rankings(
        queries=tuple(query for part in parts for query in part.queries),
        first=np.concatenate([*first, [before[-1]]]),
        documents=concatenated([part.documents for part in parts]),
        retrieved=np.concatenate([part.retrieved for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        tied_from=np.concatenate([part.tied_from for part in parts]),
        tied_to=np.concatenate([part.tied_to for part in parts]),
        origin=origin,
    )


def ranking_files(source: object) -> list[str] | None:
    """The files of a folder or a pattern, in the order of their names; None for anything else, such as one file.

    In a folder, names that begin with ``.`` or ``_`` are left out, as other tools leave them out.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    name = os.fspath(source)
    if is_address(name):
        from pytest_ireval.retrieval.formats.remote import remote_files

        return remote_files(name)
    if os.path.isdir(name):
        from pytest_ireval.retrieval.formats.remote import data_files

        inside = [path.relative_to(name).as_posix() for path in Path(name).rglob("*") if path.is_file()]
        found = [str(Path(name, each)) for each in data_files(inside, name)]
    elif not os.path.exists(name) and any(character in name for character in PATTERN):
        found = [path for path in glob(name, recursive=True) if os.path.isfile(path)]
    else:
        return None
    if not found:
        raise InputError(Problem("there is no file", place=name))
    return sorted(found)


def origin_of(names: Sequence[str], source: object) -> str:
    """The name of several files or parts, for messages and reports."""
    if len(names) == 1:
        return names[0]
    if not isinstance(source, str | os.PathLike):
        more = len(names) - 1
        return f"{names[0]} and {more:,} more {'part' if more == 1 else 'parts'}"
    name = os.fspath(source)
    return f"{shown_address(name) if is_address(name) else name} ({len(names):,} files)"
