"""How a fall of a mean is judged by evidence, with the effect of unjudged documents on a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.results.outcome import SliceFigures, Verdict
from pytest_ireval.rules.context import RuleResult
from pytest_ireval.rules.evidence import Robustness, factor_of, for_looks, left_open_of, robustness_of
from pytest_ireval.rules.question import Question, needed_for
from pytest_ireval.rules.wording import (
    bounds_words,
    cannot_tell,
    describe_units,
    drift_facts,
    drift_words,
    fell_words,
    look_words,
    low_baseline_words,
    numbers_words,
    open_words,
    size_words,
    too_many_looks,
    unjudged_words,
    who_got_worse,
    worst_changes,
    worst_words,
    would_words,
)
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.options import AlwaysEvidenceOptions
from pytest_ireval.suite.quantities import Tolerance


def tested_p(options: AlwaysEvidenceOptions, question: Question, p: Callable[[], float]) -> float | None:
    """The p for the suite's correction for many verdicts; None where there are too few queries for a test."""
    if not question.about_a_mean or question.worth < options.fewest:
        return None
    return min(1.0, p() * for_looks(options, question.context))


class _Decision(NamedTuple):
    """The verdict on a fall, and the reason in words where it is not that of the figures."""

    verdict: Verdict
    because: str = ""
    warning: bool = False
    significant: bool = False
    """True if chance is ruled out."""
    robustness: Robustness | None = None
    """What the unjudged documents could change, where the fall is beyond the tolerance."""


def rule_by_evidence(
    options: AlwaysEvidenceOptions,
    question: Question,
    figures: SliceFigures,
    beside: tuple[SliceFigures, ...],
    hard_limit: Tolerance | None,
) -> RuleResult:
    """Pass a fall within the tolerance; fail one beyond it if chance is ruled out, or if it exceeds the hard limit."""
    context, evidence, tolerance = question.context, question.evidence, question.tolerance or Tolerance()
    factor = factor_of(options, context, evidence.p_worse)
    figures = replace(figures, adjusted=min(1.0, factor * evidence.p_worse))
    if factor > 1 and figures.needed is not None and question.allowed:  # other verdicts cost more queries
        figures = replace(figures, needed=needed_for(question, question.drop or 0.0, LEVEL / factor))
    hard = None if hard_limit is None else hard_limit.allowed(question.baseline) or None  # a share of 0 limits nothing
    decision = _decide(options, question, figures, factor, hard)
    passed = decision.verdict == "pass"
    worst = worst_changes(context, question.values, failed=not passed)
    limit, words = tolerance, f"tolerance {tolerance}"
    if hard_limit and hard is not None and not passed and question.fell_beyond(hard):
        limit, words = hard_limit, f"hard limit {hard_limit}"
    elif decision.significant:
        words += ", statistically significant"
    settled_by_queries = decision.verdict == "inconclusive" and decision.robustness is None
    return RuleResult(
        decision.verdict,
        f"{fell_words(context, figures, limit, words)}{decision.because}"
        f"{worst_words(context, worst.queries) if settled_by_queries else ''}",
        " ".join(filter(None, (drift_words(question, figures), who_got_worse(context, figures, worst)))),
        figures=(replace(figures, over=decision.verdict == "fail"), *beside),
        queries=worst.queries,
        more_queries=worst.more,
        facts=tuple(_facts(question, figures, decision)),
        warning=decision.warning,
        numbers={**numbers_of(figures), "p": evidence.p_worse, **({} if hard is None else {"hard_limit": hard})},
        statistics=tuple(_statistics(question, figures)),
    )


def verdict_on_fall(options: AlwaysEvidenceOptions, question: Question, factor: float, hard: float | None) -> Verdict:
    """The verdict by the present judgments alone; ``factor`` corrects the p for the suite's other verdicts."""
    if not question.fell_beyond(question.allowed or 0.0):
        return "pass"
    if hard is not None and question.fell_beyond(hard):
        return "fail"
    enough = question.worth >= options.fewest
    return "fail" if enough and min(1.0, factor * question.evidence.p_worse) < LEVEL else "inconclusive"


def _decide(
    options: AlwaysEvidenceOptions, question: Question, figures: SliceFigures, factor: float, hard: float | None
) -> _Decision:
    """The verdict; a failure that judgments could undo is inconclusive, unless it is beyond the hard limit."""
    verdict = verdict_on_fall(options, question, factor, hard)
    if verdict == "pass" or (hard is not None and question.fell_beyond(hard)):
        return _Decision(verdict)
    if verdict == "inconclusive":
        words = cannot_tell(question, figures, "this from chance")
        if question.worth < options.fewest:
            words = f"{few_words(options, question)}{would_words(figures)}"
        settled = undecided(options)
        return _Decision(settled.verdict, f": {words}{settled.because}", settled.warning)
    left_open = left_open_of(question)
    if left_open is None or left_open.confirmed(
        options.fewest, lambda other: verdict_on_fall(options, other, factor, None) == "fail"
    ):
        return _Decision("fail", significant=True)
    robustness = robustness_of(question, left_open)
    because = f": inconclusive, as {unjudged_words(robustness)}"
    if options.on_inconclusive == "fail":
        return _Decision("fail", f"{because}; on_inconclusive: fail", significant=True, robustness=robustness)
    return _Decision("inconclusive", because, warning=True, significant=True, robustness=robustness)


class Undecided(NamedTuple):
    """The verdict where these queries cannot tell, and the option that it follows from."""

    verdict: Verdict
    because: str = ""
    warning: bool = False


def undecided(options: AlwaysEvidenceOptions) -> Undecided:
    """Settle the verdict where these queries cannot tell."""
    if options.on_inconclusive == "fail":
        return Undecided("fail", "; on_inconclusive: fail")
    return Undecided("inconclusive", warning=True)


def few_words(options: AlwaysEvidenceOptions, question: Question) -> str:
    """The reason why nothing is tested."""
    size = size_words(question)
    verb = "is" if question.gains.size == 1 else "are"
    if question.clusters is not None:
        worth = "" if question.worth == question.clusters else f", equivalent to {question.worth} of equal weight"
        return f"{size}{worth}: evidence needs {options.fewest} clusters"
    if question.worth < question.gains.size:
        size, verb = f"{size}, weighted equivalent to {question.worth},", "are"
    return f"{size} {verb} fewer than the {options.fewest} that evidence needs"


def _facts(question: Question, figures: SliceFigures, decision: _Decision) -> Iterator[str]:
    yield from drift_facts(question, figures)
    if decision.verdict != "pass":
        yield from low_baseline_words(question, figures)
        yield from bounds_words(decision.robustness) if decision.robustness else open_words(question)
    if figures.p is not None:
        yield from too_many_looks(question.context)


def _statistics(question: Question, figures: SliceFigures) -> Iterator[str]:
    yield from numbers_words(figures, question.context.tests)
    if figures.p is not None:
        yield from look_words(question.context)
    yield from describe_units(question)


def numbers_of(figures: SliceFigures) -> Mapping[str, float]:
    """The figures of a result for programs."""
    values = (figures.now, figures.baseline, figures.change, figures.tolerance)
    found = zip(("value", "baseline", "change", "tolerance"), values, strict=True)
    return {name: value for name, value in found if value is not None}
