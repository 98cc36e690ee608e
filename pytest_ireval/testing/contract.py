"""Checks of promises: of a metric as pytest cases or by one call, of other kinds by one call."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

from pytest_ireval.errors import IrevalError, MetricError, PluginError, Problem, did_you_mean, make_exception_problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.parameters import Parameter, format_value
from pytest_ireval.metrics.score import read_bounds
from pytest_ireval.plugins.manager import load_installed_registry
from pytest_ireval.testing.breaking import Broken, SeenBreak, list_tried_values, make_variants
from pytest_ireval.testing.data import Case, Data, Fields, Query, Same, cut_to, make_deep_data
from pytest_ireval.testing.promises import PROMISES, Promise
from pytest_ireval.words import format_count

APPLIES = "something_applies"
"""The case that fails when nothing else was checked."""


@dataclass
class Finding:
    """The result of one promise of a metric, rule, source or reader."""

    name: str
    """Of the metric, rule, source or reader."""
    promise: str
    broken: str = ""
    """The evidence; empty if the promise is kept, or does not apply."""
    spared: str = ""
    """The reason why it does not apply."""

    def __str__(self) -> str:
        result = self.broken or (f"does not apply: {self.spared}" if self.spared else "kept")
        return f"{self.name}: {self.promise}: {result}"


@dataclass(eq=False)
class Trial:
    """A metric as its author passed it, maybe without arguments."""

    metric: Metric
    fields: Fields | None

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The metric with each of the arguments with which it is tried; raises MetricError if none fit."""
        return tuple(Case(variant, self.fields) for variant in make_variants(self.metric))


def metric_contract(
    metrics: str | Metric | Iterable[str | Metric], *, fields: Fields | None = None
) -> Callable[..., None]:
    """A test with one case for each metric and promise, to be assigned to ``test_contract``.

    ``metrics`` are metrics, or names of installed ones. One without arguments is tried with several; one with
    arguments, as ``top_grade @ 10``, with those. ``fields`` says for metrics that need fields which values each has:
    ``{"price": [1, 2.5], "brand": ["a", "b"]}``; for metrics that need judgments, these are columns there. A promise
    that does not apply is skipped with the reason.
    """
    import pytest

    cases = [
        pytest.param(metric, name, id=f"{metric}-{name}")
        for metric in _list_metrics(metrics)
        for name in (*(promise.name for promise in PROMISES), APPLIES)
    ]

    @lru_cache(maxsize=1)  # of several metrics, what was computed of the last one is enough
    def begin_trial(metric: Same[Metric]) -> Trial:
        return Trial(metric.value, fields)

    @pytest.mark.parametrize(("metric", "promise"), cases)
    def test_contract(metric: Metric, promise: str) -> None:
        finding = _check_promise(begin_trial(Same(metric)), promise)
        if finding.broken:
            pytest.fail(finding.broken, pytrace=False)
        if finding.spared:
            pytest.skip(f"does not apply to {metric}: {finding.spared}")

    return test_contract


def check_metric(metric: str | Metric, *, fields: Fields | None = None) -> list[Finding]:
    """The result of every promise; raises MetricError with all the evidence if one is broken."""
    (one,) = _list_metrics([metric])
    trial = Trial(one, fields)
    findings = [_check_promise(trial, name) for name in (*(promise.name for promise in PROMISES), APPLIES)]
    broken = [finding.broken for finding in findings if finding.broken]
    if broken:
        raise MetricError(*map(Problem, broken))
    return findings


