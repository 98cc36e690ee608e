"""The result of a suite: every outcome, and the queries, documents and circumstances behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_ireval.results.evaluation import InNotebook
from pytest_ireval.results.outcome import (
    Cause,
    Diagnosis,
    DocumentText,
    Outcome,
    Placed,
    QueryChange,
    SliceFigures,
    Verdict,
)
from pytest_ireval.results.policies import Policies


@dataclass(slots=True)
class RecallPrecision:
    """The fall of precision while recall rises."""

    levels: tuple[float, ...]
    """Interpolated precision at recall 0, 0.1 … 1: the best precision at that recall or any higher one."""
    r_precision: float | None = None
    """Precision at the rank that equals the number of relevant documents, where it equals recall. The line from (0, 1)
    over (r, r) to (1, 0) is what this one number says of the whole curve."""


@dataclass
class SliceCurves:
    """The mean of such curves over the queries of a slice that count, and on both sides have relevant documents."""

    slice: str
    queries: int
    now: RecallPrecision
    baseline: RecallPrecision | None = None


@dataclass(slots=True)
class QueryCurve:
    """The curve of one ranking of one query."""

    recall: tuple[float, ...]
    """At each relevant document that was found, the best rank first."""
    precision: tuple[float, ...]
    """At the same documents, not interpolated."""
    interpolated: RecallPrecision


@dataclass
class Accepted:
    """The acceptance of a baseline, or its pinning as the anchor."""

    date: str
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    reason: str = ""
    forced: bool = False
    anchor: bool = False
    """True if it was pinned."""


@dataclass(slots=True)
class ToJudge:
    """A pair to judge."""

    query: str
    document: str
    metric: str
    """The metric of the verdict that hangs on it."""
    effect: float
    """The move of the query's ``now - baseline`` if the document had the best grade."""
    text: str = ""
    """The query's."""
    now: int | None = None
    """Its rank; None where it is not among the first ``depth``."""
    baseline: int | None = None
    title: str = ""
    """The document's title, if the suite or the source has one."""


@dataclass(slots=True)
class MetricFigures:
    """One metric over the whole suite; every query counts the same, whatever weights a rule uses."""

    name: str
    direction: str
    unit: str
    aggregate: str
    now: float | None
    """Over all units."""
    baseline: float | None
    """Over those that both sides have."""
    paired: float | None = None
    """``now`` over those that both sides have; None without a baseline."""
    lists: bool = False
    """True if it compares the current lists with those of the baseline, and has no figure of either."""
    low: float | None = None
    """The 90% interval of the mean change, where there is one."""
    high: float | None = None
    worse: int = 0
    better: int = 0
    same: int = 0
    verdict: Verdict | None = None
    """The worst verdict of the rules about it; None: there is no rule about it."""
    error: str = ""
    """Why it could not be computed."""
    sd: float | None = None
    """The standard deviation of the differences."""
    resolution: float | None = None
    """The smallest drop of the mean that this number of queries of this spread shows in 80% of cases."""

    @property
    def change(self) -> float | None:
        """Over the units that both sides have."""
        return None if self.paired is None or self.baseline is None else self.paired - self.baseline


@dataclass(slots=True)
class SliceRow:
    """One metric on one slice of the queries, whether a rule is about it or not; every query counts the same."""

    metric: str
    figures: SliceFigures
    corrected: float | None = None
    """Its p, corrected for all rows of the suite (false discovery rate); None where there is none."""


@dataclass
class SinceBase:
    """The branch beside the merge base, whatever the branch has accepted since."""

    commit: str
    """The first digits of the merge base."""
    same: bool
    """True if the baseline is that of the merge base: then every comparison with the baseline is one with it."""
    changed: int
    """Queries whose ranking is another one than at the merge base."""
    compared: int
    rows: tuple[SliceRow, ...] = ()
    """Every metric over all queries and on each slice, if the branch has another baseline."""
    queries: tuple[QueryChange, ...] = ()
    """Queries whose ranking changed, those that lost most of the first metric first; 20 at most."""


