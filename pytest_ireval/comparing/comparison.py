"""Two or more rankings under the same judgments: who is better on which metric, and whether that can be chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np

from pytest_ireval.comparing.pairing import Question, Test, compared
from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.evaluating.evaluation import evaluated
from pytest_ireval.evaluating.policies import MissingQueries, NoRelevant, Ties, Unjudged
from pytest_ireval.evaluating.setting import Companions, Setting, refuse_missing, set_up
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.comparison import Comparison
from pytest_ireval.results.evaluation import Evaluation, Policies
from pytest_ireval.retrieval.doors import Brought, JudgmentsLike, RankingsLike
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Grades
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judged import Mask
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings

FIRST = "first"
"""As a baseline: the ranking that was given first, unless one has that name."""


def compare(
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: Mapping[str, FilePath | Rankings | RankingsLike],
    metrics: str | Metric | Iterable[str | Metric],
    *,
    baseline: str | None = None,
    test: Test = "t",
    alpha: float = 0.05,
    extremes: int = 3,
    ties: Ties = "trec",
    missing_queries: MissingQueries = "error",
    no_relevant: NoRelevant = "zero",
    unjudged: Unjudged = "irrelevant",
    depth: int | None = None,
    scale: float | None = None,
    grades: Grades = "integer",
    collection: int | None = None,
    judgments_format: Format = None,
    rankings_format: Format = None,
    attributes: Mapping[str, Mapping[str, Any]] | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    timings: Mapping[str, Mapping[str, float]] | None = None,
    reference: FilePath | Rankings | RankingsLike | None = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Comparison:
    """Compare named rankings under the same judgments; each is anything that ``evaluate`` takes.

    ``baseline`` names the ranking that all others are compared with (``first``: the first); without one every pair is
    compared. ``test`` is the paired t test (``t``) or the exact sign-flip test (``sign-flip``), two-sided, with Holm's
    correction over all pairs of one metric; a difference counts as significant when its corrected p is below
    ``alpha``. ``extremes`` is how many of the greatest gains and drops are listed, for each pair with the baseline or
    for the best two. With ``missing_queries="ignore"`` only queries that all rankings have count, in all of them.
    ``timings`` has one mapping for each ranking; all other arguments are those of ``evaluate``.
    """
    _check_rankings(rankings)
    question = _question(rankings, baseline, test, alpha, extremes)
    policies = Policies(ties, missing_queries, no_relevant, unjudged, depth, scale, grades, collection)
    setting = set_up(judgments, metrics, policies, registry, progress, judgments_format, rankings_format)
    companions = Companions(sessions, None, attributes, preferences, reference)
    found = _all_brought(setting, rankings, companions, timings or {})
    refuse_missing(found.values(), policies)
    counting = _counting(found, policies)
    evaluations = {name: _evaluated(setting, each, counting) for name, each in found.items()}
    return Comparison(
        rankings=evaluations,
        metrics=tuple(compared(results, question) for results in _by_metric(evaluations)),
        baseline=question.baseline,
        test=question.test,
        alpha=question.alpha,
        queries=int(counting.sum()),
        asked=setting.asked,
    )


def _check_rankings(rankings: object) -> None:
    if not isinstance(rankings, Mapping):
        raise IrevalError(f'rankings are a {type(rankings).__name__}, not a mapping as {{"name": rankings, …}}')
    for name in rankings:
        if not isinstance(name, str) or not name.strip():
            raise IrevalError(f"{name!r} is no name of a ranking")
    if len(rankings) < 2:
        raise IrevalError(f"a comparison needs two rankings or more; given: {', '.join(rankings) or 'none'}")


def _question(rankings: Iterable[str], baseline: str | None, test: Test, alpha: float, extremes: int) -> Question:
    """What is asked, if it can be answered."""
    names = list(rankings)
    if baseline == FIRST and FIRST not in names:
        baseline = names[0]
    if baseline is not None and baseline not in names:
        raise IrevalError(
            Problem(
                f"baseline={baseline!r} is none of the rankings",
                suggestion=did_you_mean(str(baseline), names),
                allowed=f"allowed: {FIRST} (the first), {', '.join(names)}",
            )
        )
    if test not in get_args(Test):
        allowed = get_args(Test)
        raise IrevalError(
            Problem(
                f"test={test!r} is unknown",
                suggestion=did_you_mean(str(test), allowed),
                allowed="allowed: t, sign-flip",
            )
        )
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise IrevalError(f"alpha={alpha!r} is not a number between 0 and 1")
    if not isinstance(extremes, Integral) or isinstance(extremes, bool) or extremes < 0:
        raise IrevalError(f"extremes={extremes!r} is not a whole number from 0 on")
    return Question(baseline, test, float(alpha), int(extremes))


def _all_brought(
    setting: Setting,
    rankings: Mapping[str, FilePath | Rankings | RankingsLike],
    companions: Companions,
    timings: Mapping[str, Mapping[str, float]],
) -> dict[str, Brought]:
    """All rankings; what is wrong with any of them is one error."""
    if unknown := [name for name in timings if name not in rankings]:
        raise InputError(Problem(f"{unknown[0]!r} is none of the rankings", place="timings"))
    found: dict[str, Brought] = {}
    problems: list[Problem] = []
    for name, source in rankings.items():
        try:
            brought = setting.brought(source, companions._replace(timings=timings.get(name)))
        except InputError as error:
            problems += error.problems
            continue
        found[name] = brought if brought.origin != "rankings" else brought._replace(origin=name)
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return found


def _counting(found: Mapping[str, Brought], policies: Policies) -> Mask:
    """The queries that count in all rankings: all that are judged, or those that every ranking has."""
    present = np.array([each.judged.present for each in found.values()])
    if policies.missing_queries != "ignore":
        return np.ones(present.shape[1], bool)
    everywhere: Mask = np.logical_and.reduce(present, axis=0)
    if not everywhere.any():
        raise InputError(Problem("no judged query has a ranking in all of them", place=", ".join(found)))
    return everywhere


def _evaluated(setting: Setting, found: Brought, counting: Mask) -> Evaluation:
    """The evaluation of one ranking; what goes wrong says of which."""
    try:
        return evaluated(setting, found, counting)
    except IrevalError as error:
        raise type(error)(*(_placed(problem, found.origin) for problem in error.problems)) from error


def _placed(problem: Problem, origin: str) -> Problem:
    return replace(problem, place=origin if problem.place in ("", origin) else f"{origin}: {problem.place}")


def _by_metric(evaluations: Mapping[str, Evaluation]) -> Iterable[dict[str, Any]]:
    """For each metric its result in each ranking."""
    columns = zip(*(evaluation.metrics for evaluation in evaluations.values()), strict=True)
    return [dict(zip(evaluations, results, strict=True)) for results in columns]
