"""Whether the documents that are listed now have other ids than those that were judged, and than the baseline's."""

from __future__ import annotations

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.material import Material
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.tokens import Words
from pytest_ireval.rules.side import Side

COLLAPSED = 1 / 3
"""What is left of the share of judged documents when most ids are others."""
ONCE_JUDGED = 0.2
"""Where less was judged before, nothing can be learnt from how much is now."""
MOST = 0.8
"""A ranker that breaks lists documents that somebody knows; so many strangers have other names."""
SHOWN = 3


def changed_ids(material: Material) -> InputError | None:
    """The error that says so; None where enough of the listed documents are known."""
    share = _share_of_strangers(material) if _collapsed(material) else 0.0
    if share < MOST:
        return None
    counts, judgments = material.counts, material.population.judgments
    assert judgments is not None  # noqa: S101 - without them there is no share that could collapse
    listed = _listed(material.now.rankings[0], counts.judged_depth)
    return InputError(
        Problem(
            f"{share:.0%} of the documents listed now stand neither in the judgments nor in the baseline's rankings; "
            f"were ids renamed? judged: {counts.judged_share:.0%} now, {counts.judged_share_before:.0%} in the "
            "baseline",
            place=material.now.origin,
            suggestion=f"it lists {some(listed.texts(np.arange(min(len(listed), SHOWN))))}; "
            f"judged are {some(judgments.documents.texts(np.arange(min(len(judgments), SHOWN))))}",
            allowed="documents: {aliases: FILE} in the suite names what is called otherwise now",
        )
    )


def _collapsed(material: Material) -> bool:
    """Whether far less is judged now than was in the baseline."""
    now, before = material.counts.judged_share, material.counts.judged_share_before
    return now is not None and before is not None and before >= ONCE_JUDGED and now < COLLAPSED * before


def _share_of_strangers(material: Material) -> float:
    """Which share of the documents listed now occurs for no query of the judgments or of the baseline."""
    judgments, before = material.population.judgments, material.baseline
    listed = _listed(material.now.rankings[0], material.counts.judged_depth)
    if judgments is None or before is None or not len(listed):
        return 0.0
    known = np.concatenate([judgments.documents.keys(), *_keys(before)])
    return float(1.0 - np.isin(listed.keys(), known).mean())


def _keys(side: Side) -> list[Words]:
    return [rankings.documents.keys() for rankings in side.rankings]


def _listed(rankings: Rankings, depth: int) -> Ids:
    """The first documents of all queries."""
    rank = np.arange(int(rankings.first[-1])) - np.repeat(rankings.first[:-1], np.diff(rankings.first))
    return rankings.documents.some(np.flatnonzero(rank < depth))
