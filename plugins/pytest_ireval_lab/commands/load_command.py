"""``ireval load``: the times of a live system's answers as more is asked of it."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any, NamedTuple

import click
from pydantic import TypeAdapter

from pytest_ireval import (
    Answer,
    IrevalError,
    Queries,
    Request,
    SourceError,
    Suite,
    load_registry,
    read_judgments,
    read_queries,
)
from pytest_ireval.cli.options import ProgressBar, load_chosen_suites, svg_option
from pytest_ireval.options import AmountText
from pytest_ireval.plugin_api import (
    Curve,
    CurvePanel,
    Problem,
    Registry,
    Stopwatch,
    draw_curves,
    escape_unprintable,
    format_table,
    make_exception_problem,
    wrap_text,
)
from pytest_ireval.tables import write_files

PERCENTILES = (50, 95, 99)
FEWEST = 20
"""The number of times that the 95th percentile needs."""
OFFLINE = "IREVAL_OFFLINE"
OPTIONS_UNDER_LOAD = {
    "repeat": 1,
    "batch": 1,
    "attempts": 1,
    "warm_up": 0,
    "record": None,
    "error_budget": TypeAdapter(AmountText).validate_python("100%"),
}
"""One request for each query, and an error is counted, not repeated. A source need not have all of these options."""
WIDTH = 100
NAMES = ("concurrency", "rate", "requests", "failed", "throughput", "mean", *(f"p{each}" for each in PERCENTILES))


def _read_numbers(kind: type[float]) -> Any:
    """The callback of an option: numbers with commas between them, which are sorted, each once."""

    def read(_context: click.Context, _option: click.Parameter, text: str) -> list[float]:
        try:
            numbers = sorted({kind(part) for part in text.split(",") if part.strip()})
        except ValueError:
            numbers = [0]
        if any(not 0 < number < float("inf") for number in numbers):
            raise click.BadParameter(f"{text!r} is not a list of numbers above 0, such as 1,2,4")
        return numbers

    return read


@click.command(name="load", context_settings={"show_default": True})
@click.argument("path", type=click.Path(exists=True, path_type=Path), metavar="SUITE")
@click.option("--named", help="One suite of a matrix.")
@click.option("--concurrency", default="1,2,4,8,16", callback=_read_numbers(int), help="Numbers of requests at a time.")
@click.option(
    "--rate", default="", show_default=False, callback=_read_numbers(float), help="Or requests a second: 10,20."
)
@click.option("--repeat", default=1, type=click.IntRange(1), help="How often each level asks all queries.")
@click.option(
    "--format", "form", default="table", type=click.Choice(["table", "json", "csv"]), help="The output format."
)
@svg_option("Also draw times and throughput.")
def command(
    path: Path, named: str | None, concurrency: list[int], rate: list[float], repeat: int, form: str, svg: str | None
) -> None:
    """Ask the source of SUITE its queries at several levels of load, one request for each query.

    It asks all queries once first, so that caches are alike at each level. The first request of each connection is not
    counted. With --rate requests are due at equal intervals, at most the greatest --concurrency at a time. The time of
    an answer then counts from the moment when its request was due. Use a test system: the command may overload it.
    """
    if not concurrency:
        raise click.UsageError("--concurrency is empty")
    suites = load_chosen_suites([path], named)
    if len(suites) > 1:
        raise click.UsageError(f"{path} has {len(suites)} suites: choose one with --named")
    (suite,) = suites
    _refuse_unfit_source(suite)
    queries = _read_queries(suite, load_registry(suite.path))
    _refuse_few_queries(suite, len(queries), concurrency[-1], repeat)
    with ProgressBar() as bar:
        request = Request(queries, suite.depth, suite.path.parent, suite.name, progress=bar)
        levels = list(_measure_levels(suite, request, concurrency, rate, repeat))
    click.echo(FORMATS[form](suite.name, levels), nl=form != "csv")
    if svg is not None:
        write_files({svg: [_draw_levels(suite.name, levels)]})
        click.echo(f"written: {svg}", err=True)


def _read_queries(suite: Suite, registry: Registry) -> Queries:
    """The queries of the suite; without a file of them, those that are judged."""
    if suite.queries is not None:
        return read_queries(suite.queries.file.path, format=suite.queries.format or None, registry=registry)
    if suite.judgments is None:
        raise IrevalError(Problem("names neither queries nor judgments", str(suite.place)))
    judged = read_judgments(
        suite.judgments.file.path, format=suite.judgments.format or None, grades="float", registry=registry
    )
    return Queries(judged.queries, ("",) * len(judged.queries), origin=judged.origin)


def _refuse_unfit_source(suite: Suite) -> None:
    if suite.source is None:
        raise IrevalError(Problem("the suite has no source", str(suite.place), suggestion="add source:"))
    place, name = str(suite.source.place), suite.source.kind.name
    if "concurrency" not in type(suite.source.options).model_fields:
        complaint = f"{name} has no option concurrency, so it cannot be asked several queries at a time"
        raise SourceError(Problem(complaint, place, allowed="a live source (http, elasticsearch, …), sql or python"))
    if (rate := getattr(suite.source.options, "rate", None)) is not None:
        complaint = f"the suite limits requests to {rate:g} a second; a load test would break this limit"
        raise SourceError(Problem(complaint, place, suggestion="use a suite for a test system, without rate"))
    if os.environ.get(OFFLINE):
        raise SourceError(Problem(f"{OFFLINE} is set, but load asks the system", place, suggestion=f"unset {OFFLINE}"))


def _refuse_few_queries(suite: Suite, queries: int, concurrency: int, repeat: int) -> None:
    counted = queries - concurrency
    if counted < 1 or counted * repeat < FEWEST:
        complaint = f"{queries} queries are too few for {concurrency} requests at a time"
        suggestion = "use more queries, a lower --concurrency, or --repeat"
        allowed = f"the first request of each connection is not counted, and {FEWEST} others are needed"
        raise SourceError(Problem(complaint, str(suite.place), suggestion=suggestion, allowed=allowed))


def _describe_level(level: LoadLevel) -> str:
    return f"concurrency {level.concurrency}" if level.rate is None else f"{level.rate:g} a second"


def _figures(level: LoadLevel) -> tuple[float | None, ...]:
    return (*level[:-1], *level.percentiles)


def _as_table(name: str, levels: Sequence[LoadLevel]) -> str:
    header = [*NAMES[:4], "queries/s", *(f"{each} ms" for each in NAMES[5:])]
    rows = []
    for level in levels:
        rate = "-" if level.rate is None else f"{level.rate:g}"
        counts = [f"{level.concurrency}", rate, f"{level.requests:,}", f"{level.failed:,}"]
        figures = (level.throughput, level.mean, *level.percentiles)
        rows.append([*counts, *("-" if each is None else f"{each:,.1f}" for each in figures)])
    notes = [line for note in (_describe_knee(levels), *_notes(levels)) for line in wrap_text(note, WIDTH, "  ")]
    return "\n".join([escape_unprintable(name), "", format_table(header, rows, range(len(header))), "", *notes])


def _describe_knee(levels: Sequence[LoadLevel]) -> str:
    """The knee, and the price of going beyond it."""
    knee, last = find_knee(levels), levels[-1]
    if knee is None:
        return f"No knee up to {_describe_level(last)}: throughput still rises faster than the mean time."
    return (
        f"The knee is at {_describe_level(knee)}, with the most throughput for its mean time. "
        f"From there to {_describe_level(last)}, throughput goes from {knee.throughput:,.1f} to "
        f"{last.throughput:,.1f} queries/s, and the mean time from {knee.mean:,.1f} to {last.mean:,.1f} ms."
    )


def _notes(levels: Sequence[LoadLevel]) -> Iterator[str]:
    if levels[0].rate is None:
        yield (
            "Closed loop: a client asks again when it has its answer, so a slow answer delays the next question, and "
            "the times leave out how long that question waited (coordinated omission). --rate counts it."
        )
    else:
        yield "Fixed rate: times count from the moment when a request was due, so they include waiting."
    for level in levels:
        if level.overloaded:
            yield f"{_describe_level(level)}: overloaded, only {level.throughput:,.1f} queries/s were answered."
        if level.failed:
            yield f"{_describe_level(level)}: {level.failed:,} requests failed; their times are not counted."
    yield "Percentiles are linear between the two nearest times; - where fewer than one time would be above."


def _as_json(name: str, levels: Sequence[LoadLevel]) -> str:
    knee = find_knee(levels)
    content = {
        "format": 1,
        "suite": name,
        "loop": "closed" if levels[0].rate is None else "fixed rate",
        "knee": None if knee is None else levels.index(knee),
        "levels": [dict(zip(NAMES, _figures(each), strict=True)) for each in levels],
    }
    return json.dumps(content, indent=1)


def _as_csv(_name: str, levels: Sequence[LoadLevel]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([NAMES, *map(_figures, levels)])
    return text.getvalue()


FORMATS = {"json": _as_json, "csv": _as_csv, "table": _as_table}


def _draw_levels(suite: str, levels: Sequence[LoadLevel]) -> str:
    """Times over throughput: the median, and the 95th percentile dashed."""
    median, slow = [], []
    for level in levels:
        p50, p95, *_ = level.percentiles
        if p50 is not None and p95 is not None:
            median.append((level.throughput, p50))
            slow.append((level.throughput, p95))
    heading = "Milliseconds by queries answered in a second"
    first, last = (_describe_level(levels[place]) for place in (0, -1))
    facts = f"median, and the 95th percentile dashed; from {first} to {last}"
    width = (0, max((throughput for throughput, _ in slow), default=1))
    height = (0, max((p95 for _, p95 in slow), default=1))
    curves = [Curve(slow, dashed=True, marks=True), Curve(median, marks=True)]
    panel = CurvePanel(suite, "", "queries/s", curves, width, height)
    return draw_curves(heading, facts, [panel], _describe_knee(levels))


class LoadLevel(NamedTuple):
    """The answers at one level of load. The first request of each connection is not counted."""

    concurrency: int
    rate: float | None
    """The requests that were due in a second; None: each began when an earlier one had ended."""
    requests: int
    """Those that were counted and answered."""
    failed: int
    throughput: float
    """Answers in a second."""
    mean: float
    """Milliseconds, as are the percentiles."""
    percentiles: tuple[float | None, ...]
    """Those of :data:`PERCENTILES`; None where there are too few answers for one of them to be above it."""

    @property
    def overloaded(self) -> bool:
        """True if fewer answers came than were due."""
        return self.rate is not None and self.throughput < 0.95 * self.rate


def _measure_levels(
    suite: Suite, request: Request, concurrencies: Sequence[int], rates: Sequence[float], repeat: int
) -> Iterator[LoadLevel]:
    """The levels in order: one for each rate, or for each number of requests at a time."""
    levels: list[tuple[int, float | None]] = [(concurrencies[-1], rate) for rate in rates]
    levels = levels or [(concurrency, None) for concurrency in concurrencies]
    _ask_all(suite, request, *levels[0])  # so that caches are alike at each level
    for concurrency, rate in levels:
        yield _sum_up(concurrency, rate, [_ask_all(suite, request, concurrency, rate) for _ in range(repeat)])


class _Times(NamedTuple):
    """All queries, asked once."""

    milliseconds: list[float]
    """Of the requests that were answered, without the first of each connection."""
    failed: int
    answers: int
    """Answers from the moment when the first counted request began, and the seconds until the last one."""
    seconds: float


def _ask_all(suite: Suite, request: Request, concurrency: int, rate: float | None) -> _Times:
    watch = Stopwatch(rate, request.progress)
    failed_queries = _fetch(suite, replace(request, progress=watch), concurrency)
    begin = watch.due[concurrency]
    answered = [number for number, query in enumerate(request.queries.ids) if query not in failed_queries]
    ended = [watch.ended[number] for number in answered if watch.ended[number] > begin]
    times = [1000 * watch.seconds(number) for number in answered if number >= concurrency]
    failed = len(request.queries) - concurrency - len(times)
    return _Times(times, failed, len(ended), max(ended, default=begin) - begin)


def _fetch(suite: Suite, request: Request, concurrency: int) -> set[str]:
    """Ask the source; returns the queries that it did not answer. Its rankings are not looked at."""
    source = suite.source
    if source is None:
        return set()
    place, path = str(source.place), ("source", source.kind.name)
    options = {name: value for name, value in OPTIONS_UNDER_LOAD.items() if name in type(source.options).model_fields}
    try:
        answer = source.kind.fetch(source.options.model_copy(update={**options, "concurrency": concurrency}), request)
    except IrevalError as error:
        raise SourceError(*(each if each.place else replace(each, place=place) for each in error.problems)) from error
    except Exception as error:  # a plugin's source may raise anything; the message names it
        raise SourceError(
            replace(make_exception_problem("it", error, folder=request.folder), place=place, path=path)
        ) from error
    watch = request.progress
    if not isinstance(watch, Stopwatch) or len(watch.ended) != len(request.queries):
        if inspect.iscoroutine(answer):
            answer.close()
        complaint = f"{source.kind.name} answers all queries at once; load is measured with single requests"
        raise SourceError(Problem(complaint, place, suggestion="write mode: query"))
    return set(answer.failed) if isinstance(answer, Answer) else set()


def _sum_up(concurrency: int, rate: float | None, repetitions: Sequence[_Times]) -> LoadLevel:
    times = [time for each in repetitions for time in each.milliseconds]
    if len(times) < 2 or not any(times):
        why = "fewer than two requests were answered" if len(times) < 2 else "answers came too fast for this clock"
        raise SourceError(f"with {concurrency} requests at a time {why}")
    percentiles = quantiles(times, n=100, method="inclusive")
    return LoadLevel(
        concurrency,
        rate,
        requests=len(times),
        failed=sum(each.failed for each in repetitions),
        throughput=sum(each.answers for each in repetitions) / sum(each.seconds for each in repetitions),
        mean=fmean(times),
        percentiles=tuple(percentiles[p - 1] if len(times) * (100 - p) >= 100 else None for p in PERCENTILES),
    )


def find_knee(levels: Sequence[LoadLevel]) -> LoadLevel | None:
    """The level with the most throughput for its mean time; None if that is the last one, so that it was not reached.

    Kleinrock's power: throughput divided by response time. A level that is overloaded is beyond it.
    """
    fine = [each for each in levels if not each.overloaded] or levels
    best = max(fine, key=lambda each: each.throughput / (each.mean or 1.0))
    return None if best is levels[-1] else best
