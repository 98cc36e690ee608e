"""The rankings of a run, kept beside its results, so that ``ireval why`` explains the same rankings."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.fingerprints import fingerprint, fingerprint_rankings, fingerprint_text
from pytest_ireval.baseline.record import Baseline, Fingerprints
from pytest_ireval.baseline.text import Damage, build_rankings, collect_answers, unpack
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.references import needs_scores
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.suite.suite import Suite

FILE = "rankings.zip"
BEFORE = "rankings_before.zip"
"""The file of the run before, while a run goes on and after it."""
INDEX = "run.json"
FORMAT = 1
LARGEST = 4 << 30
"""The most bytes of a file in it; a larger one was made to fill the memory."""


class KeptRankings(NamedTuple):
    """The rankings of one suite, and the inputs they were judged by. Plain data: a worker hands it over."""

    name: str
    packed: bytes
    """A JSON object of each query's documents and scores, by gzip."""
    record: Mapping[str, Any]


@dataclass(frozen=True)
class LastRun:
    """The data of one suite in the file of a run."""

    date: str
    commit: str
    dirty: bool
    rankings: Rankings
    record: Mapping[str, Any]

    def __str__(self) -> str:
        at = f" at {self.commit[:10]}" if self.commit else ""
        return f"the run of {self.date}{at}{' with uncommitted changes' if self.commit and self.dirty else ''}"


def pack_rankings(inputs: Inputs) -> KeptRankings:
    """The rankings of a suite that were scored, of the first asking."""
    suite, rankings = inputs.suite, inputs.current.rankings[0]
    more = np.flatnonzero(rankings.retrieved > np.diff(rankings.first)).tolist()
    prints = inputs.fingerprints
    record = {
        "source": inputs.source,
        "depth": suite.depth,
        "retrieved": {rankings.queries[i]: int(rankings.retrieved[i]) for i in more},
        "suite": _fingerprint_files(suite),
        "judgments": prints.judgments,
        "policies": prints.policies,
        "baseline": identify_baseline(inputs.stored.baseline),
    }
    answers = collect_answers(rankings, suite.depth, scored=needs_scores(suite))
    text = json.dumps(answers, ensure_ascii=False).encode()
    return KeptRankings(suite.name, gzip.compress(text, compresslevel=1, mtime=0), record)


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
    return content.getvalue()


def read_last_run(path: Path, suite: Suite) -> LastRun | None:
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


def _read_archive(path: Path, file: zipfile.ZipFile, suite: Suite) -> LastRun | None:
    index = json.loads(_read_content(file, INDEX))
    if index["format"] != FORMAT:
        complaint = f"has format {index['format']!r}; this version reads format {FORMAT}"
        raise InputError(Problem(complaint, str(path), (), "ask the source: --ask"))
    for record in index["suites"]:
        if record["name"] == suite.name:
            answers = json.loads(unpack(_read_content(file, record["file"])))
            rankings = build_rankings(answers, record["source"])
            counts = zip(rankings.queries, rankings.retrieved.tolist(), strict=True)
            retrieved = [record["retrieved"].get(query, count) for query, count in counts]
            rankings = replace(rankings, retrieved=np.array(retrieved, np.int64))
            return LastRun(str(index["date"]), str(index["commit"]), bool(index["dirty"]), rankings, record)
    return None


def _read_content(file: zipfile.ZipFile, name: str) -> bytes:
    if file.getinfo(name).file_size > LARGEST:
        raise ValueError(name)
    return file.read(name)


def list_changed_inputs(run: LastRun, suite: Suite, now: Fingerprints) -> Iterator[str]:
    """Name the inputs that changed since that run, so that its rankings would be judged in another way."""
    if run.record["suite"] != _fingerprint_files(suite):
        yield "the suite file"
    elif run.record["policies"] != now.policies:
        yield "a variable that the suite file names"
    if run.record["judgments"] != now.judgments:
        yield "the judgments"


def find_repeated_run(path: Path | None, inputs: Inputs) -> LastRun | None:
    """The run before this one, if its source was another one and its rankings were the same; None otherwise."""
    if path is None or not path.is_file():
        return None
    try:
        run = read_last_run(path, inputs.suite)
    except InputError:  # it only gives a hint; `ireval why` reports a damaged file
        return None
    now = inputs.current.rankings[0]
    if run is None or run.record["source"] == inputs.source:
        return None
    depth = min(inputs.suite.depth, run.record["depth"])
    return run if fingerprint_rankings(run.rankings, depth) == fingerprint_rankings(now, depth) else None


def identify_baseline(stored: Baseline | None) -> str:
    """Identify a baseline by its acceptances."""
    return "" if stored is None else fingerprint_text(json.dumps([each.date for each in stored.acceptances]))


def _fingerprint_files(suite: Suite) -> str:
    return fingerprint(b"\0".join(path.read_bytes() for path in suite.files or (suite.path,)))
