"""Makes the baselines in this folder from ``examples/data``, as ``pytest --ireval … --ireval-update`` would."""

from pathlib import Path

from pytest_ireval import Policies, evaluate, read_judgments, read_rankings
from pytest_ireval.baseline.fingerprints import fingerprint_judgments
from pytest_ireval.baseline.record import Acceptance, Baseline, Fingerprints, StoredMetric
from pytest_ireval.baseline.writing import write_baseline

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
FIRST = Acceptance(
    "2026-09-01T09:00:00Z", "5d1c0a7be2f94368a0d7c1be5f2a9e03b6c4d871", "main", reason="the search of today"
)
SECOND = Acceptance("2026-10-12T14:30:00Z", "c27e4f1d90ab6358e1f20b7c4a95d3e8f6071b2a", "rerank", reason="reranker v1")


def main(folder: Path = HERE) -> None:
    """Two suites: ``shop`` as it was first, and ``reranked`` as it is now."""
    judgments = read_judgments(DATA / "judgments.txt")
    prints = fingerprint_judgments(judgments)
    acceptances: tuple[Acceptance, ...] = ()
    for suite, file, acceptance in (("shop", "rankings.txt", FIRST), ("reranked", "reranked.txt", SECOND)):
        rankings = read_rankings(DATA / file)
        evaluation = evaluate(
            judgments, rankings, ["nDCG@10", "RR@10"], policies=Policies(depth=10, missing_queries="zero")
        )
        metrics = {
            metric.name: StoredMetric(metric.version, "pytest-ireval", metric.value, metric.values)
            for metric in evaluation.metrics
        }
        figures = {name: metric.value for name, metric in metrics.items() if metric.value is not None}
        acceptances = (*acceptances, acceptance._replace(figures=figures))
        write_baseline(
            folder,
            Baseline(
                suite=suite,
                depth=10,
                rankings=(rankings,),
                metrics=metrics,
                judgments=prints,
                fingerprints=Fingerprints(judgments=prints.whole),
                plugins=("pytest-ireval 0.1.0",),
                acceptances=acceptances,
            ),
        )


if __name__ == "__main__":
    main()
