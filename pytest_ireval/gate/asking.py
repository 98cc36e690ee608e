"""Asks a rule for its ruling, whatever its code does, and rules on slices with too few queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pytest_ireval.errors import BaselineMisfitError, InputError, IrevalError, PluginError, raised
from pytest_ireval.results.outcome import VERDICTS
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.rules.context import Ruling, Seen
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.wording import size_words
from pytest_ireval.suites.suite import RuleAsked
from pytest_ireval.text_table import counted


class Told(NamedTuple):
    """The ruling of a rule; ``mendable`` marks an error that accepting the current rankings fixes."""

    ruling: Ruling
    mendable: bool = False


def error_ruling(error: IrevalError) -> Ruling:
    """An error in the shape of a ruling: its first line is the headline."""
    first, *others = error_lines(error)
    return Ruling("error", first, facts=tuple(line.strip() for line in others))


def error_lines(error: IrevalError) -> list[str]:
    """An error with place and complaint in one line, for pytest's summary shows but the first."""
    lines: list[str] = []
    for problem in error.problems:
        complaint, *more = problem.complaint.splitlines() or [""]
        lines.append(": ".join(filter(None, (problem.place, " > ".join(problem.path), complaint))))
        others = (*more, *problem.suggestion.splitlines(), *problem.allowed.splitlines())
        lines += [f"  {line.strip()}" for line in others]
    return lines or [type(error).__name__]


def too_few(asked: RuleAsked, seen: Seen) -> Ruling | None:
    """Rule on a slice that has no queries to judge, or fewer than the rule wants; None if it has enough."""
    if seen.part.metric is None and not asked.kind.compares:
        return None
    if not _counting(asked, seen):
        return _nothing_to_judge(asked, seen)
    count, size = _size(asked, seen)
    if count >= asked.options.fewest or _cannot_tell(asked, seen):
        return None
    return Ruling(
        "inconclusive", f"{seen.slice} has {size}, fewer than min_queries: {asked.options.fewest}; not judged"
    )


def judges(asked: RuleAsked, seen: Seen) -> bool:
    """Tell whether the rule has enough queries to judge; one that can only report too few judges nothing.

    A rule without a metric and without a baseline looks at lists, and there is always one.
    """
    if seen.part.metric is None and not asked.kind.compares:
        return True
    count, _ = _size(asked, seen)
    if count >= max(1, asked.options.fewest):
        return True
    observed = asked.options.facts.on_inconclusive != "warn" and _cannot_tell(asked, seen)
    return bool(count) and (asked.options.judges_few or observed)  # the observed change decides then


def _size(asked: RuleAsked, seen: Seen) -> tuple[float, str]:
    """The number of queries of the slice, or their worth if drawn in clusters or strata; and the same in words."""
    count = _counting(asked, seen)
    if count and asked.options.facts.by_evidence and seen.population.drawing is not None:
        question = Question(seen, seen.paired())
        return question.worth, size_words(question)
    return count, counted(count, "query")


def _counting(asked: RuleAsked, seen: Seen) -> int:
    """The number of units of the slice that the rule looks at; queries, where it is about no metric."""
    if seen.part.metric is None:
        return seen.on_both_sides().size
    paired = asked.kind.compares and "reference" not in seen.part.metric.needs
    return (seen.paired() if paired else seen.values()).now.size


def _cannot_tell(asked: RuleAsked, seen: Seen) -> bool:
    """Tell whether the rule itself rules on too little evidence; on all queries it always does."""
    return asked.options.judges_few or (asked.options.facts.by_evidence and not seen.slice.conditions)


def _nothing_to_judge(asked: RuleAsked, seen: Seen) -> Ruling:
    """Rule on a slice without any value; it is an error only if the reason is unknown."""
    inside = seen.slice.mask(seen.population.queries)
    if inside.any() and not (inside & seen.population.counting).any():
        return Ruling("inconclusive", f"all queries of {seen.slice} are waived; not judged")
    if not asked.kind.compares:
        return Ruling("error", f"no query of {seen.slice} counts")
    if is_new(seen):
        return Ruling("inconclusive", f"no query of {seen.slice} is in the baseline yet; not judged")
    raise BaselineMisfitError(f"no query of {seen.slice} has a value on both sides")


def is_new(seen: Seen) -> bool:
    """Tell whether the baseline has no query of the slice yet."""
    position = seen.baseline.position if seen.baseline is not None else {}
    inside = seen.slice.mask(seen.population.queries).tolist()
    return not any(q in position for q, there in zip(seen.population.queries.ids, inside, strict=True) if there)


def errors_told(asked: RuleAsked, judge: Callable[[], object]) -> Told:
    """Ask the rule; an error of ours, or whatever a plugin's code raises, becomes a ruling too."""
    rule = f"rule {asked.kind.name} of {asked.kind.source}"
    try:
        ruling = judge()
    except IrevalError as error:
        return Told(error_ruling(error), isinstance(error, BaselineMisfitError))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, skips among it; the message names it
        return Told(error_ruling(PluginError(raised(rule, error))))
    if not isinstance(ruling, Ruling):
        return Told(Ruling("error", f"{rule} returned {type(ruling).__name__}, not a Ruling"))
    if ruling.verdict not in VERDICTS:
        return Told(Ruling("error", f"{rule} returned {ruling.verdict!r}; a verdict is one of {', '.join(VERDICTS)}"))
    return Told(ruling if asked.kind.judge.__module__.startswith("pytest_ireval.") else _as_plain(ruling, rule))


def _as_plain(ruling: Ruling, rule: str) -> Ruling:
    """Reduce a plugin's ruling to plain values, which files can hold and other processes understand."""
    try:
        return from_plain(to_plain(ruling), Ruling)
    except InputError as error:
        (problem,) = error.problems[:1]
        what = f"{' > '.join(problem.path)}: {problem.complaint}"
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error)
    return Ruling("error", f"{rule} returned a Ruling that cannot be written to a file: {what}")
