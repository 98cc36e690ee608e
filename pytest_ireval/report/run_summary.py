"""A run in a few sentences: its verdict, the reason, and the next step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pytest_ireval.report.formatting import choose_cause_label, count_stale, describe_cause, format_value, is_explained
from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.words import format_count

NAMED = 2
"""The number of findings or suites that are named; the others are counted."""


class _Finding(NamedTuple):
    """An outcome and the suite that it is one of."""

    suite: SuiteResult
    outcome: Outcome


class RunSummary(NamedTuple):
    """The judgment of a run: the verdict, the reason, plain causes, and the next step."""

    verdict: str
    reason: str
    next: str = ""
    causes: tuple[str, ...] = ()
    """Plain causes, the first of each suite."""
    label: str = "Likely cause"
    """Their name; in a run that passed they are defects that no rule asks for."""


def _list_findings(run: RunResult, verdict: str) -> list[_Finding]:
    return [
        _Finding(suite, outcome) for suite in run.suites for outcome in suite.outcomes if outcome.verdict == verdict
    ]


def summarize_run(run: RunResult) -> RunSummary:
    """The whole run in a few sentences; the advice of a plain cause comes before any other."""
    words = _mention_recordings(_summarize_verdict(run), run)
    found = [(suite, suite.diagnoses[0]) for suite in run.suites if suite.diagnoses]
    if not found:
        return words
    several = len(run.suites) > 1
    told = tuple(
        f"{suite.name}: {describe_cause(cause)}" if several else describe_cause(cause) for suite, cause in found
    )
    more = (f"and {len(told) - NAMED:,} more suites with a plain cause",) if len(told) > NAMED else ()
    return words._replace(
        causes=(*told[:NAMED], *more),
        next=found[0][1].advice or words.next,
        label=choose_cause_label(run.verdict, found[0][1]),
    )


def _summarize_verdict(run: RunResult) -> RunSummary:
    failed = _list_findings(run, "fail")
    if failed or (run.failed_tests and run.verdict == "fail"):
        return RunSummary(
            "Not safe to land",
            "; ".join(_describe_failures(run, failed)),
            _suggest_for_failures(failed) if failed else FIX_TESTS,
        )
    if run.verdict == "error" or not (run.suites or run.unaffected):
        return RunSummary("Could not be judged", "; ".join(_describe_errors(run)), FIX_PROBLEMS)
    doubtful = _list_findings(run, "inconclusive")
    if doubtful:
        return RunSummary(
            "May land, but is not shown to be safe",
            "; ".join(_describe_passed(run)),
            _suggest_for_doubtful(run, doubtful),
        )
    reason = "; ".join(_describe_passed(run))
    if not run.suites:
        return RunSummary("Nothing was checked", reason)
    if run.unasserted:
        return RunSummary("Passed, but a gate in a Python test is red", reason, FIX_ASSERTION)
    if _count_unselected_checks(run) or run.not_selected:
        return RunSummary("Passed, but not everything was checked", reason)
    warnings = len(run.warnings) + sum(outcome.warning for suite in run.suites for outcome in suite.outcomes)
    return RunSummary(f"Safe to land, with {format_count(warnings, 'warning')}" if warnings else "Safe to land", reason)


def _mention_recordings(words: RunSummary, run: RunResult) -> RunSummary:
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


def _suggest_for_doubtful(run: RunResult, doubtful: Sequence[_Finding]) -> str:
    """The step that would tell; nothing if slices are just too small to be looked at."""
    if not any(outcome.warning for _, outcome in doubtful):
        return ""
    if any(suite.to_judge for suite in run.suites):
        return "judge the documents that decide: ireval judge --last, or --run FOLDER for a report from CI."
    return "look at the inconclusive checks before the change lands."


FIX_TESTS = "fix the failing tests; the output of pytest shows why."
FIX_ASSERTION = 'let the test fail: ireval.check(…), or assert ireval.gate(…).verdict == "pass".'
FIX_PROBLEMS = "fix the problems named here and run again; until then the effect of the change is unknown."


def _describe_failures(run: RunResult, failed: Sequence[_Finding]) -> Iterator[str]:
    shown = [each for each in failed if not _is_consequence(each)] or failed
    told = list(
        dict.fromkeys(_describe_finding(each) for each in sorted(shown, key=lambda each: rank_importance(each.outcome)))
    )
    explained = len({suite.name for suite, _ in failed}) == 1 and is_explained(failed[0].suite)
    yield from told[: 1 if explained else NAMED]
    if run.failed_tests:
        tests = "the Python test" if len(run.failed_tests) == 1 else f"{len(run.failed_tests):,} Python tests"
        yield f"{tests} {_list_first(run.failed_tests)} failed"
    if not failed:
        yield from _describe_passed(run)
        return
    checks = sum(len(suite.outcomes) for suite in run.suites)
    suites = {suite.name for suite, _ in failed}
    where = f" in {len(suites)} of {len(run.suites)} suites" if len(run.suites) > 1 else ""
    stale = count_stale(outcome for _, outcome in failed)
    yield f"{len(failed):,} of {checks:,} {_check_or_checks(checks)} failed{where}{stale}"
    if broken := [suite.name for suite in run.suites if suite.verdict == "error"]:
        yield f"{_list_first(broken)} could not be judged{' as a whole' if suites.intersection(broken) else ''}"


def _is_consequence(finding: _Finding) -> bool:
    """Tell whether a slice fell by a cause that concerns all queries, and all queries fell as well."""
    suite, failed = finding
    if failed.slice == "all" or not is_explained(suite):
        return False
    return any(
        outcome.verdict == "fail" and outcome.slice == "all" and outcome.metric == failed.metric
        for outcome in suite.outcomes
    )


def rank_importance(outcome: Outcome) -> tuple[float, ...]:
    """Sorts failed rules: about all searches, about a slice, about numbers of queries, about single queries.

    What users see comes before an earlier stage. Of equals, a fall comes first; then the strongest evidence, then the
    largest fall in sum: of the mean, times the queries. A share of the baseline alone would put a slice of three
    queries before all others.
    """
    first = outcome.figures[0] if outcome.figures else None
    if first is None or not first.over:
        return (3 if first is None else 2,)
    in_sum = abs(first.change or 0) * first.queries
    decides = _find_decisive_figures(outcome) is not None
    return (first.slice != "all", bool(outcome.stage), not decides, 1 if first.p is None else first.p, -in_sum)


def _find_decisive_figures(outcome: Outcome) -> SliceFigures | None:
    """The figures that fell beyond their tolerance; of one that rose, a share can be anything and says nothing."""
    first = outcome.figures[0] if outcome.figures else None
    if first is None or not first.over or first.tolerance is None:
        return None
    return first if (first.relative or 0) < 0 else None


def _describe_finding(finding: _Finding) -> str:
    suite, outcome = finding
    first = _find_decisive_figures(outcome)
    if first is None or first.relative is None:
        return f"{outcome.headline.partition(chr(10))[0]} in {suite.name}"
    share = 100 * abs(first.relative)
    worse = f"{share:.0f}%" if share >= 9.95 else f"{share:.1f}%"
    metric = f"weighted {outcome.metric}" if first.weighted else outcome.metric
    figures = f"{metric} {format_value(first.baseline)} -> {format_value(first.now)}"
    searches = _name_searches(first.slice)
    subject = f"stage {outcome.stage} of {searches}" if outcome.stage else searches
    return f"{subject} in {suite.name} got {worse} worse ({figures})"


def _name_searches(name: str) -> str:
    """``tail searches``; ``searches with price=3``, where the value alone says nothing."""
    if name == "all":
        return "searches"
    column, _, value = name.partition("=")
    word = re.fullmatch(r"[^\W\d][\w-]{2,}", value) is not None and value.lower() not in ("yes", "no", "true", "false")
    return f"{value} searches" if column and word else f"searches with {name}"


def _suggest_for_failures(failed: Sequence[_Finding]) -> str:
    if all(outcome.missing_baseline for _, outcome in failed):
        if all(outcome.against for _, outcome in failed):
            return "pin the release to compare with, as the failure says, and commit the anchor."
        return "accept the first baseline with the command below, and commit it."
    if all(outcome.stale for _, outcome in failed):
        return "remove the documents that the index does not have from the expectations, or name those in their place."
    settled = sum(outcome.acceptable for _, outcome in failed)
    accept = "with a reason (command below)"
    if settled == len(failed):
        return f"fix it, or accept it {accept}."
    if not settled:
        return _suggest_without_accepting({outcome.kind for _, outcome in failed})
    rest = len(failed) - settled
    return f"fix it, or first fix {rest:,} of {len(failed):,} that no baseline settles, and accept the others {accept}."


def _suggest_without_accepting(kinds: set[str]) -> str:
    if kinds == {"waive"}:
        return "renew the waiver, or remove it."
    if kinds == {"lowering"}:
        return "revert it; or, if it is intended, ask someone who may merge: updating the baseline does not settle it."
    return "fix it; a new baseline does not settle this."


def _describe_errors(run: RunResult) -> Iterator[str]:
    """The first reasons: suites, problems of the whole run, and last the suites without a verdict because of them."""
    broken = [suite for suite in run.suites if suite.verdict == "error"]
    reasons = [f"{suite.name}: {_describe_suite_error(suite)}" for suite in broken if suite.outcomes]
    reasons += [_extract_complaint(problem) for problem in run.problems]
    reasons += [f"{suite.name}: {_describe_suite_error(suite)}" for suite in broken if not suite.outcomes]
    yield from reasons[:NAMED] or ["no suite was run"]
    if len(reasons) > NAMED:
        yield f"and {len(reasons) - NAMED:,} more"


def _describe_suite_error(suite: SuiteResult) -> str:
    broken = [outcome.headline for outcome in suite.outcomes if outcome.verdict == "error"]
    notes = suite.notes[-1:] if not broken else ()
    return _extract_complaint(next(iter((*filter(None, (suite.error,)), *broken, *notes)), "no verdict"))


_PLACE = re.compile(r".+:\d+(?::\d+)?(?:: \S+(?: > \S+)*)?")
"""A place in a suite; the complaint is on the next line."""


def _extract_complaint(text: str) -> str:
    """The first line of an error, and what it is about."""
    first, _, others = text.strip().partition("\n")
    second = others.partition("\n")[0].strip()
    return f"{first}: {second}" if second and _PLACE.fullmatch(first) else first


def _describe_passed(run: RunResult) -> Iterator[str]:
    if run.not_selected:
        suites = len(run.suites) + len(run.not_selected)
        yield f"{len(run.suites):,} of {suites:,} suites were checked; not selected: {_list_first(run.not_selected)}"
    every = [outcome for suite in run.suites for outcome in suite.outcomes]
    doubtful = sum(each.verdict == "inconclusive" for each in every)
    accepted = sum(each.accepted and not each.missing_baseline for each in every)
    said = (is_lowering, _hides_a_loss, _is_regraded)
    warnings = sum(each.warning and not each.broken and not any(is_said(each) for is_said in said) for each in every)
    broken = sum(each.broken for each in every)
    passed = len(every) - doubtful - accepted - broken
    if passed or doubtful:
        whole = f"all {passed:,}" if passed > 1 else f"{passed}"
        share = whole if passed == len(every) else f"{passed:,} of {len(every):,}"
        if doubtful:
            are = "is" if doubtful == 1 else "are"
            yield f"{doubtful:,} of {len(every):,} {_check_or_checks(len(every))} {are} inconclusive, {passed:,} passed"
        else:
            yield f"{share} {_check_or_checks(len(every))} passed"
    yield from list_reservations(run)
    if unasked := _count_unselected_checks(run):
        yield f"{unasked:,} {_check_or_checks(unasked)} not selected"
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
        yield f"accepted as the new baseline: {_list_first(run.accepted)}"
    if run.unaffected:
        yield f"{format_count(len(run.unaffected), 'suite')} not affected by the change"


def list_reservations(run: RunResult) -> Iterator[str]:
    """What a reader of a green run must know: rules that are broken and only warn, and queries that do not count."""
    every = [outcome for suite in run.suites for outcome in suite.outcomes]
    if broken := sum(each.broken for each in every):
        are, warn = ("are", "warn") if broken > 1 else ("is", "warns")
        yield f"{broken:,} of {len(every):,} {'rules' if len(every) > 1 else 'rule'} {are} broken and only {warn}"
    yield from _list_headlines(run, _is_regraded)
    yield from _list_headlines(run, lambda each: is_lowering(each) and bool(each.numbers))
    if weaker := [suite.name for suite in run.suites if any(is_lowering(e) and not e.numbers for e in suite.outcomes)]:
        yield f"but this branch makes the suite weaker: {_list_first(weaker)}"
    counts = [suite.counts for suite in run.suites if suite.counts.waived]
    if waived := sum(len(each.waived) for each in counts):
        are = "is" if waived == 1 else "are"
        yield f"{waived:,} of {format_count(sum(each.queries for each in counts), 'query')} {are} waived"
        worse = [each.headline for each in every if _hides_a_loss(each)]
        yield from worse[:NAMED]
        if len(worse) > NAMED:
            yield f"and {len(worse) - NAMED:,} more waived queries got worse"


def _list_headlines(run: RunResult, wanted: Callable[[Outcome], bool]) -> Iterator[str]:
    """The headlines of outcomes that a reader must know, the first ones whole."""
    found = [(suite, outcome) for suite in run.suites for outcome in suite.outcomes if wanted(outcome)]
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


def _count_unselected_checks(run: RunResult) -> int:
    return sum(len({*suite.planned} - {outcome.id for outcome in suite.outcomes}) for suite in run.suites)


def is_lowering(outcome: Outcome) -> bool:
    """Tell whether the branch itself made the baseline lower, or the suite weaker, and that is let through."""
    return outcome.kind == "lowering" and outcome.warning and outcome.verdict == "pass"


def _check_or_checks(number: int) -> str:
    return "check" if number == 1 else "checks"


def _list_first(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