@dataclass(frozen=True)
class Counts:
    """The counts behind the figures."""

    queries: int = 0
    judged: int = 0
    """Queries with judgments."""
    missing: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    without_judgments: tuple[str, ...] = ()
    no_relevant: int = 0
    unjudged: int = 0
    """Documents in the first ``depth`` of all rankings without a judgment."""
    waived: tuple[str, ...] = ()
    judged_share: float | None = None
    """The judged share of the first ``judged_depth`` documents; of queries that both sides have, if there is a
    baseline. None where nothing is judged or listed.
    """
    judged_share_before: float | None = None
    """The same of the baseline."""
    judged_depth: int = 0
    """The largest cutoff of the metrics, or the depth if one has none."""


@dataclass
class JudgmentAges:
    """The dates of judgments, and their ages on the day of the run."""

    oldest: str
    """ISO 8601."""
    newest: str
    median_days: int
    older: float
    """The share of dated judgments that are older than a year."""
    dated: int
    undated: int = 0
    """Judgments without a date that can be read."""


@dataclass(frozen=True)
class QueryTable:
    """All queries as columns; every sequence has one entry a query, None where there is nothing."""

    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    weights: tuple[float, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns that slices are made of."""
    now: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By metric."""
    baseline: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)

    def changes(self, metric: str) -> tuple[float | None, ...]:
        """``now - baseline`` of every query; empty where one of the sides has no figures of the metric."""
        sides = zip(self.now.get(metric, ()), self.baseline.get(metric, ()), strict=False)
        return tuple(None if now is None or before is None else now - before for now, before in sides)


@dataclass(slots=True)
class QueryDocuments:
    """The documents of one query, now and in the baseline, best rank first."""

    query: str
    documents: tuple[Placed, ...]
    now: QueryCurve | None = None
    """None where the query has no ranking or no relevant document."""
    baseline: QueryCurve | None = None
    shares: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By metric, the part of each of ``documents`` in ``now - baseline``; None where it has none. They add up.
    Only metrics that changed here and that can be split by document are listed; of those that do not simply add up
    documents, only where they changed most.
    """
    relevant: int | None = None
    """The number of relevant documents of the query; None where it is not judged."""


@dataclass
class EngineExplanation:
    """The reasons of the engine for the score of a document, as it gave them in this run."""

    query: str
    document: str
    now: int | None
    """Its rank; None where it is not among the first ``depth``."""
    baseline: int | None
    lines: tuple[str, ...]
    """A tree, with two spaces for each level."""


@dataclass
class BaselineInfo:
    """The baseline that was compared with."""

    path: str
    date: str
    commit: str
    branch: str
    dirty: bool
    reason: str
    forced: bool
    plugins: tuple[str, ...]
    same_index: bool = False
    """True if it is another commit, which asked the same build of an index as this one."""


@dataclass
class RecordedAnswers:
    """Answers to queries that were replayed from recordings: the system was not asked."""

    count: int
    """A query that is asked three times has three."""
    date: str
    """The day of the oldest recording."""

    def __str__(self) -> str:
        are = "answer is a recording" if self.count == 1 else "answers are recordings"
        return f"{self.count:,} {are} of {self.date}; no system was asked"


@dataclass
class SuiteResult(InNotebook):
    """One suite, judged."""

    name: str
    path: str
    """The suite's file, relative to where the run began."""
    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    owner: str = ""
    matrix: Mapping[str, str] = field(default_factory=dict)
    """Its values, if it is one of several suites of a file."""
    tags: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    """The ids of everything the suite has a verdict on; those that were not asked for have no outcome."""
    error: str = ""
    """Why the suite could not be judged at all."""
    metrics: tuple[MetricFigures, ...] = ()
    counts: Counts = Counts()
    queries: QueryTable = QueryTable()
    documents: tuple[QueryDocuments, ...] = ()
    """Of the queries behind failing rules, of those that each metric lost and gained most on, and of all where they are
    few."""
    documents_of: int = 0
    """The number of queries with documents that could be shown; ``documents`` may hold fewer."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of grades."""
    grades: str = ""
    """The grades that judges may give, such as ``0-4`` or ``0=no,1=yes``; empty if not all of them are digits."""
    cause: Cause | None = None
    """None without a baseline."""
    baseline: BaselineInfo | None = None
    versus: str = ""
    """Rankings of another commit that rules compared with in place of the stored baseline, in words:
    ``3f2a1c9, asked 4 minutes ago``. ``baseline`` is about them then.
    """
    policies: Policies | None = None
    collection: int | None = None
    """The number of documents in the collection, if the suite gives it."""
    depth: int = 0
    source: str = ""
    """Where the rankings come from, in words."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment variables that the suite names and that were set; ``…`` in place of values that may be secret."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Facts on the system that the source returned, such as the version of its engine."""
    recorded: RecordedAnswers | None = None
    """None where the source replayed no recording."""
    judgments: str = ""
    judgment_ages: JudgmentAges | None = None
    """None where no judgment has a date."""
    plugins: tuple[str, ...] = ()
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Notes for a reader of the figures: truncated rankings under an uncut metric, new queries, and the like."""
    waived: tuple[str, ...] = ()
    """Waivers, a line each."""
    slices: tuple[SliceRow, ...] = ()
    """Every metric on every slice of the columns that rules name."""
    to_judge: tuple[ToJudge, ...] = ()
    """Pairs whose judgment would move the verdicts most, the most influential first."""
    affected_by: str = ""
    """Why it takes part in a run of suites that are affected by a change; empty where all take part."""
    curves: tuple[SliceCurves, ...] = ()
    """Of all queries first, then of the slices that rules name; none without relevant documents."""
    acceptances: tuple[Accepted, ...] = ()
    """Of the baseline, and the pinning of the anchor if a rule asks for it; the newest last."""
    relevant_from: float = 1.0
    """The lowest grade that is relevant."""
    diagnoses: tuple[Diagnosis, ...] = ()
    """Plain causes of the change, the one that explains most first."""
    texts: Mapping[str, DocumentText] = field(default_factory=dict)
    """By id, the titles and other fields of the documents that are shown."""
    explanations: tuple[EngineExplanation, ...] = ()
    """Of documents that moved most, for the first queries of failing rules; only if the source explains scores."""
    since_base: SinceBase | None = None
    """With a base, if the suite had a baseline there."""


@dataclass
class Section:
    """A plugin's part of the report."""

    name: str
    title: str
    plugin: str
    """The distribution and its version, or the conftest.py."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The values for its template: texts, numbers, lists and objects."""
    problem: str = ""
    """Why there is nothing to show."""


