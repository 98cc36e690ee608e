"""Several grades for one document and query made into one."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pytest_ireval.errors import Mistakes, Problem, shown
from pytest_ireval.retrieval.from_objects import graded_rows
from pytest_ireval.retrieval.judgments import joined_texts
from pytest_ireval.retrieval.tables import Table, cell_text, table_of_rows

Judges = Literal["error", "highest", "lowest", "median", "majority"]

Choose = Callable[[Sequence[float]], float]
CHOICES: dict[str, Choose] = {
    "highest": max,
    "lowest": min,
    "median": statistics.median_low,
    "majority": lambda grades: min(statistics.multimode(grades)),
}
"""Of an even number of grades the median is the lower of the two in the middle; of equally frequent grades the
majority is the lowest."""


def merged(table: Table, judges: Judges, grades: str = "integer") -> tuple[Table, int]:
    """One row for each query and document (and subtopic), and how many of them had different grades.

    Who judged, and what else the rows say, is joined with ``; ``.
    """
    rows = graded_rows(table, grades)
    subtopics = table.columns.get("subtopic") or [""] * len(rows)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row, ((query, document, _), subtopic) in enumerate(zip(rows, subtopics, strict=True)):
        groups.setdefault((query, document, subtopic), []).append(row)
    several = {pair: group for pair, group in groups.items() if len({rows[row][2] for row in group}) > 1}
    if judges == "error":
        _refuse(table, rows, several)
        choose: Choose = max
    else:
        choose = CHOICES[judges]
    together = (
        (_joined(table, group, choose([rows[row][2] for row in group])), table.place(group[0]))
        for group in groups.values()
    )
    return table_of_rows(together, table.origin), len(several)


def _refuse(table: Table, rows: Sequence[tuple[str, str, float]], several: dict[Any, list[int]]) -> None:
    mistakes = Mistakes()
    for (query, document, _), group in several.items():
        found = ", ".join(f"{rows[row][2]:g} ({table.place(row)})" for row in group)
        mistakes.add(
            Problem(
                f"document {shown(document)} has several grades for query {shown(query)}: {found}",
                place=table.place(group[0]),
                suggestion=f"say which counts: --judges {', '.join(CHOICES)}",
            )
        )
    mistakes.refuse()


def _joined(table: Table, group: Sequence[int], grade: float) -> dict[str, Any]:
    """One row of several: the values of each column joined, each once."""
    row = {name: joined_texts(cell_text(values[i]) for i in group) for name, values in table.columns.items()}
    return {**row, "grade": grade}
