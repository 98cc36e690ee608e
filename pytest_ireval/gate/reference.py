"""The references of a suite: the stored baseline, an anchor, or other rankings; each is checked to fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.at_base import BaselineAtBase, SuiteIdentity, find_baseline_at_base
from pytest_ireval.baseline.changes import find_cause
from pytest_ireval.baseline.files import anchor_name, find_committed_baseline
from pytest_ireval.baseline.index_facts import describe_new_count
from pytest_ireval.baseline.reading import format_checkout, read_baseline
from pytest_ireval.baseline.record import Baseline, Fingerprints, JudgmentPrints, Search, describe_anchor
from pytest_ireval.data.coerce import some
from pytest_ireval.errors import (
    BaselineError,
    BaselineMisfitError,
    IrevalError,
    MissingAnchorError,
    Problem,
    SourceError,
    one_line,
)
from pytest_ireval.gate.answers import Answered, Others, refuse_missing_queries
from pytest_ireval.gate.inputs import Gathered
from pytest_ireval.gate.lacks import PLAIN, SCORES, find_lacks, split_times
from pytest_ireval.gate.redefinition import NEW_VERSION, ScoredAgain, definitions, find_redefined_metrics, find_restated
from pytest_ireval.gate.scoring import side_of, with_overlaps
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.results.outcome import Cause, Outcome
from pytest_ireval.rules.planning import compares_with_baseline
from pytest_ireval.rules.side import Side
from pytest_ireval.sources.describing import describe_source
from pytest_ireval.suite.suite import SourceAsked, Suite
from pytest_ireval.words import format_count

MOST_REMOVED = 0.05


class _Kept(NamedTuple):
    """A stored reference, the baseline or the anchor, and the way to make it again."""

    noun: str
    remedy: str
    first: str = ""
    """The step before that, where the current baseline does not fit either."""
    by_lock: bool = True
    """True if locked judgments have to be those of it."""


def _the_baseline(suite: Suite) -> _Kept:
    node = "::".join(filter(None, (suite.shown, ".".join(suite.values.values()))))
    return _Kept("baseline", f'accept the baseline again: pytest --ireval {node} --ireval-update --ireval-reason "…"')


def _the_anchor(suite: Suite) -> _Kept:
    first = "first accept the baseline with --ireval-force if it does not fit either: this rule blocks accepting it"
    return _Kept("anchor", f"pin the current baseline instead: {_anchor_command(suite)}", first, by_lock=False)


def _anchor_command(suite: Suite) -> str:
    named = f" --named {suite.name}" if suite.values else ""
    return f'ireval baseline anchor {suite.shown}{named} --reason "…"'


def _misfit(
    suite: Suite, gathered: Gathered, stored: Baseline, now: Side, cause: Cause, prints: Fingerprints, kept: _Kept
) -> BaselineError | None:
    """The reason why a stored reference does not fit; None if it fits."""
    locked = _locked(suite, stored, cause, prints) if kept.by_lock else None
    if locked is not None:
        return BaselineError(locked)
    problems = [*_shallow(suite, stored, cause, prints, kept), *_lost(gathered, stored, now, cause, kept)]
    return BaselineMisfitError(*problems) if problems else None


def needs_scores(suite: Suite) -> bool:
    """Tell whether the scores of documents are part of what is compared."""
    return any(metric.needs & SCORES for metric in suite.metrics)


def _redefined(stored: Baseline, now: Mapping[str, tuple[int, str]], kept: _Kept) -> dict[str, IrevalError]:
    """Metrics that changed since this was accepted; ``now`` has version and origin."""
    errors: dict[str, IrevalError] = {}
    for name, (version, origin) in now.items():
        then = stored.metrics.get(name)
        if then is not None and (then.version, then.origin) != (version, origin):
            complaint = (
                f"{name} is version {version} of {origin} now; the {kept.noun} was accepted with version "
                f"{then.version} of {then.origin}"
            )
            errors[name] = BaselineMisfitError(Problem(complaint, suggestion=kept.remedy, allowed=kept.first))
    return errors


def _notes_of(cause: Cause, queries: int, kept: _Kept) -> Iterator[str]:
    if cause.added:
        remedy = kept.remedy.partition(":")[0]
        much = f": more than a tenth, so {remedy}" if len(cause.added) > 0.1 * queries else ""
        new = format_count(len(cause.added), "query")
        yield f"{new} not yet in the {kept.noun}, and not compared{much}: {some(cause.added)}"
    if cause.removed:
        yield f"{format_count(len(cause.removed), 'query')} of the {kept.noun} gone: {some(cause.removed)}"


def _locked(suite: Suite, stored: Baseline, cause: Cause, prints: Fingerprints) -> Problem | None:
    if suite.judgments is None or not suite.judgments.lock or stored.fingerprints.judgments == prints.judgments:
        return None
    edits = "; ".join(f"{e.query} {e.document}: {_grade(e.before)} -> {_grade(e.now)}" for e in cause.edits[:5])
    queries = f"those of {format_count(cause.judgments, 'query')}" if cause.judgments else "they"
    return Problem(
        f"judgments are locked, and {queries} are not what they were when the baseline was accepted"
        f"{': ' + edits if edits else ''}",
        place=str(suite.judgments.file.place),
        suggestion="restore the judgments, or remove lock: true from the suite",
    )


def _grade(grade: float | None) -> str:
    return "none" if grade is None else f"{grade:g}"


def _shallow(suite: Suite, stored: Baseline, cause: Cause, prints: Fingerprints, kept: _Kept) -> Iterator[Problem]:
    """Documents or scores that were not kept; other passages; queries that the suite no longer has."""
    yield from _too_few(suite, stored, kept)
    then, now = (split_times(each.documents)[0] or PLAIN for each in (stored.fingerprints, prints))
    if then != now:
        complaint = f"the {kept.noun} was accepted with {then}, and the suite has {now}"
        yield Problem(complaint, suggestion=kept.remedy, allowed=kept.first)
    count = len(stored.rankings[0].queries)
    if len(cause.removed) > MOST_REMOVED * count:
        gone = (
            f"{len(cause.removed)} of {format_count(count, 'query')} of the {kept.noun} are gone: {some(cause.removed)}"
        )
        yield Problem(gone, suggestion=kept.remedy, allowed=kept.first)


def too_little(suite: Suite, stored: Baseline, prints: Fingerprints) -> Iterator[Problem]:
    """Documents, scores, timings or fields that count now and that the baseline does not keep."""
    kept = _the_baseline(suite)
    yield from _too_few(suite, stored, kept)
    yield from _lacking(suite.metrics, stored, prints, kept).values()


def _too_few(suite: Suite, stored: Baseline, kept: _Kept) -> Iterator[Problem]:
    if stored.depth < suite.depth:
        complaint = f"the {kept.noun} holds {stored.depth} documents of each query, and depth is {suite.depth} now"
        yield Problem(complaint, suggestion=kept.remedy, allowed=kept.first)


def _lacking(metrics: Iterable[Metric], stored: Baseline, prints: Fingerprints, kept: _Kept) -> dict[str, Problem]:
    """By metric, the data that it alone needs and that were not kept."""
    return {
        str(metric): Problem(f"the {kept.noun} {lack}", suggestion=kept.remedy, allowed=kept.first)
        for metric, lack in find_lacks(metrics, stored, prints.documents)
    }


def _lost(gathered: Gathered, stored: Baseline, now: Side, cause: Cause, kept: _Kept) -> Iterator[Problem]:
    """Queries or sessions that had a value in the baseline and have none now: judgments or rankings were lost."""
    queries, waived = gathered.population.queries, gathered.population.waived
    sessions = list(zip(queries.columns.get("session", ()), queries.ids, strict=False))
    counting = {session for session, query in sessions if query not in waived}
    out = {"query": waived | set(cause.removed), "session": {session for session, _ in sessions} - counting}
    for name, scored in now.scored.items():
        if name not in stored.metrics or (unit := scored.metric.unit) not in out or name in cause.metrics:
            continue  # another definition may give no value where the old one did
        valued = {each for each, lacks in zip(scored.names, np.isnan(scored.values).tolist(), strict=True) if not lacks}
        had = stored.metrics[name].values
        lost = [each for each in had if each not in valued and each not in out[unit]]
        if len(lost) > MOST_REMOVED * len(had):
            units = format_count(len(had), unit)
            complaint = f"{len(lost)} of {units} have no {name} any more: {some(lost)}"
            moved = ", or queries moved to other sessions" if unit == "session" else ""
            hint = f"were judgments deleted, or rankings left out{moved}? {kept.remedy}"
            yield Problem(complaint, suggestion=hint, allowed=kept.first)
            return


@dataclass(frozen=True, eq=False)
class Compared:
    """A scored baseline: its side, the changes since, or the reason why it cannot be compared with."""

    side: Side | None = None
    cause: Cause | None = None
    error: IrevalError | None = None
    redefined: Mapping[str, IrevalError] = field(default_factory=dict)
    """Metrics whose definition changed and whose version did not."""
    notes: tuple[str, ...] = ()


def compared(
    suite: Suite,
    gathered: Gathered,
    now: Side,
    stored: Baseline,
    prints: Fingerprints,
    judged_by: JudgmentPrints | None,
    search: Search,
    kept: _Kept | None = None,
) -> Compared:
    """Score a stored baseline with the current judgments and metrics; the accepted one, unless ``kept`` is given."""
    kept = kept or _the_baseline(suite)
    stored = replace(stored, rankings=tuple(map(gathered.names.in_rankings, stored.rankings)))
    unknown = _unknown_to(gathered, stored)
    origin = f"the {kept.noun} of {stored.accepted.date}"
    side = side_of(suite, gathered, stored.rankings, origin, unknown=unknown, curves=True).side
    hint = f"{kept.first}; {kept.remedy}" if kept.first else kept.remedy
    complaints = find_redefined_metrics(ScoredAgain(stored, gathered, prints, judged_by), side, kept.noun)
    redefined: dict[str, IrevalError] = {
        name: BaselineMisfitError(Problem(complaint, suggestion=hint, allowed=NEW_VERSION))
        for name, complaint in complaints.items()
    }
    side = over_the_same(suite, gathered, now, side, unknown)
    cause = find_cause(
        stored,
        rankings=now.rankings,
        judgments=judged_by,
        queries=gathered.population.queries,
        metrics=definitions(now),
        fingerprints=prints,
        search=search,
    )
    ranked = set(now.position)
    waived, known = gathered.population.waived, set(side.position)
    moved = [q for q in gathered.population.queries.ids if (q in known) != (q in ranked) and q not in unknown | waived]
    cause = replace(
        cause,
        rankings=cause.rankings + len(moved),
        restated=find_restated(stored, side),
        added=tuple(query for query in cause.added if query in ranked and query not in waived),
        metrics=tuple(sorted({*cause.metrics, *redefined})),
    )
    sound = [metric for metric in suite.metrics if str(metric) not in now.errors]  # accepting mends no other error
    lacking = {
        **_failing_on_new_ground(sound, stored, side, kept),
        **{name: BaselineMisfitError(each) for name, each in _lacking(sound, stored, prints, kept).items()},
    }
    redefined = {name: error for name, error in redefined.items() if name not in lacking}
    side = replace(side, errors={**side.errors, **redefined, **_redefined(stored, definitions(now), kept), **lacking})
    error = _misfit(suite, gathered, stored, now, cause, prints, kept)
    notes = [*_notes_of(cause, len(gathered.population.queries), kept)]
    if not cause.index:
        notes += describe_new_count(stored.search.index, search.index, f"when the {kept.noun} was accepted")
    return Compared(side, cause, error, redefined, tuple(notes))


def _failing_on_new_ground(
    metrics: Iterable[Metric], stored: Baseline, side: Side, kept: _Kept
) -> dict[str, BaselineMisfitError]:
    """Metrics that the reference was accepted without, and that fail on it: it may lack what only they look at."""
    errors = {}
    for name in map(str, metrics):
        if name in side.errors and name not in stored.metrics:
            reason = one_line(side.errors[name])
            complaint = f"the {kept.noun} was accepted without {name}, which fails on it: {reason}"
            errors[name] = BaselineMisfitError(Problem(complaint, suggestion=kept.remedy, allowed=kept.first))
    return errors


def _unknown_to(gathered: Gathered, stored: Baseline) -> frozenset[str]:
    known = {query for metric in stored.metrics.values() for query in metric.values}
    known = known.union(*(rankings.queries for rankings in stored.rankings))
    return frozenset(query for query in gathered.population.queries.ids if query not in known)


def over_the_same(suite: Suite, gathered: Gathered, now: Side, side: Side, unknown: frozenset[str]) -> Side:
    """The reference side; its metrics of sessions and of the whole, and the current ones, are over shared queries."""
    metrics = [metric for metric in suite.metrics if metric.unit != "query"]
    if not metrics:
        return side
    ignored = suite.policies.missing_queries == "ignore"
    lost = frozenset(query for query in side.position if query not in now.position) if ignored else frozenset()
    ours, theirs = (
        side_of(suite, gathered, each.rankings, each.origin, unknown=unknown, excluded=unknown | lost, metrics=metrics)
        for each in (now, side)
    )
    errors = {**side.errors, **ours.side.errors, **theirs.side.errors}
    return replace(side, scored={**side.scored, **theirs.side.scored}, errors=errors, counterpart=ours.side.scored)


def others_of(suite: Suite, gathered: Gathered, now: Side, answered: Others) -> dict[int, Side | IrevalError]:
    """The references of rules that name a source instead of the stored baseline, by the place of the rule."""
    found: dict[int, Side | IrevalError] = {}
    scored: dict[int, Side | IrevalError] = {}
    for number, rule in enumerate(suite.rules):
        source = rule.options.facts.reference.source
        if source is None:
            continue
        answer = answered[number]
        if id(answer) not in scored:  # several rules may compare with one
            try:
                scored[id(answer)] = _other(source, suite, gathered, now, answer)
            except IrevalError as error:
                scored[id(answer)] = error
        found[number] = scored[id(answer)]
    return found


def _other(source: SourceAsked, suite: Suite, gathered: Gathered, now: Side, answered: Answered | IrevalError) -> Side:
    """Score another source; a missing query is an error or is not compared, so that the source does not lose by it."""
    if isinstance(answered, IrevalError):
        raise answered
    if answered.failed:  # empty lists of the reference would hide a loss
        query, why = next(iter(answered.failed.items()))
        complaint = f"{format_count(len(answered.failed), 'query')} without an answer, such as {query!r} ({why})"
        raise SourceError(Problem(complaint, str(source.place), suggestion="in a source of against, no query may fail"))
    rankings = answered.rankings
    refuse_missing_queries(suite, source, gathered, rankings)
    there = set(rankings[0].queries).intersection(*(each.queries for each in rankings))
    unknown = frozenset(query for query in gathered.population.queries.ids if query not in there)
    words = describe_source(source, suite.path.parent)
    side = side_of(suite, gathered, rankings, words, unknown=unknown).side
    return over_the_same(suite, gathered, now, side, unknown)


def beside(suite: Suite, gathered: Gathered, now: Side) -> Callable[[Side], Side]:
    """Adds to the current side the metrics that compare its lists with those of a reference; made once for each."""
    made: dict[int, Side] = {}

    def with_reference(reference: Side) -> Side:
        if id(reference) not in made:
            made[id(reference)] = with_overlaps(suite, gathered, now, reference)
        return made[id(reference)]

    return with_reference


class Anchored(NamedTuple):
    """The references of rules that say ``against: anchor``, by their place in the suite, with notes on the anchor."""

    sides: Mapping[int, Side | IrevalError] = {}
    notes: tuple[str, ...] = ()
    anchor: Baseline | None = None


def anchored_by(
    suite: Suite, gathered: Gathered, now: Side, prints: Fingerprints, judged_by: JudgmentPrints | None, search: Search
) -> Anchored:
    """Score the anchor with the current judgments and metrics, if a rule asks for it."""
    asking = [n for n, rule in enumerate(suite.rules) if rule.options.facts.reference.anchored]
    if not asking:
        return Anchored()
    try:
        anchor = read_baseline(suite.baselines, anchor_name(suite.name))
        if anchor is None:
            return Anchored(dict.fromkeys(asking, _missing(suite)))
        found = compared(suite, gathered, now, anchor, prints, judged_by, search, _the_anchor(suite))
    except BaselineError as error:
        return Anchored(dict.fromkeys(asking, error))
    if found.error is not None or found.side is None:
        why = found.error or BaselineError("the anchor was not scored")
        return Anchored(dict.fromkeys(asking, why), anchor=anchor)
    side = replace(found.side, origin=describe_anchor(anchor.accepted))
    return Anchored(dict.fromkeys(asking, side), found.notes, anchor)


def _missing(suite: Suite) -> MissingAnchorError:
    """The error with the command that restores the anchor, or pins it for the first time."""
    deleted = find_committed_baseline(suite.baselines, anchor_name(suite.name))
    if deleted is not None:
        remedy = f"it was deleted: {bring_back(deleted)}"
    else:
        remedy = f"pin what is accepted now: {_anchor_command(suite)}"
    return MissingAnchorError(Problem("no anchor to compare with", suggestion=remedy))


def bring_back(deleted: Path) -> str:
    """The command that restores a deleted file."""
    return f"{format_checkout('HEAD', deleted)} restores it"


def without_anchor(plain: Outcome, error: MissingAnchorError) -> Outcome:
    """Fail, like a missing baseline; but accepting the current rankings pins nothing."""
    (problem,) = error.problems
    return replace(
        plain,
        verdict="fail",
        headline=f"{problem.complaint}\n  {problem.suggestion}",
        sentence="The rule compares with a pinned release of this suite, but none is pinned.",
        against="the anchor",
        missing_baseline=True,
    )


ON_ITS_OWN = "the two cannot be compared: make this change of the suite in a separate branch, without a base"


@dataclass(frozen=True, eq=False)
class Beginning:
    """The baseline where the branch began, or the error that hides it."""

    at: BaselineAtBase | None = None
    error: BaselineError | None = None


@dataclass(frozen=True, eq=False)
class HeldAgainst:
    """Two baselines of one suite, scored with the current judgments and metrics."""

    beginning: Beginning
    theirs: Side | None = None
    """The merge base's; None where one of the two does not exist."""
    ours: Side | None = None


