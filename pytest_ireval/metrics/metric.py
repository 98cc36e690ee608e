"""A metric: a value that describes itself and scores all queries at once."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Concatenate, Literal, TypedDict, get_args

from pytest_ireval.errors import MetricError, did_you_mean
from pytest_ireval.metrics.parameters import HOLE, Parameter, bind_arguments, find_holes, format_value, read_parameters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from pytest_ireval.data.judged import JudgedRankings

    Batch = Callable[Concatenate[JudgedRankings, ...], NDArray[np.float64]]

__tracebackhide__ = methodcaller("errisinstance", MetricError)
"""pytest then shows the line of a user's file that makes a metric, and none of the frames behind it."""


Need = Literal[
    "scores",
    "ties",
    "documents",
    "collection",
    "unjudged",
    "judgments",
    "fields",
    "subtopics",
    "sessions",
    "preferences",
    "timings",
    "queries",
    "unretrieved",
    "reference",
]

NEEDS: tuple[str, ...] = get_args(Need)

SOURCES: dict[str, str] = {
    "scores": "`judged.hits.score`: the score of every judged document; always available",
    "ties": "`judged.hits.tied_from` and `tied_to`: the ranks that share its score; always available",
    "documents": "`judged.documents`: the ids in order of rank; kept if a metric needs them",
    "collection": "`judged.collection`: the number of documents in the collection; "
    "`SideData(collection=N)` (command line: `--collection N`)",
    "unjudged": "`judged.documents.grade` is NaN where a document is not judged; kept if a metric needs it",
    "judgments": "`judged.judgments`: ids of judged documents, and other columns of the judgments; there where a query "
    "is judged",
    "fields": "`judged.fields`: fields of each document by name; `SideData(fields={id: {…}})` or a file "
    "(suite: `documents: {fields: FILE}`; command line: `--fields FILE`)",
    "subtopics": "`judged.subtopics`: grades for parts of a query; from judgments with a column subtopic, or in format "
    "trec-diversity (command line: `--judgments-format trec-diversity`)",
    "sessions": "`judged.sessions`: the queries of each session; `SideData(sessions={query: (session, position)})`, "
    "or columns session and position of the queries file (command line: `--queries FILE`)",
    "preferences": "`judged.preferences`: the better document first; `SideData(preferences={query: [(a, b)]})` or a "
    "file (suite: `judgments: {preferences: FILE}`; command line: `--preferences FILE`)",
    "timings": "`judged.timings`: seconds each query took; `SideData(timings={query: seconds})` or a file (suite: "
    "`source: {run: …, timings: FILE}`, or the source returns them; command line: `--timings FILE`)",
    "queries": "`judged.query_texts` and `judged.columns`: the text and the other columns of each query; "
    "`SideData(queries=FILE)` (command line: `--queries FILE`)",
    "unretrieved": "`judged.unretrieved`: the judged documents that were not retrieved; always available",
    "reference": "`judged.reference`: another judged ranking of the same queries; `SideData(reference=rankings)` "
    "(suite: the baseline, or what a rule names with `against`; command line: `--reference FILE`)",
}
"""For each need: the place where a metric finds it, and the argument that brings it."""

Direction = Literal["higher", "lower", "neither"]
Unit = Literal["query", "session", "run"]
Range = tuple[float, float]
Spellings = Mapping[str, Mapping[str, Any]]

