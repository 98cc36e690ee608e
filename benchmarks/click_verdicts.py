"""How often the gate says the same with judgments from clicks as with human grades.

    python benchmarks/click_verdicts.py                          120 planted changes, log sizes, models and policies
    python benchmarks/click_verdicts.py --changes 20 --sessions 3000    a quick look

A made-up shop has a grade for each document of each query. Simulated users see its ranking and click: the chances of
their clicks follow the grades. `ireval clicks` makes judgments and preferences of the log alone. Then changes are
planted in the ranking: half of them exchange documents at the top for worse ones, half exchange documents of equal
grade. The gate compares each change with the ranking of the log, once with nDCG@10 by the human grades, and once with
nDCG@10 by the grades from clicks, or with TauPref by the preferences. The share of equal verdicts is printed, and the
others.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import load_suite, run_gate, write_judgments, write_rankings
from pytest_ireval.data.formats.writers import write_table
from pytest_ireval.progress import SILENT
from pytest_ireval_judgments.click_logs import read_clicks
from pytest_ireval_judgments.click_models import MODELS, make_judgments
from pytest_ireval_judgments.clicks import POLICIES, collect_preferences

SUITE = """\
ireval: 1
suite: shop
source: {run: rankings.trec}
judgments: {file: judgments.tsv, preferences: preferences.tsv}
metrics: [METRIC]
rules:
  - no_regression: {metric: METRIC, tolerance: TOLERANCE, decide_by: observed}
"""
GRADED = SUITE.replace("METRIC", "nDCG@10").replace("TOLERANCE", "2%").replace(", preferences: preferences.tsv", "")
PREFERRED = SUITE.replace("METRIC", "TauPref(weighted=true)").replace("TOLERANCE", "{absolute: 0.02}")


class Shop(NamedTuple):
    """Grades from 0 to 4 of the documents of each query, in the order of the ranking that users see."""

    grades: NDArray[np.int64]

    @property
    def queries(self) -> list[str]:
        """Their ids."""
        return [f"q{i:03}" for i in range(self.grades.shape[0])]

    def judgments(self) -> dict[str, dict[str, int]]:
        """The human grades."""
        return {
            q: {f"{q}-d{d:02}": int(grade) for d, grade in enumerate(row)}
            for q, row in zip(self.queries, self.grades, strict=True)
        }

    def rankings(self, order: NDArray[np.int64]) -> dict[str, list[str]]:
        """The documents of each query in an order."""
        return {q: [f"{q}-d{d:02}" for d in row] for q, row in zip(self.queries, order.tolist(), strict=True)}


def shop(queries: int, documents: int, seed: int) -> Shop:
    """A shop with a fair ranking: good documents tend to be above."""
    rng = np.random.Generator(np.random.PCG64(seed))
    grades = rng.choice(5, (queries, documents), p=[0.45, 0.25, 0.15, 0.1, 0.05])
    luck = grades + rng.normal(0, 1.5, grades.shape)
    return Shop(np.take_along_axis(grades, np.argsort(-luck, axis=1), axis=1))


def write_log(of: Shop, sessions: int, path: Path, seed: int) -> None:
    """Users read from the top; grades decide about clicks and satisfaction, and one in six gives up at each rank.

    Each session sees the ranking with a few neighbors exchanged, as a live system's answers vary.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    attraction, satisfaction = np.array([0.05, 0.15, 0.3, 0.5, 0.75]), np.array([0.05, 0.2, 0.45, 0.7, 0.9])
    share = 1 / np.arange(1, len(of.queries) + 1) ** 0.7
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["session", "query", "documents", "clicks"])
        for session, q in enumerate(rng.choice(len(of.queries), sessions, p=share / share.sum()).tolist()):
            order = list(range(of.grades.shape[1]))
            at = int(rng.integers(0, len(order) - 1))
            order[at], order[at + 1] = order[at + 1], order[at]
            names, clicked = [f"{of.queries[q]}-d{d:02}" for d in order], []
            for name, grade in zip(names, of.grades[q][order].tolist(), strict=True):
                if rng.random() < attraction[grade]:
                    clicked.append(name)
                    if rng.random() < satisfaction[grade]:
                        break
                if rng.random() < 1 / 6:
                    break
            writer.writerow([f"s{session}", of.queries[q], " ".join(names), " ".join(clicked)])


def from_clicks(log: Path, model: str, least: int = 10) -> dict[str, dict[str, int]]:
    """The judgments that `ireval clicks --model` makes."""
    searches = read_clicks([log]).searches
    found: dict[str, dict[str, int]] = {}
    for query, document, grade, *_ in make_judgments(searches, MODELS[model](searches, 3.0, SILENT), (), least).rows:
        found.setdefault(query, {})[document] = grade
    return found


