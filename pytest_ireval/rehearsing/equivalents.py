"""Whether a suite stays green where nothing that anybody looks at has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pytest_ireval.gate.gathering import ORDERS_BY_JUDGMENTS
from pytest_ireval.rehearsing.damage import top_of
from pytest_ireval.rehearsing.harmless import reversed_below, rows_tied, ties_written_otherwise
from pytest_ireval.rehearsing.stage import Stage, as_now, outcomes, red_rules, scored
from pytest_ireval.results.rehearsal import HarmlessChange
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Side


@dataclass(frozen=True, eq=False)
class _Equivalent:
    name: str
    side: Side
    done: Callable[[Rankings], Rankings]
    """To the rankings of that side."""
    why_not: str = ""
    """Why it cannot be tried."""
    rules: frozenset[str] | None = None
    """Those that may not mind; None: all."""


def harmless_changes(stage: Stage) -> tuple[HarmlessChange, ...]:
    """Each of them, with the rules that are red all the same; the first changes nothing at all."""
    return tuple(_tried(stage, each) for each in _equivalents(stage))


def _tried(stage: Stage, change: _Equivalent) -> HarmlessChange:
    if change.why_not:
        return HarmlessChange(change.name, tried=False, why=change.why_not)
    red = _red(stage, [change.done(each) for each in change.side.rankings])
    anyway = [] if change.side is stage.accepted else _red(stage, change.side.rankings)
    minded = [rule for rule in red if rule not in anyway and (change.rules is None or rule in change.rules)]
    return HarmlessChange(change.name, tried=True, red=tuple(minded))


def _red(stage: Stage, rankings: Sequence[Rankings]) -> list[str]:
    return red_rules(outcomes(stage, as_now(stage, scored(stage, rankings))))


def _equivalents(stage: Stage) -> Iterator[_Equivalent]:
    accepted = stage.accepted
    yield _Equivalent("the same rankings", accepted, lambda rankings: rankings)
    tied = next((side for side in (accepted, stage.material.now) if _has_ties(side)), None)
    why_not = _why_no_ties(stage) or ("" if tied else "no two documents of a query have equal scores")
    yield _Equivalent("equal scores written in another order", tied or accepted, ties_written_otherwise, why_not)
    deepest = top_of(stage)
    shallow = [check for check in stage.checks if _looks_no_deeper(check)]
    yield _Equivalent(
        f"documents below rank {deepest} reordered",
        accepted,
        partial(reversed_below, deepest=deepest),
        _why_nothing_below(stage, deepest, shallow),
        frozenset(check.id for check in shallow),
    )


def _looks_no_deeper(check: Check) -> bool:
    """Whether the rule is about a metric with a cutoff."""
    metric = check.part.metric
    return metric is not None and isinstance(metric.settings.get("cutoff"), int)


def _why_no_ties(stage: Stage) -> str:
    suite = stage.material.suite
    if suite.policies.ties == "input":
        return "the suite says ties: input, so their order counts"
    if suite.documents.aliases or suite.documents.collapse:
        return "documents have other names here than where equal scores are ordered by name"
    return ""


def _has_ties(side: Side) -> bool:
    """Baselines keep scores only where a metric asks for them."""
    return any(rows_tied(each).any() for each in side.rankings)


def _why_nothing_below(stage: Stage, deepest: int, shallow: Sequence[Check]) -> str:
    policies = stage.material.suite.policies
    if not shallow:
        return "no rule is about a metric with a cutoff"
    if policies.ties in ORDERS_BY_JUDGMENTS:
        return f"the suite says ties: {policies.ties}, so documents may move across the cutoff"
    if policies.unjudged != "irrelevant":
        return f"the suite says unjudged: {policies.unjudged}, so metrics look below their cutoff"
    if all(int(np.diff(each.first).max(initial=0)) < deepest + 2 for each in stage.accepted.rankings):
        return "there is nothing below it"
    return ""
