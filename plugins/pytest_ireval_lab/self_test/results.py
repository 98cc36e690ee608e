"""The result of rehearsing a suite: chance alarms, damage that it notices or not, and the noise of its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class FalseAlarms:
    """Red runs of one rule, or of all of them together, when baseline and candidate changed places by chance."""

    rule: str
    """Its id; empty for the whole suite."""
    decided_by: str
    """``observed`` or ``evidence``; empty for the whole suite."""
    runs: int
    alarms: int
    """The number of runs in which it failed or could not be judged; of a rule with ``on_fail: warn``, it warned."""
    share: float
    low: float
    """The 95% interval of the share (Clopper and Pearson)."""
    high: float
    by_evidence: int = 0
    """The number of runs in which evidence said that it became worse; what was observed decided the other alarms."""
    promised: float | None = None
    """The promised share of chance alarms; None where nothing is promised."""
    broken: bool = False
    """True if evidence raised too many alarms for the promise to be kept."""
    differing: int | None = None
    """Of a rule, the number of values of its metric that differ; None: unknown. If it is 0, no swap can turn it red."""
    only_warns: bool = False
    """True if the rule never turns the suite red."""

    @property
    def is_swapped_in_vain(self) -> bool:
        """True if the sides have equal values for this rule, so that the swaps say nothing about it."""
        return self.differing == 0


@dataclass
class Level:
    """Damage done to a share of the queries, several times."""

    share: float
    queries: int
    """The number of them."""
    trials: int
    red: int
    """The number of trials in which a rule failed or could not be judged."""
    inconclusive: int
    """The number of trials in which none did, but at least one could not tell."""


@dataclass
class NoticedDamage:
    """One kind of damage, and from which share of the queries on the suite turns red."""

    name: str
    queries: int
    """The number of queries that it can be done to."""
    levels: tuple[Level, ...]
    """From the smallest share to the first that is noticed."""
    noticed_from: float | None = None
    """The smallest share of the queries at which the suite was red in 80% of the trials; None: it goes unnoticed."""
    rules: tuple[str, ...] = ()
    """The rules that were red at that share, those that were most often first."""
    unnoticed_is_right: bool = False
    """True if the rules should be unable to tell, rather than fail: nothing is known of the documents any more."""


@dataclass
class HarmlessChange:
    """A change of the rankings that no rule may mind."""

    name: str
    tried: bool
    """False where these rankings leave no room for it."""
    why: str = ""
    """Why it was not tried."""
    red: tuple[str, ...] = ()
    """The rules that failed, or could not be judged, all the same."""


@dataclass
class SelfTest:
    """The evidence that a suite can be believed when it is red, and when it is green."""

    suite: str
    file: str
    queries: int
    trials: int
    compared: str
    """The two rankings that changed places, in words."""
    differing: int
    """The number of queries with another value of some metric on the two sides."""
    nothing_to_swap: str
    """Why there are no false alarms to count; empty if there are."""
    alarms: tuple[FalseAlarms, ...]
    """The whole suite first."""
    mutants: tuple[NoticedDamage, ...]
    harmless: tuple[HarmlessChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if no harmless change is red, and evidence raises no more alarms than it promises."""
        return not any(each.red for each in self.harmless) and not any(each.broken for each in self.alarms)


@dataclass
class MetricNoise:
    """The noise of one metric when the same source is asked again."""

    metric: str
    queries: int
    moved: int
    """The number of them that did not always have the same value."""
    sd: float
    """The standard deviation of the answers to one query."""
    floor: float
    """In 95% of cases two means of this suite, of one system, lie no further apart."""
    share: float | None = None
    """The share of run noise in the variance between baseline and now; None where nothing changed between them."""
    repeat: int | None = None
    """The number of answers for run noise of at most 10% of that variance; None where it is unknown."""


@dataclass
class ToleranceNoise:
    """The tolerance of one rule beside the noise of its metric on its slice."""

    rule: str
    tolerance: float
    """In the metric's own unit."""
    floor: float
    below: bool
    """True if noise alone breaks the tolerance in more than 5% of cases."""
    red: bool = True
    """True if a run is red then; a rule may only warn."""


@dataclass
class RepeatVerdict:
    """One rule's verdict when two answers of the same source are compared."""

    rule: str
    verdict: str
    headline: str


@dataclass
class RepeatedAnswers:
    """The findings from asking the source of a suite several times."""

    suite: str
    file: str
    source: str
    answers: int
    """The number of answers of the source."""
    repeat: int
    """The number of answers that the suite takes the mean of."""
    queries: int
    lists: int
    """The number of queries that did not always get the same list."""
    metrics: tuple[MetricNoise, ...]
    tolerances: tuple[ToleranceNoise, ...]
    rules: tuple[RepeatVerdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """True if all answers are the same."""
        return not self.lists and not any(each.moved for each in self.metrics)

    @property
    def holds(self) -> bool:
        """True if no tolerance that makes a run red is below the noise, and two answers of one system show no red."""
        red = any(each.verdict in ("fail", "error") for each in self.rules)
        return not red and not any(each.below and each.red for each in self.tolerances)
