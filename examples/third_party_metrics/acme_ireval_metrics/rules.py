"""A rule of the Acme search team. Only suites need it, so it has its own entry point, and commands do not import it."""

from pydantic import Field

from acme_ireval_metrics.metrics import first_bad
from pytest_ireval import Part, RuleContext, RuleResult, hookimpl, list_query_changes, rule
from pytest_ireval.options import Number, RuleOptions


class NoneBadFirstOptions(RuleOptions):
    """The options below the key none_bad_first."""

    at_most: Number = Field(0, description="The number of queries that may show a bad document first.")


def parts(_options: NoneBadFirstOptions) -> list[Part]:
    """One verdict, about the metric that finds bad documents."""
    return [Part(metric=first_bad)]


@rule(name="none_bad_first", options=NoneBadFirstOptions, parts=parts)
def none_bad_first(options: NoneBadFirstOptions, context: RuleContext) -> RuleResult:
    """No query shows a document first that is judged not relevant."""
    values = context.values()
    bad = [index for index, value in enumerate(values.current) if value == 0]
    queries = f"{len(bad)} of {values.current.size} queries of {context.slice}"
    return RuleResult(
        "pass" if len(bad) <= options.at_most else "fail",
        f"{queries} show a bad document first (at most {options.at_most:g})",
        queries=list_query_changes(context, values, bad[:3]),
        numbers={"bad": len(bad)},
    )


@hookimpl
def ireval_rules():
    """The rule."""
    return [none_bad_first]
