"""Runs as the gate tells them, with figures in sight."""

from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.results.suite_result import MetricFigures, QueryTable, RunResult, SuiteResult

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def outcome(part="all", verdict="pass", *figures, **more):
    place = {"id": f"no_regression::nDCG_10.{part}", "kind": "no_regression", "metric": "nDCG@10", "slice": part}
    return Outcome(**{**place, "verdict": verdict, "headline": "said", "figures": figures, **more})


def suite(name="shop", now=0.8, *outcomes, baseline=0.75, sd=0.1, verdict="pass", planned=(), metrics=(), **more):
    whole = MetricFigures(
        "nDCG@10", "higher", "query", "mean", now, baseline, paired=now, low=-0.1, high=0.2, sd=sd, worse=1, better=2
    )
    return SuiteResult(
        name,
        f"suites/{name}.yaml",
        verdict,
        outcomes or (outcome(),),
        planned=planned or tuple(each.id for each in outcomes or (outcome(),)),
        metrics=metrics or (whole,),
        queries=QueryTable(now={"nDCG@10": (0.5, None, 0.7)}),
        **more,
    )


def run(date="2026-03-01T10:00:00Z", *suites, commit=COMMIT, **more):
    told = {"version": "0.1.0", "verdict": "pass", "branch": "main", **more}
    return RunResult(date=date, suites=suites or (suite(),), commit=commit, **told)


def tail(**more):
    figures = {"slice": "segment=tail", "queries": 12, "now": 0.6, "baseline": 0.7, "low": -0.2, "high": 0.0, "sd": 0.3}
    return SliceFigures(**{**figures, **more})
