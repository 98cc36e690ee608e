"""Judgments as text: one query a line, its documents with their grades, sorted by document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pytest_ireval.baselines.stored_rankings import alternating, numbers_as_ids
from pytest_ireval.baselines.tab_lines import ESCAPE, ESCAPES, MEANT, Damage, rows_by_id, written
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments

HEAD = b"# ireval judgments, format 1\n"
MOST_PAIRS = 200_000
"""A baseline keeps no more; then a fingerprint of each query's judgments still says which queries changed."""


class StoredGrades(Mapping[str, Mapping[str, float]]):
    """Grades by query and document; a query's line is only taken apart when somebody asks for it."""

    def __init__(self, lines: Mapping[str, bytes]) -> None:
        self.lines = lines
        """By query, what follows its id: document, grade, document, grade …, sorted by document."""

    def __getitem__(self, query: str) -> dict[str, float]:
        cells = self.lines[query].decode().split("\t")
        return {_meant(cells[i]): float(cells[i + 1]) for i in range(0, len(cells) - 1, 2)}

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def pairs(self) -> int:
        """How many judgments there are."""
        return sum(line.count(b"\t") + 1 for line in self.lines.values()) // 2

    def encoded(self) -> bytes:
        """The whole text of a file."""
        table = str.maketrans(ESCAPES)
        heads = ((query.translate(table).encode(), line) for query, line in self.lines.items())
        return HEAD + b"".join(b"%b\t%b\n" % head for head in sorted(heads))


def grades_of_judgments(judgments: Judgments) -> StoredGrades:
    """What is judged, as it will be stored; not dependent on the order of the judgments."""
    names = Ids.of(judgments.queries)
    order = rows_by_id(np.zeros(len(names), np.int64), names)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    rows = rows_by_id(rank[judgments.query], judgments.documents)
    count = np.bincount(rank[judgments.query], minlength=order.size)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    cells = alternating(judgments.documents.take(rows), numbers_as_ids(judgments.grade[rows]))
    lines = written(names.take(order), 2 * first, cells).split(b"\n")
    queries = [judgments.queries[i] for i in order.tolist()]
    return StoredGrades({query: line.partition(b"\t")[2] for query, line in zip(queries, lines, strict=False)})


def encoded_grades(grades: Mapping[str, Mapping[str, float]]) -> bytes:
    """The whole text of a file."""
    if isinstance(grades, StoredGrades):
        return grades.encoded()
    documents = Ids.of([document for of_query in grades.values() for document in of_query])
    count = [len(of_query) for of_query in grades.values()]
    query = np.repeat(np.arange(len(count)), count)
    values = np.array([grade for of_query in grades.values() for grade in of_query.values()], np.float64)
    rows = rows_by_id(query, documents)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(count, np.int64))))
    cells = alternating(documents.take(rows), numbers_as_ids(values[rows]))
    lines = written(Ids.of(list(grades)), 2 * first, cells).split(b"\n")
    return StoredGrades({name: line.partition(b"\t")[2] for name, line in zip(grades, lines, strict=False)}).encoded()


def decoded_grades(data: bytes) -> StoredGrades:
    """The judgments in the text of a file, or Damage."""
    if not data.startswith(HEAD):
        raise Damage(f"does not begin with the line {HEAD.decode().strip()!r}", 1)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise Damage("is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    if not data.endswith(b"\n"):
        raise Damage("is cut off: its last line has no end", data.count(b"\n") + 1)
    lines: dict[str, bytes] = {}
    for number, line in enumerate(data[len(HEAD) : -1].split(b"\n") if len(data) > len(HEAD) else (), 2):
        head, _, cells = line.partition(b"\t")
        query = _meant(head.decode())
        if not head or query in lines or not _are_pairs(cells):
            raise Damage("is not a query, then documents with their grades", number)
        lines[query] = cells
    return StoredGrades(lines)


def _are_pairs(cells: bytes) -> bool:
    found = cells.split(b"\t")
    if len(found) % 2 or not all(found):
        return False
    return b"".join(found[1::2]).isdigit() or all(map(_is_number, found[1::2]))


def _is_number(cell: bytes) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def _meant(text: str) -> str:
    return ESCAPE.sub(lambda found: MEANT.get(found[0], found[0]), text) if "\\" in text else text
