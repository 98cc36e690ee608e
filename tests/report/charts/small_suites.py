"""Suites that are as small as a chart needs them."""

from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.results.suite_result import MetricFigures, QueryTable, SuiteResult


def suite(**fields):
    return SuiteResult(**{"name": "shop", "path": "shop.yaml", "verdict": "pass", "outcomes": (), **fields})


def make_scored_suite(now, baseline, metric="nDCG@10", direction="higher", ids=None, texts=None, **fields):
    """A suite of one metric, and that metric."""
    ids = tuple(ids or (f"q{number}" for number in range(1, len(now) + 1)))
    texts = tuple(texts or (f"text of {each}" for each in ids))
    figures = MetricFigures(metric, direction, "query", "mean", 0.5, 0.6, paired=0.5)
    table = QueryTable(ids, texts, now={metric: tuple(now)}, baseline={metric: tuple(baseline)})
    return suite(queries=table, metrics=(figures,), **fields), figures


def rule(part, change, verdict="pass", interval=None, tolerance=0.01, kind="no_regression", metric="nDCG@10", **fields):
    """An outcome that compares."""
    low, high = interval or (None, None)
    figures = SliceFigures(part, 10, 0.5 + change, 0.5, tolerance=tolerance, low=low, high=high)
    return Outcome(
        f"{kind}::{part}",
        kind,
        verdict,
        f"{metric} moved by {change} on {part}",
        metric=metric,
        slice=part,
        figures=(figures,),
        compares=True,
        **fields,
    )