AGGREGATES = re.compile(r"mean|geometric|sum|none|p\d{1,2}(\.\d+)?")
"""``p95`` is a percentile."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SECTIONS = ("Formula", "Reference", "Example")

_NAME = "_text"  # the attribute that keeps a metric's canonical name after the first use


class NotANumberError(TypeError):
    """A function of one ranking returned something else than a number; the text says what, and for which query."""


@dataclass(frozen=True)
class MetricInfo:
    """What a metric says of itself to people, and its names elsewhere; no value depends on it."""

    summary: str = ""
    """One sentence."""
    formula: str = ""
    reference: str = ""
    example: str = ""
    spellings: Spellings = field(default_factory=dict)
    """Other names, each with the arguments it stands for; ``ndcg_cut_{cutoff}`` takes one from the name.

    See :data:`~pytest_ireval.metrics.parameters.HOLE` for the contents of braces.
    """
    dialects: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = field(default_factory=dict)
    """By a package: the arguments here for those that a name in its dialect gives; MetricError refuses them."""
    not_promised: Mapping[str, str] = field(default_factory=dict)
    """Promises of :mod:`pytest_ireval.testing` that its definition forbids, each with the reason."""


@dataclass(eq=False)
class Metric:
    """A metric, or one with arguments: ``nDCG`` and ``nDCG @ 10`` are both values of this type.

    ``str(metric)`` is its canonical name and its identity. ``batch(judged, **arguments)`` returns one float64 for each
    unit. Made by :func:`metric` and :func:`~pytest_ireval.metrics.per_query.per_query_metric`.

    >>> from pytest_ireval import load_registry
    >>> ndcg = load_registry().metrics["nDCG"]
    >>> str(ndcg @ 10), str(ndcg(gain="exp", cutoff=5)), (ndcg @ 10).settings["gain"]
    ('nDCG@10', "nDCG(gain='exp')@5", 'linear')
    """

    name: str
    batch: Batch
    info: MetricInfo = MetricInfo()
    parameters: tuple[Parameter, ...] = ()
    at: str | None = None
    """The parameter that ``@`` sets."""
    direction: Direction = "higher"
    """The better values."""
    range: Range | Callable[[Mapping[str, Any]], Range] = (0.0, 1.0)
    """Least and greatest value; a function of the arguments if they decide."""
    unit: Unit = "query"
    """The thing that one value describes."""
    aggregate: str = "mean"
    """``mean``, ``geometric``, ``sum``, a percentile such as ``p95``, or ``none``."""
    needs: frozenset[Need] = frozenset()
    """The data that it uses in addition to the grades of judged documents."""
    no_relevant: float | None = 0.0
    """The score of a query without relevant documents; None: the function decides."""
    empty: float | None = None
    """The score of an empty ranking; None: the function decides."""
    additive: bool | Callable[[Mapping[str, Any]], bool] = False
    """True if a query's value is a sum over its documents: the worth of the rank times the worth of the grade.

    The sum may be divided by something that depends only on the grades of the judged documents. Or a function of the
    arguments. Where it knows two grades alone, the bounds under labels of unjudged documents are exact, however many
    documents there are.
    """
    binary: bool = False
    """True if a grade matters only by being ``rel`` or above, or below 0: all others are the same to it."""
    by_arguments: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """``by_arguments(settings)``: all fields that the arguments decide, every time, as ``{"direction": "neither"}``."""
    judged: bool = True
    """False: it looks at no judgments. It then scores every query of a suite, also in suites without judgments."""
    milliseconds: bool = False
    """True if its values are milliseconds: a suite may write 150ms or 0.15s as a bound or a tolerance."""
    ratio: bool = False
    """True if changes of its values are ratios: evidence is then about the mean of log(now / baseline)."""
    undefined: str = ""
    """The reason why a query may have no value, in words; its value is then NaN, and it does not count."""
    uses: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None
    """The fields of documents that it needs, as a function of the arguments; None: all."""
    notes: Callable[..., Iterable[str]] | None = None
    """``notes(judged, **arguments)``: sentences for reports about what it left out."""
    version: int = 1
    """Goes up when the definition changes: values of two versions are not comparable."""
    repeatable: bool = True
    """False: equal rankings may get other values on another day. Then only ``version`` tells of another definition."""
    origin: str = ""
    """The distribution, or the conftest.py, that brings it."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    stage: str = ""
    """The earlier stage of an answer that it scores, in a suite; empty: the ranking itself."""

    def __str__(self) -> str:
        if _NAME not in self.__dict__:  # it is used very often
            self.__dict__[_NAME] = self._format_name()
        text: str = self.__dict__[_NAME]
        return text

    def _format_name(self) -> str:
        shown = {
            p.name: self.arguments[p.name]
            for p in self.parameters
            if p.name in self.arguments and not _is_default(self.arguments[p.name], p.default)
        }
        at = f"@{format_value(shown.pop(self.at))}" if self.at in shown and self.at else ""
        inside = ", ".join(f"{name}={format_value(value)}" for name, value in sorted(shown.items()))
        name = f"{self.name}({inside}){at}" if inside else f"{self.name}{at}"
        return f"{name} of {self.stage}" if self.stage else name

    def __repr__(self) -> str:
        return f"<metric {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric):
            return NotImplemented
        return (str(self), self.version, self.origin) == (str(other), other.version, other.origin)

    def __hash__(self) -> int:
        return hash((str(self), self.version))

    def __call__(self, **arguments: Any) -> Metric:
        """The metric with these arguments in place of earlier ones."""
        try:
            merged = {**self.arguments, **bind_arguments(self.parameters, arguments)}
        except ValueError as error:
            raise MetricError(f"{self.name}: {error}") from None
        whole = copy_metric(self, arguments=types.MappingProxyType(merged))
        return copy_metric(whole, **self.by_arguments(whole.settings)) if self.by_arguments else whole

    def __matmul__(self, value: float) -> Metric:
        if self.at is None:
            raise MetricError(f"{self.name} has no parameter after @")
        return self(**{self.at: value})

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def source(self) -> str:
        """The distribution or module that brings it, for messages."""
        return self.origin or f"{self.batch.__module__} (not registered)"

    @property
    def missing(self) -> tuple[str, ...]:
        """Required parameters that have no argument yet."""
        return tuple(p.name for p in self.parameters if p.required and p.name not in self.arguments)

    @property
    def settings(self) -> dict[str, Any]:
        """Every parameter's value, given or default."""
        return {
            p.name: self.arguments.get(p.name, p.default)
            for p in self.parameters
            if p.name in self.arguments or not p.required
        }

    @property
    def bounds(self) -> Range:
        """Least and greatest value under these arguments."""
        return self.range(self.settings) if callable(self.range) else self.range

    @property
    def compares_lists(self) -> bool:
        """True if it compares two lists of a query, such as Overlap@10; it has no value of one list alone."""
        return "reference" in self.needs

    @property
    def reads_judgments(self) -> bool:
        """True unless it looks at none, or compares two lists for which judgments do not matter (no_relevant=None)."""
        return self.judged and (not self.compares_lists or self.no_relevant is not None)

    @property
    def is_additive(self) -> bool:
        """True if it is additive under these arguments; a metric of condensed lists never is."""
        settings = self.settings
        additive = self.additive(settings) if callable(self.additive) else self.additive
        return bool(additive) and not settings.get("judged_only")


