"""One check asked of what was gathered: an outcome, whatever happens."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from pytest_ireval.baselines.at_base import Base
from pytest_ireval.errors import BaselineError, BaselineMisfitError, InputError, IrevalError
from pytest_ireval.gate.lowering import lowering
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.waivers import time_left
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plurals import counted
from pytest_ireval.results.outcome import VERDICTS, Outcome
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.retrieval.doors import some
from pytest_ireval.rules.planning import INPUTS, LOWERING, Check
from pytest_ireval.rules.ruling import Ruling
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Side
from pytest_ireval.suites.suite import RuleAsked, Waiver

OURS = "pytest_ireval."


class Circumstances(NamedTuple):
    """What decides besides the material."""

    today: date
    base: Base | None = None
    """What the stored baselines are held against; None: against nothing."""
    lowering_fails: bool = False
    """Whether a branch that lowers its baseline fails; else that is a warning."""


class Told(NamedTuple):
    """What a rule said, and whether it is an error that accepting what was measured mends."""

    ruling: Ruling
    mendable: bool = False


def judged(check: Check, material: Material, circumstances: Circumstances) -> Outcome:
    """The outcome of one check."""
    plain = plain_outcome(check)
    if check.waiver is not None:
        return _with(plain, _waiver(check.waiver, material, circumstances.today))
    if check.asked is None:
        return _with(plain, _lowering(check, material, circumstances) if check.id == LOWERING else _inputs(material))
    asked = check.asked
    plain = replace(plain, compares=asked.kind.compares)
    reference = _reference(check, material) if asked.kind.compares else None
    if asked.kind.compares and reference is None:
        return _without_baseline(plain, material)
    told = _errors_told(asked, lambda: _ruling(check, asked, material, reference))
    outcome = _with(plain, told.ruling)
    if asked.kind.compares and isinstance(reference, Side) and not _by_stored(check, material):
        outcome = replace(outcome, against=reference.origin)
    if _by_stored(check, material):
        outcome = replace(outcome, acceptable=told.ruling.verdict == "fail" or told.mendable)
    if outcome.verdict == "fail" and asked.options.on_fail == "warn":
        return replace(outcome, verdict="pass", warning=True)
    return outcome


def plain_outcome(check: Check) -> Outcome:
    """What is known of an outcome before anything is evaluated."""
    return Outcome(
        id=check.id,
        kind=check.family,
        verdict="error",
        headline="",
        file=check.place.file,
        line=check.place.line,
        column=check.place.column,
        name=check.asked.options.name if check.asked else "",
        metric="" if check.part.metric is None else str(check.part.metric),
        explained=_explained(check.part.metric),
        slice=str(check.slice),
        tags=check.tags,
    )


def _explained(metric: Metric | None) -> bool:
    """Whether the metric has arithmetic on a single query and a single list."""
    return metric is not None and metric.unit == "query" and not metric.needs & {"reference", "sessions"}


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


def _with(plain: Outcome, ruling: Ruling) -> Outcome:
    return replace(
        plain,
        verdict=ruling.verdict,
        headline=ruling.headline,
        sentence=ruling.sentence,
        figures=ruling.figures,
        queries=ruling.queries,
        worst=ruling.worst,
        facts=ruling.facts,
        warning=ruling.warning,
        numbers=ruling.numbers,
    )


def _without_baseline(plain: Outcome, material: Material) -> Outcome:
    """Against the change; one that was deleted is brought back, not accepted anew."""
    plain = replace(plain, verdict="fail", headline="there is no baseline to compare with")
    if material.deleted:
        headline = f"{plain.headline}, and the last commit has one\n  {bring_back(material)}"
        sentence = "Somebody deleted the baseline of this suite."
        return replace(plain, headline=headline, sentence=sentence, compares=False)  # nor can it simply be accepted
    sentence = "Nobody has accepted rankings of this suite yet."
    return replace(plain, sentence=sentence, missing_baseline=True, acceptable=True)


def bring_back(material: Material) -> str:
    """How a deleted baseline comes back."""
    files = " ".join(shlex.quote(path.as_posix()) for path in material.deleted)
    return f"git checkout HEAD -- {files} brings it back"


def _by_stored(check: Check, material: Material) -> bool:
    """Whether it compares with the stored baseline, and not with what a rule names instead."""
    return check.asked is not None and check.asked.kind.compares and _number(check, material) not in material.others


def _number(check: Check, material: Material) -> int:
    """The place of its rule in the suite."""
    return next(i for i, asked in enumerate(material.suite.rules) if asked is check.asked)


def _reference(check: Check, material: Material) -> Side | IrevalError | None:
    """What the rule compares with; None if it does not exist yet."""
    number = _number(check, material)
    if number in material.others:
        return material.others[number]
    return material.baseline_error or material.baseline


def _ruling(check: Check, asked: RuleAsked, material: Material, reference: Side | IrevalError | None) -> Ruling:
    if isinstance(reference, IrevalError):
        raise reference
    now = material.now_beside(reference)
    seen = Seen(material.population, now, reference, check.part, check.slice)
    few = _too_few(asked, seen)
    if few is not None:
        return few
    ruling: Ruling = asked.kind.judge(asked.options, seen)
    return ruling


def _too_few(asked: RuleAsked, seen: Seen) -> Ruling | None:
    """What is said where a slice has no queries to judge, or fewer than the rule wants."""
    if seen.part.metric is None:
        return None
    paired = asked.kind.compares and "reference" not in seen.part.metric.needs
    values = seen.paired() if paired else seen.values()
    count, wanted = values.now.size, asked.options.min_queries
    if not count:
        return _nothing_to_judge(asked, seen)
    if count < wanted:
        headline = f"{seen.slice} has {counted(count, 'query')}, fewer than min_queries: {wanted}; not judged"
        return Ruling("inconclusive", headline)
    return None


def _nothing_to_judge(asked: RuleAsked, seen: Seen) -> Ruling:
    """What is said of a slice without any value: known reasons are no error."""
    inside = seen.slice.mask(seen.population.queries)
    if inside.any() and not (inside & seen.population.counting).any():
        return Ruling("inconclusive", f"all queries of {seen.slice} are waived; not judged")
    if not asked.kind.compares:
        return Ruling("error", f"no query of {seen.slice} counts")
    position = seen.baseline.position if seen.baseline is not None else {}
    new = not any(q in position for q, there in zip(seen.population.queries.ids, inside.tolist(), strict=True) if there)
    if new:
        return Ruling("inconclusive", f"no query of {seen.slice} is in the baseline yet; not judged")
    raise BaselineMisfitError(f"no query of {seen.slice} has a value on both sides")


def _errors_told(asked: RuleAsked, judge: Callable[[], object]) -> Told:
    """What the rule says; an error of ours, or whatever a plugin's code raises, is a ruling too."""
    rule = f"rule {asked.kind.name} of {asked.kind.source}"
    try:
        ruling = judge()
    except IrevalError as error:
        return Told(error_ruling(error), isinstance(error, BaselineMisfitError))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, skips among it; the message names it
        return Told(Ruling("error", f"{rule} raised {type(error).__name__}: {error}"))
    if not isinstance(ruling, Ruling):
        return Told(Ruling("error", f"{rule} returned {type(ruling).__name__}, not a Ruling"))
    if ruling.verdict not in VERDICTS:
        return Told(Ruling("error", f"{rule} returned {ruling.verdict!r}, which is no verdict: {', '.join(VERDICTS)}"))
    return Told(ruling if asked.kind.judge.__module__.startswith(OURS) else _as_plain(ruling, rule))


