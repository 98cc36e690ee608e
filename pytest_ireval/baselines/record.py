"""A baseline, and its .json file: figures, fingerprints and acceptances, one query and one acceptance a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pytest_ireval.baselines.files import ENDING, fingerprint
from pytest_ireval.baselines.index_facts import NO_INDEX, IndexFacts, index_facts
from pytest_ireval.baselines.stored import Damage
from pytest_ireval.errors import BaselineError, Problem, SourceError, shown
from pytest_ireval.retrieval.queries import composed
from pytest_ireval.retrieval.rankings import Rankings

DIGITS = 6
"""Significant digits that are kept: plans made with them are rough."""
LARGEST = 1e300
"""Larger numbers in a file are errors."""
WHOLE = "all"
"""The slice of all queries."""
V = TypeVar("V")


@dataclass(frozen=True)
class _Entries(Mapping[str, V]):
    """Values by metric and slice; a value that can be a key itself."""

    entries: tuple[tuple[str, V], ...] = ()
    """Sorted by name."""

    def __getitem__(self, key: str) -> V:
        for name, value in self.entries:
            if name == key:
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Spreads(_Entries[float]):
    """Standard deviations of the differences."""


NO_SPREADS = Spreads()


def spread_key(metric: str, within: str) -> str:
    """``nDCG@10`` of all queries, ``nDCG@10 segment=tail`` of a slice."""
    return metric if within == WHOLE else f"{metric} {within}"


def spreads_of(found: Iterable[tuple[str, float]]) -> Spreads:
    """Rounded and sorted, without those that are 0: nothing moved there."""
    rounded = {key: float(f"{spread:.{DIGITS}g}") for key, spread in found if isfinite(spread) and spread > 0}
    return Spreads(tuple(sorted(rounded.items())))


def spreads_said(said: Any) -> Spreads:
    """The spreads that a file holds; TypeError or ValueError if it holds something else."""
    if not isinstance(said, dict):
        raise TypeError("spreads is not a mapping")
    for key, spread in said.items():
        if isinstance(spread, bool) or not isinstance(spread, (int, float)) or not 0 < spread <= LARGEST:
            raise ValueError(f"{spread!r} is not a spread of {key!r}")
    return Spreads(tuple(sorted((key, float(spread)) for key, spread in _by_slice(said).items())))


class Step(NamedTuple):
    """The change by an acceptance, for a mean that a rule compares with the anchor."""

    change: float
    """Of the mean, compared with the baseline that was replaced; in the metric's own direction."""
    spread: float
    """The standard deviation of the queries' differences to that baseline; 0 where nothing moved."""
    from_anchor: float
    """The standard deviation of the queries' differences to the anchor."""


class StepsOfMetrics(_Entries[Step]):
    """Steps by metric and slice."""


NO_STEPS = StepsOfMetrics()


def steps_of_metrics(found: Iterable[tuple[str, Step]]) -> StepsOfMetrics:
    """Rounded and sorted; a step with a figure that is not a number is left out."""
    finite = ((key, step) for key, step in found if all(map(isfinite, step)))
    rounded = {key: Step(*(float(f"{each:.{DIGITS}g}") for each in step)) for key, step in finite}
    return StepsOfMetrics(tuple(sorted(rounded.items())))


def steps_said(said: Any) -> StepsOfMetrics:
    """The steps that a file holds; TypeError or ValueError if it holds something else."""
    if not isinstance(said, dict):
        raise TypeError("steps is not a mapping")
    for key, step in said.items():
        if not isinstance(step, list) or len(step) != len(Step._fields) or not all(map(_is_number, step)):
            raise ValueError(f"{step!r} is not a step of {key!r}")
        if min(step[1:]) < 0:
            raise ValueError(f"{step!r} of {key!r} has a negative spread")
    return StepsOfMetrics(tuple(sorted((key, Step(*map(float, step))) for key, step in _by_slice(said).items())))


