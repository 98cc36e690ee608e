"""A ruling that evidence decides, with the effect of unjudged documents, and the verdict where it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.results.outcome import SliceFigures, Verdict
from pytest_ireval.rules.context import Ruling
from pytest_ireval.rules.evidence import (
    Decision,
    Mask,
    Robustness,
    Tries,
    TryEvidence,
    decided,
    decided_by_ties,
    factor_of,
    for_looks,
    for_tries,
    robustness_of,
)
from pytest_ireval.rules.question import Question, mean_of, needed_for
from pytest_ireval.rules.side import Floats
from pytest_ireval.rules.wording import (
    bounds_words,
    change_words,
    decided_words,
    drawing_words,
    drift_facts,
    drift_words,
    drop_words,
    lone_words,
    look_words,
    numbers_words,
    size_words,
    too_many_looks,
    unjudged_words,
    who_got_worse,
    worst_changes,
)
from pytest_ireval.statistics.estimate import estimated, weighting
from pytest_ireval.statistics.mean_evidence import FEWEST, p_above, p_below
from pytest_ireval.suites.options import AlwaysEvidenceOptions
from pytest_ireval.suites.quantities import Tolerance


def tested_p(options: AlwaysEvidenceOptions, question: Question, p: Callable[[], float]) -> float | None:
    """The p for the suite's correction for many verdicts; None where there are too few queries for a test."""
    if not question.about_a_mean or question.worth < options.fewest or question.weighting.exact:
        return None
    return min(1.0, p() * for_looks(options, question.seen))


class _Settled(NamedTuple):
    """The verdict, and the reason in words if it differs from that of the figures."""

    verdict: Verdict
    because: str = ""
    warning: bool = False


def ruled_by_evidence(
    options: AlwaysEvidenceOptions,
    question: Question,
    figures: SliceFigures,
    beside: tuple[SliceFigures, ...],
    *,
    over: bool,
    beyond: Tolerance | None = None,
) -> Ruling:
    """Judge a mean; ``over`` tells whether the observed fall is beyond the tolerance, ``beyond`` is a broken limit."""
    seen = question.seen
    factor = factor_of(options, seen, question.evidence.p_worse)
    if question.evidence.left:
        figures = replace(figures, adjusted=min(1.0, factor * question.evidence.p_worse))
    if factor > 1 and figures.needed is not None and question.allowed:  # other verdicts cost more queries
        figures = replace(figures, needed=needed_for(question, question.drop or 0.0, options.alpha / factor))
    decision = decided(question.evidence, factor, options.alpha)
    few = question.worth < options.fewest
    robustness = None if decision.identical or few else robustness_of(question, factor, options.fewest)
    settled = (
        _settled(options, question, decision, robustness, over=over, few=few)
        if beyond is None
        else _Settled("fail", f"; it fell by more than the hard limit of {beyond}")
    )
    failed = settled.verdict == "fail"
    worst = worst_changes(seen, question.values, failed=settled.verdict != "pass")
    words = few_words(options, question) if few else decided_words(question, figures, decision)
    return Ruling(
        settled.verdict,
        f"{change_words(question, figures)}: {words}{settled.because}",
        " ".join(filter(None, (drift_words(question, figures), who_got_worse(seen, figures, worst)))),
        figures=(replace(figures, over=failed), *beside),
        queries=worst.queries,
        more_queries=worst.more,
        facts=tuple(_facts(options, question, figures, decision, robustness, factor)),
        warning=settled.warning,
        numbers={**numbers_of(figures), "p": question.evidence.p_worse, "p_safe": question.evidence.p_safe},
        statistics=tuple(_statistics(options, question, figures, decision)),
    )


def _settled(
    options: AlwaysEvidenceOptions,
    question: Question,
    decision: Decision,
    robustness: Robustness | None,
    *,
    over: bool,
    few: bool,
) -> _Settled:
    verdict: Verdict = "inconclusive" if few and not decision.identical else decision.verdict
    if verdict == "fail" and robustness is not None and not robustness.failing:
        because = f"; inconclusive, as {unjudged_words(robustness)}"
        return _Settled("fail" if options.on_inconclusive == "fail" else "inconclusive", because, warning=True)
    if verdict != "inconclusive":
        return _Settled(verdict)
    if over and options.on_inconclusive == "observed" and robustness is not None and not robustness.falling:
        because = f"; the observed change is more than {drop_words(question)}, but {unjudged_words(robustness)}"
        return _Settled("inconclusive", because, warning=True)
    if few and question.seen.slice.conditions and options.on_inconclusive != "fail":
        return _Settled("inconclusive")  # it is asked for its hard limit alone
    return undecided(options, over=over, tolerance=drop_words(question))