@dataclass
class RunResult:
    """Everything one run of the gate came to."""

    version: str
    """Of pytest-ireval."""
    date: str
    """ISO 8601 in UTC; the commit's or ``SOURCE_DATE_EPOCH`` where that is given."""
    verdict: Verdict
    suites: tuple[SuiteResult, ...]
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    accepted: tuple[str, ...] = ()
    """Suites whose baseline this run wrote."""
    problems: tuple[str, ...] = ()
    """Reasons beside the suites why the run is not a pass: files that could not be collected, baselines not written."""
    failed_tests: tuple[str, ...] = ()
    """Tests in Python of the same run that failed, a gate that calls the fixture among them."""
    warnings: tuple[str, ...] = ()
    """Warnings beside those of the suites: suites that are gone, checks that were not looked at."""
    base: str = ""
    """The git ref whose merge base the branch's baselines were compared with; empty: none was asked for."""
    changed_since: str = ""
    """The git ref since which a watched file had to change for a suite to take part; empty: all take part."""
    unaffected: tuple[str, ...] = ()
    """Suites that took no part, because nothing they watch has changed since then."""
    not_selected: tuple[str, ...] = ()
    """Suites in the places that the run names of which no check was selected: by -k, -m, --deselect, --ignore, a
    conftest.py, or because another file was named. One that cannot be read is named by its file."""
    unasserted: tuple[str, ...] = ()
    """The red gates of Python tests that did not fail, a sentence each; they are among the warnings."""
    reason: str = ""
    """Why they were accepted."""
    sections: tuple[Section, ...] = ()
    """The sections of plugins in the report."""
