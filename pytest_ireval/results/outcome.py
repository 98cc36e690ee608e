"""The result of one rule: a verdict with its slices, queries and documents, and the reasons why figures changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["pass", "fail", "inconclusive", "error"]
VERDICTS: tuple[Verdict, ...] = ("pass", "inconclusive", "fail", "error")
"""From the best to the worst."""
INTERVAL_LEVEL = 0.90
"""Of the interval of a change: each end is a bound at 5%, the level of the tests."""


@dataclass(slots=True)
class SliceFigures:
    """One metric on one slice; with a baseline, what changed there."""

    slice: str
    """``all``, or ``segment=tail``."""
    queries: int
    """The number of queries (or sessions) that count; with a baseline, of those that are paired."""
    now: float | None
    baseline: float | None = None
    worse: int = 0
    better: int = 0
    same: int = 0
    share: float | None = None
    """The share of the searches that its queries carry; None where queries have no weight."""
    tolerance: float | None = None
    """The most that the figure may fall, in its own unit."""
    over: bool = False
    """True if this line decided against the change."""
    low: float | None = None
    """The interval of the mean change, of ``INTERVAL_LEVEL``; None where nothing is compared, or without a spread."""
    high: float | None = None
    resolution: float | None = None
    """The smallest drop of the mean that this number of queries of this spread shows in 80% of cases."""
    false_alarm: float | None = None
    """The chance that a harmless change of this spread would break the tolerance."""
    sd: float | None = None
    """The standard deviation of the differences."""
    p: float | None = None
    """The chance of a mean change this bad, or worse, if nothing had become worse; None where it is unknown."""
    adjusted: float | None = None
    """The same, corrected for all rules of the suite that decide by evidence; None where the rule does not."""
    needed: int | None = None
    """The number of queries of this spread that would show a drop of ``tolerance`` in 80% of cases."""
    room: float | None = None
    """The most that the figure can get worse at all; None where it has no bound, or nothing changed."""
    effective: float | None = None
    """The number of equally weighted queries that the weighted ones are worth; None where the mean is not weighted."""
    clusters: int | None = None
    """In how many clusters the queries lie; None where each was drawn for itself."""
    weighted: bool = False
    """True if queries count as often as they are asked; otherwise every query counts the same."""
    two_sided: bool = False
    """True if the tolerance holds for a rise too."""

    @property
    def label(self) -> str:
        """The slice, and whether its figures are weighted: ``all``, ``segment=tail, weighted``."""
        return f"{self.slice}, weighted" if self.weighted else self.slice

    @property
    def change(self) -> float | None:
        """``now - baseline``."""
        return None if self.now is None or self.baseline is None else self.now - self.baseline

    @property
    def can_show_no_drop(self) -> bool:
        """True if these queries cannot show even the largest possible change for the worse."""
        return self.resolution is not None and self.room is not None and self.resolution > self.room

    @property
    def relative(self) -> float | None:
        """The change as a share of the baseline; None where that is 0."""
        return None if self.change is None or not self.baseline else self.change / abs(self.baseline)


@dataclass(slots=True)
class DocumentText:
    """The fields of a document by which people recognise it; each is one line."""

    title: str = ""
    url: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    """All other fields, cut to 200 characters."""


@dataclass(slots=True)
class Placed:
    """A document: its grade (None: not judged) and its ranks; None where it is not among the first ``depth``."""

    document: str
    grade: float | None
    now: int | None
    baseline: int | None = None
    title: str = ""
    """Its title, if the suite or the source has one."""

    @property
    def named(self) -> str:
        """The id, with the title where there is one: ``d17 "Red mug"``."""
        return f'{self.document} "{self.title}"' if self.title else self.document


@dataclass(slots=True)
class LostDocument:
    """A relevant document that is not among the first documents, and the stage that lost it."""

    document: str
    grade: float
    stage: str
    """The stage that lost it: the first without it, or the last one, which ranks it lower."""
    ranks: Mapping[str, int | None]
    """By stage its rank; None where it is missing."""
    ranks_before: Mapping[str, int | None] = field(default_factory=dict)
    """The same in the baseline. A stage is left out where it is unknown: the document was judged later."""


@dataclass(slots=True)
class QueryChange:
    """One query that a verdict rests on."""

    query: str
    text: str
    now: float | None
    baseline: float | None = None
    weight: float | None = None
    best: Placed | None = None
    """The relevant document whose fall cost most; without a baseline, the best document of the ranking."""
    top: tuple[Placed, ...] = ()
    """The first three documents now."""
    note: str = ""
    """The rule's remark on this query, and where its documents were lost."""
    lost: tuple[LostDocument, ...] = ()
    """With stages: the relevant documents that are not among the first any more, the best first."""
    ceiling: float | None = None
    """With stages: the value of the best order of what the earlier ones returned; None where it is not known."""
    ceiling_baseline: float | None = None