def preferences_from_clicks(log: Path, policy: str, target: Path) -> None:
    """The preferences that `ireval clicks --policy` makes."""
    searches = read_clicks([log]).searches
    policies = {each.name: each for each in POLICIES}
    found = collect_preferences(searches, policies[policy], min_support=2, min_shown=10)
    write_table(("query", "better", "worse", "support"), found.rows(searches), target)


def planted(of: Shop, number: int, gap: int, seed: int) -> Iterator[tuple[bool, NDArray[np.int64]]]:
    """Whether a change is harmful, and the order of documents after it."""
    rng = np.random.Generator(np.random.PCG64(seed))
    size = of.grades.shape[1]
    for change in range(number):
        harmful = change % 2 == 0
        order = np.tile(np.arange(size), (len(of.queries), 1))
        touched = rng.choice(len(of.queries), round(len(of.queries) * rng.uniform(0.3, 0.9)), replace=False)
        for q in touched.tolist():
            grades = of.grades[q]
            pairs = [
                (i, j)
                for i in range(5)
                for j in range(i + 1, size)
                if (grades[i] - grades[j] >= gap if harmful else grades[i] == grades[j])
            ]
            if pairs:
                i, j = pairs[int(rng.integers(len(pairs)))]
                order[q, [i, j]] = order[q, [j, i]]
        yield harmful, order


def verdicts(
    of: Shop, judgments: Mapping[str, Mapping[str, int]], changes: Sequence[NDArray[np.int64]], folder: Path
) -> list[str]:
    """The verdicts of changes under these judgments, or the preferences there, compared with the ranking of the log."""
    folder.mkdir(exist_ok=True)
    write_judgments(judgments, folder / "judgments.tsv")
    suite = PREFERRED if (folder / "preferences.tsv").exists() else GRADED
    (folder / "shop.ireval.yaml").write_text(suite, encoding="utf-8")
    write_rankings(of.rankings(np.tile(np.arange(of.grades.shape[1]), (len(of.queries), 1))), folder / "rankings.trec")
    command = [sys.executable, "-m", "pytest", "--ireval", str(folder), "--ireval-update-new", "-q", "-n0"]
    environment = {**os.environ, "CI": ""}
    subprocess.run([*command, "-p", "no:cacheprovider"], cwd=folder, env=environment, check=True, capture_output=True)
    found: list[str] = []
    for order in changes:
        write_rankings(of.rankings(order), folder / "rankings.trec")
        found.append(run_gate(load_suite(folder / "shop.ireval.yaml")).verdict)
    return found


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of equal verdicts."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare verdicts under judgments from clicks and human grades.")
    parser.add_argument("--queries", type=int, default=100, help="default: 100")
    parser.add_argument("--documents", type=int, default=12, help="of each query; default: 12")
    parser.add_argument("--sessions", type=int, nargs="*", default=[5_000, 20_000, 100_000], help="sizes of logs")
    parser.add_argument("--changes", type=int, default=120, help="default: 120, half of them harmful")
    parser.add_argument("--gap", type=int, default=2, help="the least loss of grade in a harmful exchange; default: 2")
    ways = [*MODELS, *(each.name for each in POLICIES)]
    parser.add_argument("--ways", nargs="*", default=ways, choices=ways, help="models and policies; default: all")
    options = parser.parse_args()
    made = shop(options.queries, options.documents, 1)
    changes = list(planted(made, options.changes, options.gap, 3))
    orders = [order for _, order in changes]
    print(f"{options.queries} queries, {options.documents} documents each, {options.changes} planted changes")
    with tempfile.TemporaryDirectory() as folder:
        human = verdicts(made, made.judgments(), orders, Path(folder, "human"))
        for harmful in (True, False):
            told = Counter(verdict for verdict, change in zip(human, changes, strict=True) if change[0] is harmful)
            print(f"human grades, {'harmful' if harmful else 'harmless'} changes: {dict(told)}")
        for sessions in options.sessions:
            log = Path(folder) / f"log{sessions}.tsv"
            write_log(made, sessions, log, 2)
            for way in options.ways:
                there = Path(folder, f"{way}{sessions}")
                if way not in MODELS:
                    there.mkdir()
                    preferences_from_clicks(log, way, there / "preferences.tsv")
                judgments = from_clicks(log, way) if way in MODELS else made.judgments()
                found = verdicts(made, judgments, orders, there)
                told = Counter(f"human {a}, clicks {b}" for a, b in zip(human, found, strict=True) if a != b)
                shown = "; ".join(f"{number} {how}" for how, number in sorted(told.items()))
                print(f"{sessions:>8,} searches, {way:24}: {agreement(human, found):.1%} agree  {shown}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
