"""Everything the rules of a suite look at: queries, judgments, rankings of now, the baseline, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_ireval.baselines.baseline import Baseline, Fingerprints
from pytest_ireval.baselines.fingerprints import JudgmentPrints
from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.setting import Setting
from pytest_ireval.gate.held import HeldAgainst
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.cause import Cause
from pytest_ireval.results.suite_result import Counts
from pytest_ireval.rules.side import Floats, Population, Side
from pytest_ireval.rules.unjudged import Unjudged
from pytest_ireval.suites.suite import Suite


@dataclass(frozen=True, eq=False)
class Material:
    """What was gathered for one suite, before any rule is asked."""

    suite: Suite
    registry: Registry
    population: Population
    setting: Setting | None
    """Judgments and metrics; None for a suite without judgments."""
    now: Side
    counts: Counts
    fingerprints: Fingerprints
    judged_by: JudgmentPrints | None
    """What is to be remembered of the judgments."""
    source: str
    """The source in words."""
    beside: Callable[[Side], Side]
    """The side of now with the metrics that compare its lists with those of a reference."""
    stored: Baseline | None = None
    baseline: Side | None = None
    """The stored baseline, scored like the rankings of now; None if there is none that can be compared with."""
    baseline_error: IrevalError | None = None
    """Why the stored baseline cannot be compared with."""
    anchor: Baseline | None = None
    """What a release was pinned as; None where no rule asks for it."""
    deleted: tuple[Path, ...] = ()
    """Files of a baseline that the last commit has, where there is none here."""
    cause: Cause | None = None
    others: Mapping[int, Side | IrevalError] = field(default_factory=dict)
    """What single rules compare with instead, by the rule's place in the suite."""
    notes: tuple[str, ...] = ()
    held: HeldAgainst | None = None
    """The stored baseline beside that of the merge base; None where nobody asked for one."""
    unjudged: Callable[[Side, Metric], Unjudged | None] = lambda _reference, _metric: None
    """What unjudged documents leave open for a metric, now beside a reference; made once for each."""
    tie_orders: Callable[[Metric], tuple[Floats, Floats] | None] = lambda _metric: None
    """A metric's values of now with equal scores in the worst and in the best order; made once for each."""

    @property
    def comparable(self) -> Side | None:
        """The stored baseline, unless there is a reason not to compare with it."""
        return self.baseline if self.baseline_error is None else None

    def now_beside(self, reference: Side | None) -> Side:
        """The side of now, complete for a rule that compares with ``reference``."""
        return self.now if reference is None else self.beside(reference)
