"""The text of a first suite: what is known of the data, and why each rule says what it says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.cli.scaffold_figures import FEW, MANY, floor, needed_for, proposal, slices, weight_column
from pytest_ireval.plurals import counted, roughly
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.statistics.resolution import LIKENESS

PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+=-]*")
MISREAD = re.compile(r"(?i)true|false|yes|no|on|off|null|~|[0-9.eE+-]+")
"""Editors take these for something else than text."""
SHOWN = 5


class Named(NamedTuple):
    """A file, and its format if somebody named it."""

    path: Path
    format: str | None = None


@dataclass(frozen=True)
class Known:
    """What is at hand."""

    name: str
    output: Path
    rankings: Named
    depth: int
    first: tuple[tuple[str, str], ...]
    """Queries with a document that stands first and should."""
    judgments: Named | None = None
    queries_file: Named | None = None
    queries: Queries | None = None
    evaluation: Evaluation | None = None
    missing: tuple[str, ...] = ()
    """Queries without a ranking."""


def scaffold(known: Known) -> str:
    """The suite's text."""
    rules = [*_judged_rules(known), *_churn(), *_expectations(known)]
    return "\n".join([*_head(known), "rules:", *rules]) + "\n"


def quoted(text: str) -> str:
    """Text as YAML takes it for text."""
    if PLAIN.fullmatch(text) and not MISREAD.fullmatch(text):
        return text
    return json.dumps(text.replace("$", "$$"), ensure_ascii=False)


def _path(file: Named, known: Known) -> str:
    return quoted(Path(os.path.relpath(file.path, known.output.parent)).as_posix())


def _file(file: Named, known: Known) -> str:
    path = _path(file, known)
    return f"{{file: {path}, format: {file.format}}}" if file.format else path


def _head(known: Known) -> Iterator[str]:
    schema = Path(os.path.relpath(".ireval/suite.schema.json", known.output.parent)).as_posix()
    yield f"# yaml-language-server: $schema={schema}"
    yield "# (that file is for editors; it is written by: ireval schema -o .ireval/suite.schema.json)"
    yield "ireval: 1"
    yield f"suite: {quoted(known.name)}"
    yield '# owner: "@your-team"     whom a failure concerns'
    yield ""
    form = f", format: {known.rankings.format}" if known.rankings.format else ""
    yield "# The candidate; a function or a command can be asked instead."
    yield f"source: {{run: {_path(known.rankings, known)}{form}}}"
    yield f"depth: {known.depth}     # how many documents of each ranking count"
    if known.queries_file:
        yield f"queries: {_file(known.queries_file, known)}"
    if known.queries and (column := weight_column(known.queries)):
        yield f"weight: {quoted(column)}     # how much traffic a query stands for"
    if known.judgments:
        yield f"judgments: {_file(known.judgments, known)}"
    if known.evaluation:
        yield f"metrics: [{', '.join(metric.name for metric in known.evaluation.metrics)}]"
    yield from _missing(known.missing)
    yield ""


def _missing(missing: Sequence[str]) -> Iterator[str]:
    if missing:
        names = ", ".join(missing[:SHOWN]) + (", …" if len(missing) > SHOWN else "")
        without = f"{counted(len(missing), 'query')} without a ranking"
        yield f"# {without} ({names}): an error of the first run, unless"
        yield "# missing_queries: zero"


def _judged_rules(known: Known) -> Iterator[str]:
    evaluation = known.evaluation
    if evaluation is None:
        return
    reached = [metric for metric in evaluation.metrics if metric.mean is not None and floor(metric.mean) > 0]
    floors = [metric for metric in reached if metric.name.startswith(("nDCG", "Judged"))]
    if floors:
        now = ", ".join(f"{metric.name} {metric.mean:.4f}" for metric in floors)
        bounds = ", ".join(f'{metric.name}: ">= {floor(metric.mean or 0):g}"' for metric in floors)
        yield f"  # Floors, 5% below what these rankings reach now: {now}."
        yield f"  - threshold: {{{bounds}}}"
        yield ""
    compared = [metric for metric in evaluation.metrics if metric.name.startswith(("nDCG", "RR"))]
    yield from _how_it_was_made(compared[0])
    for metric in compared:
        made = proposal(metric.values.values())
        yield f"  - no_regression: {{metric: {metric.name}, tolerance: {made.tolerance}{_evidence(made.queries)}}}"
    if known.queries:
        yield from _per_slice(compared[0], known.queries)
    yield ""
    yield "  # A mean hides single queries that break."
    yield f"  - worsened: {{metric: {compared[0].name}, by_more_than: 0.3, at_most: 5%}}"
    yield ""


def _how_it_was_made(metric: MetricResult) -> Iterator[str]:
    values = list(metric.values.values())
    made = proposal(values)
    yield "  # How far a mean may fall below the accepted baseline."
    if not made.spread:
        yield f"  # All {counted(made.queries, 'query')} score alike, which says nothing of the spread of changes:"
        yield "  # the tolerance is half of what one query lost altogether would cost."
        return
    queries = counted(made.queries, "query")
    yield f"  # The tolerance is the smallest drop that {queries} show in 80% of cases. It is a guess as yet, made of"
    yield f"  # how far values of {metric.name} lie apart (standard deviation {made.spread:.2f}): those of two"
    yield f"  # versions are taken to correlate by {LIKENESS}, as after small changes. Later, ireval plan knows more."
    if made.queries >= MANY:
        yield "  # Evidence decides: a fall fails where it is more than chance, and what cannot be told is a warning."
    if made.queries < FEW:
        yield f"  # {queries} are few: about {roughly(needed_for(0.02, values)):,} would show a drop of 2%."


def _evidence(queries: int) -> str:
    """Let evidence decide about a mean of many queries; a few are a contract about themselves."""
    return ", decide_by: evidence" if queries >= MANY else ""


def _per_slice(metric: MetricResult, queries: Queries) -> Iterator[str]:
    for column, found in slices(metric, queries):
        each = ", ".join(f"{quoted(value)}: {proposal(values).tolerance}" for value, values in found.items())
        decided = _evidence(min(map(len, found.values())))
        yield f"  # The same for each {column}: a better head must not hide a broken tail."
        yield f"  - no_regression: {{metric: {metric.name}, per: {quoted(column)}, tolerance: {{{each}}}{decided}}}"
        return


def _churn() -> Iterator[str]:
    yield "  # How many queries may get a very different list; this needs no judgments. Look at the first changes,"
    yield "  # set it to what is usual here, and take on_fail out: until then it only warns."
    yield "  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%, on_fail: warn}"
    yield ""


def _expectations(known: Known) -> Iterator[str]:
    if not known.first:
        return
    what = "have the top grade and stand first" if known.judgments else "stand first"
    yield f"  # What must not break, whatever the means say. These {what} now;"
    yield "  # put in those that you care about."
    yield "  - expect:"
    for query, document in known.first:
        yield f"      - {{query: {quoted(query)}, document: {quoted(document)}, top: 3}}"
