"""What was decided by evidence, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.plurals import counted, roughly
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.deciding import Decision
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.robustness import Robustness, robustness_of
from pytest_ireval.rules.wording import moved, on
from pytest_ireval.suites.quantities import Tolerance


def change_words(question: Question, figures: SliceFigures) -> str:
    """``nDCG@10 fell by 0.0080 (90% interval -0.021 to +0.005)``."""
    text = f"{question.seen.metric} {moved(figures, absolute=True)}{on(question.seen)}"
    if figures.low is None or figures.high is None:
        return text
    return f"{text} ({figures.level * 100:.4g}% interval {figures.low:+.3f} to {figures.high:+.3f})"


def drop_words(question: Question) -> str:
    """``a 2% drop``, ``a drop of 0.01``; a rise, where lower values are better."""
    word = "drop" if question.seen.sign > 0 else "rise"
    tolerance = question.tolerance or Tolerance()
    return f"a {word} of {tolerance}" if tolerance.absolute else f"a {tolerance} {word}"


def no_weight_words(question: Question) -> str:
    """Why there is no figure, where that is why."""
    return ": all of its queries have weight 0" if question.weightless else ""


def decided_words(question: Question, figures: SliceFigures, decision: Decision) -> str:
    """Why it is what it is; of an inconclusive one, how many queries could tell."""
    drop = drop_words(question)
    if decision.identical:
        return "nothing changed"
    if decision.safe:
        return f"worse, but by less than {drop}" if decision.worse else f"{drop} is ruled out"
    if decision.worse:
        return f"worse, by more than {drop}" if _beyond(question) else f"worse, and {drop} is not ruled out"
    return cannot_tell(question, figures, f"a harmless change from {drop}")


def cannot_tell(question: Question, figures: SliceFigures, what: str) -> str:
    """``200 queries cannot tell …; 520 would``."""
    size = counted(figures.queries, question.seen.metric.unit)
    text = f"{size} cannot tell {what}"
    changed = figures.worse + figures.better
    if 0.5**changed >= question.alpha:  # chance alone moves all of them one way as often
        return f"{text}: only {changed} of them changed"
    if figures.p is not None and figures.adjusted is not None and figures.p < question.alpha <= figures.adjusted:
        return f"{text}: one of {question.seen.tests} verdicts moves as much by chance"
    if figures.needed is None or not figures.tolerance:
        return text
    if figures.needed <= figures.queries:
        return f"{text}: the change lies between the two"
    return f"{text}; {roughly(figures.needed):,} would"


def _beyond(question: Question) -> bool:
    """Whether all of the interval is beyond what is allowed."""
    return question.evidence.high < -(question.allowed or 0.0)


def unjudged_words(robustness: Robustness) -> str:
    """Why a fall is none for certain."""
    them = counted(robustness.documents, "unjudged document")
    return f"judgments of {them} could turn it: {_without(robustness)}"


def _without(robustness: Robustness) -> str:
    if robustness.condensed_change is None:
        return "no list has anything else"
    them = "it" if robustness.documents == 1 else "them"
    return f"without {them} the change{robustness.left} is {robustness.sign * robustness.condensed_change + 0.0:+.3f}"


def numbers_words(figures: SliceFigures, tests: int, robustness: Robustness | None) -> Iterator[str]:
    """The numbers behind a decision, for those who know what they are."""
    if figures.p is not None:
        corrected = (
            ""
            if figures.adjusted is None or tests < 2
            else f", corrected for {tests} verdicts {p_words(figures.adjusted)}"
        )
        changed = figures.worse + figures.better
        skewed = (
            ""
            if figures.skew is None
            else f"; {changed} of {figures.queries} changed, skewness {_signed(figures.skew)}"
        )
        yield f"p {p_words(figures.p)}{corrected}{skewed}"
    if figures.effective is not None:
        yield f"weighted by searches: as good as {counted(round(figures.effective), 'query')} of equal weight"
    if robustness is not None:
        yield from _bounds(robustness)


def open_words(question: Question) -> Iterator[str]:
    """Of a fall that was observed: whether judgments of unjudged documents could undo it."""
    robustness = robustness_of(question, 1.0)
    if robustness is None:
        return
    if robustness.best_change < -(question.allowed or 0.0):
        fell = "it fell" if robustness.sign > 0 else "it rose"
        them = counted(robustness.documents, "unjudged document")
        yield f"{fell} by more than is allowed, {_whatever(robustness)} the {them} {_get(robustness)}"
    else:
        yield from _bounds(robustness)


def _bounds(robustness: Robustness) -> Iterator[str]:
    about = "" if robustness.exact else "about "
    low, high = sorted(robustness.sign * each + 0.0 for each in (robustness.worst_change, robustness.best_change))
    yield (
        f"{counted(robustness.documents, 'unjudged document')}: the change lies between {about}"
        f"{low:+.3f} and {high:+.3f}, {_whatever(robustness)} {_they(robustness)}; {_without(robustness)}"
    )


def _whatever(robustness: Robustness) -> str:
    return "whatever grade" if robustness.documents == 1 else "whatever grades"


def _get(robustness: Robustness) -> str:
    return "gets" if robustness.documents == 1 else "get"


def _they(robustness: Robustness) -> str:
    return "it gets" if robustness.documents == 1 else "they get"


def _signed(skew: float) -> str:
    """``-2.6``; what rounds to nothing has no sign."""
    text = f"{skew:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def p_words(p: float) -> str:
    """``.032``, ``.0004``; what is too small to matter is ``< .0001``."""
    if p < 1e-4:
        return "< .0001"
    return "1" if p >= 0.9995 else f"{p:.{4 if p < 0.001 else 3}f}".lstrip("0")
