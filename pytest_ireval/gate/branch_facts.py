"""What a reader should know of two baselines besides their figures: who accepted what since then, and what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pytest_ireval.baselines.at_base import AtBase
from pytest_ireval.baselines.baseline import Acceptance, Baseline
from pytest_ireval.gate.held import HeldAgainst
from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.doors import some
from pytest_ireval.rules.side import Population, Scored

NAMED = 10
"""So many acceptances are named, the last ones."""


def since(at: AtBase, stored: Baseline) -> Iterator[str]:
    """What happened on the branch: acceptances, the newest first, another name, another suite file."""
    before = at.baseline
    if before is None or at.same:
        return
    new = [each for each in stored.acceptances if each not in before.acceptances]
    yield from map(_accepted, new[: -NAMED - 1 : -1])
    if len(new) > NAMED:
        yield f"and {counted(len(new) - NAMED, 'earlier acceptance')} on this branch"
    unknown = [each for each in before.acceptances if each not in stored.acceptances]
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        last = f"the last one on {unknown[-1].date[:10]}"
        yield f"{counted(len(unknown), 'acceptance')} of the base {verb} not part of this baseline, {last}"
    if at.renamed:
        yield f"the baseline was called {at.files[0]} then"


def plugins_gone(at: AtBase, plugins: Sequence[str]) -> Iterator[str]:
    """Distributions that took part when the base was accepted, and take none now; another version is no loss."""
    now = {each.partition(" ")[0] for each in plugins}
    for each in at.baseline.plugins if at.baseline is not None else ():
        if each.partition(" ")[0] not in now:
            yield f"plugin {each} was active when the base was accepted, but is not active now"


def _accepted(acceptance: Acceptance) -> str:
    """``accepted 2026-11-20 abc1234: synonyms v2``."""
    commit = f" {acceptance.commit[:7]}" if acceptance.commit else ""
    dirty = " with uncommitted changes" if acceptance.dirty else ""
    forced = ", forced" if acceptance.forced else ""
    return f"accepted {acceptance.date[:10]}{commit}{dirty}{forced}: {acceptance.reason or 'no reason was given'}"


def lost_queries(population: Population, at: AtBase, held: HeldAgainst) -> Iterator[str]:
    """Queries that counted at the base and count no more: figures over the others do not show what became of them."""
    if at.same or at.baseline is None or held.ours is None or held.theirs is None:
        return
    lost = dict.fromkeys(
        query
        for name, before in held.theirs.scored.items()
        if before.metric.unit == "query" and name in held.ours.scored
        for query, lacks in zip(before.names, _lacking(before, held.ours.scored[name], population), strict=True)
        if lacks
    )
    if lost:
        yield f"{counted(len(lost), 'query')} of the base without a value in this baseline: {some(list(lost))}"


def _lacking(before: Scored, now: Scored, population: Population) -> list[bool]:
    lacking: list[bool] = (~np.isnan(before.values) & np.isnan(now.values) & population.counting).tolist()
    return lacking
