"""The words of reports: figures with their decimals and signs, causes, certainty, and the verdict of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pytest_ireval.results.outcome import Diagnosis, Outcome, SliceFigures
from pytest_ireval.results.suite_result import JudgmentAges, RunResult, SuiteResult
from pytest_ireval.words import choose_decimals, format_count, format_magnitude, round_estimate


def figure(value: float | None, decimals: int = 4) -> str:
    """A metric's figure; ``-`` where there is none."""
    return "-" if value is None else f"{value:.{decimals}f}"


def change(value: float | None, decimals: int = 4) -> str:
    """A difference; one that rounds to nothing has no minus."""
    return "-" if value is None else f"{_without_minus_zero(value, decimals):+.{decimals}f}"


def word_of(outcome: Outcome) -> str:
    """The verdict as a list names it."""
    if outcome.accepted:
        return "accepted"
    return "warning" if outcome.warning and outcome.verdict == "pass" else outcome.verdict


Tone = str
"""``worse``, ``better`` or empty: the colour of a change, in addition to its sign."""


def tone_of(change: float | None, direction: str) -> Tone:
    """Tell whether a change is for the worse; one that is shown as 0 is neither, nor is one without a direction."""
    if not round(change or 0.0, 4) or direction not in ("higher", "lower"):
        return ""
    return "better" if ((change or 0.0) > 0) == (direction == "higher") else "worse"


def cause_words(cause: Diagnosis) -> str:
    """A plain cause with the share of the loss that it explains."""
    if cause.explained is None:
        return cause.headline
    share = f"{cause.explained:.0%}" if cause.explained >= 0.01 else "less than 1%"
    share = "all" if cause.explained >= 0.995 else share
    return f"{cause.headline}; {share} of the loss of {cause.metric} comes from these queries"


def cause_label(verdict: str, cause: Diagnosis) -> str:
    """``Likely cause``, or ``Mostly in``; in a run or suite that passed it is a defect that no rule looks at."""
    return "Look at this" if verdict == "pass" else "Mostly in" if cause.locates else "Likely cause"


def is_explained(suite: SuiteResult, *, why: bool = True) -> bool:
    """Tell whether a plain cause explains most of the loss; with ``why`` one that only says where does not count."""
    return any(each.is_most and not (why and each.locates) for each in suite.diagnoses)


def percent(share: float | None, decimals: int = 1) -> str:
    """A difference as a share, in per cent."""
    return "-" if share is None else f"{_without_minus_zero(100 * share, decimals):+.{decimals}f}%"


def decimals_of(each: SliceFigures) -> int:
    """The decimals of a change and of the tolerance beside it: as many as tell the two apart."""
    return choose_decimals(abs(each.change or 0.0), each.tolerance, 4)


def share_decimals_of(each: SliceFigures) -> int:
    """The same for the change as a share of the baseline, in per cent."""
    if each.relative is None or not each.baseline or each.tolerance is None:
        return 1
    return choose_decimals(100 * abs(each.relative), 100 * each.tolerance / abs(each.baseline), 1)


def interval(low: float, high: float) -> str:
    """From low to high, three decimals."""
    return f"{change(low, 3)} .. {change(high, 3)}"


def moved_figures(each: SliceFigures) -> list[str]:
    """The figure before, the figure now, the change, and its share."""
    moved = change(each.change, decimals_of(each)), percent(each.relative, share_decimals_of(each))
    return [figure(each.baseline), figure(each.now), *moved]


def moved_word(direction: str) -> str:
    """The name of a change for the worse, by the direction of its metric."""
    return {"higher": "drop", "lower": "rise"}.get(direction, "change")


def certainty_words(each: SliceFigures, moved: str, what: str = "interval of the change") -> str:
    """The interval of the change, and the smallest change that this number of queries can show."""
    known = each.low is not None and each.high is not None
    within = f"{each.level * 100:.4g}% {what} {interval(each.low or 0.0, each.high or 0.0)}" if known else ""
    return "; ".join(filter(None, (within, sight_words(each, moved))))


