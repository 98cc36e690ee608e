"""The file ``rankings.zip``: the rankings of a run, kept beside its results."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.record import Grades
from pytest_ireval.baseline.text import Answers, Damage, list_answers, unpack
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.results.suite_result import RunResult

FILE = "rankings.zip"
BEFORE = "rankings_before.zip"
"""The file of the run before, while a run goes on and after it."""
INDEX = "run.json"
CURRENT, VERSUS, GRADES = "current", "versus", "grades"
"""Parts of a suite: the rankings of now, those of another commit in place of the baseline, and the grades."""
FORMAT = 1
ANSWERS_OF_A_LINE = 1000
"""One a line would take twice the time, and all in one the memory of all text."""
LARGEST = 4 << 30
"""The most bytes of a file in it; a larger one was made to fill the memory."""


class KeptRankings(NamedTuple):
    """All rankings that a suite was judged by, and its other inputs. Plain data: a worker hands it over."""

    name: str
    packed: Mapping[str, bytes]
    """By the name of a side, its answers in lines of JSON, by gzip; and the grades."""
    record: Mapping[str, Any]


class LastRun(NamedTuple):
    """The data of one suite in the file of a run."""

    date: str
    commit: str
    dirty: bool
    sides: Mapping[str, tuple[Rankings, ...]]
    """The askings of each side."""
    record: Mapping[str, Any]
    grades: Grades | None = None
    """Those of the run, by the names of its file; None where they are too many to keep."""

    @property
    def rankings(self) -> Rankings:
        """The current rankings, of the first asking."""
        return self.sides[CURRENT][0]

    @property
    def compared(self) -> Rankings | None:
        """The rankings of another commit that was compared with in place of the baseline."""
        return self.sides[VERSUS][0] if VERSUS in self.sides else None

    def __str__(self) -> str:
        at = f" at {self.commit[:10]}" if self.commit else ""
        return f"the run of {self.date}{at}{' with uncommitted changes' if self.commit and self.dirty else ''}"


def pack_rankings(
    name: str,
    sides: Mapping[str, Sequence[Rankings]],
    depth: int,
    record: Mapping[str, Any],
    *,
    scored: bool,
    grades: Grades | None = None,
) -> KeptRankings:
    """The first ``depth`` documents of each query of a suite, with their scores if these are ``scored``."""
    packed = {side: _pack_lines(_list_lines(askings, depth, scored=scored)) for side, askings in sides.items()}
    return KeptRankings(name, packed if grades is None else {**packed, GRADES: _pack_lines([grades])}, record)


def _list_lines(askings: Iterable[Rankings], depth: int, *, scored: bool) -> Iterator[dict[str, Any]]:
    """For each asking a line about all its answers, then the answers, many in a line."""
    for rankings in askings:
        more = np.flatnonzero(rankings.retrieved > np.diff(rankings.first)).tolist()
        retrieved = {rankings.queries[i]: int(rankings.retrieved[i]) for i in more}
        yield {"retrieved": retrieved, "timings": rankings.timings, "fields": rankings.fields}
        answers = list_answers(rankings, depth, scored=scored)
        while some := dict(islice(answers, ANSWERS_OF_A_LINE)):
            yield {"answers": some}


def _pack_lines(lines: Iterable[Any]) -> bytes:
    content, encode = io.BytesIO(), json.JSONEncoder(ensure_ascii=False).encode
    packer = gzip.GzipFile(fileobj=content, mode="wb", compresslevel=1, mtime=0)
    with io.TextIOWrapper(packer, "utf-8", newline="\n") as file:
        file.writelines(f"{encode(line)}\n" for line in lines)
    return content.getvalue()


def pack_run(run: RunResult, kept: Sequence[KeptRankings]) -> bytes:
    """The file of a run; nothing where no suite has rankings. The same bytes for the same content."""
    if not kept:
        return b""
    suites = [
        {"name": each.name, "files": {part: f"{number}.{part}.json.gz" for part in each.packed}, **each.record}
        for number, each in enumerate(kept)
    ]
    index = {"format": FORMAT, "date": run.date, "commit": run.commit, "dirty": run.dirty, "suites": suites}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compresslevel=1) as file:
        file.writestr(zipfile.ZipInfo(INDEX), json.dumps(index, sort_keys=True), zipfile.ZIP_DEFLATED)
        for number, each in enumerate(kept):
            for part, packed in each.packed.items():
                file.writestr(zipfile.ZipInfo(f"{number}.{part}.json.gz"), packed)
    return content.getvalue()


def read_last_run(path: Path, suite: str, *, unless_from: str | None = None) -> LastRun | None:
    """Read the data of a suite from this file; None if that run did not judge the suite.

    None also if its rankings are from the source ``unless_from``: they are not read then.
    """
    try:
        with zipfile.ZipFile(path) as file:
            return _read_archive(path, file, suite, unless_from)
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", str(path))) from error
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
        *(LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError, Damage),
    ) as error:
        suggestion = "run pytest --ireval again, or ask the source: --ask"
        raise InputError(
            Problem("is damaged: these are not the rankings of a run", str(path), (), suggestion)
        ) from error


def _read_archive(path: Path, file: zipfile.ZipFile, suite: str, unless_from: str | None) -> LastRun | None:
    index = json.loads(_read_content(file, INDEX))
    if index["format"] != FORMAT:
        complaint = f"has format {index['format']!r}; this version reads format {FORMAT}"
        raise InputError(Problem(complaint, str(path), (), "ask the source: --ask"))
    for record in index["suites"]:
        if record["name"] == suite and record["source"] != unless_from:
            parts = {part: unpack(_read_content(file, name)) for part, name in record["files"].items()}
            grades = json.loads(parts.pop(GRADES, b"null"))
            origins = {CURRENT: record["source"], VERSUS: record.get("versus", VERSUS)}
            sides = {side: _read_askings(text, origins.get(side, side)) for side, text in parts.items()}
            return LastRun(str(index["date"]), str(index["commit"]), bool(index["dirty"]), sides, record, grades)
    return None


def _read_askings(text: bytes, origin: str) -> tuple[Rankings, ...]:
    askings: list[Mapping[str, Any]] = []
    answers: list[Answers] = []
    for line in map(json.loads, io.BytesIO(text)):
        if "answers" in line:
            for query, answer in line["answers"].items():
                answers[-1].add(query, answer)
        else:
            askings.append(line)
            answers.append(Answers())
    if not askings:
        raise ValueError(origin)
    return tuple(_make_rankings(*each, origin) for each in zip(askings, answers, strict=True))


def _make_rankings(asking: Mapping[str, Any], answers: Answers, origin: str) -> Rankings:
    rankings = answers.make_rankings(origin)
    counts = zip(rankings.queries, rankings.retrieved.tolist(), strict=True)
    retrieved = [asking["retrieved"].get(query, count) for query, count in counts]
    return replace(
        rankings, retrieved=np.array(retrieved, np.int64), timings=asking["timings"], fields=asking["fields"]
    )


def _read_content(file: zipfile.ZipFile, name: str) -> bytes:
    if file.getinfo(name).file_size > LARGEST:
        raise ValueError(name)
    return file.read(name)
