"""A suite is tested itself: its false alarms, the damage that it notices, and harmless changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_ireval import InputError, Inputs, Scores, Suite, collect_inputs, score_inputs
from pytest_ireval.gate_api import make_plan, read_rankings_file
from pytest_ireval.plugin_api import Problem, Progress, Registry
from pytest_ireval_lab.self_test.damage import try_harmless_changes, try_mutants
from pytest_ireval_lab.self_test.false_alarms import count_different_queries, count_false_alarms, list_swappable
from pytest_ireval_lab.self_test.rehearsal import Bars, Rehearsal, begin_rehearsal, no_bars
from pytest_ireval_lab.self_test.results import SelfTest


def self_test(
    suite: Suite, registry: Registry, *, trials: int = 200, against: Path | None = None, bars: Bars = no_bars
) -> SelfTest:
    """Test a suite; ``against`` is a file of other rankings that change places with the accepted ones."""
    plan = make_plan(suite, registry)
    with bars() as progress:
        inputs = collect_inputs(suite, registry, progress=progress, queries=plan.queries)
        scores = score_inputs(inputs)
        rehearsal = begin_rehearsal(inputs, scores, plan.checks)
        candidate = _choose_candidate(inputs, rehearsal, against, progress)
    different = count_different_queries(rehearsal, candidate.scores) if candidate.scores is not None else 0
    nothing = candidate.nothing or _describe_nothing(rehearsal, different)
    harmless = try_harmless_changes(rehearsal)
    with bars() as progress:
        swappable = candidate.scores if not nothing else None
        alarms = count_false_alarms(rehearsal, swappable, trials, progress) if swappable is not None else ()
        mutants = try_mutants(rehearsal, frozenset(harmless[0].red), progress)
    return SelfTest(
        suite=suite.name,
        file=suite.shown,
        queries=len(scores.population.queries),
        trials=trials,
        compared=candidate.words,
        differing=different,
        nothing_to_swap=nothing,
        alarms=alarms,
        mutants=mutants,
        harmless=harmless,
        notes=tuple(_list_notes(rehearsal)),
    )


@dataclass(eq=False)
class _Candidate:
    """The rankings that change places with the baseline, or the reason why there are none."""

    words: str
    scores: Scores | None
    nothing: str = ""


def _choose_candidate(inputs: Inputs, rehearsal: Rehearsal, against: Path | None, progress: Progress) -> _Candidate:
    accepted = rehearsal.accepted.origin
    if against is not None:
        return _Candidate(f"{against} and {accepted}", _score_file(inputs, rehearsal, against, progress))
    if not rehearsal.has_baseline:
        return _Candidate("", None, "no baseline has been accepted yet")
    return _Candidate(f"{inputs.source} and {accepted}", rehearsal.scores)


def _describe_nothing(rehearsal: Rehearsal, different: int) -> str:
    if not list_swappable(rehearsal):
        return "no rule of this suite compares values"
    return "" if different else "both sides have the same values for every query"


def _score_file(inputs: Inputs, rehearsal: Rehearsal, path: Path, progress: Progress) -> Scores:
    """The scores where a file holds the current rankings."""
    answer = read_rankings_file(path, inputs.collection, progress)
    shared = set(answer.rankings[0].queries) & set(rehearsal.accepted.position)
    if not shared:
        raise InputError(Problem(f"ranks no query that {rehearsal.accepted.origin} ranks", place=str(path)))
    return rehearsal.scores.replace_current(rehearsal.score(answer.rankings))


def _list_notes(rehearsal: Rehearsal) -> Iterator[str]:
    lists = [check.id for check in rehearsal.checks if check.rule.compares_lists]
    if lists:
        yield f"{', '.join(lists)}: these rules compare lists; swapping the sides does not test their false alarms"
    lenient = [check.id for check in rehearsal.checks if check.only_warns]
    if lenient:
        yield f"{', '.join(lenient)}: only a warning, never red: the suite sets on_fail: warn, or it measures time"
    if not rehearsal.has_baseline:
        yield "no baseline has been accepted yet: the current rankings are damaged and compared with themselves"
