"""Finds what metrics need and a stored reference lacks, because it was accepted before a rule asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_ireval.baseline.record import Baseline
from pytest_ireval.metrics.metric import Metric

PLAIN = "no spans"
"""The meaning of an empty definition of what counts."""
ENGINE_TIMES = "times: engine"
"""The end of the fingerprint of documents where a metric uses times of the engine."""
SCORES = {"scores", "ties"}
"""Needs of metrics for which the scores of documents are kept."""


def find_lacks(metrics: Iterable[Metric], stored: Baseline, documents: str) -> Iterator[tuple[Metric, str]]:
    """What single metrics need and a stored reference lacks: scores, fields, timings, or timings of the same kind.

    ``documents`` is the fingerprint that it is compared with. Other metrics can be compared all the same.
    """
    if not any(len(rankings.documents) for rankings in stored.rankings):
        return
    names = {name for fields in stored.fields.values() for name in fields}
    (_, then), (_, now) = map(split_times, (stored.fingerprints.documents, documents))
    for metric in metrics:
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


def split_times(documents: str) -> tuple[str, str]:
    """The definition of the documents that count, and the kind of times, in that fingerprint."""
    rest = documents.removesuffix(ENGINE_TIMES)
    return rest.removesuffix(", "), "client" if rest == documents else "engine"