def beginning_of(suite: Suite, base: BaseRef, stored: Baseline | None) -> Beginning:
    """The suite's baseline at the merge base; ``stored`` is the one of the branch."""
    ending = "".join(f".{value}" for value in suite.values.values())
    named = SuiteIdentity(suite.files, ending)
    try:
        return Beginning(find_baseline_at_base(base, suite.baselines, suite.name, stored, named))
    except BaselineError as error:
        return Beginning(error=error)


def held_against(suite: Suite, gathered: Gathered, beginning: Beginning, stored: Baseline | None) -> HeldAgainst:
    """Score both by every metric of the suite, and every one that a rule compares with the stored baseline."""
    found = {
        str(part.metric): part.metric for asked in suite.rules if compares_with_baseline(asked) for part in asked.parts
    }
    found |= {str(metric): metric for metric in suite.metrics} if found else {}
    metrics = [metric for metric in found.values() if metric is not None and "reference" not in metric.needs]
    at = beginning.at
    if at is None or at.baseline is None or stored is None or not metrics:
        return HeldAgainst(beginning)
    ours = score_baseline(suite, gathered, stored, "the baseline of this branch", metrics)
    if at.unchanged:
        return HeldAgainst(beginning, ours, ours)
    theirs = score_baseline(suite, gathered, at.baseline, f"the baseline at {at.base}", metrics)
    unknown = _unknown_to(gathered, stored) | _unknown_to(gathered, at.baseline)
    return HeldAgainst(beginning, over_the_same(suite, gathered, ours, theirs, unknown), ours)