def undecided(options: AlwaysEvidenceOptions, *, over: bool, tolerance: str) -> _Settled:
    """Settle the verdict where these queries cannot tell."""
    if options.on_inconclusive == "fail":
        return _Settled("fail", "; on_inconclusive: fail")
    if options.on_inconclusive == "warn":
        return _Settled("inconclusive", warning=True)
    if over:
        return _Settled("fail", f"; the observed change decides, and it is more than {tolerance}")
    return _Settled("inconclusive", f"; not red, as the observed change is not more than {tolerance}")


def shown_of_mean(
    options: AlwaysEvidenceOptions, tries: Tries, tolerance: Tolerance, weights: Floats | None, over: Mask
) -> TryEvidence:
    """Test drawn changes; with t tests alone, because exact ones of every try take too long."""
    weigh, gains = weighting(weights, tries.before.size), tries.sign * tries.changes
    toward = 1.0 if mean_of(tries.before, weights) >= 0 else -1.0
    margins = tolerance.relative * toward * tries.before + tolerance.absolute
    if weigh.worth < max(options.fewest, FEWEST):
        p, safe = np.ones(len(gains)), np.zeros(len(gains), bool)
        if tries.slice.conditions and options.on_inconclusive != "fail":
            over = np.zeros(len(gains), bool)  # not judged, but for a hard limit
    else:
        counted, allowed = gains[:, weigh.counted], margins[weigh.counted]
        p = for_tries(options, tries) * p_below(estimated(counted, weigh))
        safe = p_above(estimated(counted + allowed, weigh)) < options.alpha
    safe |= ~gains.any(axis=1)  # nothing changed
    return TryEvidence(p, safe, undecided_red(options, over), options.alpha)


def undecided_red(options: AlwaysEvidenceOptions, over: Mask) -> Mask:
    """The tries that fail where evidence cannot tell."""
    if options.on_inconclusive == "observed":
        return over
    return np.full(over.shape, options.on_inconclusive == "fail")


def few_words(options: AlwaysEvidenceOptions, question: Question) -> str:
    """The reason why nothing is tested."""
    if lone := lone_words(question):
        return lone
    size = size_words(question)
    verb = "is" if question.gains.size == 1 else "are"
    if question.clusters is not None:
        worth = "" if question.worth == question.clusters else f", equivalent to {question.worth} of equal weight"
        return f"{size}{worth}: evidence needs {options.fewest} clusters"
    if question.worth < question.gains.size:
        size, verb = f"{size}, weighted equivalent to {question.worth},", "are"
    return f"{size} {verb} fewer than the {options.fewest} that evidence needs"


def _facts(
    options: AlwaysEvidenceOptions,
    question: Question,
    figures: SliceFigures,
    decision: Decision,
    robustness: Robustness | None,
    factor: float,
) -> Iterator[str]:
    yield from drift_facts(question, figures)
    if robustness is not None:
        yield from bounds_words(robustness)
    if not decision.identical and figures.p is not None:
        yield from too_many_looks(question.seen, options.looks, options.alpha)
    if decision.safe and robustness is not None and robustness.worst.verdict != "pass":
        yield "judgments of unjudged documents could change this pass into another verdict"
    yield from decided_by_ties(question, lambda other: decided(other.evidence, factor, options.alpha).verdict)


def _statistics(
    options: AlwaysEvidenceOptions, question: Question, figures: SliceFigures, decision: Decision
) -> Iterator[str]:
    yield from numbers_words(figures, question.seen.tests)
    if not decision.identical and figures.p is not None:
        yield from look_words(question.seen, options.looks, options.alpha)
    yield from drawing_words(question)


def numbers_of(figures: SliceFigures) -> Mapping[str, float]:
    """The figures of a result for programs."""
    values = (figures.now, figures.baseline, figures.change, figures.tolerance)
    found = zip(("value", "baseline", "change", "tolerance"), values, strict=True)
    return {name: value for name, value in found if value is not None}
