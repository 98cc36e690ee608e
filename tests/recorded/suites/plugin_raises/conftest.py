"""A metric that raises for one query, and a rule that always does."""

from pytest_ireval import hookimpl, per_query_metric, rule
from pytest_ireval.options import MetricText, RuleOptions


@per_query_metric(name="Divided", range=(0, 1))
def divided(ranking, *, cutoff: int) -> float:
    """One; but of one query, divided by nothing."""
    return 1 / int(ranking.query != "q07")


class RaisedOptions(RuleOptions):
    """The options below the key raised."""

    metric: MetricText


@rule(name="raised", options=RaisedOptions)
def raised(options, context):
    """It looks for a key that is not there."""
    return {}["verdict"]


@hookimpl
def ireval_metrics():
    return [divided]


@hookimpl
def ireval_rules():
    return [raised]