def score_baseline(suite: Suite, gathered: Gathered, baseline: Baseline, origin: str, metrics: list[Metric]) -> Side:
    """Score a stored baseline under the judgments of ``gathered``."""
    rankings = [gathered.names.in_rankings(each) for each in baseline.rankings]
    return side_of(suite, gathered, rankings, origin, unknown=_unknown_to(gathered, baseline), metrics=metrics).side


def refuse_too_little(suite: Suite, metric: Metric, at: BaselineAtBase, stored: Baseline) -> None:
    """Raise BaselineMisfitError where one of two different baselines keeps less than the suite looks at."""
    if at.unchanged or at.baseline is None:
        return
    cutoff = metric.settings.get("cutoff")
    wanted = min(cutoff, suite.depth) if isinstance(cutoff, int) else suite.depth
    documents = split_times(stored.fingerprints.documents)[0]
    for baseline, where in ((at.baseline, f"at {at.base}"), (stored, "of this branch")):
        then = split_times(baseline.fingerprints.documents)[0]
        if baseline.depth < wanted:
            complaint = (
                f"the baseline {where} holds {baseline.depth} documents of each query, and {metric} looks at {wanted}"
            )
        elif then != documents:
            complaint = f"the baseline {where} was accepted with {then or PLAIN}, and that of this branch otherwise"
        else:
            continue
        raise BaselineMisfitError(Problem(complaint, suggestion=ON_ITS_OWN))


def find_lack_of_one(metric: Metric, held: HeldAgainst, at: BaselineAtBase, stored: Baseline) -> str:
    """Why a metric cannot be compared in two baselines: one of them was accepted before a rule asked for it.

    Its rule is an error until it is accepted, and there was nothing yet that could be lowered.
    """
    name = str(metric)
    for baseline, side, where in ((at.baseline, held.theirs, f"at {at.base}"), (stored, held.ours, "of this branch")):
        if baseline is None or name in baseline.metrics:
            continue
        lack = next((lack for _, lack in find_lacks([metric], baseline, stored.fingerprints.documents)), "")
        if not lack and side is not None and name in side.errors:
            lack = f"was accepted without {name}, which fails on it: {one_line(side.errors[name])}"
        if lack:
            return f"{name} is not compared: the baseline {where} {lack}"
    return ""
