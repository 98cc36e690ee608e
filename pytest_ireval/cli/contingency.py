"""How many documents are relevant or not, and retrieved or not: the tables of ``ireval compare --contingency``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_ireval.results.evaluation import Evaluation

CONTINGENCY_METRICS = ("NumRelRet", "NumRet", "NumRel")
"""The counts are made of the sums of these."""


@dataclass
class Contingency:
    """Documents of all queries; one without a judgment is not relevant."""

    relevant_retrieved: int
    other_retrieved: int
    relevant_missed: int
    other_missed: int | None
    """None unless the size of the collection is known."""


def count_contingency(evaluation: Evaluation) -> Contingency:
    """The counts of an evaluation with the metrics CONTINGENCY_METRICS."""
    hits, retrieved, relevant = (round(evaluation[name].value or 0.0) for name in CONTINGENCY_METRICS)
    size = None if evaluation.collection is None else evaluation.collection * len(evaluation["NumRet"].values)
    return Contingency(
        relevant_retrieved=hits,
        other_retrieved=retrieved - hits,
        relevant_missed=relevant - hits,
        other_missed=None if size is None else size - retrieved - (relevant - hits),
    )


def make_contingency_rows(tables: Mapping[str, Contingency], letters: Mapping[str, str]) -> Iterator[list[str]]:
    """Two rows for each ranking, its letter and name in the first; the header first."""
    yield ["", "ranking", "documents", "relevant", "not relevant"]
    for name, table in tables.items():
        yield [letters[name], name, "retrieved", f"{table.relevant_retrieved}", f"{table.other_retrieved}"]
        missed = "-" if table.other_missed is None else f"{table.other_missed}"
        yield ["", "", "not retrieved", f"{table.relevant_missed}", missed]
