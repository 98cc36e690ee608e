"""The verdict of a run in plain words: what got worse, for whom, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_ireval.reports.figures import cause_label, cause_words, figure, is_explained
from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.text_table import counted

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
    words = _words_of(run)
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
    if _unasked(run):
        return _Words("Passed, but not everything was checked", reason)
    warnings = len(run.warnings) + sum(each.warning for suite in run.suites for each in suite.outcomes)
    return _Words(f"Safe to land, with {counted(warnings, 'warning')}" if warnings else "Safe to land", reason)


def _more(run: RunResult, doubtful: Sequence[_Finding]) -> str:
    """The step that would tell; nothing if slices are just too small to be looked at."""
    if not any(outcome.warning for _, outcome in doubtful):
        return ""
    if any(suite.to_judge for suite in run.suites):
        return "judge the documents in to_judge.tsv, and run again: the loss may not be real."
    return "look at the inconclusive checks before the change lands."


MEND_TESTS = "fix the failing tests; the output of pytest shows why."
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
    every = [each for suite in run.suites for each in suite.outcomes]
    doubtful = sum(each.verdict == "inconclusive" for each in every)
    accepted = sum(each.accepted and not each.missing_baseline for each in every)
    warnings = sum(each.warning and not lowers(each) for each in every)
    passed = len(every) - doubtful - accepted
    if passed or doubtful:
        whole = f"all {passed:,}" if passed > 1 else f"{passed}"
        yield f"{whole if passed == len(every) else f'{passed:,} of {len(every):,}'} {_checks(len(every))} passed"
    if unasked := _unasked(run):
        yield f"{unasked:,} {_checks(unasked)} not selected"
    if doubtful:
        yield f"{doubtful:,} inconclusive"
    if accepted:
        verb = "was" if accepted == 1 else "were"
        yield f"{accepted:,} failed and {verb} accepted"
    if lowered := [suite.name for suite in run.suites if any(lowers(each) and each.numbers for each in suite.outcomes)]:
        yield f"but this branch lowers its own baseline of {_some(lowered)}"
    if weaker := [suite.name for suite in run.suites if any(lowers(e) and not e.numbers for e in suite.outcomes)]:
        yield f"but this branch makes the suite weaker: {_some(weaker)}"
    if warnings:
        yield f"{counted(warnings, 'warning')}"
    if run.warnings:
        yield f"but {'; '.join(run.warnings[:NAMED])}"
    if len(run.warnings) > NAMED:
        yield f"and {len(run.warnings) - NAMED:,} more"
    if run.accepted:
        yield f"accepted as the new baseline: {_some(run.accepted)}"
    if run.unaffected:
        yield f"{counted(len(run.unaffected), 'suite')} not affected by the change"


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
