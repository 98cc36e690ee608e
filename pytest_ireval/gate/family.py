"""All verdicts of a suite that evidence decides: each may be a false alarm, so their p are corrected together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.references import reference_of, seen_of
from pytest_ireval.plugins.kinds import MeanTest
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Floats
from pytest_ireval.statistics.multiplicity import holm_of_groups, worth_of_tests
from pytest_ireval.statistics.resolution import LEVEL


@dataclass(frozen=True)
class Family:
    """The verdicts that are corrected for one another."""

    adjusted: Mapping[str, float] = field(default_factory=dict)
    """By id: the corrected p, over all rules of the suite, whatever was selected."""
    broken: Mapping[str, str] = field(default_factory=dict)
    """By id: what a plugin's code raised where a p was asked for."""


def family_of(checks: Sequence[Check], material: Material) -> Family:
    """Of all checks of a suite."""
    tested: dict[str, MeanTest] = {}
    broken: dict[str, str] = {}
    for check in checks:
        if check.asked is None or check.asked.kind.tested is None or reference_of(check, material) is None:
            continue
        try:
            p = _checked(check.asked.kind.tested(check.asked.options, seen_of(check, material)))
        except IrevalError:
            continue  # what cannot be compared is an error when the rule is asked
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the verdict says what
            broken[check.id] = (
                f"rule {check.asked.kind.name} of {check.asked.kind.source} raised {type(error).__name__}: {error}"
            )
            continue
        if p is not None:
            tested[check.id] = p
    adjusted = corrected(list(tested.values()))
    return Family(dict(zip(tested, adjusted.tolist(), strict=True)), broken)


def _checked(p: float | MeanTest | None) -> MeanTest | None:
    """Return what a rule says of its p; a plugin may say what is no probability, or values of other units."""
    if p is None:
        return None
    found = p if isinstance(p, MeanTest) else MeanTest(float(p), None, None)
    if not 0 <= found.p <= 1:
        raise ValueError(f"its p is {found.p}; a p lies between 0 and 1")
    if found.units is not None and np.shape(found.gains) != np.shape(found.units):
        raise ValueError("a MeanTest needs one gain for each unit")
    return found


def corrected(tested: Sequence[MeanTest]) -> Floats:
    """Correct for all tests, and for those of the same queries by how much they move together."""
    groups, worth = groups_of(tested)
    return holm_of_groups(np.array([each.p for each in tested], np.float64), groups, worth)


def groups_of(tested: Sequence[MeanTest]) -> tuple[list[list[int]], list[float]]:
    """Return the places of tests of the same queries, and how many independent tests these are worth."""
    groups: dict[object, list[int]] = {}
    for place, each in enumerate(tested):
        groups.setdefault(place if each.units is None else bytes(each.units), []).append(place)
    worth = [
        float(len(group))
        if len(group) == 1
        else worth_of_tests(np.array([tested[place].gains for place in group]), LEVEL / len(tested))
        for group in groups.values()
    ]
    return list(groups.values()), worth
