"""Whether two tools report the same per-query values and, if not, whether the difference is explained.

    python benchmarks/agreement.py OURS THEIRS [--tool ranx]     two files of "metric query value" lines

Values are compared as far as both files print them: half a unit in the last decimal of each is
allowed (trec_eval prints four). A judged query that the rankings lack is absent from what most
tools print; the other tool must report 0 for it. KNOWN_DIFFERENCES lists what else is explained;
anything beyond is a disagreement.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

Values = dict[str, dict[str, float]]  # metric -> query -> value

CANONICAL_NAMES = {
    "ndcg_cut_10": "nDCG@10",
    "map": "AP",
    "recip_rank": "RR",
    "P_10": "P@10",
    "recall_100": "R@100",
    "recall_1000": "R@1000",
    "bpref": "Bpref",
}
ROUNDING_OF_SUMS = 1e-9


@dataclass(frozen=True)
class KnownDifference:
    """Why single queries may differ from ours, and how far the mean of a metric may move for that reason."""

    reason: str
    mean_may_move: float
    undefined: frozenset[str] = frozenset()  # metrics that may be "not a number"


SINGLE_PRECISION = KnownDifference(
    reason="holds scores as 32-bit floats, so that scores a hair apart become a tie; trec_eval 10 does not",
    mean_may_move=0.001,
)
KNOWN_DIFFERENCES = {
    "pytrec_eval": SINGLE_PRECISION,
    "ir_measures": SINGLE_PRECISION,
    "ranx": KnownDifference(
        reason="does not break ties by document id, as all others do (without ties it agrees to the last"
        " decimal), and its Bpref is not a number (0 / 0) for a query without judged documents of grade 0",
        mean_may_move=0.01,
        undefined=frozenset({"Bpref"}),
    ),
}


@dataclass(frozen=True)
class Report:
    """What one tool printed: the values, and how many decimals they have."""

    values: Values
    decimals: int


@dataclass(frozen=True)
class Agreement:
    """One tool's values of one metric beside ours; `verdict` is "agrees", "explained" or "DISAGREES"."""

    metric: str
    queries: int
    largest_difference: float
    differing_queries: int
    not_a_number: int
    absent_queries: int
    verdict: str


def read_report(path: Path) -> Report:
    """The per-query values in a file; means over all queries (query "all") are left out."""
    values: Values = {}
    decimals = 0
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if len(words) != 3:
                raise ValueError(f"{path}:{number}: expected 'metric query value', found {line!r}")
            name, query, value = words
            if query != "all":
                values.setdefault(CANONICAL_NAMES.get(name, name), {})[query] = float(value)
                decimals = max(decimals, _decimals(value))
    return Report(values, decimals)


def _decimals(value: str) -> int:
    return 17 if "e" in value.lower() else len(value.partition(".")[2])


def compare_reports(ours: Report, theirs: Report, tool: str) -> list[Agreement]:
    """One agreement a metric of ours; a metric that the other tool lacks compares nothing and disagrees."""
    tolerance = ROUNDING_OF_SUMS + 0.501 * (10.0**-ours.decimals + 10.0**-theirs.decimals)
    return [
        _compare_metric(metric, values, theirs.values.get(metric, {}), tool, tolerance)
        for metric, values in ours.values.items()
    ]


def _compare_metric(
    metric: str, ours: dict[str, float], theirs: dict[str, float], tool: str, tolerance: float
) -> Agreement:
    shared = ours.keys() & theirs.keys()
    absent = ours.keys() ^ theirs.keys()
    differences = {query: theirs[query] - ours[query] for query in shared}
    numbers = [difference for difference in differences.values() if not math.isnan(difference)]
    differing = sum(abs(difference) > tolerance for difference in numbers)
    not_a_number = len(differences) - len(numbers)
    mean_moved = abs(math.fsum(numbers) / len(numbers)) if numbers else 0.0
    absent_are_zero = all(ours.get(query, theirs.get(query)) == 0 for query in absent)
    if not shared or not absent_are_zero:
        verdict = "DISAGREES"
    elif not differing and not not_a_number:
        verdict = "agrees"
    else:
        verdict = _explain(metric, tool, not_a_number, mean_moved)
    largest = max(map(abs, numbers), default=math.nan)
    return Agreement(metric, len(shared), largest, differing, not_a_number, len(absent), verdict)


def _explain(metric: str, tool: str, not_a_number: int, mean_moved: float) -> str:
    known = KNOWN_DIFFERENCES.get(tool)
    if known is None or mean_moved > known.mean_may_move:
        return "DISAGREES"
    return "DISAGREES" if not_a_number and metric not in known.undefined else "explained"


def main() -> int:
    """Print the agreement of two files; 1 if they disagree."""
    parser = argparse.ArgumentParser(description="Compare the per-query values that two tools printed.")
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("--tool", default="", help="whose differences: " + ", ".join(KNOWN_DIFFERENCES))
    options = parser.parse_args()
    agreements = compare_reports(read_report(options.ours), read_report(options.theirs), options.tool)
    for agreement in agreements:
        print(agreement)
    return int(any(agreement.verdict == "DISAGREES" for agreement in agreements))


if __name__ == "__main__":
    raise SystemExit(main())
