"""What a check looks at: what it compares with, and the values and documents on both sides."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.moved import walk_of
from pytest_ireval.rules.planning import Check, Held, by_anchor
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Side


def by_stored_baseline(check: Check, material: Material) -> bool:
    """Whether it compares with the stored baseline, and not with what a rule names instead."""
    return check.asked is not None and check.asked.kind.compares and _number(check, material) not in material.others


def _number(check: Check, material: Material) -> int:
    """The place of its rule in the suite."""
    return next(i for i, asked in enumerate(material.suite.rules) if asked is check.asked)


def reference_of(check: Check, material: Material) -> Side | IrevalError | None:
    """What the rule compares with; None if it does not exist yet."""
    number = _number(check, material)
    if number in material.others:
        return material.others[number]
    return material.baseline_error or material.baseline


def seen_of(check: Check, material: Material) -> Seen:
    """Both sides as the rule of a check sees them; raises why there is nothing to compare with."""
    compares = check.asked is not None and check.asked.kind.compares
    reference = reference_of(check, material) if compares else None
    if isinstance(reference, IrevalError):
        raise reference
    seen = Seen(material.population, material.now_beside(reference), reference, check.part, check.slice)
    seen = replace(seen, tie_orders=material.tie_orders)
    if check.asked is not None and check.part.metric is not None and by_anchor(check.asked):
        seen = replace(seen, walk=walk_of(material, Held(check.part.metric, check.slice)))
    return seen if reference is None else replace(seen, unjudged=partial(material.unjudged, reference))
