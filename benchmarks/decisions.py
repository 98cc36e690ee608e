"""How rules decide by default, through whole runs: rankings drawn as files, suites in YAML, one ``pytest --ireval``.

    python benchmarks/decisions.py                                the table, in an hour; --sets 20 is a quick look
    python benchmarks/decisions.py --markdown benchmarks/error_rates.md   and put it into the page

A query has documents whose scores are noise, plus a weight for their grades. A change of the ranking draws some of the
noise anew; a worse ranking has a smaller weight, or loses the best queries of a slice. Documents that are listed are
judged, so that no verdict waits for judgments.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.cli.init_command import command as init

Floats = NDArray[np.float64]
Grades = NDArray[np.int64]

DOCUMENTS, LISTED = 30, 10
MOVED, KEPT = 0.3, 0.8
"""A harmless change ranks this share of the queries otherwise; the noise there correlates so much with what it was."""
SLICE_FALL = 0.30
SEED = 20190721


class Metric(NamedTuple):
    """What is measured: a metric, its judgments, and the weight of grades before, and after a fall of 5%."""

    name: str
    metric: str
    weight: float
    weaker: float
    grades: Callable[[np.random.Generator, int], Grades]


def _draw_grades(draw: np.random.Generator, queries: int) -> Grades:
    return draw.choice([0] * 6 + [1, 2, 3], (queries, DOCUMENTS))


def _grade_one_document(_draw: np.random.Generator, queries: int) -> Grades:
    found = np.zeros((queries, DOCUMENTS), np.int64)
    found[:, 0] = 1
    return found


METRICS = (
    Metric("graded nDCG", "nDCG@10", 0.67, 0.599, _draw_grades),
    Metric("one relevant document", "RR@10", 1.5, 1.425, _grade_one_document),
)


class Change(NamedTuple):
    """A kind of change: what share of queries moves, how much noise they keep, and what it does to the ranking."""

    name: str
    moved: float = MOVED
    kept: float = KEPT
    weaker: bool = False
    broken_slice: bool = False

    @property
    def harmless(self) -> bool:
        """True if the ranking gets neither better nor worse."""
        return not (self.weaker or self.broken_slice)


NO_CHANGE = Change("no change")
CHANGES = (
    NO_CHANGE,
    Change("no change, every query moves", 1.0, 0.95),
    Change("-5%", weaker=True),
    Change("one slice -30%", broken_slice=True),
)


class Side(NamedTuple):
    """Rankings of one side: the listed documents of each query, in order, with their scores."""

    order: Grades
    scores: Floats
    grades: Grades

    def values(self, metric: str) -> Floats:
        """Of each query, to find which ones are worth most."""
        found = np.take_along_axis(self.grades, self.order, 1).astype(np.float64)
        if metric == "RR@10":
            first = found.argmax(axis=1)
            return np.where(found.any(axis=1), 1 / (1 + first), 0.0)
        discount = 1 / np.log2(np.arange(2, LISTED + 2))
        ideal = -np.sort(-self.grades, axis=1)[:, :LISTED] @ discount
        return np.divide(found @ discount, ideal, out=np.zeros(len(found)), where=ideal > 0)


def draw_sides(draw: np.random.Generator, metric: Metric, change: Change, queries: int) -> tuple[Side, Side]:
    """The rankings before and now; the last quarter of the queries, 12 at least, is the slice."""
    grades = metric.grades(draw, queries)
    noise = draw.standard_normal((queries, DOCUMENTS))
    moved = draw.random((queries, 1)) < change.moved
    other = change.kept * noise + np.sqrt(1 - change.kept**2) * draw.standard_normal(noise.shape)
    before = _rank(metric.weight * grades + noise, grades)
    weight = metric.weaker if change.weaker else metric.weight
    now = _rank(np.asarray(weight * grades + np.where(moved, other, noise), np.float64), grades)
    if change.broken_slice:
        now = _break_slice(before, now, metric.metric, queries - slice_size(queries))
    return before, now


def slice_size(queries: int) -> int:
    """The number of queries of the slice."""
    return max(12, queries // 4)


def _rank(scores: Floats, grades: Grades) -> Side:
    order = np.argsort(-scores, axis=1)[:, :LISTED]
    return Side(order, np.take_along_axis(scores, order, 1), grades)


def _break_slice(before: Side, now: Side, metric: str, first: int) -> Side:
    """Queries of the slice lose all relevant documents, one by one, until its mean has fallen so far."""
    was = before.values(metric)[first:]
    order = now.order.copy()
    values = now.values(metric)
    for row in first + np.argsort(-was):
        if values[first:].sum() <= (1 - SLICE_FALL) * was.sum():
            break
        order[row] = np.argsort(now.grades[row], kind="stable")[:LISTED]
        values[row] = 0.0
    return now._replace(order=order)


RULE = "  - no_regression: {{metric: {metric}, tolerance: {tolerance}{slice}{how}, against: {{run: before.txt}}}}\n"
HEAD = """\
ireval: 1
suite: {name}
source: {{run: now.txt}}
queries: queries.tsv
judgments: judgments.txt
ties: input
rules:
"""


def write_files(folder: Path, before: Side, now: Side) -> None:
    """Queries with the column ``part``, judgments of all that is listed, and the rankings of both sides."""
    folder.mkdir(parents=True)
    queries, grades = len(before.order), before.grades.tolist()
    first = queries - slice_size(queries)
    rows = (f"q{i}\ttext {i}\t{'tail' if i >= first else 'rest'}" for i in range(queries))
    _write_lines(folder / "queries.tsv", ("id\ttext\tpart", *rows))
    lines = []
    for i in range(queries):
        relevant = np.flatnonzero(before.grades[i]).tolist()
        listed = sorted({*before.order[i].tolist(), *now.order[i].tolist(), *relevant})
        lines += [f"q{i} 0 d{document} {grades[i][document]}" for document in listed]
    _write_lines(folder / "judgments.txt", lines)
    for side, name in ((before, "before.txt"), (now, "now.txt")):
        _write_lines(folder / name, _format_ranking(side))


def _format_ranking(side: Side) -> Iterator[str]:
    for i, (documents, scores) in enumerate(zip(side.order.tolist(), side.scores.tolist(), strict=True)):
        listed = zip(documents, scores, strict=True)
        yield from (f"q{i} Q0 d{document} {r} {score:.6f} x" for r, (document, score) in enumerate(listed, 1))


def _write_lines(path: Path, lines: Iterator[str] | Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Shares(NamedTuple):
    """How often a rule or a suite was red, warned, and passed in silence, of so many query sets."""

    red: float
    warned: float
    passed: float
    sets: int


def decide_rules(metric: Metric, change: Change, queries: int, sets: int) -> dict[str, Shares]:
    """How often the default rule, and the same one as a contract, fail, warn and pass."""
    tolerance, within = ("5%", ", where: {part: tail}") if change.broken_slice else ("2%", "")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number, (before, now) in enumerate(_draw_query_sets(metric, change, queries, sets)):
            suite = folder / f"s{number:04}"
            write_files(suite, before, now)
            rules = (
                RULE.format(metric=metric.metric, tolerance=tolerance, slice=within, how=how)
                for how in ("", ", decide_by: observed, name: contract")
            )
            text = HEAD.format(name=suite.name) + "".join(rules)
            (suite / "drawn.ireval.yaml").write_text(text, encoding="utf-8")
        found = _run_suites(folder)
    counts = {"default": Counter[str](), "contract": Counter[str]()}
    for each in found:
        for outcome in each["outcomes"]:
            if outcome["kind"] == "no_regression":
                counts["contract" if outcome["name"] else "default"][outcome["verdict"]] += 1
    return {rule: _count_shares(verdicts, sets) for rule, verdicts in counts.items()}


def decide_init(metric: Metric, queries: int, sets: int) -> Shares:
    """How often the suites that ``ireval init`` writes are red, and warn, after a change that harms nothing."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number, (before, now) in enumerate(_draw_query_sets(metric, NO_CHANGE, queries, sets)):
            suite = folder / f"s{number:04}"
            write_files(suite, before, now)
            _run_init(suite)
        _run_suites(folder, "--ireval-update-new")
        for suite in folder.glob("s*"):
            (suite / "now.txt").replace(suite / "before.txt")
        found = _run_suites(folder)
    counts = Counter(
        "inconclusive" if any(each["verdict"] == "inconclusive" for each in suite["outcomes"]) else suite["verdict"]
        for suite in found
        if suite["verdict"] not in ("fail", "error")
    )
    counts["fail"] = sum(suite["verdict"] in ("fail", "error") for suite in found)
    return _count_shares(counts, sets)


