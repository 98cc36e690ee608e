"""``ireval load``: the times of a live system's answers as more is asked of it."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any, NamedTuple

import click

from pytest_ireval.cli.options import LateBar, suites_named
from pytest_ireval.data.formats.writers import put
from pytest_ireval.errors import IrevalError, Problem, SourceError
from pytest_ireval.gate.inputs import gathered
from pytest_ireval.gate.material import today_of
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.progress import Stopwatch
from pytest_ireval.report.charts.curves import load_chart
from pytest_ireval.report.charts.drawing import draw_file
from pytest_ireval.sources.recording import OFFLINE
from pytest_ireval.sources.request import Request
from pytest_ireval.sources.source_answers import fetch_answers
from pytest_ireval.suite.quantities import Amount
from pytest_ireval.suite.suite import SourceAsked
from pytest_ireval.text_table import escape_unprintable, format_table, wrap_text

PERCENTILES = (50, 95, 99)
FEWEST = 20
"""The number of times that the 95th percentile needs."""
_SINGLE = {"repeat": 1, "batch": 1, "attempts": 1, "warm_up": 0, "record": None, "error_budget": Amount(share=1.0)}
"""Options under load, where a source has them: one request for each query, and an error is counted, not repeated."""
WIDTH = 100
NAMES = ("concurrency", "rate", "requests", "failed", "throughput", "mean", *(f"p{each}" for each in PERCENTILES))


def _numbers(kind: type[float]) -> Any:
    """Numbers above 0, separated by commas, from the least to the greatest."""

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
@click.option("--concurrency", default="1,2,4,8,16", callback=_numbers(int), help="Numbers of requests at a time.")
@click.option("--rate", default="", show_default=False, callback=_numbers(float), help="Or requests a second: 10,20.")
@click.option("--repeat", default=1, type=click.IntRange(1), help="How often each level asks all queries.")
@click.option(
    "--format", "form", default="table", type=click.Choice(["table", "json", "csv"]), help="The output format."
)
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Also draw times and throughput.")
def command(
    path: Path, named: str | None, concurrency: list[int], rate: list[float], repeat: int, form: str, svg: Path | None
) -> None:
    """Ask the source of SUITE its queries at several levels of load, one request for each query.

    It asks all queries once first, so that caches are alike at each level. The first request of each connection is not
    counted. With --rate requests are due at equal intervals, at most the greatest --concurrency at a time. The time of
    an answer then counts from the moment when its request was due. Use a test system: the command may overload it.
    """
    conftests = Conftests()
    suites = suites_named([path], named, conftests)
    if len(suites) > 1 or not concurrency:
        raise click.UsageError(
            f"{path} has {len(suites)} suites: choose one with --named" if concurrency else "--concurrency is empty"
        )
    (suite,) = suites

    if suite.source is None:
        raise IrevalError(Problem("the suite has no source", str(suite.place), suggestion="add source:"))
    registry = conftests.registry_for(suite.path)
    with LateBar() as bar:
        queries = gathered(suite, registry, today_of()).population.queries
        request = Request(queries, suite.depth, suite.path.parent, suite.name, registry.readers, progress=bar)
        levels = list(_sweep(suite.source, request, concurrency, rate, repeat))
    click.echo({"json": _as_json, "csv": _as_csv, "table": _as_table}[form](suite.name, levels), nl=form != "csv")
    if svg is not None:
        marks = [
            (_step(each), each.throughput, p50, p95)
            for each in levels
            for p50, p95, *_ in [each.percentiles]
            if p50 is not None and p95 is not None
        ]
        put({svg: [draw_file(load_chart(suite.name, marks, _said(levels)))]})
        click.echo(f"written: {svg}", err=True)


def _step(level: LoadLevel) -> str:
    return f"concurrency {level.concurrency}" if level.rate is None else f"{level.rate:g} a second"


def _row(level: LoadLevel) -> tuple[float | None, ...]:
    return (*level[:-1], *level.percentiles)


def _as_table(name: str, levels: Sequence[LoadLevel]) -> str:
    header = [*NAMES[:4], "queries/s", *(f"{each} ms" for each in NAMES[5:])]
    rows = []
    for level in levels:
        figures = (level.throughput, level.mean, *level.percentiles)
        counts = f"{level.concurrency}", "-" if level.rate is None else f"{level.rate:g}"
        shown = ["-" if each is None else f"{each:,.1f}" for each in figures]
        rows.append([*counts, f"{level.requests:,}", f"{level.failed:,}", *shown])
    notes = [line for note in (_said(levels), *_meaning(levels)) for line in wrap_text(note, WIDTH, "  ")]
    return "\n".join([escape_unprintable(name), "", format_table(header, rows, range(len(header))), "", *notes])


def _said(levels: Sequence[LoadLevel]) -> str:
    """The knee, and the price of going beyond it."""
    found, last = knee(levels), levels[-1]
    if found is None:
        return f"No knee up to {_step(last)}: throughput still rises faster than the mean time."
    return (
        f"The knee is at {_step(found)}, with the most throughput for its mean time. From there to {_step(last)}, "
        f"throughput goes from {found.throughput:,.1f} to {last.throughput:,.1f} queries/s, and the mean time from "
        f"{found.mean:,.1f} to {last.mean:,.1f} ms."
    )


def _meaning(levels: Sequence[LoadLevel]) -> Iterator[str]:
    if levels[0].rate is None:
        yield (
            "Closed loop: a client asks again when it has its answer, so a slow answer delays the next question, and "
            "the times leave out how long that question waited (coordinated omission). --rate counts it."
        )
    else:
        yield "Fixed rate: times count from the moment when a request was due, so they include waiting."
    for level in levels:
        if level.overloaded:
            yield f"{_step(level)}: overloaded, only {level.throughput:,.1f} queries/s were answered."
        if level.failed:
            yield f"{_step(level)}: {level.failed:,} requests failed; their times are not counted."
    yield "Percentiles are linear between the two nearest times; - where fewer than one time would be above."


def _as_json(name: str, levels: Sequence[LoadLevel]) -> str:
    found = knee(levels)
    said = {
        "format": 1,
        "suite": name,
        "loop": "closed" if levels[0].rate is None else "fixed rate",
        "knee": None if found is None else levels.index(found),
        "levels": [dict(zip(NAMES, _row(each), strict=True)) for each in levels],
    }
    return json.dumps(said, indent=1, ensure_ascii=False)


def _as_csv(_name: str, levels: Sequence[LoadLevel]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([NAMES, *map(_row, levels)])
    return text.getvalue()


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


def _sweep(
    source: SourceAsked, request: Request, concurrencies: Sequence[int], rates: Sequence[float] = (), times: int = 1
) -> Iterator[LoadLevel]:
    """The levels in order, after all queries were asked once, so that caches are alike at each level.

    ``times`` is the number of times that each level asks all queries. With rates there is a level for each of them.
    """
    steps: list[tuple[int, float | None]] = [(concurrencies[-1], rate) for rate in rates]
    steps = steps or [(each, None) for each in concurrencies]
    _refuse(source, request, concurrencies[-1], times)
    _asked(source, request, *steps[0])
    for concurrency, rate in steps:
        yield _level(concurrency, rate, [_asked(source, request, concurrency, rate) for _ in range(times)])


def _refuse(source: SourceAsked, request: Request, concurrency: int, times: int) -> None:
    place, kind = str(source.place), source.kind.name
    if "concurrency" not in type(source.options).model_fields:
        complaint = f"{kind} has no option concurrency, so it cannot be asked several queries at a time"
        raise SourceError(Problem(complaint, place, allowed="a live source (http, elasticsearch, …), sql or python"))
    if getattr(source.options, "rate", None) is not None:
        complaint = f"the suite limits requests to {source.options.rate:g} a second; a load test would break this limit"
        raise SourceError(Problem(complaint, place, suggestion="use a suite for a test system, without rate"))
    if os.environ.get(OFFLINE):
        raise SourceError(Problem(f"{OFFLINE} is set, but load asks the system", place, suggestion=f"unset {OFFLINE}"))
    left = len(request.queries) - concurrency
    if left < 1 or left * times < FEWEST:
        complaint = f"{len(request.queries)} queries are too few for {concurrency} requests at a time"
        suggestion = "use more queries, a lower --concurrency, or --repeat"
        allowed = f"the first request of each connection is not counted, and {FEWEST} others are needed"
        raise SourceError(Problem(complaint, place, suggestion=suggestion, allowed=allowed))


class _Asked(NamedTuple):
    """All queries, asked once."""

    times: list[float]
    """Milliseconds of the requests that were answered, without the first of each connection."""
    failed: int
    answers: int
    """Answers from the moment when the first counted request began, and the seconds until the last one."""
    seconds: float


def _asked(source: SourceAsked, request: Request, concurrency: int, rate: float | None) -> _Asked:
    known = type(source.options).model_fields
    options = {name: value for name, value in _SINGLE.items() if name in known} | {"concurrency": concurrency}
    watch = Stopwatch(rate, request.progress)
    asked = replace(source, options=source.options.model_copy(update=options))
    (answer,) = fetch_answers(asked, replace(request, progress=watch))
    if len(watch.ended) != len(request.queries):
        complaint = f"{source.kind.name} answers all queries at once; load is measured with single requests"
        raise SourceError(Problem(complaint, str(source.place), suggestion="write mode: query"))
    begin = watch.due[concurrency]
    answered = [number for number, query in enumerate(request.queries.ids) if query not in answer.failed]
    ended = [watch.ended[number] for number in answered if watch.ended[number] > begin]
    times = [1000 * watch.seconds(number) for number in answered if number >= concurrency]
    failed = len(request.queries) - concurrency - len(times)
    return _Asked(times, failed, len(ended), max(ended, default=begin) - begin)


def _level(concurrency: int, rate: float | None, asked: Sequence[_Asked]) -> LoadLevel:
    times = [time for each in asked for time in each.times]
    failed, seconds = sum(each.failed for each in asked), sum(each.seconds for each in asked)
    if len(times) < 2 or not any(times):
        why = "fewer than two requests were answered" if len(times) < 2 else "answers came too fast for this clock"
        raise SourceError(f"with {concurrency} requests at a time {why}")
    found = quantiles(times, n=100, method="inclusive")
    shown = tuple(found[p - 1] if len(times) * (100 - p) >= 100 else None for p in PERCENTILES)
    throughput = sum(each.answers for each in asked) / seconds
    return LoadLevel(concurrency, rate, len(times), failed, throughput, fmean(times), shown)


def knee(levels: Sequence[LoadLevel]) -> LoadLevel | None:
    """The level with the most throughput for its mean time; None if that is the last one, so that it was not reached.

    Kleinrock's power: throughput divided by response time. A level that is overloaded is beyond it.
    """
    fine = [each for each in levels if not each.overloaded] or levels
    best = max(fine, key=lambda each: each.throughput / (each.mean or 1.0))
    return None if best is levels[-1] else best
