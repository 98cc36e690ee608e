"""Finds a rule that would be red without a component and is green today: it is applied before it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import yaml

from pytest_ireval import Scores, apply_rules
from pytest_ireval.gate_api import RuleCheck, plan_checks, read_rule_text, select_rule_checks
from pytest_ireval.plugin_api import Registry
from pytest_ireval_lab.alive.results import Move

MOST_TRIED = 10
"""The losses for which a rule is looked for."""
MOST_ALLOWED = 0.05
"""The largest tolerance, as a share: half of a large loss would let other losses pass."""
LOW = 0.1
"""Of a lower mean, a share says little."""


def propose_rule(
    name: str, losses: Sequence[Move], without: Scores, green: Sequence[Scores], registry: Registry
) -> str:
    """The first rule, as a line of the suite, that notices a loss and passes on what is ``green``; empty if none does.

    ``losses`` begin with the largest. A rule about all queries is tried first where they lose at least half as much.
    The rule has the name of the component.
    """
    ordered = sorted(losses, key=lambda move: bool(move.where) or 2 * move.gain > losses[0].gain)
    for move in ordered[:MOST_TRIED]:
        for text in _write_rules(name, move):
            if _is_fit(text, without, green, registry):
                return text.replace("$", "$$")
    return ""


def _write_rules(name: str, move: Move) -> Iterator[str]:
    """Rules that allow half of a loss, or 5%: by evidence, and by what is observed where evidence cannot tell."""
    allowed = min(abs(move.without_it - move.with_it) / 2, MOST_ALLOWED * max(move.with_it, LOW))
    options: dict[str, Any] = {"metric": move.metric}
    if move.where:
        options["where"] = {
            column: values[0] if len(values) == 1 else [*values] for column, values in move.where.items()
        }
    is_low = move.with_it < LOW
    options["tolerance"] = {"absolute": _round(allowed)} if is_low else f"{_round(100 * allowed / move.with_it):g}%"
    for decision in ({}, {"decide_by": "observed"}):
        rule = {**options, **decision, "name": name}
        flow = yaml.safe_dump(rule, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000)
        yield f"- no_regression: {flow.strip()}"


def _round(number: float) -> float:
    return float(f"{number:.1g}")


def _is_fit(text: str, without: Scores, green: Sequence[Scores], registry: Registry) -> bool:
    """Apply a rule as one more of the suite."""
    suite = without.collection.suite
    rule = replace(read_rule_text(text, registry.in_dialect(suite.policies.dialect)), index=len(suite.rules))
    added = replace(suite, rules=(*suite.rules, rule))
    checks = select_rule_checks(plan_checks(added, without.population.queries))
    (own,) = [check for check in checks if check.rule.index == rule.index]
    if _find_verdict(without, checks, own) != "fail":
        return False
    return all(_find_verdict(scores, checks, own) == "pass" for scores in green)


def _find_verdict(scores: Scores, checks: Sequence[RuleCheck], own: RuleCheck) -> str:
    (outcome,) = apply_rules(scores, checks, {own.id})
    return outcome.verdict