def copy_metric(metric: Metric, **fields: Any) -> Metric:
    """The same with other fields; ``dataclasses.replace`` would take ten times as long, for every metric there is."""
    other = object.__new__(Metric)
    other.__dict__.update(metric.__dict__, **fields)
    other.__dict__.pop(_NAME, None)
    return other


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


class MetricKeywords(TypedDict, total=False):
    """Fields of :class:`Metric` and :class:`MetricInfo` that an author may set by keyword."""

    summary: str
    spellings: Spellings
    direction: Direction
    range: Range | Callable[[Mapping[str, Any]], Range]
    unit: Unit
    aggregate: str
    no_relevant: float | None
    additive: bool | Callable[[Mapping[str, Any]], bool]
    binary: bool
    by_arguments: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None
    dialects: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
    judged: bool
    milliseconds: bool
    ratio: bool
    undefined: str
    uses: Callable[[Mapping[str, Any]], tuple[str, ...]] | None
    notes: Callable[..., Iterable[str]] | None
    version: int
    repeatable: bool
    not_promised: Mapping[str, str]
    formula: str
    reference: str
    example: str


def metric(
    *,
    name: str,
    at: str | None = "cutoff",
    needs: tuple[Need, ...] = (),
    empty: float | None = None,
    **keywords: Unpack[MetricKeywords],
) -> Callable[[Batch], Metric]:
    """Make a metric of ``function(judged, *, cutoff: int, …) -> values``, one float64 for every unit.

    Keyword-only arguments become the metric's parameters. The docstring's first paragraph is the summary; lines that
    begin with ``Formula:``, ``Reference:`` and ``Example:`` are shown in documentation. ``keywords`` set any other
    field of :class:`Metric`, or of its ``info``.

    >>> from pytest_ireval import evaluate, metric, ratio
    >>> @metric(name="MyRecall")
    ... def my_recall(judged, *, cutoff: int, rel: float = 1):
    ...     '''Share of the relevant documents that are among the first.'''
    ...     found = judged.relevant(rel) & (judged.hits.rank <= cutoff)
    ...     return ratio(judged.sum(found), judged.relevant_count(rel))
    >>> evaluate({"mug": {"a": 1, "b": 1}}, {"mug": ["a", "x"]}, my_recall @ 2)["MyRecall@2"].mean
    0.5
    """
    known = {*MetricKeywords.__annotations__, "name", "at", "needs", "empty"}
    for keyword in keywords:
        if keyword not in known:
            hint = did_you_mean(keyword, known)
            raise MetricError(f"metric {name!r}: unknown keyword {keyword!r}; {hint or ', '.join(sorted(known))}")

    def make(function: Batch) -> Metric:
        parameters = read_parameters(function)
        given: dict[str, Any] = {**_read_docstring(inspect.getdoc(function) or ""), **keywords}
        info = MetricInfo(**{key: given.pop(key) for key in _INFO if key in given})
        return validate_metric(
            Metric(
                name=name,
                batch=function,
                info=info,
                parameters=parameters,
                at=at if any(p.name == at for p in parameters) else None,
                needs=collect_needs(name, needs),
                empty=empty,
                **given,
            )
        )

    return make


