"""A plugin with types; mypy checks it with the sources, so a wrong type is an error in it, and a right one is not.

Each ``type: ignore`` says which mistake mypy finds: it is an error if mypy does not find it any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

from pytest_ireval import (
    JudgedRankings,
    Metric,
    MetricResolver,
    Ranking,
    RankingChange,
    Request,
    RuleContext,
    RuleResult,
    RunResult,
    SuiteResult,
    Symptom,
    diagnosis,
    hookimpl,
    metric,
    per_query_metric,
    report_section,
    rule,
    source,
)
from pytest_ireval.options import RuleOptions, SourceOptions, Text, Whole
from pytest_ireval.plugin_api import Acceptance, DiagnosisKind, ReportSection, RuleKind, SourceKind


class FewOptions(RuleOptions):
    at_most: Whole = 0


class ShopOptions(SourceOptions):
    shop: Text


def p_of_few(options: FewOptions, context: RuleContext) -> float | None:
    return None


@rule(name="few", options=FewOptions, p_value=p_of_few)
def few(options: FewOptions, context: RuleContext) -> RuleResult:
    """A rule."""
    return RuleResult("pass", f"{options.at_most} of {context.slice}")


@rule(name="bare", options=RuleOptions)
def without_types(options, context):  # type: ignore[no-untyped-def]
    """A rule."""
    return RuleResult("pass", "fine")


@source(name="shop", options=ShopOptions)
def shop(options: ShopOptions, request: Request) -> dict[str, list[str]]:
    """A source."""
    return {query: [options.shop] for query in request.queries.ids}


@diagnosis(name="sold_out")
def sold_out(change: RankingChange) -> Symptom | None:
    return Symptom("sold out", change.moved_queries, "look")


@metric(name="Zero", range=(0, 1), direction="higher")
def zero(judged: JudgedRankings, *, cutoff: int = 10) -> NDArray[np.float64]:
    """Zero."""
    return np.zeros(judged.count)


@per_query_metric(name="First", needs=("documents",), no_relevant=None)
def first(ranking: Ranking, *, cutoff: int) -> float:
    """The first grade."""
    return float(ranking.grades[0])


assert_type(few, RuleKind[FewOptions])
assert_type(shop, SourceKind[ShopOptions])
assert_type(sold_out, DiagnosisKind)
assert_type(zero @ 5, Metric)
assert_type(first, Metric)

rule(name="few", options=FewOptions, parts=lambda options: options.at_least)  # type: ignore[attr-defined]
rule(name="few", options=ShopOptions)  # type: ignore[type-var]
rule(name="few", options=FewOptions, p_value=lambda options, context: "0.01")  # type: ignore[arg-type, return-value]
RuleResult("red", "a verdict that is none")  # type: ignore[arg-type]
metric(name="Zero", directoin="lower")  # type: ignore[call-arg]
metric(name="Zero", direction="up")  # type: ignore[arg-type]
per_query_metric(name="First", needs=("colour",))  # type: ignore[arg-type]


def kinds_keep_the_types_of_their_functions(options: FewOptions, context: RuleContext, request: Request) -> None:
    assert_type(few.check(options, context), RuleResult)
    shop.fetch(options, request)  # type: ignore[arg-type]
    ireval_run_ended(context, None)  # type: ignore[arg-type]


@rule(name="other", options=FewOptions)  # type: ignore[arg-type]
def of_other_options(options: ShopOptions, context: RuleContext) -> RuleResult:
    """A rule of the options of a source."""
    return RuleResult("fail" if options.shop else "pass", "fine")


@rule(name="none", options=FewOptions)  # type: ignore[arg-type]
def without_a_result(options: FewOptions, context: RuleContext) -> bool:
    """A rule that returns something else."""
    return True


@per_query_metric(name="Text")  # type: ignore[arg-type]
def a_text(ranking: Ranking) -> str:
    """A text."""
    return "1"


@metric(name="List")  # type: ignore[arg-type]
def a_list(judged: JudgedRankings) -> list[float]:
    """A list."""
    return [0.0] * judged.count


def section() -> ReportSection:
    @report_section(name="traffic", title="Traffic", template="traffic.jinja")
    def traffic(run: Mapping[str, Any]) -> dict[str, int]:
        return {"suites": len(run["suites"])}

    return traffic


@hookimpl
def ireval_rules() -> list[RuleKind]:
    return [few]


@hookimpl
def ireval_sources() -> list[SourceKind]:
    return [shop]


@hookimpl
def ireval_resolve_metric() -> list[MetricResolver]:
    return [MetricResolver(names={"Zero": []}, resolve=lambda name: zero if name == "Zero" else None)]


@hookimpl
def ireval_baseline_accepted(suite: SuiteResult, acceptance: Acceptance, file: Path) -> None:
    assert_type(acceptance.reason, str)


@hookimpl
def ireval_run_ended(run: RunResult, folder: Path | None) -> None:
    assert_type(run.suites, tuple[SuiteResult, ...])
