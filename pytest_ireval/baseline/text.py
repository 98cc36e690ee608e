"""A baseline as text: a header with a digest of all that follows, one line an acceptance, a query, a document.

Each line is a JSON object whose first key says what it holds. A query that changes changes its own line; the digest
finds text that was edited by hand, or that git merged from two rankings nobody measured.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from math import isfinite
from typing import Any

import numpy as np

from pytest_ireval.baseline.fingerprints import fingerprint, list_documents
from pytest_ireval.baseline.index_facts import NO_INDEX, check_index_facts
from pytest_ireval.baseline.record import Acceptance, Baseline, Fingerprints, JudgmentPrints, Search, Step, StoredMetric
from pytest_ireval.data.arrays import BLOCK, compute_begins, compute_small_ranks
from pytest_ireval.data.ids import Ids, concatenate_ids
from pytest_ireval.data.rankings import Rankings, StageAnswer
from pytest_ireval.errors import BaselineError, Problem, SourceError
from pytest_ireval.repositories.git import is_pointer

FORMAT = 1
LARGEST = 4 << 30
"""Bytes after unpacking; text that unpacks to more was made to fill the memory."""
LINES_AT_ONCE = 100
GZIP = b"\x1f\x8b"
BY_METRIC = ("figures", "spreads", "steps")
"""The fields of an acceptance that are mappings, written last."""
MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
LACKS_CONTENT = "is a pointer of Git LFS, and not the content"
IN_CONFLICT = "has the marks of a merge conflict"
NOT_AS_WRITTEN = "is not what was accepted: it was merged by git or edited by hand"
_encode = json.JSONEncoder(ensure_ascii=False).encode


class Damage(Exception):  # noqa: N818 - it says what was found
    """Text that is not what was written: the complaint, and the line (0: no line in particular)."""

    def __init__(self, complaint: str, line: int = 0) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.line = line


def encode_baseline(baseline: Baseline) -> bytes:
    """The whole text. The same content is the same text."""
    if not baseline.acceptances or not baseline.rankings:
        raise ValueError("a baseline needs rankings and an acceptance")
    lines = (*_header_to_json(baseline), *_queries_to_json(baseline), *_documents_to_json(baseline))
    text = "".join(f"{_encode(line)}\n" for line in lines)
    body = text.encode("utf-8", "backslashreplace")  # JSON has these escapes for what UTF-8 has no place for
    return f'{{"format": {FORMAT}, "digest": "{fingerprint(body)}"}}\n'.encode() + body


def _header_to_json(baseline: Baseline) -> Iterator[dict[str, Any]]:
    askings = {"askings": len(baseline.rankings)} if len(baseline.rankings) > 1 else {}
    scored = {"scored": True} if baseline.scored else {}
    yield {"suite": baseline.suite, "depth": int(baseline.depth), **scored, **askings}
    yield {"fingerprints": {name: text for name, text in baseline.fingerprints._asdict().items() if text}}
    search = baseline.search
    if search.source or search.request or search.files:
        yield {"source": search.source, "request": search.request, "files": search.files}
    if search.index != NO_INDEX:
        index = {"details": search.index.details, "stored": search.index.stored}
        yield {"index": {**search.index.known, **{name: tree for name, tree in index.items() if tree}}}
    for name in ("waived", "plugins"):
        if getattr(baseline, name):
            yield {name: getattr(baseline, name)}
    if baseline.judgments.judges:
        yield {"judges": dict(baseline.judgments.judges)}
    for name, metric in sorted(baseline.metrics.items()):
        definition = {"definition": metric.definition} if metric.definition else {}
        value = _check_number(name, metric.value)
        yield {"metric": name, "value": value, "version": metric.version, "origin": metric.origin, **definition}
    for acceptance in baseline.acceptances:
        fields = {name: value for name, value in acceptance._asdict().items() if value}
        by_metric = {name: dict(sorted(fields.pop(name).items())) for name in BY_METRIC if name in fields}
        yield {"acceptance": fields.pop("date"), **fields, **by_metric}


def _queries_to_json(baseline: Baseline) -> Iterator[dict[str, Any]]:
    """Sorted by id, so that they do not depend on the order of a source; values first, for the reader of a diff."""
    values = _group_values_by_query(baseline.metrics)
    first, *others = (
        dict(list_answers(rankings, baseline.depth, scored=baseline.scored)) for rankings in baseline.rankings
    )
    grades, prints, timings = baseline.judgments.grades, baseline.judgments.grades_of, baseline.timings
    for query in sorted({*first, *chain.from_iterable(others), *prints, *values, *timings}):
        line: dict[str, Any] = {"query": query}
        if query in values:
            line["values"] = values[query]
        line |= first.get(query, {})
        if others:
            line["askings"] = [answers.get(query) for answers in others]
        if query in timings:
            line["timings"] = timings[query]
        if grades is not None and query in grades:
            line["grades"] = grades[query]
        if query in prints:
            line["judgments"] = prints[query]
        yield line


def _documents_to_json(baseline: Baseline) -> Iterator[dict[str, Any]]:
    for document, fields in sorted(baseline.fields.items()):
        yield {"document": document, "fields": dict(sorted(fields.items()))}


def _group_values_by_query(metrics: Mapping[str, StoredMetric]) -> dict[str, dict[str, float | None]]:
    values: dict[str, dict[str, float | None]] = {}
    for name, metric in sorted(metrics.items()):
        for query, value in metric.values.items():
            values.setdefault(query, {})[name] = _check_number(name, value)
    return values


def _check_number(metric: str, value: float | None) -> float | None:
    if value is None:
        return None
    if not isfinite(value):
        raise BaselineError(Problem(f"{metric} is {value}, and a baseline can only hold numbers"))
    return float(value)


def list_answers(rankings: Rankings, depth: int, *, scored: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each query with its documents, with ``scored`` their scores, too; and what is kept of earlier stages."""
    for (query, documents), begin in zip(list_documents(rankings, depth), rankings.first.tolist(), strict=False):
        answer: dict[str, Any] = {"documents": documents}
        if scored:
            answer["scores"] = rankings.score[begin : begin + len(documents)].tolist()
        if rankings.stages:
            answer["stages"] = {name: of[query]._asdict() for name, of in rankings.stages.items() if query in of}
        yield query, answer


