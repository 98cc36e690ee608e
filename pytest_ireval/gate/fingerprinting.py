"""The fingerprints of what a suite rests on now, to be held against those of its baseline."""

from __future__ import annotations

from pytest_ireval.baselines.baseline import Fingerprints
from pytest_ireval.baselines.fingerprints import (
    JudgmentPrints,
    fingerprint_of_policies,
    fingerprint_of_queries,
    fingerprint_of_text,
    fingerprints_of_judgments,
)
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.suites.suite import Suite


def prints_of(suite: Suite, gathered: Gathered, source: str, judged: JudgmentPrints | None) -> Fingerprints:
    """One for each thing that may change besides the rankings."""
    lowest = suite.judgments.relevant_from if suite.judgments else None
    policies = fingerprint_of_policies(suite.policies)
    return Fingerprints(
        queries=fingerprint_of_queries(gathered.population.queries),
        judgments="" if judged is None else judged.whole,
        source=fingerprint_of_text(source),
        policies=policies if lowest is None else fingerprint_of_text(f"{policies} relevant from {lowest:g}"),
    )


def judgment_prints(gathered: Gathered) -> JudgmentPrints | None:
    """What is to be remembered of the judgments as they are written; None for a suite without."""
    return None if gathered.written is None else fingerprints_of_judgments(gathered.written)
