"""The text of a first suite: what ``ireval init`` writes about data it has read."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pytest_ireval.data.queries import Queries
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.rules.hard_limit import find_least_share
from pytest_ireval.statistics.resolution import likely_spread, queries_needed, resolution
from pytest_ireval.words import format_count, round_estimate

EXPECTED, TOP = 3, 5
"""Expectations that are proposed, and how far down their documents, which rank first now, may fall."""
PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+=-]*")
MISREAD = re.compile(r"(?i)true|false|yes|no|on|off|null|~|[0-9.eE+-]+")
"""Editors read these as something else than text."""
SHOWN = 5
ENGINE = "ENGINE_URL"
"""The variable that names another engine than that of the suite, as a job of CI does."""


class DataFile(NamedTuple):
    path: Path
    format: str | None = None


class RankingSource(NamedTuple):
    file: DataFile | None = None
    python: str = ""
    command: str = ""
    address: str = ""
    """That of an index, perhaps with a login."""
    engine: Mapping[str, Any] | None = None
    """The options of the source that asks it; the first one is the address without the login."""


@dataclass
class SuiteFacts:
    name: str
    output: Path
    source: RankingSource
    depth: int
    first: tuple[tuple[str, str], ...]
    """Queries with a document that ranks first and should."""
    judgments: DataFile | None = None
    queries_file: DataFile | None = None
    queries: Queries | None = None
    evaluation: Evaluation | None = None
    missing: tuple[str, ...] = ()
    """Queries without a ranking."""


def quote(text: str) -> str:
    """Text as YAML reads it as text."""
    if PLAIN.fullmatch(text) and not MISREAD.fullmatch(text):
        return text
    return json.dumps(text.replace("$", "$$"), ensure_ascii=False)


def _format_path(file: DataFile, known: SuiteFacts) -> str:
    return quote(Path(os.path.relpath(file.path, known.output.parent)).as_posix())


def _format_file(file: DataFile, known: SuiteFacts) -> str:
    path = _format_path(file, known)
    return f"{{file: {path}, format: {file.format}}}" if file.format else path


def format_head(known: SuiteFacts) -> Iterator[str]:
    schema = Path(os.path.relpath(".ireval/suite.schema.json", known.output.parent)).as_posix()
    yield f"# yaml-language-server: $schema={schema}"
    yield "# (that file is for editors; it is written by: ireval check --schema -o .ireval/suite.schema.json)"
    yield "ireval: 1"
    yield f"suite: {quote(known.name)}"
    yield '# owner: "@your-team"     who is responsible for a failure'
    yield ""
    yield "# The candidate rankings: a file, a Python function, a command, or a running engine."
    yield from _format_engine_source(known.source.engine) if known.source.engine else [_format_source(known)]
    yield f"depth: {known.depth}     # how many documents of each ranking count"
    if known.queries_file:
        yield f"queries: {_format_file(known.queries_file, known)}"
    if known.queries and (column := _find_weight_column(known.queries)):
        yield f"weight: {quote(column)}     # how much traffic a query stands for"
    if known.judgments:
        yield f"judgments: {_format_file(known.judgments, known)}"
    if known.evaluation:
        yield f"metrics: [{', '.join(metric.name for metric in known.evaluation.metrics)}]"
    if missing := known.missing:
        names = ", ".join(missing[:SHOWN]) + (", …" if len(missing) > SHOWN else "")
        without = f"{format_count(len(missing), 'query')} without a ranking"
        yield f"# {without} ({names}): an error of the first run, unless"
        yield "# missing_queries: zero"
    yield ""


def _format_source(known: SuiteFacts) -> str:
    source, here = known.source, Path(os.path.relpath(Path.cwd(), known.output.parent)).as_posix()
    if source.python:
        return f"source: {{python: {quote(source.python)}, path: [{quote(here)}]}}"
    if source.command:
        words = ", ".join(quote(word) for word in shlex.split(source.command))
        return f"source: {{command: [{words}], folder: {quote(here)}}}"
    file = source.file or DataFile(Path())
    return f"source: {{run: {_format_path(file, known)}{f', format: {file.format}' if file.format else ''}}}"


def _format_engine_source(options: Mapping[str, Any]) -> Iterator[str]:
    (engine, address), *others = options.items()
    root, _, index = address.replace("$", "$$").rpartition("/")
    yield "source:"
    yield f"  # The variable {ENGINE}, where it is set, names another engine, such as that of a job of CI."
    yield f'  {engine}: "${{{ENGINE}:-{root}}}/{index}"'
    for option in others:
        text = yaml.safe_dump(dict([option]), sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)
        text = text if option[0] == "headers" else text.replace("$", "$$")  # whose variables are those of the suite
        yield from (f"  {line}" for line in text.splitlines())


def format_judged_rules(known: SuiteFacts) -> Iterator[str]:
    evaluation = known.evaluation
    if evaluation is None:
        return
    compared = [metric for metric in evaluation.metrics if metric.name.startswith(("nDCG", "RR"))]
    below = max(FLOOR, 2 * _propose_tolerance(compared[0].values.values(), LEAST).percent)
    reached = [
        metric for metric in evaluation.metrics if metric.mean is not None and _round_floor(metric.mean, below) > 0
    ]
    floors = [metric for metric in reached if metric.name.startswith(("nDCG", "Judged"))]
    if floors:
        now = ", ".join(f"{metric.name} {metric.mean:.4f}" for metric in floors)
        bounds = ", ".join(f'{metric.name}: ">= {_round_floor(metric.mean or 0, below):g}"' for metric in floors)
        yield f"  # Floors, {below}% below the current figures of these rankings: {now}."
        yield f"  - threshold: {{{bounds}}}"
        yield ""
    yield from _explain_decisions(compared[0])
    for metric in compared:
        made = _propose_tolerance(metric.values.values(), LEAST)
        limit = f", hard_limit: {max(_choose_hard_limit(metric), 2 * made.percent)}%" if made.percent else ""
        yield f"  - no_regression: {{metric: {metric.name}, tolerance: {made.tolerance}{limit}}}"
    if known.queries:
        yield from _format_slice_rule(compared[0], known.queries)
    yield ""
    yield "  # A mean can hide single queries that break. Beyond at_most it fails if chance is ruled out."
    yield f"  - worsened: {{metric: {compared[0].name}, by_more_than: 0.3, at_most: 10%}}"
    yield ""


def _choose_hard_limit(metric: MetricResult) -> int:
    """The hard limit of so many queries, in per cent."""
    return round(100 * find_least_share(len(metric.values)))


def _explain_decisions(metric: MetricResult) -> Iterator[str]:
    values = list(metric.values.values())
    made = _propose_tolerance(values, LEAST)
    yield "  # A mean that falls by more than its tolerance is a warning. It fails if chance is ruled out, or beyond"
    yield "  # the hard limit. Few queries get wide limits: their means move far by chance."
    yield f"  # {HARMLESS_RED}"
    queries = format_count(len(values), "query")
    if not made.percent and not made.spread:
        yield f"  # All {queries} score the same, so the spread of changes is unknown:"
        yield "  # the tolerance is half the cost of losing one query completely."
    elif len(values) < _FEW:
        likely = likely_spread(values)
        needed = (queries_needed(likely, 0.02 * statistics.fmean(values)) if likely else None) or 0
        if needed > len(values):
            yield f"  # {queries} are few: about {round_estimate(needed):,} would show a drop of 2%."


def _format_slice_rule(metric: MetricResult, queries: Queries) -> Iterator[str]:
    """The rule for the first column that makes slices of the queries."""
    for column, entries in queries.composed.items():
        if column == _find_weight_column(queries):
            continue
        by_slice: dict[str, list[float]] = {}
        for query, value in zip(queries.ids, entries, strict=True):
            if query in metric.values:
                by_slice.setdefault(value, []).append(metric.values[query])
        fewest = min(map(len, by_slice.values()), default=0)
        if 1 < len(by_slice) <= MOST_VALUES and fewest > 1 and "" not in by_slice:
            made = {value: _propose_tolerance(values, LEAST_OF_SLICES) for value, values in by_slice.items()}
            each = ", ".join(f"{quote(value)}: {proposal.tolerance}" for value, proposal in made.items())
            widest = max(proposal.percent for proposal in made.values())
            limit = f", hard_limit: {max(HARD_LIMIT_OF_SLICES, 2 * widest)}%"
            limit = limit if all(proposal.percent for proposal in made.values()) else ""
            rule = f"{{metric: {metric.name}, per: {quote(column)}, tolerance: {{{each}}}{limit}}}"
            yield f"  # The same for each {column}: a better slice must not hide a worse one."
            yield f"  - no_regression: {rule}"
            return


def format_churn_rule() -> Iterator[str]:
    yield "  # Limit how many queries get a very different list; this needs no judgments. Look at the first changes,"
    yield "  # set at_most to what is usual here, and remove on_fail: until then the rule only warns."
    yield "  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%, on_fail: warn}"
    yield ""


def format_expectations(known: SuiteFacts) -> Iterator[str]:
    if not known.first:
        return
    what = "have the top grade and rank first" if known.judgments else "rank first"
    yield f"  # Queries that must not break, whatever the means say. These documents {what} now;"
    yield "  # replace them with those that you care about."
    yield "  - expect:"
    for query, document in known.first:
        yield f"      - {{query: {quote(query)}, document: {quote(document)}, top: {TOP}}}"


TRAFFIC = {"searches", "traffic", "volume", "count", "clicks", "frequency", "popularity", "weight"}
"""Words in the names of columns that hold how often a query is asked."""
_FEW = 50
MOST_VALUES = 12
FLOOR, LEAST, LEAST_OF_SLICES, HARD_LIMIT_OF_SLICES = 5, 2, 5, 25
"""Per cent: how far floors are below, the least tolerances, and the least hard limit of slices."""
HARMLESS_RED = "Of 100 changes that harm nothing, at most 7 turned such a suite red, and at most 33 warned."
"""Measured by benchmarks/calibration.py."""


class _Proposal(NamedTuple):
    """A tolerance as a suite writes it."""

    tolerance: str
    percent: int
    """The same as a number; 0 where it is an amount."""
    spread: float
    """The standard deviation of the values; 0 where all are alike."""


def _propose_tolerance(values: Iterable[float], least: int) -> _Proposal:
    """The tolerance: ``least`` per cent, or what these queries can show if that is more.

    That is their resolution, the smallest drop that a test at 5% shows in 80% of cases; less would warn after many
    harmless changes. The spread of the differences is not known before there is a second ranking; it is taken from
    the spread of the values (:func:`likely_spread`).
    """
    known = list(values)
    spread = statistics.stdev(known) if len(known) > 1 else 0.0
    mean = statistics.fmean(known) if known else 0.0
    likely = likely_spread(known)
    drop = None if likely is None else resolution(likely, len(known))
    if drop is None:
        return _Proposal(f"{{absolute: {_round_up(0.5 / max(1, len(known)), 3):g}}}", 0, 0.0)
    share = max(least, math.ceil(100 * drop / mean - 1e-9)) if mean > 0 else 100
    if mean < 0.1 or share >= 50:  # a share of such a low mean, or so large a one, says little
        return _Proposal(f"{{absolute: {_round_up(drop, 3):g}}}", 0, spread)
    return _Proposal(f"{share}%", share, spread)


def _round_floor(value: float, below: int) -> float:
    """So many per cent below the current value, rounded down."""
    return math.floor(value * (100 - below) + 1e-9) / 100


def _find_weight_column(queries: Queries) -> str:
    """The column whose name suggests the traffic of a query; empty if there is none."""
    named = (column for column in queries.columns if TRAFFIC & set(re.split(r"[^a-z]+", column.lower())))
    return next((column for column in named if _are_weights(queries.columns[column])), "")


def _are_weights(entries: Sequence[str]) -> bool:
    try:
        weights = [float(entry) for entry in entries]
    except ValueError:
        return False
    return any(weights) and all(0 <= weight < math.inf for weight in weights)


def _round_up(number: float, digits: int) -> float:
    scale = float(10**digits)
    return math.ceil(number * scale - 1e-9) / scale