_INFO = {each.name for each in fields(MetricInfo)}


def _read_docstring(docstring: str) -> dict[str, str]:
    """The first paragraph as ``summary``, and the sections that follow by their names."""
    summary, _, rest = docstring.partition("\n\n")
    sections = {"summary": " ".join(summary.split())}
    current = ""
    for line in rest.splitlines():
        title, colon, text = line.partition(":")
        if colon and title in SECTIONS:
            current = title.lower()
            sections[current] = text.strip()
        elif current and line.strip():
            sections[current] += " " + line.strip()
        else:
            current = ""
    return sections


def collect_needs(name: str, needs: Iterable[Need] | str) -> frozenset[Need]:
    """The needs of a metric as a set; a lone word is refused, because it would be taken for its letters."""
    if isinstance(needs, str):
        raise MetricError(f"metric {name!r}: needs must be a tuple, as needs=({needs!r},)")
    return frozenset(needs)


def _find_complaint(metric: Metric) -> str:
    """The complaint about a description, without its spellings; empty if it makes sense."""
    unknown = sorted(metric.needs - set(NEEDS))
    named = isinstance(metric.name, str) and NAME.fullmatch(metric.name)
    sums_up = isinstance(metric.aggregate, str) and AGGREGATES.fullmatch(metric.aggregate)
    reasons = isinstance(metric.info.not_promised, Mapping) and all(metric.info.not_promised.values())
    ends, way = metric.range, metric.direction
    is_range = callable(ends) or (isinstance(ends, tuple) and len(ends) == 2 and ends[0] <= ends[1])
    expected = (
        (named, "a name has only letters, digits and _, and begins with a letter"),
        (sums_up, f"aggregate {metric.aggregate!r} is not one of mean, geometric, sum, p50 … p99, none"),
        (way in get_args(Direction), f"direction {way!r} is not one of higher, lower, neither"),
        (metric.unit in get_args(Unit), f"unit {metric.unit!r} is not one of query, session, run"),
        (not unknown, f"unknown needs {unknown}; allowed: {', '.join(NEEDS)}"),
        (is_range, f"range {metric.range!r} is not a pair (lowest, highest), as (0, 1)"),
        (reasons, f"not_promised {metric.info.not_promised!r} must give a reason for each promise"),
    )
    return next((complaint for fine, complaint in expected if not fine), "")


def validate_metric(metric: Metric) -> Metric:
    """``metric``, if its description makes sense."""
    complaint = _find_complaint(metric)
    for spelling, arguments in metric.info.spellings.items():
        if complaint:
            break
        try:
            bind_arguments(metric.parameters, arguments)
        except ValueError as error:
            complaint = f"spelling {spelling!r}: {error}"
        holes = find_holes(spelling)
        if HOLE.search(spelling) and not (holes and all(metric.parameter(hole["parameter"]) for hole in holes)):
            complaint = f"spelling {spelling!r} does not end in one of its parameters"
    if complaint:
        raise MetricError(f"metric {metric.name!r}: {complaint}")
    return metric