def _as_plain(ruling: Ruling, rule: str) -> Ruling:
    """Of plugins: with plain values alone, which files can hold and other processes understand."""
    try:
        return from_plain(to_plain(ruling), Ruling)
    except InputError as error:
        (problem,) = error.problems[:1]
        what = f"{' > '.join(problem.path)}: {problem.complaint}"
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error)
    return Ruling("error", f"{rule} returned a Ruling that no file can hold: {what}")


def _waiver(waiver: Waiver, material: Material, today: date) -> Ruling:
    if waiver.query not in material.population.queries.position:
        return Ruling("error", f"waives query {waiver.query!r}, which is not in {material.population.queries.origin}")
    if waiver.until < today:
        return Ruling(
            "fail",
            f"the waiver of {waiver.query} ended on {waiver.until}",
            f"It was given for: {waiver.reason}. Its query counts again; renew the waiver or take it out.",
        )
    left = time_left(waiver, today)
    facts = (f"it ends {left}",) if left else ()
    return Ruling("pass", f"{waiver.query} is waived until {waiver.until}: {waiver.reason}", facts=facts)


def _lowering(check: Check, material: Material, circumstances: Circumstances) -> Ruling:
    try:
        return lowering(check.held, material, fails=circumstances.lowering_fails)
    except IrevalError as error:
        return error_ruling(error)


def _inputs(material: Material) -> Ruling:
    """What the suite rests on belongs together, or nothing could have been gathered; and what should be known of it."""
    error = material.baseline_error
    locked = material.suite.judgments is not None and material.suite.judgments.lock
    if locked and error is not None and not isinstance(error, BaselineMisfitError):
        return error_ruling(error)
    counts = material.counts
    headline = f"{counted(counts.queries, 'query')}, {counts.judged} of them judged; rankings: {material.source}"
    unheld = locked and material.stored is None
    facts = ["judgments are locked, and there is no baseline to hold them against yet"] if unheld else []
    return Ruling("pass", headline, facts=(*facts, *_facts(material)), warning=unheld)


def _facts(material: Material) -> Iterator[str]:
    counts = material.counts
    for what, names in (("without a ranking", counts.missing), ("with an empty ranking", counts.empty)):
        if names:
            yield f"{counted(len(names), 'query')} {what}: {some(names)}"
    if counts.without_judgments:
        yield f"{counted(len(counts.without_judgments), 'ranked query')} without judgments"
    if isinstance(material.baseline_error, BaselineError):
        yield str(material.baseline_error)
    yield from material.notes


def broken_outcome(check: Check, error: IrevalError) -> Outcome:
    """The outcome of a check of a suite whose inputs are broken: the whole text stands at the inputs."""
    plain = plain_outcome(check)
    if check.id == INPUTS:
        return _with(plain, error_ruling(error))
    first = error_lines(error)[0]
    return _with(
        plain, Ruling("error", f"the inputs of this suite are broken: {first}", facts=(f"see the outcome of {INPUTS}",))
    )