def unpack(data: bytes) -> bytes:
    """The text in data that may be packed by gzip; Damage if it cannot be unpacked."""
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            text = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise Damage(f"cannot be unpacked: {error}") from None
    if len(text) > LARGEST:
        raise Damage(f"holds more than {LARGEST >> 20:,} MiB, the limit for a baseline")
    return text


def decode_baseline(data: bytes, origin: str) -> Baseline:
    """The baseline in the content of a file, or Damage; ``origin`` is the name of its rankings."""
    text = unpack(data).replace(b"\r\n", b"\n")  # git adds carriage returns on Windows; those of ids are escaped
    _check_digest(text)
    try:
        return _decode_lines(_parse_lines(text), origin)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, SourceError) as error:
        raise Damage(f"is not a baseline: {type(error).__name__}: {error}") from None


def _parse_lines(text: bytes) -> Iterator[dict[str, Any]]:
    """The objects behind the first line. Many are parsed by one call: a call for each takes half as long again."""
    lines = islice(io.BytesIO(text), 1, None)
    while some := b",".join(islice(lines, LINES_AT_ONCE)):
        yield from json.loads(f"[{some.decode()}]")


def _check_digest(text: bytes) -> None:
    """Raise Damage unless what follows the first line is what was written."""
    if is_pointer(text):
        raise Damage(LACKS_CONTENT)
    head = io.BytesIO(text).readline()
    for number, line in enumerate(text.split(b"\n"), 1) if MARKS[0] in text or MARKS[-1] in text else ():
        if line.startswith(MARKS):
            raise Damage(IN_CONFLICT, number)
    try:
        said = json.loads(head)
        version, digest = said["format"], said["digest"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Damage('does not begin with the line {"format": …, "digest": …} of a baseline', 1) from None
    if version != FORMAT:
        raise Damage(f"has format {version!r}; this version of pytest-ireval reads format {FORMAT}", 1)
    if fingerprint(memoryview(text)[len(head) :]) != digest:
        if not text.endswith(b"}\n"):
            raise Damage("is cut short", text.count(b"\n") + 1)
        raise Damage(NOT_AS_WRITTEN)


def find_acceptances(data: bytes) -> tuple[Acceptance, ...]:
    """The acceptances in the content of a file, each once; of a damaged file those whose lines can be read."""
    acceptances: list[Acceptance] = []
    try:
        lines = unpack(data).splitlines()
    except Damage:
        return ()
    for line in lines:
        if line.startswith(b'{"acceptance"'):
            try:
                acceptance = _decode_acceptance(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue
            if acceptance not in acceptances:
                acceptances.append(acceptance)
    return tuple(acceptances)


def _decode_lines(lines: Iterable[dict[str, Any]], origin: str) -> Baseline:
    """The baseline of these objects. Each is dropped as soon as it is read: there may be millions of documents."""
    head: dict[str, Any] = {}
    metrics: list[dict[str, Any]] = []
    acceptances: list[dict[str, Any]] = []
    values: dict[str, dict[str, float]] = {}
    grades: dict[str, dict[str, float]] = {}
    prints: dict[str, str] = {}
    fields: dict[str, dict[str, Any]] = {}
    answers: defaultdict[int, Answers] = defaultdict(Answers)  # by asking
    timings: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for line in lines:
        kind, *_ = line.keys()
        if kind == "query":
            query = line["query"]
            for metric, value in line.get("values", {}).items():
                values[metric][query] = value
            # the first answer to a query is in its line; those of further askings are in a list
            further = line["askings"] if "askings" in head else ()
            for asking, answer in enumerate([line if "documents" in line else None, *further]):
                if answer:
                    answers[asking].add(query, answer)
            for asking, time in enumerate(line.get("timings", ())):
                if time is not None:
                    timings[asking][query] = time
            if "grades" in line:
                grades[query] = line["grades"]
            if "judgments" in line:
                prints[query] = line["judgments"]
        elif kind == "metric":
            metrics.append(line)
            values[line["metric"]] = {}
        elif kind == "acceptance":
            acceptances.append(line)
        elif kind == "document":
            fields[line["document"]] = line["fields"]
        else:
            head |= line
    if not isinstance(head["depth"], int) or not isinstance(head["suite"], str) or not acceptances:
        raise TypeError("suite, depth and an acceptance are needed")
    fingerprints = Fingerprints(**head["fingerprints"])
    index = check_index_facts(head.get("index", {}))
    return Baseline(
        suite=head["suite"],
        depth=head["depth"],
        rankings=tuple(
            replace(answers[asking].make_rankings(origin), timings=timings[asking] or None, fields=fields)
            for asking in range(head.get("askings", 1))
        ),
        scored=head.get("scored", False),
        metrics={line["metric"]: _decode_metric(line, values[line["metric"]]) for line in metrics},
        judgments=JudgmentPrints(fingerprints.judgments, prints, grades or None, head.get("judges", {})),
        fingerprints=fingerprints,
        search=Search(head.get("source", ""), head.get("request", {}), head.get("files", {}), index),
        waived=tuple(head.get("waived", ())),
        plugins=tuple(head.get("plugins", ())),
        acceptances=tuple(map(_decode_acceptance, acceptances)),
    )


def _decode_metric(line: dict[str, Any], values: Mapping[str, float]) -> StoredMetric:
    return StoredMetric(line["version"], line["origin"], line["value"], values, line.get("definition", ""))


def _decode_acceptance(line: dict[str, Any]) -> Acceptance:
    texts = [line["acceptance"], *(line.get(name, "") for name in ("commit", "branch", "reason"))]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("an acceptance")
    date, commit, branch, reason = texts
    return Acceptance(
        date,
        commit,
        branch,
        bool(line.get("dirty")),
        reason,
        bool(line.get("forced")),
        figures={metric: float(value) for metric, value in line.get("figures", {}).items()},
        spreads={key: float(value) for key, value in line.get("spreads", {}).items()},
        steps={key: Step(*map(float, step)) for key, step in line.get("steps", {}).items()},
    )


class Answers:
    """The answers of one asking, as they are read. Ids are kept as bytes: text would take five times the memory."""

    def __init__(self) -> None:
        self._queries: list[str] = []
        self._empty: list[str] = []
        self._lengths: list[int] = []
        self._scores = array("d")
        self._texts: list[str] = []
        """Ids that are still text."""
        self._ids: list[Ids] = []
        self._stages: dict[str, dict[str, StageAnswer]] = {}

    def add(self, query: str, answer: Mapping[str, Any]) -> None:
        for stage, kept in answer.get("stages", {}).items():
            self._stages.setdefault(stage, {})[query] = StageAnswer(kept["retrieved"], kept["ranks"])
        documents = answer["documents"]
        if not documents:
            self._empty.append(query)
            return
        self._queries.append(query)
        self._lengths.append(len(documents))
        self._scores.extend(answer.get("scores", ()))
        self._texts += documents
        if len(self._texts) >= BLOCK:
            self._pack_texts()

    def _pack_texts(self) -> None:
        self._ids.append(Ids.of(self._texts).copy(np.arange(len(self._texts))))
        self._texts.clear()

    def make_rankings(self, origin: str) -> Rankings:
        """Rankings of all answers, empty ones last; without scores, the score of a document is minus its position."""
        self._pack_texts()
        documents = concatenate_ids(self._ids)
        first = compute_begins(np.array([*self._lengths, *(0 for _ in self._empty)], np.int64))
        rank = compute_small_ranks(first)
        score = np.array(self._scores) if self._scores else np.subtract(1, rank, dtype=np.float64)
        if score.size != len(documents):
            raise ValueError("scores and documents are not as many")
        tied_from, tied_to = rank, rank
        if self._scores:
            new = np.ones(score.size, bool)
            new[1:] = score[1:] != score[:-1]
            new[first[: len(self._queries)]] = True
            begin = np.flatnonzero(new)
            group, end = np.cumsum(new) - 1, np.append(begin[1:], score.size) - 1
            tied_from, tied_to = rank[begin[group]], rank[end[group]]
        queries = (*self._queries, *self._empty)
        ranked = (queries, np.diff(first), first, documents, score, tied_from, tied_to, origin)
        return Rankings(*ranked, stages=self._stages)
