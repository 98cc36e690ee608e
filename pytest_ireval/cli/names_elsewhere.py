"""What other packages call metrics, on the terminal: ``ireval metrics --for trec_eval``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from pytest_ireval.errors import MetricNameError, Problem
from pytest_ireval.metrics.elsewhere import PACKAGES, Absent, Elsewhere, counterparts, without_counterpart
from pytest_ireval.metrics.lookup import Found, look_up
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.text_table import table

ALSO = {
    "sklearn": "scikit-learn",
    "pytrec_eval": "trec_eval",
    "ir-measures": "ir_measures",
    "pyntcireval": "ntcireval",
}
"""Other names of packages."""


def all_names(package: str, metrics: Collection[Metric]) -> Iterator[str]:
    """The names of a package with ours, and those that have no counterpart."""
    yield _table(package, counterparts(metrics, package))
    for why, names in reasons(metrics, package):
        yield _without(names, why)


def reasons(metrics: Collection[Metric], package: str) -> list[tuple[str, list[str]]]:
    """Why names of a package have no counterpart, each reason with the names it holds for."""
    return _by_reason(without_counterpart(metrics, package))


def _by_reason(every: Iterable[Absent]) -> list[tuple[str, list[str]]]:
    by_why: dict[str, list[str]] = {}
    for absent in every:
        by_why.setdefault(absent.why, []).append(absent.name)
    return list(by_why.items())


def these_names(package: str, names: Sequence[str], vocabulary: Vocabulary) -> tuple[list[str], list[Problem]]:
    """Blocks of text about the names that are known, and what is wrong with the others."""
    found: list[Found] = []
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        try:
            found.append(look_up(name, package, vocabulary))
        except MetricNameError as error:
            problems += error.problems
    rows = list(dict.fromkeys(row for each in found for row in each.rows))
    blocks = [_table(package, rows)] if rows else []
    absent = dict.fromkeys(each.absent for each in found if each.absent)
    blocks += [_without(names, why) for why, names in _by_reason(absent)]
    nameless = [each.ours.name for each in found if each.ours and not each.absent]
    blocks += [f"{PACKAGES[package]} has no name for it: {name}" for name in dict.fromkeys(nameless)]
    return blocks, problems


def _table(package: str, rows: Iterable[Elsewhere]) -> str:
    return table([PACKAGES[package], "pytest-ireval", "equal"], [[*row.names, row.equal] for row in rows])


def _without(names: Sequence[str], why: str) -> str:
    return f"no counterpart: {', '.join(names)}\n  {why}"