@dataclass
class Outcome:
    """A verdict plus its evidence."""

    id: str
    """Below the suite: ``no_regression::nDCG_10.segment-tail``."""
    kind: str
    """Of the rule; ``inputs`` for what the suite rests on."""
    verdict: Verdict
    headline: str
    """The finding with figures: ``nDCG@10 fell 31.1% on segment=tail (tolerance 3%)``."""
    sentence: str = ""
    """The same for a reader who does not know the metric."""
    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""
    """The rule's name in the suite."""
    metric: str = ""
    """Canonical name; empty if it is about none."""
    stage: str = ""
    """The earlier stage of answers that its metric is about; empty: the ranking."""
    explained: bool = True
    """True if ``ireval why`` can show the arithmetic of the metric on one of the queries."""
    slice: str = "all"
    tags: tuple[str, ...] = ()
    warning: bool = False
    """True if a reader should look although the verdict is pass: it would have failed, but the rule says ``on_fail:
    warn``; or it is a known failure, or one that holds again.
    """
    broken: bool = False
    """True if the rule does not hold although the verdict is pass: it only warns, as a known failure does."""
    stale: bool = False
    """True if it failed because it expects a document that the index does not have any more."""
    acceptable: bool = False
    """True if it was against the change, and accepting what was measured settles that."""
    accepted: bool = False
    """True if it was against the change, but this run has accepted what it measured; the verdict is pass then."""
    figures: tuple[SliceFigures, ...] = ()
    """The line that decides first, then the others."""
    queries: tuple[QueryChange, ...] = ()
    """The queries it rests on, the worst first; all of them, or the worst 10,000."""
    more_queries: int = 0
    """The number of queries it rests on beyond those in ``queries``."""
    queries_title: str = "worst queries"
    """The title of the list of queries."""
    facts: tuple[str, ...] = ()
    """Further facts, a line each."""
    compares: bool = False
    """True if it looked at a baseline."""
    against: str = ""
    """The reference that it compared with instead of the stored baseline, in words."""
    missing_baseline: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)
    """For programs: value, baseline, change, tolerance and the like."""
    statistics: tuple[str, ...] = ()
    """Facts for readers who know statistics, a line each; reports fold them."""

    @property
    def query_count(self) -> int:
        """The number of queries it rests on, listed or not."""
        return len(self.queries) + self.more_queries

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass
class Diagnosis:
    """A plain cause of a change, with the share of the loss that it explains."""

    kind: str
    headline: str
    """The cause with figures: ``10 of 224 queries return nothing; the baseline has documents for them``."""
    advice: str = ""
    """The next thing to look at or to do."""
    queries: tuple[str, ...] = ()
    """The queries that lost most: ten at most."""
    affected: int = 0
    """The number of queries it concerns."""
    compared: int = 0
    """The number of queries with a ranking in the baseline."""
    metric: str = ""
    """The metric whose loss is explained; empty where nothing was lost."""
    explained: float | None = None
    """The share of the loss that its queries have, or its stage."""
    stage: str = ""
    """The stage of an answer that lost relevant documents; empty for other causes."""
    locates: bool = False
    """True if it says where the loss is, and not why."""

    @property
    def is_most(self) -> bool:
        """Tell whether it explains half of the loss: then it is removed before anything else is looked at."""
        return (self.explained or 0) >= 0.5


def find_worst_verdict(verdicts: tuple[Verdict, ...]) -> Verdict:
    """The verdict of a whole."""
    return max(verdicts, key=VERDICTS.index, default="pass")


@dataclass
class JudgmentEdit:
    """A judgment that is not what it was; None where there is none."""

    query: str
    document: str
    before: float | None
    now: float | None


@dataclass
class Restated:
    """A metric's figure of the baseline itself: when it was accepted, and under the current judgments."""

    then: float | None
    now: float | None


@dataclass
class Cause:
    """The changes since the baseline was accepted."""

    rankings: int = 0
    """Queries whose ranking is another one."""
    compared: int = 0
    """Queries that have a ranking on both sides."""
    judgments: int = 0
    """Queries whose judgments are others."""
    edits: tuple[JudgmentEdit, ...] = ()
    """The judgments that changed, as far as they can be named: the first hundred."""
    edited: int | None = None
    """The number of judgments that changed; None where the baseline does not keep them."""
    restated: Mapping[str, Restated] = field(default_factory=dict)
    """Metrics whose figure of the baseline itself is not what it was."""
    added: tuple[str, ...] = ()
    """Queries that are new since the baseline."""
    removed: tuple[str, ...] = ()
    """Queries of the baseline that are gone."""
    queries: bool = False
    """True if the queries file says something else (texts, columns, other queries)."""
    metrics: tuple[str, ...] = ()
    """Metrics whose definition is another one."""
    source: bool = False
    """True if the source is described in other words."""
    policies: bool = False
    """True if queries are evaluated under other policies."""
    timings: bool = False
    """True if a query took another time; only known if a metric uses timings."""
    fields: bool = False
    """True if a field of a document that a metric uses has another value."""
    request: tuple[str, ...] = ()
    """The changes of the request, key by key: ``query.multi_match.fields[1]: body -> author``."""
    system: tuple[str, ...] = ()
    """The changes of what is asked, and not of how: another host, index, function or file of rankings."""
    files: tuple[str, ...] = ()
    """The source's own files whose content changed: the module of a function, a script."""
    index: str = ""
    """The difference of the searched index: another mapping, many documents lost. Empty without one."""
    rebuilt: str = ""
    """A sentence on an index that was built again with a known mapping, which alone explains nothing."""
    judges: str = ""
    """The change of judges, such as another model: ``model A to model B``. Empty without one."""
    sources: tuple[str, ...] = ()
    """The name of the source then and now; empty if these are equal, or the baseline does not know."""

    @property
    def nothing(self) -> bool:
        """True if everything is as it was."""
        return self == Cause(compared=self.compared)
