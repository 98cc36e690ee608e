"""The rankings of a run, kept beside its results, so that ``ireval why`` explains the same rankings."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baselines.files import fingerprint, fingerprint_of_rankings, fingerprint_of_text
from pytest_ireval.baselines.record import Baseline, Fingerprints
from pytest_ireval.baselines.stored import Damage, decoded_rankings, packed_rankings
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.reference import needs_scores
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.suites.suite import Suite

FILE = "rankings.zip"
BEFORE = "rankings_before.zip"
"""The file of the run before, while a run goes on and after it."""
INDEX = "run.json"
FORMAT = 2
LARGEST = 4 << 30
"""The most bytes of a file in it; a larger one was made to fill the memory."""


LARGE = 1 << 22
"""Documents; packing more of them takes as long as judging them, so a thread does it meanwhile."""


class KeptRankings(NamedTuple):
    """The rankings of one suite, and the inputs they were judged by. Plain data: a worker hands it over."""

    name: str
    packed: bytes
    """The text of their lines, by gzip."""
    record: Mapping[str, Any]


def packing_of(suite: Suite, rankings: Rankings) -> Callable[[], bytes]:
    """Begin to pack the rankings; the function waits for it. Large ones are packed by a thread."""
    depth, scored = suite.depth, needs_scores(suite)
    if len(rankings.documents) < LARGE:
        return partial(packed_rankings, rankings, depth, scored=scored)
    aside = ThreadPoolExecutor(1)
    packing = aside.submit(packed_rankings, rankings, depth, scored=scored)
    aside.shutdown(wait=False)  # the thread ends with this work
    return packing.result


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


def kept_rankings(material: Material, packed: bytes) -> KeptRankings:
    """The rankings of a suite that were scored, of the first asking."""
    suite, rankings = material.suite, material.now.rankings[0]
    more = np.flatnonzero(rankings.retrieved > np.diff(rankings.first)).tolist()
    prints = material.fingerprints
    record = {
        "source": material.source,
        "depth": suite.depth,
        "scored": needs_scores(suite),
        "retrieved": {rankings.queries[i]: int(rankings.retrieved[i]) for i in more},
        "suite": _print_of_files(suite),
        "judgments": prints.judgments,
        "policies": prints.policies,
        "baseline": baseline_print(material.stored),
    }
    return KeptRankings(suite.name, packed, record)


def rankings_of_run(run: RunResult, kept: Sequence[KeptRankings]) -> bytes:
    """The file of a run; nothing where no suite has rankings. The same bytes for the same content."""
    if not kept:
        return b""
    suites = [{"name": each.name, "file": f"{number}.tsv.gz", **each.record} for number, each in enumerate(kept)]
    index = {"format": FORMAT, "date": run.date, "commit": run.commit, "dirty": run.dirty, "suites": suites}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compresslevel=1) as file:
        file.writestr(zipfile.ZipInfo(INDEX), json.dumps(index, sort_keys=True), zipfile.ZIP_DEFLATED)
        for number, each in enumerate(kept):
            file.writestr(zipfile.ZipInfo(f"{number}.tsv.gz"), each.packed)
    return content.getvalue()


def last_run(path: Path, suite: Suite) -> LastRun | None:
    """Read the data of a suite from this file; None if that run did not judge the suite."""
    try:
        with zipfile.ZipFile(path) as file:
            return _read(path, file, suite)
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


def _read(path: Path, file: zipfile.ZipFile, suite: Suite) -> LastRun | None:
    index = json.loads(_content(file, INDEX))
    if index["format"] != FORMAT:
        complaint = f"has format {index['format']!r}; this version reads format {FORMAT}"
        raise InputError(Problem(complaint, str(path), (), "ask the source: --ask"))
    for record in index["suites"]:
        if record["name"] == suite.name:
            data = _unpacked(_content(file, record["file"]))
            rankings = decoded_rankings(data, record["depth"], record["source"], scored=record["scored"])
            counts = zip(rankings.queries, rankings.retrieved.tolist(), strict=True)
            retrieved = [record["retrieved"].get(query, count) for query, count in counts]
            rankings = replace(rankings, retrieved=np.array(retrieved, np.int64))
            return LastRun(str(index["date"]), str(index["commit"]), bool(index["dirty"]), rankings, record)
    return None


def _content(file: zipfile.ZipFile, name: str) -> bytes:
    if file.getinfo(name).file_size > LARGEST:
        raise ValueError(name)
    return file.read(name)


def _unpacked(data: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as file:
            text = file.read(LARGEST + 1)
    except gzip.BadGzipFile as error:
        raise ValueError(data[:2]) from error
    if len(text) > LARGEST:
        raise ValueError("too large")
    return text


def changed_since(run: LastRun, suite: Suite, now: Fingerprints) -> Iterator[str]:
    """Name the inputs that changed since that run, so that its rankings would be judged in another way."""
    if run.record["suite"] != _print_of_files(suite):
        yield "the suite file"
    elif run.record["policies"] != now.policies:
        yield "a variable that the suite file names"
    if run.record["judgments"] != now.judgments:
        yield "the judgments"


def repeated_run(path: Path | None, material: Material) -> LastRun | None:
    """The run before this one, if its source was another one and its rankings were the same; None otherwise."""
    if path is None or not path.is_file():
        return None
    try:
        run = last_run(path, material.suite)
    except InputError:  # it only gives a hint; `ireval why` reports a damaged file
        return None
    now = material.now.rankings[0]
    if run is None or run.record["source"] == material.source:
        return None
    depth = min(material.suite.depth, run.record["depth"])
    return run if fingerprint_of_rankings(run.rankings, depth) == fingerprint_of_rankings(now, depth) else None


def baseline_print(stored: Baseline | None) -> str:
    """Identify a baseline by its acceptances."""
    return "" if stored is None else fingerprint_of_text(json.dumps([each.date for each in stored.acceptances]))


def _print_of_files(suite: Suite) -> str:
    return fingerprint(b"\0".join(path.read_bytes() for path in suite.files or (suite.path,)))
