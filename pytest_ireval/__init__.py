"""Gate search-ranking changes in CI: suites in YAML, metrics as plugins, baselines, and a verdict with evidence.

Everything here is imported when it is first used, so that a pytest run without ``--ireval`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_ireval.errors import InputError, IrevalError, MetricError, MetricNameError, PluginError
    from pytest_ireval.evaluation import evaluate
    from pytest_ireval.explaining.why import why
    from pytest_ireval.explanation import Explanation, Steps
    from pytest_ireval.metrics.elsewhere import Elsewhere
    from pytest_ireval.metrics.metric import Metric, metric
    from pytest_ireval.metrics.parameters import Param
    from pytest_ireval.metrics.per_query import Ranking, per_query_metric
    from pytest_ireval.metrics.steps import Listing, listing, steps_of
    from pytest_ireval.plugins.hookspecs import hookimpl
    from pytest_ireval.plugins.manager import load_registry
    from pytest_ireval.plugins.registry import Registry
    from pytest_ireval.results import Evaluation
    from pytest_ireval.retrieval.formats.trec_judgments import read_judgments
    from pytest_ireval.retrieval.formats.trec_rankings import read_rankings
    from pytest_ireval.retrieval.judged import JudgedRankings, ratio
    from pytest_ireval.retrieval.judgments import Judgments
    from pytest_ireval.retrieval.rankings import Rankings
    from pytest_ireval.retrieval.views import condensed, perfect

__version__ = "0.1.0"

_HOMES = {
    "errors": ("InputError", "IrevalError", "MetricError", "MetricNameError", "PluginError"),
    "evaluation": ("evaluate",),
    "explaining.why": ("why",),
    "explanation": ("Explanation", "Steps"),
    "metrics.elsewhere": ("Elsewhere",),
    "metrics.metric": ("Metric", "metric"),
    "metrics.parameters": ("Param",),
    "metrics.per_query": ("Ranking", "per_query_metric"),
    "metrics.steps": ("Listing", "listing", "steps_of"),
    "plugins.hookspecs": ("hookimpl",),
    "plugins.manager": ("load_registry",),
    "plugins.registry": ("Registry",),
    "results": ("Evaluation",),
    "retrieval.formats.trec_judgments": ("read_judgments",),
    "retrieval.formats.trec_rankings": ("read_rankings",),
    "retrieval.judged": ("JudgedRankings", "ratio"),
    "retrieval.judgments": ("Judgments",),
    "retrieval.rankings": ("Rankings",),
    "retrieval.views": ("condensed", "perfect"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Elsewhere",
    "Evaluation",
    "Explanation",
    "InputError",
    "IrevalError",
    "JudgedRankings",
    "Judgments",
    "Listing",
    "Metric",
    "MetricError",
    "MetricNameError",
    "Param",
    "PluginError",
    "Ranking",
    "Rankings",
    "Registry",
    "Steps",
    "condensed",
    "evaluate",
    "hookimpl",
    "listing",
    "load_registry",
    "metric",
    "per_query_metric",
    "perfect",
    "ratio",
    "read_judgments",
    "read_rankings",
    "steps_of",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
