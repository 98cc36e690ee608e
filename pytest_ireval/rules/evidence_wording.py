"""What was decided by evidence, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.plurals import counted, roughly
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.deciding import Decision
from pytest_ireval.rules.drift import AcceptedChange, Walk
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.robustness import Robustness, robustness_of
from pytest_ireval.rules.ruling import percent
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.wording import metric_words, moved, on
from pytest_ireval.suites.quantities import Tolerance

NAMED = 3
"""This many of the largest accepted losses are named."""


def change_words(question: Question, figures: SliceFigures) -> str:
    """``nDCG@10 fell by 0.0080 (90% interval -0.021 to +0.005)``."""
    text = f"{metric_words(question.seen, figures)} {moved(figures, absolute=True)}{on(question.seen)}"
    if question.evidence.changed and not question.evidence.left:
        return f"{text} (exact: these queries are the population)"
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
    text = f"{size_words(question)} cannot tell {what}"
    changed = question.evidence.moved
    if 0.5**changed >= question.alpha:  # chance alone moves all of them one way as often
        units = "of them" if question.clusters is None else f"of the {question.clusters} clusters"
        return f"{text}: only {changed} {units} changed"
    if figures.p is not None and figures.adjusted is not None and figures.p < question.alpha <= figures.adjusted:
        many = f"{question.seen.tests} verdicts" if question.seen.tests > 1 else "many changes since one anchor"
        return f"{text}: one of {many} moves as much by chance"
    if figures.needed is None or not figures.tolerance:
        return text
    if figures.needed <= figures.queries:
        return f"{text}: the change lies between the two"
    return f"{text}; {roughly(figures.needed):,} would"


def size_words(question: Question) -> str:
    """``60 queries``, ``60 queries in 12 clusters``."""
    size = counted(question.gains.size, question.seen.metric.unit)
    return size if question.clusters is None else f"{size} in {counted(question.clusters, 'cluster')}"


def lone_words(question: Question) -> str:
    """Strata that have too few units to show how much these differ; nothing where all have enough."""
    drawing = question.seen.population.drawing
    strata = drawing.strata if drawing is not None else None
    if strata is None or not question.weighting.lone:
        return ""
    unit = "query" if drawing is None or drawing.clusters is None else "cluster"
    there = dict.fromkeys(question.weighting.lone, 0)
    codes = strata.codes[question.values.place][question.weighting.counted]
    there |= {place: 1 for place in there if (codes == place).any()}
    named = [f"{strata.column}={strata.names[place]} has {counted(found, unit)}" for place, found in there.items()]
    return f"{', '.join(named)} with a value: evidence takes two of each stratum"


def drawing_words(question: Question) -> Iterator[str]:
    """What was known of how the queries were drawn, and changed the evidence."""
    drawing, evidence = question.seen.population.drawing, question.evidence
    if drawing is None or not evidence.changed:
        return
    if question.clusters is not None:
        yield f"{size_words(question)}: variants of one intent count together"
    sampling = question.drawn[1]
    if (
        sampling is not None
        and sampling.strata is not None
        and drawing.strata is not None
        and question.weighting.strata
    ):
        yield f"mean of the strata by their shares: {drawing.strata}"
    if 0 < evidence.left < 1:
        part = f" of a population of {drawing.size:,}" if drawing.size is not None else ""
        yield f"these queries are a large part{part}: the interval is {1 - evidence.left**0.5:.0%} shorter"


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


def drift_words(question: Question, figures: SliceFigures) -> str:
    """What accepted changes lost together; nothing where nothing was accepted since the anchor, or nothing was lost."""
    walk, relative = question.seen.walk, figures.relative
    change = figures.change
    if walk is None or not walk.accepted or relative is None or change is None or question.seen.sign * change >= 0:
        return ""
    lost = "lost" if question.seen.sign > 0 else "added"
    this = " and this one" if walk.moving else ""
    origin = "" if question.seen.baseline is None else question.seen.baseline.origin
    text = f"Since {origin}, {counted(len(walk.accepted), 'accepted change')}{this} {lost} {percent(abs(relative))}"
    together = " together" if len(walk.accepted) + walk.moving > 1 else ""
    return f"{text}{together}{_each(question, walk)}."


def _each(question: Question, walk: Walk) -> str:
    """Whether each stayed within the tolerance, if all of them are known."""
    losses = [-question.seen.sign * each.step.change for each in walk.accepted if each.step is not None]
    if question.tolerance is None or walk.unknown or len(losses) < 2 or max(losses) > (question.allowed or 0.0):
        return ""
    return f"; each accepted change stayed within {question.tolerance}"


def drift_facts(question: Question, figures: SliceFigures) -> Iterator[str]:
    """The accepted changes that lost most, and those that nothing is known of."""
    walk, before = question.seen.walk, figures.baseline
    if walk is None or not drift_words(question, figures):
        return
    sign = question.seen.sign
    known = [(sign * each.step.change, each) for each in walk.accepted if each.step is not None]
    losses = sorted(((change, each) for change, each in known if change < 0), key=lambda pair: (pair[0], pair[1].date))
    if losses and before:
        named = [_named(each, sign * change / abs(before)) for change, each in losses[:NAMED]]
        yield f"largest accepted losses: {'; '.join(named)}" if sign > 0 else f"largest rises: {'; '.join(named)}"
    if walk.unknown:
        verb = "keeps" if walk.unknown == 1 else "keep"
        yield f"{walk.unknown} of {counted(len(walk.accepted), 'accepted change')} {verb} no figures of this mean"


def _named(change: AcceptedChange, relative: float) -> str:
    """``2026-03-14 synonyms v2 -0.6%``."""
    sign = "-" if relative < 0 else "+"
    return f"{' '.join(part for part in (change.date[:10], change.reason) if part)} {sign}{percent(abs(relative))}"


def look_facts(seen: Seen, looks: int, alpha: float) -> Iterator[str]:
    """How many accepted changes there were since the anchor, and how small a p counts now."""
    walk = seen.walk
    if walk is None:
        return
    level = walk.level(looks, alpha)
    if walk.looks > looks:
        yield (
            f"this is change {walk.looks} since the anchor, and looks is {looks}: chance turns more than "
            f"{percent(alpha)} of neutral series red; pin a new anchor, or raise looks"
        )
    shown = f"{level:.2g}".lstrip("0")
    yield f"change {walk.looks} of {max(looks, walk.looks)} since the anchor: a p below {shown} counts"
