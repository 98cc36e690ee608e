"""A metric, a rule, a source and a diagnosis of the shop's own."""

from pathlib import Path

import numpy as np

from pytest_ireval import RuleResult as Result
from pytest_ireval import Symptom, diagnosis, hookimpl, list_query_changes, per_query_metric, rule, source
from pytest_ireval.options import AmountText, ComparingOptions, MetricText, SourceOptions, Text


@per_query_metric(name="TopGrade", range=(0, 1))
def top_grade(ranking, *, cutoff: int) -> float:
    """The share of the first `cutoff` documents that carry the top grade."""
    return float((ranking.grades[:cutoff] == ranking.top_grade).sum() / cutoff)


class GainedOptions(ComparingOptions):
    """The options below the key gained."""

    metric: MetricText
    at_least: AmountText


@rule(name="gained", options=GainedOptions)
def gained(options, context):
    """At least this number of queries gets better."""
    values = context.paired_values()
    better = int(np.count_nonzero(context.sign * values.gain > 1e-12))
    size, wanted = values.gain.size, options.at_least.of(values.gain.size)
    lowest = np.argsort(context.sign * values.gain, kind="stable")[:3]
    return Result(
        "pass" if better >= wanted else "fail",
        f"{better} of {size} queries gained {context.metric} on {context.slice} (at least {options.at_least})",
        queries=list_query_changes(context, values, lowest.tolist()),
        numbers={"better": better},
    )


class ListedOptions(SourceOptions):
    """The options below the key listed."""

    listed: Text


@source(name="listed", options=ListedOptions)
def listed(options, request):
    """The rankings of one of the files of the shop."""
    return Path(request.folder).parent / "data" / f"{options.listed}.trec"


@diagnosis(name="best_last")
def best_last(change):
    """Queries whose first document went to the end of the list."""
    last = [query for query in change.moved_queries if change.baseline(query)[0] in change.current(query)[-4:]]
    return (
        Symptom(f"{len(last)} queries have their first document last", last, "turn the list round.") if last else None
    )


@hookimpl
def ireval_metrics():
    return [top_grade]


@hookimpl
def ireval_rules():
    return [gained]


@hookimpl
def ireval_sources():
    return [listed]


@hookimpl
def ireval_diagnoses():
    return [best_last]
