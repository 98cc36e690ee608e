"""The anchor of a suite: a baseline that was pinned for a release, and moves when somebody says so.

Its files lie beside those of the baseline, under the name of the suite and ``anchor``: ``shop.anchor.json``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_ireval.baselines.baseline import Acceptance, Baseline
from pytest_ireval.baselines.files import ANCHOR
from pytest_ireval.baselines.writing import encoded_baseline, write_files


def anchor_name(suite: str) -> str:
    """What the files of a suite's anchor are called."""
    return f"{suite}{ANCHOR}"


def is_anchor(name: str) -> bool:
    """Whether files of that name are those of an anchor; no suite may be called so."""
    return name.endswith(ANCHOR)


def suite_of(name: str) -> str:
    """Whose anchor or baseline it is."""
    return name.removesuffix(ANCHOR)


def write_anchor(folder: Path, baseline: Baseline, anchoring: Acceptance) -> tuple[Path, ...]:
    """The baseline is the anchor of its suite from now on, whole or not at all; the one before is replaced.

    Its acceptances are those of the baseline, and the anchoring.
    """
    name = anchor_name(baseline.suite)
    anchor = replace(baseline, suite=name, acceptances=(*baseline.acceptances, anchoring))
    return write_files(folder, name, encoded_baseline(anchor))


def accepted_since(anchor: Baseline, stored: Baseline) -> tuple[Acceptance, ...]:
    """What the baseline has accepted and the anchor has not, the oldest first.

    After a merge the baseline may lack acceptances that the anchor has: one side was kept, and the other was accepted
    once more. Those of the kept side are what led away from the anchor.
    """
    pinned = set(anchor.acceptances)
    return tuple(each for each in stored.acceptances if each not in pinned)


def anchor_words(anchoring: Acceptance) -> str:
    """``the anchor of 2026-03-01 (release 4.2)``."""
    return f"the anchor of {anchoring.date[:10]}{f' ({anchoring.reason})' if anchoring.reason else ''}"
