"""A baseline is written whole or not at all, and the same content is the same bytes; an anchor is a pinned one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_ireval.baselines.files import (
    ANCHOR,
    COMPRESSED,
    FIELDS,
    JUDGMENTS,
    RECORD,
    TIMINGS,
    baseline_files,
    checked_name,
    fingerprint,
    near,
    path_of,
    rankings_ending,
)
from pytest_ireval.baselines.journal import (
    WAIT,
    commit,
    drop_unfinished,
    journal_of,
    locked,
    put_into_place,
    write_through,
)
from pytest_ireval.baselines.reading import read_baseline, read_record
from pytest_ireval.baselines.record import Acceptance, Baseline, encoded_record
from pytest_ireval.baselines.stored import MOST_PAIRS, encoded_grades, encoded_lists, encoded_rankings
from pytest_ireval.errors import BaselineError, Problem

LARGEST = 32 << 20
"""Rankings of more bytes are compressed."""
BESIDE = {
    ".gitattributes": """\
# Baselines of pytest-ireval. Line ends stay as they are; reviews fold rankings and judgments.
* -text
*.tsv linguist-generated
*.zst binary linguist-generated
""",
    ".gitignore": """\
# Of the lock and of updates that did not finish.
.lock
.*.new/
.*.commit/
""",
}


def write_baseline(folder: Path, baseline: Baseline, *, wait: float = WAIT) -> tuple[Path, ...]:
    """Write the files and return their paths; wait up to ``wait`` seconds for another process that is writing.

    Acceptances are only ever appended: an error if another run has accepted since the baseline was read.
    """
    name = checked_name(baseline.suite)
    files = encoded_baseline(baseline)
    with _writing(folder, name, wait):
        continued = _continued(folder, baseline, files)
        if continued is not baseline:
            files = encoded_baseline(continued)
        return _put(folder, name, files)


def encoded_baseline(baseline: Baseline) -> dict[str, bytes]:
    """The content of each file by the ending of its name, the .json file last."""
    if not baseline.acceptances or not baseline.rankings:
        raise ValueError("a baseline needs rankings and an acceptance")
    files: dict[str, bytes] = {}
    prints: dict[str, str] = {}
    for asking, rankings in enumerate(baseline.rankings, 1):
        text = encoded_rankings(rankings, baseline.depth, scored=baseline.scored)
        large = len(text) > LARGEST
        ending = rankings_ending(asking) + (COMPRESSED if large else "")
        files[ending] = _compressed(text) if large else text
        prints[ending] = fingerprint(text)
    if baseline.grades is not None and sum(map(len, baseline.grades.values())) <= MOST_PAIRS:
        files[JUDGMENTS] = encoded_grades(baseline.grades)
        prints[JUDGMENTS] = fingerprint(files[JUDGMENTS])
    for ending, entries in ((FIELDS, baseline.fields), (TIMINGS, baseline.timings)):
        if entries:
            files[ending] = encoded_lists(entries)
            prints[ending] = fingerprint(files[ending])
    files[RECORD] = encoded_record(baseline, dict(sorted(prints.items())))
    return files


def write_files(folder: Path, name: str, files: Mapping[str, bytes], *, wait: float = WAIT) -> tuple[Path, ...]:
    """Write contents, whatever was there."""
    with _writing(folder, name, wait):
        return _put(folder, name, files)


@contextmanager
def _writing(folder: Path, name: str, wait: float) -> Iterator[None]:
    """Keep other writers out; an update that was interrupted is finished first."""
    with _told(folder, name):
        os.makedirs(folder, exist_ok=True)
        with locked(folder, wait):
            put_into_place(folder, name)
            yield


def _put(folder: Path, name: str, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    _write_beside(folder)
    if not _is_there(folder, name, files):
        commit(folder, name, files)
        put_into_place(folder, name)
    return tuple(path_of(folder, name, ending) for ending in files)


def _continued(folder: Path, baseline: Baseline, files: Mapping[str, bytes]) -> Baseline:
    """The baseline with all acceptances that are on the disk; they are kept even where the rest is damaged."""
    try:
        record = read_record(folder, baseline.suite)
    except BaselineError:
        return baseline
    known = record.baseline.acceptances if record is not None else ()
    appends = len(known) < len(baseline.acceptances)
    if baseline.acceptances[: len(known)] == known and (appends or _is_there(folder, baseline.suite, files)):
        return baseline
    try:
        read_baseline(folder, baseline.suite)
    except BaselineError:
        new = (acceptance for acceptance in baseline.acceptances if acceptance not in known)
        return replace(baseline, acceptances=(*known, *new))
    last = known[-1]
    complaint = f"was accepted by another run meanwhile, at {last.date}{': ' + last.reason if last.reason else ''}"
    suggestion = "nothing was written; run again, to compare with what is accepted now"
    raise BaselineError(Problem(complaint, str(near(path_of(folder, baseline.suite, RECORD))), suggestion=suggestion))


def finish_interrupted(folder: Path, name: str, *, wait: float = WAIT) -> bool:
    """Put an update into place that was interrupted; True if there was one."""
    if journal_of(folder, name) is None:
        return False
    with _told(folder, name), locked(folder, wait):
        journal = journal_of(folder, name)
        if journal is not None:
            journal.checked(path_of(folder, name, RECORD))
        return journal is not None and put_into_place(folder, name)


def delete_baseline(folder: Path, name: str, *, wait: float = WAIT) -> tuple[Path, ...]:
    """Delete all files of a baseline, the .json file first: without it the others belong to no baseline."""
    with _told(folder, name), locked(folder, wait):
        put_into_place(folder, name)
        paths = baseline_files(folder, name)
        for path in (*paths[:1], *reversed(paths[1:])):
            os.unlink(path)
    return paths


def _compressed(text: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=9, write_content_size=True).compress(text)


def _is_there(folder: Path, name: str, files: Mapping[str, bytes]) -> bool:
    wanted = {path_of(folder, name, ending): content for ending, content in files.items()}
    there = baseline_files(folder, name)
    return set(there) == set(wanted) and all(path.read_bytes() == wanted[path] for path in there)


def _write_beside(folder: Path) -> None:
    """Write git's settings for the folder once; from then on they are the user's."""
    for name, text in BESIDE.items():
        if not (folder / name).exists():
            write_through(folder / f".{name[1:]}.new", text.encode())
            os.replace(folder / f".{name[1:]}.new", folder / name)


@contextmanager
def _told(folder: Path, name: str) -> Iterator[None]:
    """Turn an error of the system into one that reports the state of the baseline."""
    try:
        yield
    except OSError as error:
        if journal_of(folder, name) is None:
            drop_unfinished(folder, name)
            state = "nothing was changed"
        else:
            state = "the update is incomplete; run it again to finish it"
        complaint = f"cannot be written: {error.strerror or error}; {state}"
        raise BaselineError(Problem(complaint, place=str(near(path_of(folder, name, RECORD))))) from error


def anchor_name(suite: str) -> str:
    """The name of the files of a suite's anchor."""
    return f"{suite}{ANCHOR}"


