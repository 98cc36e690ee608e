"""Gate search-ranking changes in CI: suites in YAML, metrics as plugins, baselines, and a verdict with evidence.

Everything here is imported when it is first used, so that a pytest run without ``--ireval`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_ireval.causes.ranking_change import RankingChange, Symptom
    from pytest_ireval.comparing import compare
    from pytest_ireval.data.formats.writers import write_judgments, write_queries, write_rankings
    from pytest_ireval.data.judged import JudgedRankings, ratio
    from pytest_ireval.data.judgments import Judgments
    from pytest_ireval.data.queries import Queries
    from pytest_ireval.data.rankings import Rankings
    from pytest_ireval.data.side_data import SideData
    from pytest_ireval.data.views import condensed, perfect
    from pytest_ireval.errors import (
        BaselineError,
        InputError,
        IrevalError,
        MetricError,
        PluginError,
        SourceError,
        SuiteError,
    )
    from pytest_ireval.evaluating.evaluation import evaluate
    from pytest_ireval.explaining import why
    from pytest_ireval.gate.apply import apply_rules
    from pytest_ireval.gate.collect import Inputs, collect_inputs
    from pytest_ireval.gate.run import run_gate
    from pytest_ireval.gate.score import Scores, score_inputs
    from pytest_ireval.metrics.catalog import MetricResolver
    from pytest_ireval.metrics.elsewhere import Elsewhere
    from pytest_ireval.metrics.metric import Metric, metric
    from pytest_ireval.metrics.parameters import Param
    from pytest_ireval.metrics.per_query import Ranking, per_query_metric
    from pytest_ireval.metrics.steps import Listing, list_ranking, list_session, make_steps, steps_for
    from pytest_ireval.plugins.conftests import load_registry
    from pytest_ireval.plugins.hookspecs import CommandSpec, hookimpl, hookspec, report_section
    from pytest_ireval.plugins.plugin_types import Part, diagnosis, rule, source
    from pytest_ireval.reading import read_judgments, read_queries, read_rankings
    from pytest_ireval.results.comparison import Comparison
    from pytest_ireval.results.evaluation import Evaluation
    from pytest_ireval.results.explanation import Steps
    from pytest_ireval.results.outcome import Outcome, QueryChange, SliceFigures
    from pytest_ireval.results.policies import Policies
    from pytest_ireval.results.suite_result import RunResult, SuiteResult
    from pytest_ireval.rules.context import RuleContext
    from pytest_ireval.rules.query_changes import list_query_changes
    from pytest_ireval.rules.result import RuleResult
    from pytest_ireval.sources.request import Answer, Request
    from pytest_ireval.suite.loading import load_suite, load_suites
    from pytest_ireval.suite.suite import Suite

__version__ = "0.1.0"

_HOMES = {
    "comparing": ("compare",),
    "errors": ("BaselineError", "InputError", "IrevalError", "MetricError", "PluginError", "SourceError", "SuiteError"),
    "evaluating.evaluation": ("evaluate",),
    "explaining": ("why",),
    "gate.apply": ("apply_rules",),
    "gate.collect": ("Inputs", "collect_inputs"),
    "gate.run": ("run_gate",),
    "gate.score": ("Scores", "score_inputs"),
    "reading": ("read_judgments", "read_queries", "read_rankings"),
    "metrics.catalog": ("MetricResolver",),
    "metrics.elsewhere": ("Elsewhere",),
    "metrics.metric": ("Metric", "metric"),
    "metrics.parameters": ("Param",),
    "metrics.per_query": ("per_query_metric", "Ranking"),
    "metrics.steps": ("Listing", "list_ranking", "list_session", "make_steps", "steps_for"),
    "plugins.plugin_types": ("Part", "diagnosis", "rule", "source"),
    "plugins.conftests": ("load_registry",),
    "plugins.hookspecs": ("CommandSpec", "hookimpl", "hookspec", "report_section"),
    "results.comparison": ("Comparison",),
    "results.evaluation": ("Evaluation",),
    "results.explanation": ("Steps",),
    "results.outcome": ("Outcome", "QueryChange", "SliceFigures"),
    "results.policies": ("Policies",),
    "results.suite_result": ("RunResult", "SuiteResult"),
    "data.formats.writers": ("write_judgments", "write_queries", "write_rankings"),
    "data.judged": ("JudgedRankings", "ratio"),
    "data.judgments": ("Judgments",),
    "data.queries": ("Queries",),
    "data.rankings": ("Rankings",),
    "data.side_data": ("SideData",),
    "data.views": ("condensed", "perfect"),
    "rules.context": ("RuleContext",),
    "rules.query_changes": ("list_query_changes",),
    "causes.ranking_change": ("RankingChange", "Symptom"),
    "rules.result": ("RuleResult",),
    "sources.request": ("Answer", "Request"),
    "suite.loading": ("load_suite", "load_suites"),
    "suite.suite": ("Suite",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "BaselineError",
    "CommandSpec",
    "Comparison",
    "Elsewhere",
    "Evaluation",
    "InputError",
    "Inputs",
    "IrevalError",
    "JudgedRankings",
    "Judgments",
    "Listing",
    "Metric",
    "MetricError",
    "MetricResolver",
    "Outcome",
    "Param",
    "Part",
    "PluginError",
    "Policies",
    "Queries",
    "QueryChange",
    "Ranking",
    "RankingChange",
    "Rankings",
    "Request",
    "RuleContext",
    "RuleResult",
    "RunResult",
    "Scores",
    "SideData",
    "SliceFigures",
    "SourceError",
    "Steps",
    "Suite",
    "SuiteError",
    "SuiteResult",
    "Symptom",
    "apply_rules",
    "collect_inputs",
    "compare",
    "condensed",
    "diagnosis",
    "evaluate",
    "hookimpl",
    "hookspec",
    "list_query_changes",
    "list_ranking",
    "list_session",
    "load_registry",
    "load_suite",
    "load_suites",
    "make_steps",
    "metric",
    "per_query_metric",
    "perfect",
    "ratio",
    "read_judgments",
    "read_queries",
    "read_rankings",
    "report_section",
    "rule",
    "run_gate",
    "score_inputs",
    "source",
    "steps_for",
    "why",
    "write_judgments",
    "write_queries",
    "write_rankings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