def _list_metrics(wanted: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    values = [wanted] if isinstance(wanted, str | Metric) else list(wanted)
    if not values:
        raise MetricError("no metric was given to check")
    found: list[Metric] = []
    for value in values:
        if isinstance(value, Metric):
            found.append(value)
        elif isinstance(value, str):
            registry = load_installed_registry()
            bare = registry.metrics.get(value)  # a bare name, as P, may leave out what the metric requires
            found += [bare] if bare is not None else registry.parse_metrics([value])
        else:
            raise PluginError(
                f"{value!r} is neither a metric nor the name of one: decorate the function with @per_query_metric "
                "or @metric"
            )
    return found


def _check_promise(trial: Trial, name: str) -> Finding:
    """The result of one promise; a metric that raises an error before it can be tried breaks it."""
    try:
        return _find_broken(trial, name)
    except MetricError as error:
        return Finding(str(trial.metric), name, broken=str(error))


def _find_broken(trial: Trial, name: str) -> Finding:
    metric, reason = trial.metric, _explain_unfit(trial)
    if name == APPLIES:
        return _check_that_something_applies(metric, reason)
    promise = next(promise for promise in PROMISES if promise.name == name)
    spared = reason or (metric.info.not_promised.get(name, "") if promise.optional else "")
    if spared:
        return Finding(str(metric), name, spared=spared)
    reasons = [promise.spares(case.metric) for case in trial.cases]
    broken = ""
    for case in (case for case, spared in zip(trial.cases, reasons, strict=True) if not spared):
        broken = _raise_broken(case, promise, metric)
        if bool(broken) != promise.by_some:
            break
    if broken:
        return Finding(str(metric), name, broken=broken)
    return Finding(str(metric), name, spared=reasons[0] if all(reasons) else "")


def _explain_unfit(trial: Trial) -> str:
    if "fields" in trial.metric.needs and not trial.fields:
        return "it needs fields: give their values, as fields={'price': [1, 2.5]}"
    try:
        _ = trial.cases
    except MetricError as error:
        return " ".join(str(error).split())
    return ""


def _check_that_something_applies(metric: Metric, reason: str) -> Finding:
    """Broken if nothing could be tried, or an exception is declared from a promise that does not exist."""
    if reason:
        text = f"{metric}: nothing was checked\n  {reason}\n  the metric comes from {metric.source}"
        return Finding(str(metric), APPLIES, broken=text)
    allowed = [promise.name for promise in PROMISES if promise.optional]
    for name in metric.info.not_promised:
        if name not in allowed:
            every = any(promise.name == name for promise in PROMISES)
            problem = Problem(
                f"not_promised names {name!r}, which {'every metric has to promise' if every else 'is not a promise'}",
                place=str(metric),
                suggestion=did_you_mean(name, allowed),
                allowed="these promises may be excluded: " + ", ".join(allowed),
            )
            return Finding(str(metric), APPLIES, broken=str(problem))
    return Finding(str(metric), APPLIES)


def _raise_broken(case: Case, promise: Promise, asked: Metric) -> str:
    """The evidence on the smallest data; empty if the promise is kept on all data.

    ``asked`` is the metric as its author passed it, maybe without arguments.
    """

    def attempt(data: Data) -> Broken | None:
        return promise.breaks(case, data)

    metric = case.metric
    every = make_deep_data(metric.settings["cutoff"]) if promise.deep else promise.data()
    for data in _is_on_its_scale(metric, every):
        if broken := attempt(data):
            return "\n".join(_format_lines(metric, promise, _shrink(data, broken, attempt), asked))
    return ""


def _is_on_its_scale(metric: Metric, every: tuple[Data, ...]) -> tuple[Data, ...]:
    """Without grades above those for which the metric was made by an argument ``max_grade``."""
    top = metric.settings.get("max_grade")
    return tuple(cut_to(float(top), data) for data in every) if isinstance(top, int | float) and top > 0 else every


class Spared(Exception):  # noqa: N818 - not an error: the reason why a promise does not apply
    """A promise does not apply; the text is the reason."""


class PromiseOfKind(NamedTuple):
    """One promise of a kind; ``breaks`` returns the evidence against it, "" if there is none, or raises Spared."""

    name: str
    says: str
    advice: str
    breaks: Callable[[Any], str]


def collect_findings(
    name: str, source: str, promises: Sequence[PromiseOfKind], case: Any, not_promised: Mapping[str, str]
) -> list[Finding]:
    """The result of each promise; raises PluginError with all the evidence if one is broken."""
    known = [promise.name for promise in promises]
    for each in not_promised:
        if each not in known:
            allowed = f"promises: {', '.join(known)}"
            raise PluginError(Problem(f"not_promised names {each!r}", name, (), did_you_mean(each, known), allowed))
    found = []
    for promise in promises:
        broken, spared = "", not_promised.get(promise.name, "")
        try:
            broken = "" if spared else promise.breaks(case)
        except Spared as reason:
            spared = str(reason)
        except Exception as error:  # noqa: BLE001 - an author's code may raise anything: that is the evidence
            broken = str(error if isinstance(error, IrevalError) else make_exception_problem("it", error))
        found.append(Finding(name, promise.name, broken and _format_evidence(name, source, promise, broken), spared))
    if wrong := [Problem(each.broken) for each in found if each.broken]:
        raise PluginError(*wrong)
    return found


def _format_evidence(name: str, source: str, promise: PromiseOfKind, broken: str) -> str:
    seen = broken.replace("\n", "\n  ")
    return (
        f"{name} breaks the promise {promise.name}\n  promised: {promise.says}\n  {seen}\n"
        f"  what to do: {promise.advice}\n  it comes from {source}"
    )


WIDTH = 110
MOST_QUERIES = 12
MOST_SHOWN = 50
"""The most documents of a list that are shown in full."""


def _format_lines(metric: Metric, promise: Promise, broken: Broken, asked: Metric) -> Iterator[str]:
    yield f"{metric} breaks the promise {promise.name}"
    yield f"  promised: {promise.says}"
    for seen in broken.seen:
        yield from _format_data(seen)
    if broken.complaint:
        yield f"  it {broken.complaint}"
    yield from map(_fill, _choose_numbers(metric, asked))
    excuse = "; or, if its definition makes that impossible, declare it in the metric:" if promise.optional else ""
    yield _fill(f"what to do: {_advise(metric, promise, broken)}{excuse}")
    if promise.optional:
        yield f"    not_promised={{{promise.name!r}: 'the reason'}}"
    yield f"  the metric comes from {metric.source}"


def _fill(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _format_data(seen: SeenBreak) -> Iterator[str]:
    if seen.how:
        yield f"  {seen.how}:"
    shown = [q for i, q in enumerate(seen.data.queries) if i < MOST_QUERIES or q.name == seen.unit]
    for query in shown:
        judged = _cut_lines([f"{document}={grade:g}" for document, grade in query.grades.items()])
        yield f"  query {query.name}: judged {judged}; ranked {_format_ranking(query, seen.scored)}"
    if len(shown) < len(seen.data.queries):
        yield f"  … and {format_count(len(seen.data.queries) - len(shown), 'query')} more"
    if seen.value != "none":
        yield f"  value{f' of {seen.unit}' if seen.unit else ''}: {seen.value}"


def _format_ranking(query: Query, scored: bool) -> str:
    """Documents in order of rank; with scores if they are wanted, or if some are equal."""
    if query.ranking is None:
        return "not at all"
    scores = dict(query.ranking)
    plain = not scored and len(set(scores.values())) == len(scores)
    shown = [document if plain else f"{document} ({scores[document]:g})" for document in query.ordered]
    return _cut_lines(shown) or "nothing"


def _cut_lines(entries: list[str]) -> str:
    if len(entries) <= MOST_SHOWN:
        return " ".join(entries)
    return f"{' '.join(entries[:4])} … ({len(entries) - 8} more) … {' '.join(entries[-4:])}"


ABOUT_ORDER = ("perfect_is_best", "promotion_never_harms")


MADE_UP = {
    "documents": "documents are d1, d2, …",
    "timings": "answers take 0.01s, 0.02s, …",
    "fields": "fields have the values of fields={…}",
}
"""By what a metric needs, the data of this kit, in which it may find nothing that it looks for."""


def _advise(metric: Metric, promise: Promise, broken: Broken) -> str:
    made_up = [data for need, data in MADE_UP.items() if need in metric.needs]
    if promise.name == "tells_rankings_apart" and made_up:
        data = f"in the data of this test {', '.join(made_up)}"
        return f"{data}: if the metric looks for others, declare that as below; otherwise {promise.advice}"
    if promise.name not in ABOUT_ORDER:
        return promise.advice
    seen = broken.seen[0]
    if any(query.name == seen.unit and not query.ranking for query in seen.data.queries):
        return _advise_on_empty(metric)
    others = " or ".join(repr(way) for way in ("higher", "lower", "neither") if way != metric.direction)
    return f"correct the formula, or declare direction={others}"


def _advise_on_empty(metric: Metric) -> str:
    """An empty ranking that is better than a perfect one needs a value of its own."""
    low, high = read_bounds(metric)
    worst = high if metric.direction == "lower" else low
    now = "" if metric.empty is None else f"; empty={metric.empty:g} is better than a perfect one"
    example = f", as empty={worst:g}" if math.isfinite(worst) else ""
    return f"set empty= to the score of an empty ranking{example}{now}"


def _choose_numbers(metric: Metric, asked: Metric) -> Iterator[str]:
    """A line for each number that was tried although its parameter has no bounds."""
    for parameter in metric.parameters:
        if parameter.name in metric.arguments and parameter.name not in asked.arguments and _is_open(parameter):
            values = ", ".join(format_value(value) for value in list_tried_values(parameter))
            yield (
                f"{parameter.name}={format_value(metric.arguments[parameter.name])} was chosen by this test (it tries "
                f"{values}): "
                f"if it is not a sensible value, declare the allowed numbers, as {parameter.name}: "
                f"Annotated[{parameter.kind}, Param('…', low=0, below=1)]"
            )


def _is_open(parameter: Parameter) -> bool:
    about = parameter.about
    bounded = (about.low, about.above) != (None, None) and (about.high, about.below) != (None, None)
    return parameter.kind in ("int", "float") and parameter.name != "cutoff" and not bounded


MOST_ATTEMPTS = 600
MANY = 40
"""More documents or queries than this are left out in groups first."""

T = TypeVar("T")
Attempt = Callable[[Data], Broken | None]


def _shrink(data: Data, broken: Broken, attempt: Attempt) -> Broken:
    """The broken promise on the smallest data, found by leaving out one thing after the other."""
    left, smaller = MOST_ATTEMPTS, _list_smaller(data)
    while (each := next(smaller, None)) and left:
        left -= 1
        if found := attempt(each):
            broken, smaller = found, _list_smaller(each)
    return broken


def _list_smaller(data: Data) -> Iterator[Data]:
    """The data with one thing less each, the largest steps first."""
    if len(data.queries) > 2:
        yield from (replace(data, queries=(query,)) for query in data.queries)
    if len(data.queries) > 1:
        for dropped in _drop(data.queries):
            yield replace(data, queries=tuple(query for query in data.queries if query not in dropped))
    for i, query in enumerate(data.queries):
        for smaller in _list_with_less(query):
            yield replace(data, queries=(*data.queries[:i], smaller, *data.queries[i + 1 :]))


def _drop(things: Sequence[T]) -> Iterator[set[T]]:
    """The things that are left out together: of many first halves, quarters and so on, then each by itself."""
    size = len(things) // 2 if len(things) > MANY else 1
    while size > 1:
        yield from (set(things[i : i + size]) for i in range(0, len(things), size))
        size //= 2
    yield from ({thing} for thing in things)


def _list_with_less(query: Query) -> Iterator[Query]:
    """The query without one document, without one judgment, or with one grade nearer to 0."""
    for dropped in _drop(list(query.numbers)):
        grades = {d: grade for d, grade in query.grades.items() if d not in dropped}
        if grades:
            ranking = query.ranking and tuple(pair for pair in query.ranking if pair[0] not in dropped)
            numbers = {d: number for d, number in query.numbers.items() if d not in dropped}
            yield replace(query, grades=grades, ranking=ranking, numbers=numbers)
    for document, grade in query.grades.items():
        if len(query.grades) > 1 and query.ranking and document in dict(query.ranking):
            yield replace(query, grades={d: g for d, g in query.grades.items() if d != document})
        for nearer in _list_nearer_to_0(grade):
            yield replace(query, grades={**query.grades, document: nearer})


def _list_nearer_to_0(grade: float) -> list[float]:
    """A grade without its fraction, and one less; never what it was before."""
    if not grade.is_integer():
        return [float(int(grade))] + ([grade - 1] if grade > 1 else [])
    return [] if grade in (0, 1) else [grade - 1 if grade > 0 else grade + 1]
