"""Finds metrics that a stored reference cannot be compared by: it lacks what they need, or they are defined anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.baseline.record import Baseline, Fingerprints, JudgmentPrints, StoredMetric
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregate_values
from pytest_ireval.results.outcome import Restated
from pytest_ireval.sides.side import Scored, Side
from pytest_ireval.statistics.differences import Floats

NEW_VERSION = "a metric that is defined anew gets another version"


def describe_definition(metric: Metric) -> str:
    """What decides which values are better, and by how much: ``higher is better, 0 to 1, mean of each query``."""
    better = f"{metric.direction} is better" if metric.direction != "neither" else "no value is better"
    low, high = metric.bounds
    return f"{better}, {low:g} to {high:g}, {metric.aggregate} of each {metric.unit}"


SAME_VALUE = {"rtol": 1e-6, "atol": 1e-9}
"""Values further apart have another definition; those of another platform or version of numpy are closer."""


def find_redefined_metrics(scored_again: ScoredAgain, side: Side, noun: str) -> dict[str, str]:
    """By name a complaint about each metric that is defined otherwise than at the acceptance, under the same version.

    ``side`` is the stored reference, a ``noun``, under the current judgments and metrics. Where nothing but a
    definition can have changed a value, another value than the stored one is a sign of that.
    """
    complaints = {}
    for name, scored in side.scored.items():
        then, metric = scored_again.stored.metrics.get(name), scored.metric
        if then is None or (then.version, then.origin) != (metric.version, plain_origin(metric.origin)):
            continue
        definition, complaint = describe_definition(metric), ""
        if then.definition and then.definition != definition:
            complaint = f"{name} is defined as: {definition}; when the {noun} was accepted it was: {then.definition}"
        elif metric.repeatable:
            complaint = _describe_other_values(scored_again, scored, then, noun)
        if complaint:
            complaints[name] = complaint
    return complaints


def _describe_other_values(scored_again: ScoredAgain, scored: Scored, then: StoredMetric, noun: str) -> str:
    """The values of the stored rankings that differ with no input to explain it, in words; empty if there are none."""
    before = _align_values(then, scored)
    lost = np.isnan(scored.values) != np.isnan(before)
    differs = lost | ~np.isclose(before, scored.values, **SAME_VALUE, equal_nan=True)
    if not differs.any():
        return ""
    comparable = scored_again.find_units_with_equal_inputs(scored)
    other = np.flatnonzero(comparable & differs)
    if not other.size:
        return ""
    both = comparable & ~np.isnan(before) & ~np.isnan(scored.values)
    was, now = (aggregate_values(values[both], scored.metric.aggregate) for values in (before, scored.values))
    figures = "has other values now than" if was is None else f"is {now:.6g} now, and was {was:.6g}"
    one, two = ("none" if np.isnan(each[other[0]]) else f"{each[other[0]]:.6g}" for each in (before, scored.values))
    more = f", and {other.size - 1} more" if other.size > 1 else ""
    return (
        f"{scored.metric} of the accepted rankings {figures} when the {noun} was accepted, with the same "
        f"judgments and policies: its definition changed ({scored.names[other[0]]}: {one} -> {two}{more})"
    )


def _align_values(then: StoredMetric, scored: Scored) -> Floats:
    """The stored values in the order of today's; NaN for a unit that had none."""
    return np.fromiter(map(then.values.get, scored.names, repeat(np.nan)), np.float64, len(scored.names))