def _by_slice(said: dict[str, V]) -> dict[str, V]:
    """By names in the form that slices have now; of two that become one, the one that had it already stays."""
    return {composed(key): said[key] for key in sorted(said, key=lambda key: composed(key) == key)}


def _is_number(said: Any) -> bool:
    return isinstance(said, (int, float)) and not isinstance(said, bool) and abs(said) <= LARGEST


_FORMAT = 1
"""The version of its files."""


class Acceptance(NamedTuple):
    """The acceptance of rankings as the baseline."""

    date: str
    """ISO 8601, in UTC, to the second."""
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    reason: str = ""
    forced: bool = False
    spreads: Spreads = NO_SPREADS
    """Of the differences to the baseline that it replaced; none for a first one, or if no value moved."""
    steps: StepsOfMetrics = NO_STEPS
    """Of each mean that a rule compares with the anchor; none without an anchor or without such a rule."""


class StoredMetric(NamedTuple):
    """A metric as it was when the baseline was accepted: a cache, for naming causes."""

    version: int
    origin: str
    """The distribution, without its version, or the conftest.py."""
    value: float | None
    """Its figure over all queries."""
    values: Mapping[str, float]
    """By query (or session)."""
    definition: str = ""
    """What decides which values are better, in words; empty in a baseline of a version that did not keep it."""


class Fingerprints(NamedTuple):
    """One for each input that may change apart from the rankings; empty where there is no such input."""

    queries: str = ""
    judgments: str = ""
    source: str = ""
    policies: str = ""
    documents: str = ""
    """The key that defines which documents count, as it is written: spans."""
    side_files: str = ""
    """Other files that values depend on: aliases, groups of variants, preferences."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """One suite's baseline."""

    suite: str
    depth: int
    rankings: tuple[Rankings, ...]
    """One, or one for each asking of a source that is asked several times. Documents in their final order."""
    scored: bool = False
    """Scores are kept; without them the score of a document is minus its position."""
    metrics: Mapping[str, StoredMetric] = field(default_factory=dict)
    """By canonical name."""
    grades: Mapping[str, Mapping[str, float]] | None = None
    """The judgments by query and document; None where there are too many to keep, or none."""
    grades_of: Mapping[str, str] = field(default_factory=dict)
    """A fingerprint of each query's judgments."""
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By document, the fields that metrics of the suite use."""
    timings: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By query, the seconds of each asking, if a metric of the suite uses them; None without an answer."""
    waived: tuple[str, ...] = ()
    """Queries that were waived: their rankings and values are those of an earlier acceptance."""
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    source: str = ""
    """The name of the source; empty in a baseline of a version that did not keep it."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The options of the source by name, without secrets; empty in a baseline of a version that did not keep them."""
    source_files: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of the source's own files, by their paths from the suite: the module of a function, a script."""
    index: IndexFacts = NO_INDEX
    """The facts of the searched index, if the source reported some."""
    judges: Mapping[str, int] = field(default_factory=dict)
    """The number of judgments of each judge, if the judgments name judges."""
    plugins: tuple[str, ...] = ()
    """Distributions with versions."""
    acceptances: tuple[Acceptance, ...] = ()
    """The oldest first."""

    @property
    def accepted(self) -> Acceptance:
        """The last acceptance."""
        return self.acceptances[-1]


OWN = "json"
OWN_LINE = re.compile(rb'^ "json": "([0-9a-f]{16})"', re.MULTILINE)


class Record(NamedTuple):
    """The content of the file; ``files`` are fingerprints of the files beside it, by the ending of their names."""

    baseline: Baseline
    """Without rankings and grades, which have files of their own."""
    askings: int
    files: Mapping[str, str]


def encoded_record(baseline: Baseline, files: Mapping[str, str]) -> bytes:
    """The whole text. The same content is the same text; a query that changes changes its own line."""
    lines = _lines(baseline, {OWN: "0" * 16, **files})
    text = "".join(lines).encode("utf-8", "backslashreplace")  # JSON has these escapes for what UTF-8 has no place for
    return OWN_LINE.sub(f' "json": "{fingerprint(text)}"'.encode(), text, count=1)