def is_anchor(name: str) -> bool:
    """Tell whether files of that name are those of an anchor; a suite cannot have such a name."""
    return name.endswith(ANCHOR)


def suite_of(name: str) -> str:
    """The suite of an anchor or baseline."""
    return name.removesuffix(ANCHOR)


def write_anchor(folder: Path, baseline: Baseline, anchoring: Acceptance) -> tuple[Path, ...]:
    """Make the baseline the anchor of its suite, with its acceptances and the anchoring; replaces an earlier anchor."""
    name = anchor_name(baseline.suite)
    anchor = replace(baseline, suite=name, acceptances=(*baseline.acceptances, anchoring))
    return write_files(folder, name, encoded_baseline(anchor))


def accepted_since(anchor: Baseline, stored: Baseline) -> tuple[Acceptance, ...]:
    """The acceptances of the baseline that the anchor lacks, the oldest first.

    After a merge the baseline may lack acceptances that the anchor has: one side was kept, and the other was accepted
    once more. The acceptances of the kept side led away from the anchor.
    """
    pinned = set(anchor.acceptances)
    return tuple(each for each in stored.acceptances if each not in pinned)


def anchor_words(anchoring: Acceptance) -> str:
    """``the anchor of 2026-03-01 (release 4.2)``."""
    return f"the anchor of {anchoring.date[:10]}{f' ({anchoring.reason})' if anchoring.reason else ''}"