def _without_minus_zero(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0


def ages_words(ages: JudgmentAges) -> str:
    """``from 2024-03-01 to 2026-10-02, median age 210 days, 12% older than a year``."""
    dates = f"from {ages.oldest} to {ages.newest}" if ages.oldest != ages.newest else f"of {ages.oldest}"
    undated = f"; {ages.undated:,} without a date" if ages.undated else ""
    return f"{dates}, median age {format_count(ages.median_days, 'day')}, {ages.older:.0%} older than a year{undated}"


MOST = 10**9
"""No suite has more queries than that."""


def sight_words(each: SliceFigures, moved: str) -> str:
    """``12 queries can show a drop of 0.34 or more (80% power); 1,900 would show one of 0.027``; nothing if unknown.

    ``moved`` is what the change is called: a drop, a rise, a change.
    """
    if each.resolution is None:
        return ""
    within = "" if each.clusters is None else f" in {format_count(each.clusters, 'cluster')}"
    queries = f"{format_count(each.queries, 'query')}{within}"
    if each.hopeless:
        said = f"{queries} cannot show any {moved}, however large"
    else:
        article = "an" if moved[0] in "aeiou" else "a"
        said = f"{queries} can show {article} {moved} of {format_magnitude(each.resolution)} or more (80% power)"
    if each.needed is None or not each.tolerance or not each.queries < each.needed < MOST:
        return said
    return f"{said}; {round_estimate(each.needed):,} would show one of {format_magnitude(each.tolerance)}"


NAMED = 2
"""The number of findings or suites that are named; the others are counted."""


class _Finding(NamedTuple):
    """An outcome and the suite that it is one of."""

    suite: SuiteResult
    outcome: Outcome


class _Words(NamedTuple):
    """The judgment of a run: the verdict, the reason, plain causes, and the next step."""

    verdict: str
    reason: str
    next: str = ""
    causes: tuple[str, ...] = ()
    """Plain causes, the first of each suite."""
    label: str = "Likely cause"
    """Their name; in a run that passed they are defects that no rule asks for."""


def _findings(run: RunResult, verdict: str) -> list[_Finding]:
    return [_Finding(suite, each) for suite in run.suites for each in suite.outcomes if each.verdict == verdict]


def words_of(run: RunResult) -> _Words:
    """The whole run in a few sentences; the advice of a plain cause comes before any other."""
    words = _with_recordings(_words_of(run), run)
    found = [(suite, suite.diagnoses[0]) for suite in run.suites if suite.diagnoses]
    if not found:
        return words
    several = len(run.suites) > 1
    told = tuple(f"{suite.name}: {cause_words(cause)}" if several else cause_words(cause) for suite, cause in found)
    more = (f"and {len(told) - NAMED:,} more suites with a plain cause",) if len(told) > NAMED else ()
    return words._replace(
        causes=(*told[:NAMED], *more),
        next=found[0][1].advice or words.next,
        label=cause_label(run.verdict, found[0][1]),
    )


def _words_of(run: RunResult) -> _Words:
    failed = _findings(run, "fail")
    if failed or (run.failed_tests and run.verdict == "fail"):
        return _Words("Not safe to land", "; ".join(_against(run, failed)), _next(failed) if failed else MEND_TESTS)
    if run.verdict == "error" or not (run.suites or run.unaffected):
        return _Words("Could not be judged", "; ".join(_unjudged(run)), MEND)
    doubtful = _findings(run, "inconclusive")
    if doubtful:
        return _Words("May land, but is not shown to be safe", "; ".join(_good(run)), _more(run, doubtful))
    reason = "; ".join(_good(run))
    if not run.suites:
        return _Words("Nothing was checked", reason)
    if run.unasserted:
        return _Words("Passed, but a gate in a Python test is red", reason, MEND_ASSERTION)
    if _unasked(run) or run.not_selected:
        return _Words("Passed, but not everything was checked", reason)
    warnings = len(run.warnings) + sum(each.warning for suite in run.suites for each in suite.outcomes)
    return _Words(f"Safe to land, with {format_count(warnings, 'warning')}" if warnings else "Safe to land", reason)


def _with_recordings(words: _Words, run: RunResult) -> _Words:
    """The words of a run that replayed answers: what passes on recordings says nothing of the system of today."""
    recorded = [suite for suite in run.suites if suite.recorded is not None]
    if not recorded:
        return words
    several = len(run.suites) > 1
    said = [f"{suite.name}: {suite.recorded}" if several else str(suite.recorded) for suite in recorded[:NAMED]]
    said += [f"{len(recorded) - NAMED:,} more suites with recordings"] if len(recorded) > NAMED else []
    if run.verdict != "pass":
        return words._replace(reason="; ".join((words.reason, *said)))
    verdict = words.verdict.replace("Safe to land", "Passed on recordings")
    return words._replace(verdict=verdict, reason="; ".join((*said, words.reason)))


def _more(run: RunResult, doubtful: Sequence[_Finding]) -> str:
    """The step that would tell; nothing if slices are just too small to be looked at."""
    if not any(outcome.warning for _, outcome in doubtful):
        return ""
    if any(suite.to_judge for suite in run.suites):
        return "judge the documents in to_judge.tsv, and run again."
    return "look at the inconclusive checks before the change lands."


MEND_TESTS = "fix the failing tests; the output of pytest shows why."
MEND_ASSERTION = 'let the test fail: ireval.check(…), or assert ireval.gate(…).verdict == "pass".'
MEND = "fix the problems named here and run again; until then the effect of the change is unknown."


def _against(run: RunResult, failed: Sequence[_Finding]) -> Iterator[str]:
    shown = [each for each in failed if not _is_consequence(each)] or failed
    told = list(dict.fromkeys(_told(each) for each in sorted(shown, key=lambda each: importance(each.outcome))))
    explained = len({suite.name for suite, _ in failed}) == 1 and is_explained(failed[0].suite)
    yield from told[: 1 if explained else NAMED]
    if run.failed_tests:
        tests = "the Python test" if len(run.failed_tests) == 1 else f"{len(run.failed_tests):,} Python tests"
        yield f"{tests} {_some(run.failed_tests)} failed"
    if not failed:
        yield from _good(run)
        return
    checks = sum(len(suite.outcomes) for suite in run.suites)
    suites = {suite.name for suite, _ in failed}
    where = f" in {len(suites)} of {len(run.suites)} suites" if len(run.suites) > 1 else ""
    yield f"{len(failed):,} of {checks:,} {_checks(checks)} failed{where}"
    if broken := [suite.name for suite in run.suites if suite.verdict == "error"]:
        yield f"{_some(broken)} could not be judged{' as a whole' if suites.intersection(broken) else ''}"


def _is_consequence(finding: _Finding) -> bool:
    """Tell whether a slice fell by a cause that concerns all queries, and all queries fell as well."""
    wholes = [each.metric for each in finding.suite.outcomes if each.verdict == "fail" and each.slice == "all"]
    return is_explained(finding.suite) and finding.outcome.slice != "all" and finding.outcome.metric in wholes


def importance(outcome: Outcome) -> tuple[float, ...]:
    """Sorts failed rules: about all searches, about a slice, about numbers of queries, about single queries.

    Of equals, a fall comes first; then the strongest evidence, then the largest fall in sum: of the mean, times the
    queries. A share of the baseline alone would put a slice of three queries before all others.
    """
    first = outcome.figures[0] if outcome.figures else None
    if first is None or not first.over:
        return (3 if first is None else 2,)
    in_sum = abs(first.change or 0) * first.queries
    return (first.slice != "all", _decisive(outcome) is None, 1 if first.p is None else first.p, -in_sum)


def _decisive(outcome: Outcome) -> SliceFigures | None:
    """The figures that fell beyond their tolerance; of one that rose, a share can be anything and says nothing."""
    first = outcome.figures[0] if outcome.figures else None
    if first is None or not first.over or first.tolerance is None:
        return None
    return first if (first.relative or 0) < 0 else None


def _told(finding: _Finding) -> str:
    suite, outcome = finding
    first = _decisive(outcome)
    if first is None or first.relative is None:
        return f"{outcome.headline.partition(chr(10))[0]} in {suite.name}"
    share = 100 * abs(first.relative)
    worse = f"{share:.0f}%" if share >= 9.95 else f"{share:.1f}%"
    metric = f"weighted {outcome.metric}" if first.weighted else outcome.metric
    figures = f"{metric} {figure(first.baseline)} -> {figure(first.now)}"
    return f"{_whom(first.slice)} in {suite.name} got {worse} worse ({figures})"


def _whom(name: str) -> str:
    """``tail searches``; ``searches with price=3``, where the value alone says nothing."""
    if name == "all":
        return "searches"
    column, _, value = name.partition("=")
    word = re.fullmatch(r"[^\W\d][\w-]{2,}", value) is not None and value.lower() not in ("yes", "no", "true", "false")
    return f"{value} searches" if column and word else f"searches with {name}"


def _next(failed: Sequence[_Finding]) -> str:
    if all(outcome.missing_baseline for _, outcome in failed):
        if all(outcome.against for _, outcome in failed):
            return "pin the release to compare with, as the failure says, and commit the anchor."
        return "accept the first baseline with the command below, and commit it."
    settled = sum(outcome.acceptable for _, outcome in failed)
    accept = "with a reason (command below)"
    if settled == len(failed):
        return f"fix it, or accept it {accept}."
    if not settled:
        return _without_accepting({outcome.kind for _, outcome in failed})
    return f"fix it. {settled:,} of {len(failed):,} can be accepted {accept}; the others cannot."


def _without_accepting(kinds: set[str]) -> str:
    if kinds == {"waive"}:
        return "renew the waiver, or remove it."
    if kinds == {"lowering"}:
        return "revert it; or, if it is intended, ask someone who may merge: updating the baseline does not settle it."
    return "fix it; a new baseline does not settle this."


def _unjudged(run: RunResult) -> Iterator[str]:
    """The first reasons: suites, problems of the whole run, and last the suites without a verdict because of them."""
    broken = [suite for suite in run.suites if suite.verdict == "error"]
    reasons = [f"{suite.name}: {_reason(suite)}" for suite in broken if suite.outcomes]
    reasons += [_complaint(problem) for problem in run.problems]
    reasons += [f"{suite.name}: {_reason(suite)}" for suite in broken if not suite.outcomes]
    yield from reasons[:NAMED] or ["no suite was run"]
    if len(reasons) > NAMED:
        yield f"and {len(reasons) - NAMED:,} more"


def _reason(suite: SuiteResult) -> str:
    broken = [each.headline for each in suite.outcomes if each.verdict == "error"]
    notes = suite.notes[-1:] if not broken else ()
    return _complaint(next(iter((*filter(None, (suite.error,)), *broken, *notes)), "no verdict"))


_PLACE = re.compile(r".+:\d+(?::\d+)?(?:: \S+(?: > \S+)*)?")
"""A place in a suite; the complaint is on the next line."""


def _complaint(text: str) -> str:
    """The first line of an error, and what it is about."""
    first, _, others = text.strip().partition("\n")
    second = others.partition("\n")[0].strip()
    return f"{first}: {second}" if second and _PLACE.fullmatch(first) else first


def _good(run: RunResult) -> Iterator[str]:
    if run.not_selected:
        suites = len(run.suites) + len(run.not_selected)
        yield f"{len(run.suites):,} of {suites:,} suites were checked; not selected: {_some(run.not_selected)}"
    every = [each for suite in run.suites for each in suite.outcomes]
    doubtful = sum(each.verdict == "inconclusive" for each in every)
    accepted = sum(each.accepted and not each.missing_baseline for each in every)
    said = (lowers, _hides_a_loss, _is_regraded)
    warnings = sum(each.warning and not each.broken and not any(is_said(each) for is_said in said) for each in every)
    broken = sum(each.broken for each in every)
    passed = len(every) - doubtful - accepted - broken
    if passed or doubtful:
        whole = f"all {passed:,}" if passed > 1 else f"{passed}"
        yield f"{whole if passed == len(every) else f'{passed:,} of {len(every):,}'} {_checks(len(every))} passed"
    yield from reservations(run)
    if unasked := _unasked(run):
        yield f"{unasked:,} {_checks(unasked)} not selected"
    if doubtful:
        yield f"{doubtful:,} inconclusive"
    if accepted:
        verb = "was" if accepted == 1 else "were"
        yield f"{accepted:,} failed and {verb} accepted"
    if warnings:
        yield f"{format_count(warnings, 'warning')}"
    if run.warnings:
        yield f"but {'; '.join(run.warnings[:NAMED])}"
    if len(run.warnings) > NAMED:
        yield f"and {len(run.warnings) - NAMED:,} more"
    if run.accepted:
        yield f"accepted as the new baseline: {_some(run.accepted)}"
    if run.unaffected:
        yield f"{format_count(len(run.unaffected), 'suite')} not affected by the change"


def reservations(run: RunResult) -> Iterator[str]:
    """What a reader of a green run must know: rules that are broken and only warn, and queries that do not count."""
    every = [each for suite in run.suites for each in suite.outcomes]
    if broken := sum(each.broken for each in every):
        are, warn = ("are", "they only warn") if broken > 1 else ("is", "it only warns")
        yield f"{broken:,} of {len(every):,} {'rules' if len(every) > 1 else 'rule'} {are} broken, {warn}"
    yield from _headlines_of(run, _is_regraded)
    yield from _headlines_of(run, lambda each: lowers(each) and bool(each.numbers))
    if weaker := [suite.name for suite in run.suites if any(lowers(e) and not e.numbers for e in suite.outcomes)]:
        yield f"but this branch makes the suite weaker: {_some(weaker)}"
    counts = [suite.counts for suite in run.suites if suite.counts.waived]
    if waived := sum(len(each.waived) for each in counts):
        are = "is" if waived == 1 else "are"
        yield f"{waived:,} of {format_count(sum(each.queries for each in counts), 'query')} {are} waived"
        worse = [each.headline for each in every if _hides_a_loss(each)]
        yield from worse[:NAMED]
        if len(worse) > NAMED:
            yield f"and {len(worse) - NAMED:,} more waived queries got worse"


def _headlines_of(run: RunResult, wanted: Callable[[Outcome], bool]) -> Iterator[str]:
    """The headlines of outcomes that a reader must know, the first ones whole."""
    found = [(suite, each) for suite in run.suites for each in suite.outcomes if wanted(each)]
    for suite, each in found[:NAMED]:
        yield f"but {each.headline}{f' in {suite.name}' if len(run.suites) > 1 else ''}"
    if len(found) > NAMED:
        yield f"and the like in {format_count(len(found) - NAMED, 'more suite')}"


def _is_regraded(outcome: Outcome) -> bool:
    """Tell whether it is about inputs, whose judgments were regraded in favour of the run."""
    return outcome.kind == "inputs" and outcome.verdict == "pass" and outcome.warning and bool(outcome.numbers)


def _hides_a_loss(outcome: Outcome) -> bool:
    """Tell whether it is about a waiver whose query got worse."""
    return outcome.kind == "waive" and outcome.verdict == "pass" and outcome.warning


def _unasked(run: RunResult) -> int:
    return sum(len({*suite.planned} - {each.id for each in suite.outcomes}) for suite in run.suites)


def lowers(outcome: Outcome) -> bool:
    """Tell whether the branch itself made the baseline lower, or the suite weaker, and that is let through."""
    return outcome.kind == "lowering" and outcome.warning and outcome.verdict == "pass"


def _checks(number: int) -> str:
    return "check" if number == 1 else "checks"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
