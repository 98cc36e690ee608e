"""The file ``rankings.zip``: the rankings of a run, kept beside its results."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.text import Damage, build_rankings, collect_answers, unpack
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.results.suite_result import RunResult

FILE = "rankings.zip"
BEFORE = "rankings_before.zip"
"""The file of the run before, while a run goes on and after it."""
INDEX = "run.json"
COMPARED = "compared.json.gz"
FORMAT = 1
LARGEST = 4 << 30
"""The most bytes of a file in it; a larger one was made to fill the memory."""


class KeptRankings(NamedTuple):
    """The rankings of one suite, and the inputs they were judged by. Plain data: a worker hands it over."""

    name: str
    packed: bytes
    """A JSON object of each query's documents and scores, by gzip."""
    record: Mapping[str, Any]
    compared: bytes = b""
    """Of another commit that was compared with in place of the baseline: the same; empty without one."""


class LastRun(NamedTuple):
    """The data of one suite in the file of a run."""

    date: str
    commit: str
    dirty: bool
    rankings: Rankings
    record: Mapping[str, Any]
    compared: Rankings | None = None
    """The rankings of another commit that was compared with in place of the baseline."""

    def __str__(self) -> str:
        at = f" at {self.commit[:10]}" if self.commit else ""
        return f"the run of {self.date}{at}{' with uncommitted changes' if self.commit and self.dirty else ''}"


def pack_rankings(
    name: str,
    rankings: Rankings,
    depth: int,
    record: Mapping[str, Any],
    *,
    scored: bool,
    compared: Rankings | None = None,
) -> KeptRankings:
    """The first ``depth`` documents of each query of a suite, with their scores if these are ``scored``."""
    more = np.flatnonzero(rankings.retrieved > np.diff(rankings.first)).tolist()
    retrieved = {rankings.queries[i]: int(rankings.retrieved[i]) for i in more}
    packed = _pack_answers(rankings, depth, scored=scored)
    packed_compared = b"" if compared is None else _pack_answers(compared, depth, scored=scored)
    return KeptRankings(name, packed, {**record, "depth": depth, "retrieved": retrieved}, packed_compared)


def _pack_answers(rankings: Rankings, depth: int, *, scored: bool) -> bytes:
    text = json.dumps(collect_answers(rankings, depth, scored=scored), ensure_ascii=False).encode()
    return gzip.compress(text, compresslevel=1, mtime=0)


def pack_run(run: RunResult, kept: Sequence[KeptRankings]) -> bytes:
    """The file of a run; nothing where no suite has rankings. The same bytes for the same content."""
    if not kept:
        return b""
    suites = [{"name": each.name, "file": f"{number}.json.gz", **each.record} for number, each in enumerate(kept)]
    index = {"format": FORMAT, "date": run.date, "commit": run.commit, "dirty": run.dirty, "suites": suites}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compresslevel=1) as file:
        file.writestr(zipfile.ZipInfo(INDEX), json.dumps(index, sort_keys=True), zipfile.ZIP_DEFLATED)
        for number, each in enumerate(kept):
            file.writestr(zipfile.ZipInfo(f"{number}.json.gz"), each.packed)
            if each.compared:
                file.writestr(zipfile.ZipInfo(f"{number}.{COMPARED}"), each.compared)
    return content.getvalue()


def read_last_run(path: Path, suite: str) -> LastRun | None:
    """Read the data of a suite from this file; None if that run did not judge the suite."""
    try:
        with zipfile.ZipFile(path) as file:
            return _read_archive(path, file, suite)
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", str(path))) from error
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
        *(KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError, Damage),
    ) as error:
        suggestion = "run pytest --ireval again, or ask the source: --ask"
        raise InputError(
            Problem("is damaged: these are not the rankings of a run", str(path), (), suggestion)
        ) from error


def _read_archive(path: Path, file: zipfile.ZipFile, suite: str) -> LastRun | None:
    index = json.loads(_read_content(file, INDEX))
    if index["format"] != FORMAT:
        complaint = f"has format {index['format']!r}; this version reads format {FORMAT}"
        raise InputError(Problem(complaint, str(path), (), "ask the source: --ask"))
    for record in index["suites"]:
        if record["name"] == suite:
            rankings = build_rankings(_read_answers(file, record["file"]), record["source"])
            counts = zip(rankings.queries, rankings.retrieved.tolist(), strict=True)
            retrieved = [record["retrieved"].get(query, count) for query, count in counts]
            rankings = replace(rankings, retrieved=np.array(retrieved, np.int64))
            compared = None
            if record.get("versus"):
                name = record["file"].replace("json.gz", COMPARED)
                compared = build_rankings(_read_answers(file, name), record["versus"])
            return LastRun(str(index["date"]), str(index["commit"]), bool(index["dirty"]), rankings, record, compared)
    return None


def _read_answers(file: zipfile.ZipFile, name: str) -> Mapping[str, Any]:
    answers: Mapping[str, Any] = json.loads(unpack(_read_content(file, name)))
    return answers


def _read_content(file: zipfile.ZipFile, name: str) -> bytes:
    if file.getinfo(name).file_size > LARGEST:
        raise ValueError(name)
    return file.read(name)