def _run_init(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)
    try:
        files = "--judgments judgments.txt --queries queries.tsv --rankings before.txt"
        with contextlib.redirect_stdout(io.StringIO()):
            init.main([*files.split(), "--name", folder.name, "-o", "first.ireval.yaml"], standalone_mode=False)
    finally:
        os.chdir(here)


def _draw_query_sets(metric: Metric, change: Change, queries: int, sets: int) -> Iterator[tuple[Side, Side]]:
    draw = np.random.default_rng((SEED, queries, METRICS.index(metric), CHANGES.index(change)))
    for _ in range(sets):
        yield draw_sides(draw, metric, change, queries)


def _run_suites(folder: Path, *options: str) -> list[dict[str, Any]]:
    """The suites of results.json after ``pytest --ireval`` in a folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--ireval", ".", *options]
    at_home = {**os.environ, "CI": ""}  # a first baseline is accepted where a person would: CI refuses
    run = subprocess.run(command, cwd=folder, env=at_home, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise SystemExit(run.stdout + run.stderr)
    found: list[dict[str, Any]] = json.loads((folder / "ireval-report" / "results.json").read_text("utf-8"))["suites"]
    return found


def _count_shares(found: Counter[str], sets: int) -> Shares:
    if found.total() != sets or found["error"]:
        raise SystemExit(f"{sets} suites, but the verdicts are {dict(found)}")
    return Shares(found["fail"] / sets, found["inconclusive"] / sets, found["pass"] / sets, sets)


SIZES = (12, 50, 200, 1000)
BEGIN, END = "<!-- table: benchmarks/decisions.py -->", "<!-- end of table -->"


def table_rows(sets: int) -> Iterator[list[str]]:
    """A row for each metric and change; a cell has red, warned and passed, in per cent."""
    for metric in METRICS:
        for change in CHANGES:
            often = 3 if change.harmless else 1  # their small shares are what is promised
            found = {
                queries: decide_rules(metric, change, queries, often * sets_of(sets, queries)) for queries in SIZES
            }
            for rule, words in (("default", ""), ("contract", ", `decide_by: observed`")):
                cells = [found[queries][rule] for queries in SIZES]
                shown = [" / ".join(f"{100 * each:.0f}" for each in cell[:3]) for cell in cells]
                yield [metric.name, f"{change.name}{words}", *shown]
                print(" | ".join([metric.name, change.name, rule, *shown]), file=sys.stderr, flush=True)
        written = [decide_init(metric, queries, sets) for queries in SIZES[:3]]
        shown = [" / ".join(f"{100 * each:.0f}" for each in cell[:3]) for cell in written]
        yield [metric.name, "no change, the suite of `ireval init`", *shown, ""]
        print(" | ".join([metric.name, "init", *shown]), file=sys.stderr, flush=True)


def sets_of(sets: int, queries: int) -> int:
    """Runs of 1,000 queries take long, and their shares are near 0 or 1."""
    return sets if queries < SIZES[-1] else max(1, sets // 5)


def main() -> None:
    """Measure, print the table, and put it into a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", type=int, default=600, help="query sets of each kind; of 1,000 queries a fifth")
    parser.add_argument("--markdown", type=Path, help="a page whose table is written anew")
    options = parser.parse_args()
    header = ["judgments", "change", *(f"{queries:,} queries" for queries in SIZES)]
    rows = [header, ["---"] * len(header), *table_rows(options.sets)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    print(table)
    if options.markdown:
        text = options.markdown.read_text(encoding="utf-8")
        head, tail = text.partition(BEGIN)[0], text.partition(END)[2]
        options.markdown.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
