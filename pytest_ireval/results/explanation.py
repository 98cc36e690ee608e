"""The arithmetic of one metric on one query as plain values: the steps of a metric, and what ``why`` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_ireval.results.evaluation import InNotebook
from pytest_ireval.results.policies import Policies

FORMAT = 1
"""The version of the JSON form."""


@dataclass
class Column:
    """One column of a table: a number for each row, or None where there is none."""

    name: str
    values: tuple[float | None, ...]


@dataclass
class SecondTable:
    """A second table, such as the best order there could be."""

    title: str
    columns: tuple[Column, ...]


@dataclass
class Steps:
    """The way from a ranking to the value of a metric on one query, or on the queries of one session.

    ``ranks``, ``documents``, ``grades`` (None: not judged) and every column have one entry for each document that the
    metric looks at, in order of rank.
    """

    ranks: tuple[int, ...]
    documents: tuple[str, ...]
    grades: tuple[float | None, ...]
    columns: tuple[Column, ...]
    arithmetic: str
    """The last line without name and result: ``6.3928 / 7.1232``."""
    value: float
    """The result of the arithmetic."""
    facts: tuple[str, ...] = ()
    """Facts that a reader needs first: ``R = 5 relevant documents``."""
    shares: Column | None = None
    """The contribution of each document; they add up to the value, unless the column's name says otherwise."""
    second_table: SecondTable | None = None
    generic: bool = False
    """True if the metric does not describe its steps, and these are derived from its values."""
    positions: tuple[int, ...] = ()
    """In a session, for each document the position of its query; empty for a query."""


@dataclass
class Explained:
    """The steps of one metric on one ranking, and its value."""

    rankings: str
    """Where the ranking comes from."""
    retrieved: int
    cutoff: int | None
    """The cutoff of the metric, if it has one."""
    value: float
    steps: Steps
    special_case: str = ""
    """Why the value is not what the steps come to: what the metric declares for such a query."""


@dataclass
class Move:
    """A document in two rankings; None where it is not there, or was not looked at."""

    document: str
    grade: float | None
    rank: int | None
    other_rank: int | None
    share: float | None
    other_share: float | None
    position: int | None = None
    """In a session, the position of the query."""

    @property
    def difference(self) -> float:
        """The change of the value by the move; a document that is not there contributes nothing."""
        return (self.other_share or 0.0) - (self.share or 0.0)


@dataclass
class Explanation(InNotebook):
    """Why a metric has its value on one query; with a second ranking, why it has another one there."""

    metric: str
    query: str
    """The query; of a metric of sessions, the session."""
    query_choice: str
    """The reason for the choice of the query, if the user did not name one."""
    judgments: str
    policies: Policies
    first: Explained
    other: Explained | None = None
    moves: tuple[Move, ...] = ()
    """Every document of both tables, best rank first."""
    rankings_origin: str = ""
    """In a suite, the rankings that are compared with the baseline: of a run, or the source's current ones; and why."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """In a suite, by id the titles of documents."""
    unit: str = "query"
    """What the metric scores: ``query``, or ``session``."""

    def to_dict(self) -> Mapping[str, Any]:
        """The JSON form."""
        return {"format": FORMAT, **asdict(self)}
