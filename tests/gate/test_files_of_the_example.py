"""The example shop is what its script writes, and its two changes are what its README says."""

import csv
import runpy
from pathlib import Path

import pytest

from pytest_ireval import Policies, evaluate

SUITES = Path(__file__).parents[2] / "examples" / "suites"
WAIVED = "q017"
LOSERS = ["q050", "q052", "q057", "q060"]

pytestmark = pytest.mark.skipif(not SUITES.is_dir(), reason="needs a checkout of the project")


def read_segments():
    with (SUITES / "data/queries.tsv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["segment"] for row in csv.DictReader(file, delimiter="\t")}


def score(name):
    evaluation = evaluate(
        SUITES / "data/judgments.txt", SUITES / f"runs/{name}.trec", ["nDCG@10"], policies=Policies(depth=20)
    )
    return evaluation.metrics[0].values


def change_of_mean(before, now, queries):
    """As a share of the baseline's mean."""
    return sum(now[query] for query in queries) / sum(before[query] for query in queries) - 1


def test_files_are_what_the_script_writes():
    written = runpy.run_path(str(SUITES / "data" / "make_shop.py"))["files"]()

    assert {path: (SUITES / path).read_text(encoding="utf-8") for path in written} == written
    assert len(written) == 5


def test_one_change_has_small_ups_and_downs_and_the_other_hides_a_broken_tail_behind_a_better_head():
    segments = read_segments()
    counted = [query for query in segments if query != WAIVED]
    tail = [query for query in counted if segments[query] == "tail"]
    before, fine, hidden = map(score, ("accepted", "fine", "hidden_tail"))

    assert change_of_mean(before, fine, counted) > -0.001
    assert -0.03 < change_of_mean(before, fine, tail) < 0
    assert max(before[query] - fine[query] for query in counted) < 0.3
    assert change_of_mean(before, hidden, counted) > -0.001
    assert change_of_mean(before, hidden, tail) < -0.25
    assert [query for query in counted if hidden[query] < before[query]] == LOSERS
    assert [hidden[query] for query in LOSERS] == [0, 0, 0, 0]
