"""``ireval init``: a first suite for the data at hand."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pytest_ireval.cli.options import format_options
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.statistics.resolution import likely_spread, queries_needed, resolution
from pytest_ireval.words import format_count, round_estimate

if TYPE_CHECKING:
    from pytest_ireval.data.rankings import Rankings


EXPECTED, TOP = 3, 5
"""Expectations that are proposed, and how far down their documents, which rank first now, may fall."""
SHORTEST, LONGEST = 20, 100
"""The least and the greatest ``depth`` that a new suite gets."""
CUTOFF = 10
RECALL_CUTOFFS = (100, 50, 20)


@click.command(name="init")
@click.option("--judgments", type=click.Path(path_type=Path), help="The judgments, if there are any.")
@click.option("--rankings", type=click.Path(path_type=Path), help="A file with the current rankings of the system.")
@click.option("--python", metavar="MODULE:FUNCTION", help="A Python function that answers a query, instead of a file.")
@click.option("--command", "program", metavar="LINE", help="A command line that prints rankings, instead of a file.")
@click.option("--engine", metavar="ADDRESS", help="The index of a running Elasticsearch, OpenSearch or Solr, to ask.")
@click.option("--queries", type=click.Path(path_type=Path), help="The queries.")
@click.option("--name", help="The suite's name; the default is that of the working folder.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The file to write; the default is suites/NAME.ireval.yaml."
)
@format_options("judgments", "queries", "rankings")
def command(
    judgments: Path | None,
    rankings: Path | None,
    python: str | None,
    program: str | None,
    engine: str | None,
    queries: Path | None,
    name: str | None,
    output: Path | None,
    judgments_format: str | None,
    queries_format: str | None,
    rankings_format: str | None,
) -> None:
    """Write a suite for these rankings, with floors and tolerances taken from them, and comments that say how.

    Rankings come from a file, a Python function, a command, or a running engine; all but files need --queries, and are
    asked once. It also takes judgments, or queries alone. No file is ever overwritten. In a terminal it asks for
    whatever is missing.
    """
    from pytest_ireval.suite.inheriting import shown_path
    from pytest_ireval.suite.loading import load_suite

    if not (rankings or python or program or engine) and sys.stdin.isatty():
        rankings, python = _asked_for(
            "Rankings: a file, a Python function as module:function, or the address of an index"
        )
        engine, python = (python, None) if python and "://" in python else (None, python)
        judgments = judgments or _asked_for("Judgments: a file, or nothing", default="")[0]
        queries = queries or _asked_for("Queries: a file, or nothing", default="")[0]
    if [rankings, python, program, engine].count(None) != 3:
        raise click.UsageError("give one of --rankings, --python, --command and --engine")
    if judgments is None and queries is None:
        raise click.UsageError("give --judgments, or --queries if there are no judgments yet")
    if rankings is None and queries is None:
        raise click.UsageError("--python, --command and --engine need --queries: the texts that are searched for")
    name = _name(name)
    path = (output or Path("suites", f"{name}.ireval.yaml")).absolute()
    if path.suffix not in (".yaml", ".yml"):
        raise click.UsageError(f"{output}: the name of a suite file ends in .yaml or .yml")
    if path.exists():
        complaint = "already exists, and is not overwritten"
        raise IrevalError(Problem(complaint, shown_path(path), (), "choose another file with -o"))
    known = _known(
        name,
        path,
        _Source(
            _Named(rankings.absolute(), rankings_format) if rankings else None,
            python or "",
            program or "",
            _of_engine(engine) if engine else "",
        ),
        _Named(judgments.absolute(), judgments_format) if judgments else None,
        _Named(queries.absolute(), queries_format) if queries else None,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        rules = [*_judged_rules(known), *_churn(), *_expectations(known)]
        file.write("\n".join([*_head(known), "rules:", *rules]) + "\n")
    for named in filter(None, (known.source.file, known.judgments, known.queries_file)):
        _warn_outside(named.path, path.parent)
    _tell(load_suite(path).shown)


def _of_engine(address: str) -> str:
    """The options of the source, as a suite writes them: what JSON says, YAML says, too."""
    from pytest_ireval.sources.live.proposal import propose_source

    return json.dumps(propose_source(address), ensure_ascii=False)[1:-1]


def _asked_for(what: str, default: str | None = None) -> tuple[Path | None, str | None]:
    answer = str(click.prompt(what, default=default, show_default=False)).strip()
    is_function = ":" in answer and not Path(answer).exists()
    return (None, answer) if is_function else (Path(answer) if answer else None, None)


def _warn_outside(file: Path, folder: Path) -> None:
    """Warn if a file is not in the repository of the suite: other machines do not have it."""
    from pytest_ireval.repositories.merge_base import find_top

    try:
        top = find_top(folder)
    except BaselineError:  # there is no repository
        return
    if not file.resolve().is_relative_to(top):
        click.echo(f"warning: {file} is not in the repository {top}: other machines will not have it", err=True)


def _name(name: str | None) -> str:
    if name is None:
        return re.sub(r"[^A-Za-z0-9_.-]+", "-", Path.cwd().name).strip("-.") or "search"
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise click.UsageError(f"--name {name}: a suite name may contain A to Z, a to z, digits, _ . and -")
    return name


def _answered(name: str, path: Path, source: _Source, queries: _Named | None) -> Rankings:
    """The rankings of a function or a command, asked as the suite will ask it."""
    from pytest_ireval.cli.options import LateBar
    from pytest_ireval.gate.clock import read_date
    from pytest_ireval.gate.collect import collect_inputs
    from pytest_ireval.plugins.conftests import Conftests
    from pytest_ireval.suite.inheriting import shown_path
    from pytest_ireval.suite.loading import load_suites

    known = _Known(name, path, source, LONGEST, (), None, queries)
    text = "\n".join([*_head(known), "missing_queries: zero", "rules:", *_churn()]) + "\n"
    registry = Conftests().registry_for(path)
    (suite,) = load_suites(
        path,
        registry,
        shown=f"{shown_path(path)} (not written)",
        contents=lambda file: text.encode() if file == path else file.read_bytes(),
    )
    with LateBar() as progress:
        return collect_inputs(suite, registry, read_date(), progress).current.rankings[0]


def _known(name: str, path: Path, source: _Source, judgments: _Named | None, queries: _Named | None) -> _Known:
    """The content of the files, or the answers of the source."""
    from pytest_ireval.reading import read_queries, read_rankings

    file = source.file
    found = read_rankings(file.path, LONGEST, format=file.format) if file else _answered(name, path, source, queries)
    depth = max(SHORTEST, min(LONGEST, int(found.retrieved.max()) if len(found) else 1))
    evaluation = _evaluated(judgments, found, depth) if judgments else None
    asked = read_queries(queries.path, format=queries.format) if queries else None
    ranked = set(found.queries)
    wanted = dict.fromkeys((*(asked.ids if asked else ()), *(evaluation.missing if evaluation else ())))
    return _Known(
        name,
        path,
        source,
        depth,
        _first(found, evaluation),
        judgments,
        queries,
        asked,
        replace(evaluation, metrics=evaluation.metrics[:-1]) if evaluation else None,
        tuple(query for query in wanted if query not in ranked),
    )


def _evaluated(judgments: _Named, rankings: Rankings, depth: int) -> Evaluation:
    """The last metric is 1 if a document of the top grade ranks first."""
    from pytest_ireval.evaluating.evaluation import evaluate
    from pytest_ireval.reading import read_judgments
    from pytest_ireval.results.policies import Policies

    deep = next(cutoff for cutoff in RECALL_CUTOFFS if cutoff <= depth)
    grades = read_judgments(judgments.path, format=judgments.format)
    usual = [f"nDCG@{CUTOFF}", f"RR@{CUTOFF}", f"R@{deep}", f"Judged@{CUTOFF}"]
    metrics = [*usual, f"P(rel={max(1, grades.highest_grade):g})@1"]
    return evaluate(grades, rankings, metrics, policies=Policies(missing_queries="zero", depth=depth))


def _first(rankings: Rankings, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    """Return queries with their first document: of the top grade, and the farthest ahead of the fourth.

    A document that a harmless change moves below the top three is a bad example of what must not break.
    """
    best = evaluation.metrics[-1].values if evaluation else {}
    queries = [query for query in rankings.queries if not evaluation or best.get(query) == 1.0]
    places = {query: place for place, query in enumerate(rankings.queries)}
    leads = {query: _lead(rankings, places[query]) for query in queries}
    ahead = sorted((query for query in queries if leads[query]), key=lambda query: -leads[query])
    chosen = set(ahead[:EXPECTED] or queries[:EXPECTED])
    lists = ((query, rankings.ranking(query)) for query in queries if query in chosen)
    return tuple((query, documents[0]) for query, documents in lists if documents)


def _lead(rankings: Rankings, place: int) -> float:
    """The distance of the first score from the fourth, as a share of the distance from the first to the last."""
    scores = rankings.score[rankings.first[place] : rankings.first[place + 1]]
    if scores.size <= TOP or scores[0] == scores[-1]:
        return 0.0
    return float((scores[0] - scores[TOP]) / (scores[0] - scores[-1]))


def _tell(shown: str) -> None:
    folder = Path(shown).parent.as_posix()
    click.echo(f"wrote {shown}\n\nnext:")
    click.echo(f"  pytest --ireval {folder} --ireval-update-new     accepts these rankings as the baseline")
    click.echo(f"  pytest --ireval {folder}     compares with it from then on")
    click.echo("  ireval check --schema -o .ireval/suite.schema.json     lets editors complete and check suites")


PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+=-]*")
MISREAD = re.compile(r"(?i)true|false|yes|no|on|off|null|~|[0-9.eE+-]+")
"""Editors read these as something else than text."""
SHOWN = 5


class _Named(NamedTuple):
    path: Path
    format: str | None = None


class _Source(NamedTuple):
    file: _Named | None = None
    python: str = ""
    command: str = ""
    engine: str = ""
    """The options of the source, as a suite writes them."""


@dataclass(frozen=True)
class _Known:
    name: str
    output: Path
    source: _Source
    depth: int
    first: tuple[tuple[str, str], ...]
    """Queries with a document that ranks first and should."""
    judgments: _Named | None = None
    queries_file: _Named | None = None
    queries: Queries | None = None
    evaluation: Evaluation | None = None
    missing: tuple[str, ...] = ()
    """Queries without a ranking."""


def quoted(text: str) -> str:
    """Text as YAML reads it as text."""
    if PLAIN.fullmatch(text) and not MISREAD.fullmatch(text):
        return text
    return json.dumps(text.replace("$", "$$"), ensure_ascii=False)


def _path(file: _Named, known: _Known) -> str:
    return quoted(Path(os.path.relpath(file.path, known.output.parent)).as_posix())


def _file(file: _Named, known: _Known) -> str:
    path = _path(file, known)
    return f"{{file: {path}, format: {file.format}}}" if file.format else path


def _head(known: _Known) -> Iterator[str]:
    schema = Path(os.path.relpath(".ireval/suite.schema.json", known.output.parent)).as_posix()
    yield f"# yaml-language-server: $schema={schema}"
    yield "# (that file is for editors; it is written by: ireval check --schema -o .ireval/suite.schema.json)"
    yield "ireval: 1"
    yield f"suite: {quoted(known.name)}"
    yield '# owner: "@your-team"     who is responsible for a failure'
    yield ""
    yield "# The candidate rankings: a file, a Python function, a command, or a running engine."
    yield f"source: {{{_source(known)}}}"
    yield f"depth: {known.depth}     # how many documents of each ranking count"
    if known.queries_file:
        yield f"queries: {_file(known.queries_file, known)}"
    if known.queries and (column := _weight_column(known.queries)):
        yield f"weight: {quoted(column)}     # how much traffic a query stands for"
    if known.judgments:
        yield f"judgments: {_file(known.judgments, known)}"
    if known.evaluation:
        yield f"metrics: [{', '.join(metric.name for metric in known.evaluation.metrics)}]"
    if missing := known.missing:
        names = ", ".join(missing[:SHOWN]) + (", …" if len(missing) > SHOWN else "")
        without = f"{format_count(len(missing), 'query')} without a ranking"
        yield f"# {without} ({names}): an error of the first run, unless"
        yield "# missing_queries: zero"
    yield ""


def _source(known: _Known) -> str:
    source, here = known.source, Path(os.path.relpath(Path.cwd(), known.output.parent)).as_posix()
    if source.python:
        return f"python: {quoted(source.python)}, path: [{quoted(here)}]"
    if source.engine:
        return source.engine
    if source.command:
        words = ", ".join(quoted(word) for word in shlex.split(source.command))
        return f"command: [{words}], folder: {quoted(here)}"
    file = source.file or _Named(Path())
    return f"run: {_path(file, known)}{f', format: {file.format}' if file.format else ''}"


def _judged_rules(known: _Known) -> Iterator[str]:
    evaluation = known.evaluation
    if evaluation is None:
        return
    compared = [metric for metric in evaluation.metrics if metric.name.startswith(("nDCG", "RR"))]
    below = max(FLOOR, 2 * _proposal(compared[0].values.values(), LEAST).percent)
    reached = [metric for metric in evaluation.metrics if metric.mean is not None and _floor(metric.mean, below) > 0]
    floors = [metric for metric in reached if metric.name.startswith(("nDCG", "Judged"))]
    if floors:
        now = ", ".join(f"{metric.name} {metric.mean:.4f}" for metric in floors)
        bounds = ", ".join(f'{metric.name}: ">= {_floor(metric.mean or 0, below):g}"' for metric in floors)
        yield f"  # Floors, {below}% below the current figures of these rankings: {now}."
        yield f"  - threshold: {{{bounds}}}"
        yield ""
    yield from _how_it_decides(compared[0])
    for metric in compared:
        made = _proposal(metric.values.values(), LEAST)
        limit = f", hard_limit: {max(_hard_limit(metric), 2 * made.percent)}%" if made.percent else ""
        yield f"  - no_regression: {{metric: {metric.name}, tolerance: {made.tolerance}{limit}}}"
    if known.queries:
        yield from _per_slice(compared[0], known.queries)
    yield ""
    yield "  # A mean can hide single queries that break. Beyond at_most it fails if chance is ruled out."
    yield f"  - worsened: {{metric: {compared[0].name}, by_more_than: 0.3, at_most: 10%}}"
    yield ""


def _hard_limit(metric: MetricResult) -> int:
    """The hard limit of so many queries, in per cent."""
    from pytest_ireval.rules.no_regression import LEAST_HARD_LIMITS  # its module imports NumPy, which --help needs not

    return next(round(100 * share) for below, share in LEAST_HARD_LIMITS if len(metric.values) < below)


def _how_it_decides(metric: MetricResult) -> Iterator[str]:
    values = list(metric.values.values())
    made = _proposal(values, LEAST)
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


def _per_slice(metric: MetricResult, queries: Queries) -> Iterator[str]:
    """The rule for the first column that makes slices of the queries."""
    for column, entries in queries.composed.items():
        if column == _weight_column(queries):
            continue
        found: dict[str, list[float]] = {}
        for query, value in zip(queries.ids, entries, strict=True):
            if query in metric.values:
                found.setdefault(value, []).append(metric.values[query])
        fewest = min(map(len, found.values()), default=0)
        if 1 < len(found) <= MOST_VALUES and fewest > 1 and "" not in found:
            made = {value: _proposal(values, LEAST_OF_SLICES) for value, values in found.items()}
            each = ", ".join(f"{quoted(value)}: {proposal.tolerance}" for value, proposal in made.items())
            widest = max(proposal.percent for proposal in made.values())
            limit = f", hard_limit: {max(HARD_LIMIT_OF_SLICES, 2 * widest)}%"
            limit = limit if all(proposal.percent for proposal in made.values()) else ""
            rule = f"{{metric: {metric.name}, per: {quoted(column)}, tolerance: {{{each}}}{limit}}}"
            yield f"  # The same for each {column}: a better slice must not hide a worse one."
            yield f"  - no_regression: {rule}"
            return


def _churn() -> Iterator[str]:
    yield "  # Limit how many queries get a very different list; this needs no judgments. Look at the first changes,"
    yield "  # set at_most to what is usual here, and remove on_fail: until then the rule only warns."
    yield "  - churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%, on_fail: warn}"
    yield ""


def _expectations(known: _Known) -> Iterator[str]:
    if not known.first:
        return
    what = "have the top grade and rank first" if known.judgments else "rank first"
    yield f"  # Queries that must not break, whatever the means say. These documents {what} now;"
    yield "  # replace them with those that you care about."
    yield "  - expect:"
    for query, document in known.first:
        yield f"      - {{query: {quoted(query)}, document: {quoted(document)}, top: {TOP}}}"


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


def _proposal(values: Iterable[float], least: int) -> _Proposal:
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
        return _Proposal(f"{{absolute: {_up(0.5 / max(1, len(known)), 3):g}}}", 0, 0.0)
    share = max(least, math.ceil(100 * drop / mean - 1e-9)) if mean > 0 else 100
    if mean < 0.1 or share >= 50:  # a share of such a low mean, or so large a one, says little
        return _Proposal(f"{{absolute: {_up(drop, 3):g}}}", 0, spread)
    return _Proposal(f"{share}%", share, spread)


def _floor(value: float, below: int) -> float:
    """So many per cent below the current value, rounded down."""
    return math.floor(value * (100 - below) + 1e-9) / 100


def _weight_column(queries: Queries) -> str:
    """The column whose name suggests the traffic of a query; empty if there is none."""
    named = (column for column in queries.columns if TRAFFIC & set(re.split(r"[^a-z]+", column.lower())))
    return next((column for column in named if _are_weights(queries.columns[column])), "")


def _are_weights(entries: Sequence[str]) -> bool:
    try:
        weights = [float(entry) for entry in entries]
    except ValueError:
        return False
    return any(weights) and all(0 <= weight < math.inf for weight in weights)


def _up(number: float, digits: int) -> float:
    scale = float(10**digits)
    return math.ceil(number * scale - 1e-9) / scale