@dataclass(eq=False)
class ScoredAgain:
    """The inputs of then and now, to tell of which units a value can only change by a metric's definition."""

    stored: Baseline
    collection: Collection
    prints: Fingerprints
    judgment_prints: JudgmentPrints | None

    def find_units_with_equal_inputs(self, scored: Scored) -> NDArray[np.bool_]:
        """Mark the queries (or sessions) whose inputs are those of then."""
        metric, population = scored.metric, self.collection.population
        nothing = np.zeros(len(scored.names), bool)
        wanted = ["policies", "documents", "side_files"]
        wanted += ["queries"] if metric.unit != "query" or metric.needs & {"queries", "sessions"} else []
        if any(getattr(self.stored.fingerprints, each) != getattr(self.prints, each) for each in wanted):
            return nothing
        judged_alike = not metric.reads_judgments or self.stored.fingerprints.judgments == self.prints.judgments
        ranked = self.stored.rankings[0].position
        waived = population.waived.union(self.stored.waived)
        if metric.unit != "query":  # one query that did not count, or counts only now, changes the value of many
            is_ranked = ranked.keys() >= population.queries.position.keys()
            return ~nothing if judged_alike and not waived and is_ranked else nothing
        if not judged_alike and not self._has_the_same_top_grade:
            return nothing
        then = self.stored.judgments.grades_of
        now = {} if self.judgment_prints is None else self.judgment_prints.grades_of
        same = (judged_alike or then.get(query) == now.get(query) for query in scored.names)
        counts = (query in ranked and query not in waived for query in scored.names)
        return np.array([*map(all, zip(same, counts, strict=True))], bool)

    @cached_property
    def _has_the_same_top_grade(self) -> bool:
        """True if the highest grade of all is what it was: a metric may measure each query by it."""
        setting, written = self.collection.setting, self.collection.written_judgments
        grades = self.stored.judgments.grades
        if setting is None or setting.policies.scale is not None:
            return True
        if grades is None or written is None:
            return False
        return (
            max((0.0, *(grade for of_query in grades.values() for grade in of_query.values()))) == written.highest_grade
        )


def plain_origin(text: str) -> str:
    """``acme-metrics 1.2`` is ``acme-metrics``; a file is named without its folder, which differs by machine."""
    return text.replace("\\", "/").rpartition("/")[2].partition(" ")[0]


def list_definitions(side: Side) -> dict[str, tuple[int, str]]:
    """Version and origin of each metric; an origin without the version of its distribution."""
    return {name: (scored.metric.version, plain_origin(scored.metric.origin)) for name, scored in side.scored.items()}


def find_restated(stored: Baseline, side: Side) -> Mapping[str, Restated]:
    """Metrics that give the baseline another figure, beyond rounding, than when it was accepted."""
    restated = {}
    for name, scored in side.scored.items():
        if name not in stored.metrics:
            continue
        before = _align_values(stored.metrics[name], scored)
        both = ~np.isnan(before) & ~np.isnan(scored.values)
        then, now = (aggregate_values(values[both], scored.metric.aggregate) for values in (before, scored.values))
        if (then is None) != (now is None) or (then is not None and now is not None and abs(then - now) > 1e-9):
            restated[name] = Restated(then, now)
    return restated


PLAIN = "no spans"
"""The meaning of an empty definition of what counts."""
ENGINE_TIMES = "times: engine"
"""The end of the fingerprint of documents where a metric uses times of the engine."""
SCORES = {"scores", "ties"}
"""Needs of metrics for which the scores of documents are kept."""


def find_lacks(metrics: Iterable[Metric], stored: Baseline, documents: str) -> Iterator[tuple[Metric, str]]:
    """What single metrics need and a stored reference lacks: a stage, scores, fields, or timings of the same kind.

    ``documents`` is the fingerprint that it is compared with. Other metrics can be compared all the same.
    """
    if not any(len(rankings.documents) for rankings in stored.rankings):
        return
    names = {name for fields in stored.fields.values() for name in fields}
    then, now = _read_times(stored.fingerprints.documents), _read_times(documents)
    for metric in metrics:
        if metric.stage and any(metric.stage not in rankings.stages for rankings in stored.rankings):
            yield metric, f"holds no stage {metric.stage!r}, which {metric} needs"
        if metric.needs & SCORES and not stored.scored:
            yield metric, f"holds no scores, which {metric} needs"
        if "timings" in metric.needs and not stored.timings:
            yield metric, f"holds no timings, which {metric} needs"
        elif "timings" in metric.needs and then != now:
            yield metric, f"was accepted with times: {then}, and the suite has times: {now}"
        if "fields" in metric.needs:
            wanted = metric.uses(metric.settings) if metric.uses else ()
            missing = [repr(name) for name in wanted if name not in names]
            if missing or not names:
                what = f"field {', '.join(missing)} of documents" if missing else "fields of documents"
                yield metric, f"holds no {what}, which {metric} needs"


def read_definition(documents: str) -> str:
    """What the fingerprint says of the documents that count."""
    return documents.removesuffix(ENGINE_TIMES).removesuffix(", ") or PLAIN


def _read_times(documents: str) -> str:
    return "engine" if documents.endswith(ENGINE_TIMES) else "client"
