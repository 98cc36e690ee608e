"""Documents that count as others: renamed documents, variants of one document, and chunks of a judged passage."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar, overload

import numpy as np

from pytest_ireval.data.arrays import Integers, Ranks, compute_begins
from pytest_ireval.data.formats.input_file import FilePath, open_input
from pytest_ireval.data.formats.row_files import read_delimited_table
from pytest_ireval.data.ids import find_ids
from pytest_ireval.data.judgments import Judgments, Subtopics, join_rows, make_judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.scan import Ids, PairIndex, concatenate_ids
from pytest_ireval.data.tables import Table, Unfit, find_column, is_quoted, list_column_names, parse_id, renumber_places
from pytest_ireval.data.views import mask_documents
from pytest_ireval.errors import InputError, Mistakes, Problem, quote

Found = TypeVar("Found", Judgments, Rankings)
Groups = Mapping[str, str] | re.Pattern[str]
"""Documents with their group, or a pattern of whole ids, whose part in parentheses is the group."""


def rename_documents(found: Found, names: Mapping[str, str]) -> Found:
    """The same judgments or rankings with the new names of documents.

    Each name is looked up once. Two documents of one ranking (or of one query's judgments) with the same new name are
    an error that names both.
    """
    documents = _replace_ids(found.documents, names)
    if documents is None:
        return found
    query = found.query
    first, later = PairIndex(query, documents).repeated
    if later.size:
        _refuse_doubles(found, query, documents, first, later)
    if isinstance(found, Rankings):
        return replace(found, documents=documents)
    return _merge_judgments(found, documents, first, later)


@overload
def collapse_variants(found: Judgments, groups: Groups) -> Judgments: ...
@overload
def collapse_variants(found: Rankings, groups: Groups) -> Rankings: ...
def collapse_variants(found: Judgments | Rankings, groups: Groups) -> Judgments | Rankings:
    """The same judgments or rankings with the group in place of each of its variants.

    In a ranking only the first variant counts; documents below the others move up. In judgments the highest grade
    counts. A document without a group is its own group; a document with the name of a group belongs to it.
    """
    if isinstance(groups, re.Pattern):
        groups = {document: find_group(document, groups) for document in set(found.documents.texts())}
    documents = _replace_ids(found.documents, groups)
    if documents is None:
        return found
    first, later = PairIndex(found.query, documents).repeated
    if isinstance(found, Rankings):
        return _drop_rows(replace(found, documents=documents), later)
    return _merge_judgments(found, documents, first, later)


def find_group(document: str, groups: Groups) -> str:
    """The group of a document, or the document itself; a pattern is applied until it no longer fits."""
    if isinstance(groups, Mapping):
        return groups.get(document, document)
    while (match := groups.fullmatch(document)) and match[1] and match[1] != document:
        document = match[1]
    return document


def _replace_ids(documents: Ids, names: Mapping[str, str]) -> Ids | None:
    """The documents under their other names; None if none of them has one."""
    changing = {old: new for old, new in names.items() if old != new}
    if not changing or not len(documents):
        return None
    entry = find_ids(documents, Ids.of(list(changing)))
    if not (entry >= 0).any():
        return None
    both = concatenate_ids([documents, Ids.of(list(changing.values()))])
    return both.copy(np.where(entry >= 0, len(documents) + entry, np.arange(len(documents))))


def _refuse_doubles(
    found: Judgments | Rankings, query: Integers, documents: Ids, first: Integers, later: Integers
) -> None:
    """Refuse two documents of one query with the same new name; equal judgments are one, as everywhere."""
    what = "judged" if isinstance(found, Judgments) else "ranked"
    remedy = (
        "fix the entry for one of them in documents > aliases; "
        "list variants that count as one document in documents > collapse"
    )
    mistakes = Mistakes()
    for a, b in zip(first.tolist(), later.tolist(), strict=True):
        grades = ""
        if isinstance(found, Judgments):
            if found.grade[a] == found.grade[b]:
                continue
            grades = f", with grades {found.grade[a]:g} and {found.grade[b]:g}"
        olds = f"{quote(found.documents[a])} and {quote(found.documents[b])}"
        complaint = (
            f"documents {olds} are both {what} for query {quote(found.queries[query[a]])}{grades}, and both are now "
            f"{quote(documents[a])}"
        )
        place = found.place(b) if isinstance(found, Judgments) else found.origin
        mistakes.add(Problem(complaint, place, suggestion=remedy))
    mistakes.refuse()


def _drop_rows(rankings: Rankings, dropped: Integers) -> Rankings:
    """Rankings without some documents; those behind them move up."""
    if not dropped.size:
        return rankings
    gone = np.zeros(len(rankings.documents), bool)
    gone[dropped] = True
    query = rankings.query
    so_far = compute_begins(gone)
    begin = rankings.first[:-1][query]

    def moved_up(rank: Ranks) -> Ranks:
        """A rank minus the dropped documents above it; a tie may reach below the kept documents."""
        until = np.minimum(begin + rank, rankings.first[1:][query])
        moved: Ranks = (rank - (so_far[until] - so_far[begin])).astype(np.int32)
        return moved

    shorter = replace(
        rankings,
        retrieved=rankings.retrieved - (so_far[rankings.first[1:]] - so_far[rankings.first[:-1]]),
        tied_from=moved_up(rankings.tied_from - 1) + 1,
        tied_to=moved_up(rankings.tied_to),
    )
    return mask_documents(shorter, ~gone)


def _merge_judgments(judgments: Judgments, documents: Ids, first: Integers, later: Integers) -> Judgments:
    """Judgments of these documents; of rows that repeat another, the highest grade counts."""
    grade = judgments.grade.copy()
    np.maximum.at(grade, first, grade[later])
    kept = np.delete(np.arange(grade.size), later)
    return make_judgments(
        judgments.queries,
        judgments.query[kept],
        documents.copy(kept),
        grade[kept],
        origin=judgments.origin,
        place=renumber_places(judgments.place, kept),
        subtopics=judgments.subtopics and _merge_subtopics(judgments.subtopics, first, later, kept),
        columns={name: join_rows(values, first, later, kept) for name, values in judgments.columns.items()},
    )


def _merge_subtopics(subtopics: Subtopics, first: Integers, later: Integers, kept: Integers) -> Subtopics:
    """Subtopics under the new numbers of rows; of two grades for one subtopic the highest counts."""
    number = np.zeros(kept.size + later.size, np.int64)
    number[kept] = np.arange(kept.size)
    number[later] = number[first]
    row = number[subtopics.row]
    order = np.lexsort((-subtopics.grade, subtopics.subtopic, row))
    row, subtopic = row[order], subtopics.subtopic[order]
    new = np.ones(row.size, bool)
    new[1:] = (row[1:] != row[:-1]) | (subtopic[1:] != subtopic[:-1])
    return Subtopics(subtopics.names, row[new], subtopic[new], subtopics.grade[order][new])


LISTED = 20
"""The most columns, or steps of a circle, that a message names."""


class _Entry(NamedTuple):
    """The other id of a row, and its place."""

    other: str
    place: str


def read_aliases(path: FilePath) -> dict[str, str]:
    """Every old id with its current name.

    An id on the left is no longer in use, so rows a → b and b → c mean that a is now c. A row with the same id on both
    sides has no effect.
    """
    entries = {old: entry for old, entry in _read_entries(path, "from", "to", "called").items() if old != entry.other}
    mistakes = Mistakes()
    names: dict[str, str] = {}
    for old in entries:
        _follow_chain(old, entries, names, mistakes)
    mistakes.refuse()
    return names


def read_groups(path: FilePath) -> dict[str, str]:
    """Every document with its group. A document with the name of a group belongs to that group."""
    entries = _read_entries(path, "document", "group", "in group")
    groups = {entry.other for entry in entries.values()}
    mistakes = Mistakes()
    for document, entry in entries.items():
        if document in groups and entry.other != document:
            complaint = f"{quote(document)} is in group {quote(entry.other)}, but is also the group of other documents"
            remedy = "a document with the name of a group belongs to that group: put all of them into one group"
            mistakes.add(Problem(complaint, place=entry.place, suggestion=remedy))
    mistakes.refuse()
    return {document: entry.other for document, entry in entries.items()}


def _read_entries(path: FilePath, key: str, value: str, says: str) -> dict[str, _Entry]:
    """The checked rows by their key; two rows with one key must be equal."""
    with open_input(path) as file:
        found = read_delimited_table(file)
        literal = file.delimiter == "\t"
    keys, values = _require_column(found, key), _require_column(found, value)
    if not keys:
        raise InputError(Problem("there are no rows below the column names", place=found.origin))
    entries: dict[str, _Entry] = {}
    mistakes = Mistakes()
    for row, cells in enumerate(zip(keys, values, strict=True)):
        place = found.place(row)
        try:
            name, other = (_parse_cell(cell, literal) for cell in cells)
        except Unfit as unfit:
            mistakes.add(Problem(str(unfit), place=place, suggestion=unfit.suggestion))
            continue
        known = entries.setdefault(name, _Entry(other, place))
        if known.other != other:
            twice = f"{quote(name)} is {says} {quote(other)} here, and {says} {quote(known.other)} at {known.place}"
            mistakes.add(Problem(twice, place=place))
    mistakes.refuse()
    return entries


def _require_column(found: Table, kind: str) -> list[str]:
    """The column of that kind; without one, an error with the allowed names."""
    name = find_column(found.columns, kind)
    if name is None:
        left = len(found.columns) - LISTED
        names = ", ".join(map(quote, list(found.columns)[:LISTED])) + (f" and {left:,} more" if left > 0 else "")
        complaint = f"there is no column {kind!r}: the first line names {names}"
        raise InputError(Problem(complaint, place=found.origin, allowed=f"allowed: one of {list_column_names(kind)}"))
    return list(found.column(kind))


def _parse_cell(cell: str, literal: bool) -> str:
    if literal and is_quoted(cell.strip()):
        raise Unfit(f"the id {cell.strip()} is in quotes", "TSV has no quoting: remove the quotes, or use CSV")
    return parse_id(cell)


def _follow_chain(old: str, entries: Mapping[str, _Entry], names: dict[str, str], mistakes: Mistakes) -> None:
    """Enter the name at the end of the chain that begins with ``old``, for all ids on the way."""
    way: dict[str, None] = {}
    name = old
    while name in entries and name not in names:
        if name in way:
            steps = list(way)
            circle = [*map(quote, [*steps[steps.index(name) :], name])]
            left = len(circle) - LISTED
            if left > 0:
                circle[LISTED - 1 : -1] = [f"{left + 1:,} more"]
            complaint = f"aliases lead in a circle: {' → '.join(circle)}"
            mistakes.add(Problem(complaint, place=entries[name].place))
            break
        way[name] = None
        name = entries[name].other
    names.update(dict.fromkeys(way, names.get(name, name)))


SPAN = re.compile(r"(.+)#([0-9]{1,18})-([0-9]{1,18})", re.DOTALL)
FORM = "with documents: spans, an id is DOCUMENT#START-END, as in handbook.pdf#120-240, and START is less than END"


class _Passage(NamedTuple):
    """A judged part of a document, from ``start`` to before ``end``."""

    start: int
    end: int
    name: str
    grade: float

    def covered(self, start: int, end: int) -> float:
        """The share of the passage that a chunk covers."""
        return (min(end, self.end) - max(start, self.start)) / (self.end - self.start)


@dataclass
class Passages:
    """The judged passages of each query, which retrieved chunks count as."""

    by_query: Mapping[str, Mapping[str, Sequence[_Passage]]]
    """By query and document."""
    share: float
    """The share of a passage that a chunk covers at least."""

    def in_rankings(self, rankings: Rankings) -> Rankings:
        """Rankings with the judged passage in place of a chunk that covers it.

        From the best chunk down, each counts as the passage that it covers most, among those that do not count yet.
        A chunk that covers only passages that count already is left out, and those below it move up. A document
        without a span stays as it is.
        """
        names, repeated = rankings.documents.texts(), []
        fields = dict(rankings.fields or {})
        for number, query in enumerate(rankings.queries):
            passages, counted = self.by_query.get(query, {}), set[str]()
            for row in range(int(rankings.first[number]), int(rankings.first[number + 1])):
                chunk = names[row]
                names[row] = self._name(chunk, passages, counted)
                if names[row] in counted:
                    repeated.append(row)
                elif names[row] != chunk and chunk in fields:
                    fields.setdefault(names[row], fields[chunk])
                counted.add(names[row])
        found = replace(rankings, documents=Ids.of(names), fields=fields if rankings.fields else rankings.fields)
        return _drop_rows(found, np.array(repeated, np.int64))

    def name(self, chunk: str, query: str) -> str:
        """The passage that a chunk counts as if it is the first; the chunk itself if it covers none."""
        return self._name(chunk, self.by_query.get(query, {}), ())

    def _name(self, chunk: str, passages: Mapping[str, Sequence[_Passage]], counted: Container[str]) -> str:
        """The passage that a chunk counts as, a new one if there is one; the chunk itself if it covers none."""
        document, start, end = _parse_span(chunk) or ("", 0, 0)
        covered = [each for each in passages.get(document, ()) if each.covered(start, end) >= self.share]

        def order(each: _Passage) -> tuple[bool, float, bool, float]:
            return each.name not in counted, each.covered(start, end), each.name == chunk, each.grade

        return max(covered, key=order).name if covered else chunk


def collect_passages(judgments: Judgments, share: float) -> Passages:
    """The judged passages; an error names the judged documents that have no span."""
    refuse_without_span(judgments.documents, judgments.place)
    found: dict[str, dict[str, list[_Passage]]] = {}
    for row, name in enumerate(judgments.documents.texts()):
        document, start, end = _parse_span(name) or ("", 0, 0)
        query = judgments.queries[judgments.query[row]]
        passage = _Passage(start, end, name, float(judgments.grade[row]))
        found.setdefault(query, {}).setdefault(document, []).append(passage)
    return Passages(found, share)


def refuse_without_span(documents: Ids, place: str | Callable[[int], str]) -> None:
    """Raise InputError with the documents that have no span; ``place`` is that of all rows, or gives that of a row."""
    mistakes = Mistakes()
    for row, name in enumerate(documents.texts()):
        if _parse_span(name) is None:
            at = place if isinstance(place, str) else place(row)
            mistakes.add(Problem(f"document {quote(name)} has no span", at, allowed=FORM))
    mistakes.refuse()


def _parse_span(name: str) -> tuple[str, int, int] | None:
    match = SPAN.fullmatch(name)
    return (match[1], int(match[2]), int(match[3])) if match and int(match[2]) < int(match[3]) else None
