"""Two or more rankings under the same judgments: the better one on each metric, and tests of the differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np

from pytest_ireval.data.arrays import Mask
from pytest_ireval.data.coerce import JoinedRankings, JudgmentsLike, RankingsLike
from pytest_ireval.data.formats.input_file import FilePath
from pytest_ireval.data.formats.recognition import Format
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import SideData
from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.evaluating.evaluation import EvaluationSetup, build_evaluation, prepare_evaluation, refuse_missing
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.comparison import Change, Comparison, MetricComparison, Pair
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.results.policies import Policies
from pytest_ireval.statistics.differences import TIE, Floats, differences
from pytest_ireval.statistics.mean_evidence import Alternative, PairedT, paired_t
from pytest_ireval.statistics.multiplicity import holm
from pytest_ireval.statistics.sign_flip import sign_flip

FIRST = "first"
"""As a baseline: the ranking that was given first, unless one has that name."""


def compare(
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: Mapping[str, FilePath | Rankings | RankingsLike],
    metrics: str | Metric | Iterable[str | Metric],
    *,
    baseline: str | None = None,
    test: Test = "t",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    extremes: int = 3,
    policies: Policies = Policies(),
    side_data: SideData | Mapping[str, SideData] = SideData(),
    judgments_format: Format = None,
    rankings_format: Format = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Comparison:
    """Compare named rankings under the same judgments; each is anything that ``evaluate`` takes.

    ``baseline`` names the ranking that all others are compared with (``first``: the first); without one every pair is
    compared. ``test`` is the paired t test (``t``) or the sign-flip test (``sign-flip``), with Holm's correction over
    all pairs of one metric. ``alternative`` is ``two-sided``, or asks only whether the values of a pair's ranking are
    ``greater`` or ``less`` than those of the other one, which was given first or is the baseline. A difference counts
    as significant when its corrected p is below ``alpha``. ``extremes`` is the number of greatest gains and drops that
    are listed, for each pair with the baseline or for the best two. With ``missing_queries="ignore"`` only queries that
    all rankings have count, in all of them.
    ``side_data`` is for all rankings, or is a mapping with that of each: each ranking has timings of its own. All other
    arguments are those of ``evaluate``.

    >>> from pytest_ireval import compare
    >>> judgments = {"mug": {"a": 1}, "cup": {"b": 1}}
    >>> rankings = {"old": {"mug": ["x", "a"], "cup": ["b"]}, "new": {"mug": ["a"], "cup": ["b"]}}
    >>> compare(judgments, rankings, "RR")["RR"].best
    ('new',)
    """
    _check_rankings(rankings)
    question = _check_options(rankings, baseline, test, alternative, alpha, extremes)
    setting = prepare_evaluation(judgments, metrics, policies, registry, progress, judgments_format, rankings_format)
    each = _side_data_by_ranking(rankings, side_data)
    if policies.missing_queries == "ignore":  # the queries that count depend on all rankings
        found, counting = join_all_rankings(setting, rankings, each)
        evaluations = {name: _evaluate(setting, brought, counting) for name, brought in found.items()}
        return compare_evaluations(evaluations, question, int(counting.sum()))
    evaluations = _evaluate_one_by_one(setting, rankings, each)
    return compare_evaluations(evaluations, question, next(iter(evaluations.values())).queries)


def compare_evaluations(evaluations: Mapping[str, Evaluation], question: ComparisonOptions, queries: int) -> Comparison:
    """Compare rankings that were evaluated over the same queries."""
    return Comparison(
        rankings=evaluations,
        metrics=tuple(_compare_metric(results, question) for results in _group_by_metric(evaluations)),
        baseline=question.baseline,
        test=question.test,
        alternative=question.alternative,
        alpha=question.alpha,
        queries=queries,
        asked=next(iter(evaluations.values())).asked,
    )


def _check_rankings(rankings: object) -> None:
    if not isinstance(rankings, Mapping):
        raise IrevalError(f'rankings are a {type(rankings).__name__}, not a mapping as {{"name": rankings, …}}')
    for name in rankings:
        if not isinstance(name, str) or not name.strip():
            raise IrevalError(f"{name!r} is not a valid name for a ranking")
    if len(rankings) < 2:
        raise IrevalError(f"a comparison needs two rankings or more; given: {', '.join(rankings) or 'none'}")


def _side_data_by_ranking(rankings: Iterable[str], side_data: SideData | Mapping[str, SideData]) -> dict[str, SideData]:
    names = list(rankings)
    if isinstance(side_data, SideData):
        if side_data.timings is not None:
            complaint = "timings are those of one ranking, and several are compared"
            suggestion = 'give each its own: side_data={"name": SideData(timings=…), …}'
            raise InputError(Problem(complaint, place="side_data", suggestion=suggestion))
        return dict.fromkeys(names, side_data)
    if unknown := [name for name in side_data if name not in names]:
        complaint, allowed = f"{unknown[0]!r} is not one of the rankings", f"allowed: {', '.join(names)}"
        hint = did_you_mean(unknown[0], names)
        raise InputError(Problem(complaint, place="side_data", suggestion=hint, allowed=allowed))
    return {name: side_data.get(name, SideData()) for name in names}


def _check_options(
    rankings: Iterable[str], baseline: str | None, test: Test, alternative: Alternative, alpha: float, extremes: int
) -> ComparisonOptions:
    names = list(rankings)
    if baseline == FIRST and FIRST not in names:
        baseline = names[0]
    if baseline is not None and baseline not in names:
        complaint = f"baseline={baseline!r} is not one of the rankings"
        allowed = f"allowed: {FIRST} (the first), {', '.join(names)}"
        raise IrevalError(Problem(complaint, suggestion=did_you_mean(str(baseline), names), allowed=allowed))
    if test not in get_args(Test):
        suggestion = did_you_mean(str(test), get_args(Test))
        raise IrevalError(Problem(f"test={test!r} is unknown", suggestion=suggestion, allowed="allowed: t, sign-flip"))
    if alternative not in get_args(Alternative):
        suggestion, allowed = did_you_mean(str(alternative), get_args(Alternative)), ", ".join(get_args(Alternative))
        problem = Problem(
            f"alternative={alternative!r} is unknown", suggestion=suggestion, allowed=f"allowed: {allowed}"
        )
        raise IrevalError(problem)
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise IrevalError(f"alpha={alpha!r} is not a number between 0 and 1")
    if not isinstance(extremes, Integral) or isinstance(extremes, bool) or extremes < 0:
        raise IrevalError(f"extremes={extremes!r} is not a whole number of 0 or more")
    return ComparisonOptions(baseline, test, float(alpha), int(extremes), alternative)


def _evaluate_one_by_one(
    setting: EvaluationSetup,
    rankings: Mapping[str, FilePath | Rankings | RankingsLike],
    side_data: Mapping[str, SideData],
) -> dict[str, Evaluation]:
    """Evaluate each ranking before the next one is read: hundreds of them need no more memory than two."""
    evaluations: dict[str, Evaluation] = {}
    problems: list[Problem] = []
    for name, source in rankings.items():
        try:
            found = _join_rankings(setting, name, source, side_data[name])
            refuse_missing([found], setting.policies)
        except InputError as error:
            problems += error.problems
            continue
        if not problems:
            evaluations[name] = _evaluate(setting, found)
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return evaluations


def _evaluate(setting: EvaluationSetup, found: JoinedRankings, counting: Mask | None = None) -> Evaluation:
    """Compute the metrics of a ranking; an error names the ranking."""
    try:
        return build_evaluation(setting, found, counting)
    except IrevalError as error:
        raise type(error)(*(_add_place(problem, found.origin) for problem in error.problems)) from error


def _add_place(problem: Problem, origin: str) -> Problem:
    return replace(problem, place=origin if problem.place in ("", origin) else f"{origin}: {problem.place}")


def join_all_rankings(
    setting: EvaluationSetup,
    rankings: Mapping[str, FilePath | Rankings | RankingsLike],
    side_data: Mapping[str, SideData],
) -> tuple[dict[str, JoinedRankings], Mask]:
    """All rankings joined with the judgments, and the queries that count in all of them.

    The problems of all rankings are one error.
    """
    found: dict[str, JoinedRankings] = {}
    problems: list[Problem] = []
    for name, source in rankings.items():
        try:
            found[name] = _join_rankings(setting, name, source, side_data[name])
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*dict.fromkeys(problems))
    refuse_missing(found.values(), setting.policies)
    return found, _mark_counting_queries(found, setting.policies)


def _join_rankings(
    setting: EvaluationSetup, name: str, source: FilePath | Rankings | RankingsLike, side_data: SideData
) -> JoinedRankings:
    """One of the rankings, joined with the judgments; what has no file has its name."""
    found = setting.join_rankings(source, side_data)
    return found if found.origin != "rankings" else found._replace(origin=name)


def _mark_counting_queries(found: Mapping[str, JoinedRankings], policies: Policies) -> Mask:
    """The queries that count in all rankings: all that are judged, or those that every ranking has."""
    present = np.array([each.judged.present for each in found.values()])
    if policies.missing_queries != "ignore":
        return np.ones(present.shape[1], bool)
    everywhere: Mask = np.logical_and.reduce(present, axis=0)
    if not everywhere.any():
        raise InputError(Problem("no judged query is ranked by all of them", place=", ".join(found)))
    return everywhere


def _group_by_metric(evaluations: Mapping[str, Evaluation]) -> Iterable[dict[str, Any]]:
    columns = zip(*(evaluation.metrics for evaluation in evaluations.values()), strict=True)
    return [dict(zip(evaluations, results, strict=True)) for results in columns]


Test = Literal["t", "sign-flip"]

FEW = 20
"""If at most this many queries differ, a significant t is compared with the exact test."""


@dataclass
class ComparisonOptions:
    """The question of a comparison: baseline, test and its side, level, and the number of extremes to list."""

    baseline: str | None = None
    test: Test = "t"
    alpha: float = 0.05
    extremes: int = 3
    alternative: Alternative = "two-sided"


@dataclass(eq=False)
class PairedValues:
    """One metric of all rankings over the units that all have: ``values`` is a row a ranking, a column a unit."""

    results: Mapping[str, MetricResult]
    names: Sequence[str]
    units: Sequence[str]
    values: Floats

    @property
    def metric(self) -> MetricResult:
        """One of the results, for everything that is the same in all of them."""
        return self.results[self.names[0]]

    @property
    def sign(self) -> int:
        """1 where higher values are better, -1 where lower ones are."""
        return -1 if self.metric.direction == "lower" else 1


def _compare_metric(results: Mapping[str, MetricResult], question: ComparisonOptions) -> MetricComparison:
    paired = _pair_values(results)
    metric = paired.metric
    untested = explain_untested(metric, len(paired.units))
    figures = {name: result.value for name, result in results.items()}
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number in the end is None
        pairs = () if untested else _compare_pairs(paired, question)
    return MetricComparison(
        name=metric.name,
        direction=metric.direction,
        unit=metric.unit,
        aggregate=metric.aggregate,
        values=figures,
        best=_find_best(figures, metric.direction),
        leaders=() if untested else _find_leaders(paired),
        units=len(paired.units),
        untested=untested,
        pairs=pairs,
    )


def _pair_values(results: Mapping[str, MetricResult]) -> PairedValues:
    first, *others = (result.values for result in results.values())
    units = [unit for unit in first if all(unit in other for other in others)]
    values = [[result.values[unit] for unit in units] for result in results.values()]
    return PairedValues(results, list(results), units, np.array(values, np.float64).reshape(len(results), len(units)))


def explain_untested(metric: MetricResult | Metric, units: int) -> str:
    """The reason why differences of a metric with this number of paired units cannot be tested; empty if they can."""
    if metric.unit == "run":
        return "it has one value per ranking, so there are no pairs to test"
    if metric.aggregate != "mean":
        return f"its figure is not a mean ({metric.aggregate})"
    if metric.direction == "neither":
        return "neither higher nor lower values are better"
    return "" if units else f"no {metric.unit} has a value in all rankings"


def _find_best(figures: Mapping[str, float | None], direction: str) -> tuple[str, ...]:
    known = {name: figure for name, figure in figures.items() if figure is not None}
    if direction == "neither" or not known:
        return ()
    top = max(known.values()) if direction == "higher" else min(known.values())
    best = tuple(name for name, figure in known.items() if abs(figure - top) <= TIE * max(1.0, abs(top)))
    return best if len(best) < len(figures) else ()


def _compare_pairs(paired: PairedValues, question: ComparisonOptions) -> tuple[Pair, ...]:
    """Each later ranking against each earlier one, or each against the baseline; corrected together."""
    found: list[Pair] = []
    for other, rows in _list_opponents(paired.names, question.baseline):
        differing = differences(paired.values[rows], paired.values[other])
        found += _compare_with(paired, other, rows, differing, question)
    adjusted = holm(np.array([np.nan if pair.p is None else pair.p for pair in found]))
    judged = _add_sign_flips(
        [_decide_better(pair, p, paired, question) for pair, p in zip(found, adjusted, strict=True)], paired, question
    )
    leaders = set(_find_leaders(paired))
    return tuple(
        _add_extremes(pair, paired, question.extremes)
        if question.baseline is not None or {pair.ranking, pair.other} == leaders
        else pair
        for pair in judged
    )


def _list_opponents(names: Sequence[str], baseline: str | None) -> list[tuple[int, list[int]]]:
    if baseline is None:
        return [(other, list(range(other + 1, len(names)))) for other in range(len(names) - 1)]
    other = names.index(baseline)
    return [(other, [row for row in range(len(names)) if row != other])]


def _find_leaders(paired: PairedValues) -> tuple[str, ...]:
    order = np.argsort(-paired.sign * paired.values.mean(axis=1), kind="stable")[:2]
    return tuple(paired.names[row] for row in order.tolist())


def _compare_with(
    paired: PairedValues, other: int, rows: list[int], differing: Floats, question: ComparisonOptions
) -> list[Pair]:
    """Rankings against one other; ``differing`` is a row a ranking. Not yet corrected."""
    mean = float(paired.values[other].mean())
    better = (paired.sign * differing > 0).sum(axis=1).tolist()
    worse = (paired.sign * differing < 0).sum(axis=1).tolist()
    pairs = []
    for i, row in enumerate(rows):
        t = paired_t(differing[i], question.alpha, question.alternative)
        test, p = _compute_p(t, differing[i], question)
        pairs.append(
            Pair(
                ranking=paired.names[row],
                other=paired.names[other],
                difference=t.mean,
                relative=t.mean / abs(mean) if mean else None,
                wins=better[i],
                ties=len(paired.units) - better[i] - worse[i],
                losses=worse[i],
                sd=_finite_or_none(t.sd),
                standard_error=_finite_or_none(t.standard_error),
                low=_finite_or_none(t.low),
                high=_finite_or_none(t.high),
                test=test,
                t=_finite_or_none(t.t),
                df=t.df or None,
                p=p,
                p_adjusted=None,
                better="",
            )
        )
    return pairs


def _compute_p(t: PairedT, differing: Floats, question: ComparisonOptions) -> tuple[Test, float | None]:
    """The p-value and its test: where all differences are equal there is no spread, and the signs alone can tell."""
    if question.test == "sign-flip" or math.isinf(t.t):
        return "sign-flip", _flip_signs(differing, question)
    return "t", _finite_or_none(t.p)


def _flip_signs(differing: Floats, question: ComparisonOptions) -> float:
    flipped = sign_flip(differing)
    return {"two-sided": flipped.p, "greater": flipped.p_higher, "less": flipped.p_lower}[question.alternative]


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _decide_better(pair: Pair, adjusted: float, paired: PairedValues, question: ComparisonOptions) -> Pair:
    """The pair with its corrected p, and who is better by that."""
    better = ""
    if adjusted < question.alpha:
        better = pair.ranking if pair.difference * paired.sign > 0 else pair.other
    return replace(pair, p_adjusted=None if pair.p is None else float(adjusted), better=better)


def _add_sign_flips(pairs: list[Pair], paired: PairedValues, question: ComparisonOptions) -> list[Pair]:
    """The pairs, with the exact test where a significant t rests on few changed queries; corrected over all pairs.

    In that correction the exact test replaces t wherever few queries changed. For other pairs t is reliable, and much
    faster.
    """
    few = [pair.test == "t" and pair.p is not None and pair.wins + pair.losses <= FEW for pair in pairs]
    if not any(one and pair.better for one, pair in zip(few, pairs, strict=True)):
        return pairs
    known = [
        _flip_signs(_compute_differences(pair, paired), question) if one else pair.p
        for one, pair in zip(few, pairs, strict=True)
    ]
    adjusted = holm(np.array([np.nan if p is None else p for p in known]))
    return [
        replace(pair, sign_flip_p=p, sign_flip_p_adjusted=corrected) if one and pair.better else pair
        for pair, one, p, corrected in zip(pairs, few, known, adjusted.tolist(), strict=True)
    ]


def _compute_differences(pair: Pair, paired: PairedValues) -> Floats:
    one, other = (paired.values[paired.names.index(name)] for name in (pair.ranking, pair.other))
    return differences(one, other)


def _add_extremes(pair: Pair, paired: PairedValues, count: int) -> Pair:
    """The pair with its greatest gains and its greatest drops; equal ones in the order of the judgments."""
    one, other = (paired.values[paired.names.index(name)] for name in (pair.ranking, pair.other))
    gain = paired.sign * _compute_differences(pair, paired)

    def changes(size: Floats) -> tuple[Change, ...]:
        rows = np.argsort(-size, kind="stable")[:count]
        return tuple(Change(paired.units[i], float(other[i]), float(one[i])) for i in rows.tolist() if size[i] > 0)

    return replace(pair, gains=changes(gain), drops=changes(-gain))