_ALWAYS = ("queries", "judgments", "source", "policies")
"""Fingerprints that are written even if they are empty."""


def _lines(baseline: Baseline, files: Mapping[str, str]) -> Iterator[str]:
    """Piece by piece; the fingerprints of files come before everything that users name."""
    yield f'{{\n"format": {_FORMAT},\n"depth": {int(baseline.depth)},\n'
    yield f'"scored": {_text(bool(baseline.scored))},\n"askings": {len(baseline.rankings)},\n'
    yield from _block("files", files)
    yield f',\n"suite": {_text(baseline.suite)},\n'
    prints = baseline.fingerprints._asdict().items()
    yield from _block("fingerprints", {name: text for name, text in prints if text or name in _ALWAYS})
    if baseline.source:
        yield f',\n"source": {_text(baseline.source)}'
    index = baseline.index
    kept = {"request": baseline.request, "source_files": baseline.source_files, "index": index.known}
    for name, entries in {**kept, "index_details": index.details, "index_stored": index.stored}.items():
        if entries:
            yield ",\n"
            yield from _block(name, entries)
    if baseline.judges:
        yield ",\n"
        yield from _block("judges", baseline.judges)
    if baseline.waived:
        yield ',\n"waived": ['
        yield from _joined(map(_text, baseline.waived))
        yield "]"
    yield ',\n"plugins": ['
    yield from _joined(_text(plugin) for plugin in baseline.plugins)
    yield "],\n"
    names = sorted(baseline.metrics)
    yield from _block("metrics", {name: _metric(name, baseline.metrics[name]) for name in names})
    yield ",\n"
    yield from _block("queries", _queries(baseline, names))
    yield ',\n"acceptances": ['
    yield from _joined(_text(_accepted(each)) for each in baseline.acceptances)
    yield "]\n}\n"


def _accepted(acceptance: Acceptance) -> dict[str, Any]:
    """By name; spreads and steps only if there are some: acceptances of earlier versions keep their text."""
    said = dict(sorted(acceptance._asdict().items()))
    moved = {name: dict(said.pop(name)) for name in ("spreads", "steps")}
    return {**said, **{name: figures for name, figures in moved.items() if figures}}


def _metric(name: str, metric: StoredMetric) -> dict[str, Any]:
    said = {"origin": metric.origin, "value": _number(name, metric.value), "version": metric.version}
    return {"definition": metric.definition, **said} if metric.definition else said


def _queries(baseline: Baseline, names: Iterable[str]) -> dict[str, Any]:
    """By query (or session): the fingerprint of its judgments, and a value for each metric in order of their names."""
    metrics = [(name, baseline.metrics[name].values) for name in names]
    known = sorted({*baseline.grades_of, *(query for _, values in metrics for query in values)})
    get = baseline.grades_of.get
    return {query: [get(query), *(_number(name, values.get(query)) for name, values in metrics)] for query in known}


def _number(metric: str, value: float | None) -> float | None:
    if value is None:
        return None
    if not isfinite(value):
        raise BaselineError(Problem(f"{metric} is {value}, and a baseline can only hold numbers"))
    return float(value)


def _block(name: str, entries: Mapping[str, Any]) -> Iterator[str]:
    yield f'"{name}": {{'
    yield from _joined(f"{_text(key)}: {_text(value)}" for key, value in entries.items())
    yield "}"


def _joined(lines: Iterable[str]) -> Iterator[str]:
    text = ",\n ".join(lines)
    if text:
        yield f"\n {text}\n"


_text = json.JSONEncoder(ensure_ascii=False).encode


def is_record(path: Path) -> bool:
    """Tell whether a file begins as the .json file of a baseline."""
    with open(path, "rb") as file:
        return re.match(rb'\{\r?\n"format": \d+,\r?\n"depth": ', file.read(100)) is not None


