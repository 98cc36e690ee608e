"""Metrics held to their promises: as pytest cases, or by one call in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytest_ireval.errors import MetricError, PluginError, Problem, did_you_mean
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.manager import load_registry
from pytest_ireval.testing.arguments import variants
from pytest_ireval.testing.breaking import Broken
from pytest_ireval.testing.changes import up_to
from pytest_ireval.testing.data import Data
from pytest_ireval.testing.evidence import evidence
from pytest_ireval.testing.promises import PROMISES, Promise
from pytest_ireval.testing.scoring import Attributes
from pytest_ireval.testing.smallest import smallest

APPLIES = "something_applies"
"""The case that fails when nothing else was checked."""


@dataclass(frozen=True)
class Finding:
    """What became of one promise of one metric."""

    metric: str
    promise: str
    broken: str = ""
    """The evidence; nothing if the promise is kept, or does not apply."""
    spared: str = ""
    """Why it does not apply."""

    def __str__(self) -> str:
        said = self.broken or (f"does not apply: {self.spared}" if self.spared else "kept")
        return f"{self.metric}: {self.promise}: {said}"


def metric_contract(
    metrics: str | Metric | Iterable[str | Metric], *, attributes: Attributes | None = None
) -> Callable[..., None]:
    """A test with one case for each metric and promise, to be assigned to ``test_contract``.

    ``metrics`` are metrics, or names of installed ones. One without arguments is tried with several; one with
    arguments, as ``top_grade @ 10``, with those. ``attributes`` says for metrics that need attributes which values
    each has: ``{"price": [1, 2.5], "brand": ["a", "b"]}``. A promise that does not apply is skipped with the reason.
    """
    import pytest

    cases = [
        pytest.param(metric, name, id=f"{metric}-{name}")
        for metric in _metrics(metrics)
        for name in (*(promise.name for promise in PROMISES), APPLIES)
    ]

    @pytest.mark.parametrize(("metric", "promise"), cases)
    def test_contract(metric: Metric, promise: str) -> None:
        finding = _finding(metric, promise, attributes)
        if finding.broken:
            pytest.fail(finding.broken, pytrace=False)
        if finding.spared:
            pytest.skip(f"does not apply to {metric}: {finding.spared}")

    return test_contract


def check_metric(metric: str | Metric, *, attributes: Attributes | None = None) -> list[Finding]:
    """What became of every promise; raises MetricError with all the evidence if one is broken."""
    (one,) = _metrics([metric])
    findings = [_finding(one, promise.name, attributes) for promise in PROMISES]
    findings += [_finding(one, APPLIES, attributes)]
    broken = [finding.broken for finding in findings if finding.broken]
    if broken:
        raise MetricError(*map(Problem, broken))
    return findings


def _metrics(wanted: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Metrics from themselves or their names."""
    values = [wanted] if isinstance(wanted, str | Metric) else list(wanted)
    if not values:
        raise MetricError("there is no metric to be checked")
    found: list[Metric] = []
    for value in values:
        if isinstance(value, Metric):
            found.append(value)
        elif isinstance(value, str):
            found += _named(value)
        else:
            raise PluginError(
                f"{value!r} is no metric and no name of one: decorate the function with @per_query_metric or @metric"
            )
    return found


def _named(text: str) -> list[Metric]:
    """Installed metrics; a bare name, as P, may leave out what the metric requires."""
    registry = load_registry()
    bare = registry.metrics.get(text)
    return [bare] if bare is not None else registry.parse_metrics([text])


def _finding(metric: Metric, name: str, attributes: Attributes | None) -> Finding:
    """What became of one promise; a metric that cannot even say what it promises breaks it."""
    try:
        return _found(metric, name, attributes)
    except MetricError as error:
        return Finding(str(metric), name, broken=str(error))


def _found(metric: Metric, name: str, attributes: Attributes | None) -> Finding:
    reason = _unfit(metric, attributes)
    if name == APPLIES:
        return _something_applies(metric, reason)
    promise = next(promise for promise in PROMISES if promise.name == name)
    spared = reason or (metric.not_promised.get(name, "") if promise.optional else "")
    if spared:
        return Finding(str(metric), name, spared=spared)
    every = {str(variant): (variant, promise.spares(variant)) for variant in variants(metric)}
    for variant, spares in every.values():
        if not spares and (broken := _broken(variant, promise, attributes, metric)):
            return Finding(str(metric), name, broken=broken)
    spared = next((spares for _, spares in every.values()), "") if all(s for _, s in every.values()) else ""
    return Finding(str(metric), name, spared=spared)


def _unfit(metric: Metric, attributes: Attributes | None) -> str:
    """Why nothing can be tried at all."""
    if "attributes" in metric.needs and not attributes:
        return "it needs attributes: say which values they have, as attributes={'price': [1, 2.5]}"
    try:
        variants(metric)
    except MetricError as error:
        return " ".join(str(error).split())
    return ""


def _something_applies(metric: Metric, reason: str) -> Finding:
    """Broken if nothing could be tried, or an exception is declared from a promise that does not exist."""
    if reason:
        text = f"{metric}: nothing was checked\n  {reason}\n  the metric comes from {metric.source}"
        return Finding(str(metric), APPLIES, broken=text)
    allowed = [promise.name for promise in PROMISES if promise.optional]
    for name in metric.not_promised:
        if name not in allowed:
            every = any(promise.name == name for promise in PROMISES)
            problem = Problem(
                f"not_promised names {name!r}, which {'every metric has to promise' if every else 'is no promise'}",
                place=str(metric),
                suggestion=did_you_mean(name, allowed),
                allowed="may be left out by definition: " + ", ".join(allowed),
            )
            return Finding(str(metric), APPLIES, broken=str(problem))
    return Finding(str(metric), APPLIES)


def _broken(metric: Metric, promise: Promise, attributes: Attributes | None, asked: Metric) -> str:
    """The evidence on the smallest data; nothing if the promise is kept on all data."""

    def attempt(data: Data) -> Broken | None:
        return promise.breaks(metric, data, attributes)

    for data in _on_its_scale(metric, promise.data(metric)):
        if broken := attempt(data):
            return evidence(metric, promise, smallest(data, broken, attempt), asked)
    return ""


def _on_its_scale(metric: Metric, every: tuple[Data, ...]) -> tuple[Data, ...]:
    """Without grades above those for which the metric was made by an argument ``max_grade``."""
    top = metric.settings.get("max_grade")
    return tuple(up_to(float(top), data) for data in every) if isinstance(top, int | float) and top > 0 else every


def promises() -> list[tuple[str, str]]:
    """The name of every promise, and what it says."""
    return [(promise.name, promise.says) for promise in PROMISES]
