"""The rules as they are shipped: query sets written as suites, and judged by ``run_gate`` with the defaults of a rule.

A query has one document for each side and metric, whose grade is its score; CG@k is the sum of the first k grades.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from gates_compared import TOLERANCE, Floats, default
from populations import PROFILES, Population, diffuse, unchanged

from pytest_ireval import load_registry, load_suite, run_gate

REGISTRY = load_registry()
SHIPPED = f"no_regression: {{metric: CG@1, tolerance: {100 * TOLERANCE:g}%}}"
HEAD = """\
ireval: 1
suite: drawn
source: {run: now.txt}
queries: queries.tsv
judgments: {file: judgments.txt, grades: float}
ties: input
rules:
"""
FAMILIES = {3: 1, 12: 4, 30: 10}
"""How many verdicts, and on how many slices: three metrics on each."""
IN_A_SLICE = 200


class Drawn(NamedTuple):
    """Scores of one query set: a column for each metric's last grade."""

    before: Floats
    now: Floats
    parts: Sequence[int] = ()
    """The slice of each query."""


def verdicts(folder: Path, drawn: Drawn, rules: Sequence[str]) -> dict[str, str]:
    """The verdict of each rule of a suite, by id."""
    folder.mkdir(exist_ok=True)
    queries, grades = drawn.before.shape
    parts = drawn.parts or [0] * queries
    rows = [(f"q{i:05}", f"{side}{k}", table[i, k]) for i in range(queries) for side, table in
            (("b", drawn.before), ("n", drawn.now)) for k in range(grades)]  # fmt: skip
    _put(folder / "judgments.txt", (f"{query} 0 {document} {grade!r}" for query, document, grade in
                                    ((q, d, float(g)) for q, d, g in rows)))  # fmt: skip
    for side, name in (("b", "before.txt"), ("n", "now.txt")):
        _put(folder / name, (f"q{i:05} Q0 {side}{k} {k + 1} {9 - k} x" for i in range(queries) for k in range(grades)))
    _put(folder / "queries.tsv", ("id\ttext\tpart", *(f"q{i:05}\t\tp{part}" for i, part in enumerate(parts))))
    against = ", against: {run: before.txt}}"
    text = HEAD + "".join(f"  - {rule[:-1]}{against}\n" for rule in rules)
    (folder / "drawn.ireval.yaml").write_text(text, encoding="utf-8")
    result = run_gate(load_suite(folder / "drawn.ireval.yaml", REGISTRY), registry=REGISTRY)
    if result.error:
        raise SystemExit(result.error)
    return {each.id: each.verdict for each in result.outcomes if each.id != "inputs"}


def _put(path: Path, lines: Iterator[str] | Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(population: Population, queries: int, sets: int) -> Iterator[str]:
    """Where the gate, asked through its front door, says something else than the table does."""
    draw = np.random.default_rng(queries + 1)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(sets):
            chosen = draw.integers(0, population.before.size, queries)
            before, now = population.before[chosen], population.now[chosen]
            table = default(before[None], (now - before)[None])
            said = "fail" if table.fails[0] else "pass" if table.passes[0] else "inconclusive"
            (found,) = verdicts(Path(folder), Drawn(before[:, None], now[:, None]), [SHIPPED]).values()
            if found != said:
                yield f"run_gate says {found}, the table {said}"


class Family(NamedTuple):
    """How often any verdict of a suite was red without a change, and how often a slice that fell by 5% was."""

    verdicts: int
    any_red: float
    seen: float
    tries: int


def families(tries: int) -> Iterator[Family]:
    """Three metrics on one, four and ten slices of 200 queries."""
    null = unchanged(PROFILES[0])
    worse = diffuse(null, 0.05)
    rules = [f"no_regression: {{metric: CG@{k}, tolerance: 2%, per: part}}" for k in (1, 2, 3)]
    with tempfile.TemporaryDirectory() as folder:
        for size, slices in FAMILIES.items():
            draw, red, seen = np.random.default_rng(size), 0, 0
            for _ in range(tries):
                parts = [i % slices for i in range(slices * IN_A_SLICE)]
                red += "fail" in verdicts(Path(folder), _drawn(draw, null, null, parts), rules).values()
                found = verdicts(Path(folder), _drawn(draw, null, worse, parts), rules)
                seen += any(verdict == "fail" for name, verdict in found.items() if name.endswith("part-p0"))
            yield Family(size, red / tries, seen / tries, tries)


def _drawn(draw: np.random.Generator, null: Population, first: Population, parts: list[int]) -> Drawn:
    """Three grades of every query, those of the first slice from another population."""
    chosen = draw.integers(0, null.before.size, (len(parts), 3))
    of_first = (np.array(parts) == 0)[:, None]
    now = np.where(of_first, first.now[chosen], null.now[chosen])
    return Drawn(np.where(of_first, first.before[chosen], null.before[chosen]), now, parts)