def decoded_record(data: bytes) -> Record:
    """The record in the text of a file, or Damage."""
    said = _document(data)
    version = said.get("format")
    if version != _FORMAT:
        called = version if isinstance(version, int) else shown(str(version))
        raise Damage(f"has format {called}; this version of pytest-ireval reads format {_FORMAT}")
    if not _is_as_written(data):
        raise Damage("is not as it was written: it was edited by hand, by a tool or by a merge")
    try:
        return _record(said)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, SourceError) as error:  # another shape
        raise Damage(f"is not a baseline: {type(error).__name__}: {error}") from None


def _document(data: bytes) -> dict[str, Any]:
    try:
        said = json.loads(data.decode())
    except UnicodeDecodeError as error:
        raise Damage("is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(data.rstrip()) or not data.endswith(b"}\n")
        raise Damage("is cut off" if cut else f"is not JSON: {error.msg}", error.lineno) from None
    except (RecursionError, ValueError):  # nested without end, or a number without end
        raise Damage("is not the JSON of a baseline") from None
    if not isinstance(said, dict):
        raise Damage("is JSON, but not a baseline")
    return said


def _is_as_written(data: bytes) -> bool:
    found = OWN_LINE.search(data)
    if not found:
        return False
    blank = data[: found.start(1)] + b"0" * 16 + data[found.end(1) :]
    return fingerprint(blank) == found[1].decode()


def _record(said: Mapping[str, Any]) -> Record:
    names = sorted(said["metrics"])
    columns: list[dict[str, float]] = [{} for _ in names]
    grades_of = {}
    for query, (judged, *values) in said["queries"].items():
        if judged is not None:
            grades_of[query] = str(judged)
        for column, value in zip(columns, values, strict=True):
            if value is not None:
                column[query] = float(value)
    metrics = {name: _stored(said["metrics"][name], values) for name, values in zip(names, columns, strict=True)}
    baseline = Baseline(
        suite=_str(said["suite"]),
        depth=_whole(said["depth"]),
        rankings=(),
        scored=bool(said["scored"]),
        metrics=metrics,
        grades_of=grades_of,
        fingerprints=Fingerprints(**{name: _str(value) for name, value in said["fingerprints"].items()}),
        source=_str(said.get("source", "")),
        request=_tree(said.get("request", {})),
        source_files={_str(name): _str(value) for name, value in said.get("source_files", {}).items()},
        index=index_facts(said.get("index", {}))._replace(
            details=_tree(said.get("index_details", {})), stored=_tree(said.get("index_stored", {}))
        ),
        judges={_str(name): _whole(number) for name, number in said.get("judges", {}).items()},
        waived=tuple(map(_str, said.get("waived", ()))),
        plugins=tuple(map(_str, said["plugins"])),
        acceptances=tuple(_acceptance(each) for each in said["acceptances"]),
    )
    baseline.accepted  # noqa: B018 - an IndexError without acceptances
    files = {_str(ending): _str(value) for ending, value in said["files"].items() if ending != OWN}
    for ending in files:
        if not ENDING.fullmatch(ending):
            raise Damage(f"names a file {shown(ending)}, which does not belong to a baseline")
    return Record(baseline, _whole(said["askings"]), files)


def _stored(said: Mapping[str, Any], values: dict[str, float]) -> StoredMetric:
    value = None if said["value"] is None else float(said["value"])
    definition = _str(said.get("definition", ""))
    return StoredMetric(int(said["version"]), _str(said["origin"]), value, values, definition)


def _acceptance(said: Mapping[str, Any]) -> Acceptance:
    texts = {name: _str(said[name]) for name in ("date", "commit", "branch", "reason")}
    spreads, steps = spreads_said(said.get("spreads", {})), steps_said(said.get("steps", {}))
    return Acceptance(**texts, dirty=bool(said["dirty"]), forced=bool(said["forced"]), spreads=spreads, steps=steps)


def _tree(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise TypeError(f"{said!r} is not a mapping")
    return said


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10**9:
        raise TypeError(f"{value!r} is not a number of documents or askings")
    return value
