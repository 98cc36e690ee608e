"""Who accepted what is compared with, and when: the stored baseline and all acceptances before it, and the anchor."""

from __future__ import annotations

from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.gate.material import Material
from pytest_ireval.results.curves import Accepted
from pytest_ireval.results.suite_result import BaselineInfo


def baseline_info(material: Material) -> BaselineInfo | None:
    """The stored baseline; None where there is none."""
    stored, suite = material.stored, material.suite
    if stored is None:
        return None
    accepted = stored.accepted
    folder = suite.shown.rpartition("/")[0]
    return BaselineInfo(
        path=f"{folder}/baselines/{suite.name}.json".lstrip("/") if folder else f"baselines/{suite.name}.json",
        date=accepted.date,
        commit=accepted.commit,
        branch=accepted.branch,
        dirty=accepted.dirty,
        reason=accepted.reason,
        forced=accepted.forced,
        plugins=stored.plugins,
    )


def acceptances_of(material: Material) -> tuple[Accepted, ...]:
    """Those of the stored baseline, and the last pinning of the anchor that a rule asks for; the newest last."""
    stored, anchor = material.stored, material.anchor
    found = [_accepted(each) for each in stored.acceptances] if stored is not None else []
    if anchor is not None:
        found.append(_accepted(anchor.accepted, anchor=True))
    return tuple(sorted(found, key=lambda each: each.date))


def _accepted(acceptance: Acceptance, *, anchor: bool = False) -> Accepted:
    return Accepted(
        acceptance.date,
        acceptance.commit,
        acceptance.branch,
        acceptance.dirty,
        acceptance.reason,
        acceptance.forced,
        anchor,
    )
