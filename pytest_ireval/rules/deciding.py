"""What follows from the evidence: not worse than allowed, worse, or that these queries cannot tell."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_ireval.results.outcome import Verdict
from pytest_ireval.rules.drift import AcceptedChange, Walk
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.tries import Tries
from pytest_ireval.statistics.looks import levels_of_looks
from pytest_ireval.statistics.mean_evidence import MeanEvidence
from pytest_ireval.suites.options import EvidenceOptions


@dataclass(frozen=True)
class Decision:
    """What these queries are evidence for."""

    worse: bool
    """The figure fell; how far is another question."""
    safe: bool
    """It did not fall by as much as is not allowed."""
    identical: bool = False

    @property
    def verdict(self) -> Verdict:
        """Without a look at what nobody judged."""
        return "pass" if self.safe else "fail" if self.worse else "inconclusive"


def decided(evidence: MeanEvidence, factor: float, alpha: float) -> Decision:
    """``factor`` is what other verdicts of the suite make of a p."""
    if not evidence.changed:
        return Decision(worse=False, safe=True, identical=True)
    return Decision(min(1.0, factor * evidence.p_worse) < alpha, evidence.p_safe < alpha)


def factor_of(options: EvidenceOptions, seen: Seen, p: float) -> float:
    """How many times the p is that counts: because of the suite's other verdicts, and of earlier looks."""
    if seen.adjusted is None:
        return for_looks(options, seen)
    most = seen.tests * for_looks(options, seen)
    if not p:
        return most
    return max(1.0, seen.adjusted / p, most if seen.adjusted >= 1 else 0.0)  # a corrected p ends at 1


def for_looks(options: EvidenceOptions, seen: Seen) -> float:
    """Chance has many tries where many changes are compared with one reference, so each look has a part of alpha."""
    if not options.against.anchored:
        return 1.0
    if seen.walk is None:
        return options.alpha / levels_of_looks((), options.looks, options.alpha)[-1]
    return options.alpha / seen.walk.level(options.looks, options.alpha)


def for_tries(options: EvidenceOptions, tries: Tries) -> float:
    """Correct drawn changes for the looks that the accepted changes before them were."""
    if not options.against.anchored:
        return 1.0
    earlier = (AcceptedChange("", "", None),) * tries.accepted
    return options.alpha / Walk(earlier).level(options.looks, options.alpha)
