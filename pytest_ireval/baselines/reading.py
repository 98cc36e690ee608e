"""A baseline is read whole or not at all; errors in its files are reported with file, line and remedy."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pytest_ireval.baselines.files import (
    COMPRESSED,
    FIELDS,
    JUDGMENTS,
    RECORD,
    TIMINGS,
    baseline_files,
    checked_name,
    fingerprint,
    near,
    of_anchor,
    path_of,
    rankings_ending,
)
from pytest_ireval.baselines.journal import WAIT, is_held, journal_of
from pytest_ireval.baselines.record import Acceptance, Baseline, Record, decoded_record
from pytest_ireval.baselines.stored import Damage, decoded_fields, decoded_grades, decoded_rankings, decoded_timings
from pytest_ireval.errors import BaselineError, Problem, shown
from pytest_ireval.repositories.git import blob, content_at, git, is_pointer, standing

LACKS_CONTENT = "is a pointer of Git LFS, and not the content"
IN_CONFLICT = "has the marks of a merge conflict"
PIECE = 1 << 22
LARGEST = 4 << 30
"""Bytes after unpacking; text that unpacks to more was made to fill the memory."""

_BESIDE = {"grades": JUDGMENTS, "fields": FIELDS, "timings": TIMINGS}
"""Files that not every baseline has, by the field of the baseline."""
_DECODED: Mapping[str, Callable[[bytes], Any]] = {
    JUDGMENTS: decoded_grades,
    FIELDS: decoded_fields,
    TIMINGS: decoded_timings,
}

Load = Callable[[str], bytes | None]
"""The content of the file with an ending; None where there is none."""
Place = Callable[[str], str]
"""The name of the file with an ending in messages."""
Found = TypeVar("Found")


def read_baseline(folder: Path, name: str) -> Baseline | None:
    """Return the baseline of a suite, or None. While another process writes it, this is the old or the new one."""
    found = _steady(baseline_from, folder, name)
    if found is not None:
        _refuse_another_suite(found, folder, name)
    return found


def read_record(folder: Path, name: str, ref: str = "") -> Record | None:
    """Return the .json file alone, from the disk or from a git ref; None if there is none."""
    if not ref:
        found = _steady(record_from, folder, name)
        if found is not None:
            _refuse_another_suite(found.baseline, folder, name)
        return found
    checked_name(name)
    return record_from(_at_ref(ref, folder, name), _places(folder, name, ref), ref)


def _refuse_another_suite(baseline: Baseline, folder: Path, name: str) -> None:
    """Refuse a baseline that was accepted for another suite, and whose files were copied or renamed."""
    if baseline.suite == name:
        return
    place = _places(folder, name)(RECORD)
    suggestion = f"git checkout -- {place} restores what was committed; if the suite was renamed, {_again(place)}"
    raise BaselineError(Problem(f"is the baseline of suite {shown(baseline.suite)}", place, suggestion=suggestion))


def _again(place: str) -> str:
    """The command that makes a baseline or an anchor again."""
    if of_anchor(place):
        return 'pin again: ireval baseline anchor SUITE --reason "…"'
    return 'accept again: pytest --ireval SUITE --ireval-update --ireval-force --ireval-reason "…"'


def _steady(read: Callable[[Load, Place], Found | None], folder: Path, name: str) -> Found | None:
    """Read again for as long as another process writes the files; an error counts if they stayed as they were."""
    checked_name(name)
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        before = _state(folder, name)
        try:
            if journal := journal_of(folder, name):  # its files were never compared with a base
                raise journal.left_over(path_of(folder, name, RECORD))
            return read(_in_folder(folder, name), _places(folder, name))
        except BaselineError:
            if _state(folder, name) == before and not (before[0] and is_held(folder)):
                raise
        time.sleep(0.02)
    complaint = "is being written by another process, and cannot be read"
    raise BaselineError(Problem(complaint, place=str(near(path_of(folder, name, RECORD)))))


def read_baseline_at(ref: str, folder: Path, name: str) -> Baseline | None:
    """The baseline as it was at a git ref, without checking anything out; None where there was none."""
    checked_name(name)
    return baseline_from(_at_ref(ref, folder, name), _places(folder, name, ref), at=ref)


def baseline_from(load: Load, place: Place, at: str = "") -> Baseline | None:
    """The baseline in files that ``load`` brings; ``at`` names the git ref they are from."""
    record = record_from(load, place, at)
    if record is None:
        return None
    baseline = record.baseline
    rankings = []
    for asking in range(1, record.askings + 1):
        ending = rankings_ending(asking)
        data = _verified(load, ending, record, place, at)
        try:
            scored = baseline.scored
            rankings.append(decoded_rankings(data, baseline.depth, place(ending), scored=scored, accepted=True))
        except Damage as damage:
            raise _error_of(damage, place, ending, at) from None
    baseline = replace(baseline, rankings=tuple(rankings))
    for field, ending in _BESIDE.items():
        if ending in record.files:
            data = _verified(load, ending, record, place, at)
            try:
                baseline = replace(baseline, **{field: _DECODED[ending](data)})
            except Damage as damage:
                raise _error_of(damage, place, ending, at) from None
    return _with_data(baseline)


def _with_data(baseline: Baseline) -> Baseline:
    """The baseline whose rankings have their timings, and the fields of their documents."""
    count, all_times = len(baseline.rankings), baseline.timings.items()
    timings = [{query: time for query, times in all_times if (time := times[i]) is not None} for i in range(count)]
    pairs = zip(baseline.rankings, timings, strict=True)
    found = (replace(each, timings=times or None, fields=baseline.fields) for each, times in pairs)
    return replace(baseline, rankings=tuple(found))


def record_from(load: Load, place: Place, at: str = "") -> Record | None:
    """The .json file alone; None where there is none."""
    data = load(RECORD)
    if data is None:
        return None
    try:
        return decoded_record(plain_line_ends(data))
    except Damage as damage:
        raise _error_of(_foreign_in(data) or damage, place, RECORD, at) from None


def _error_of(damage: Damage, place: Place, ending: str, at: str) -> BaselineError:
    file = place(ending)
    if damage.complaint == LACKS_CONTENT:
        suggestion = "run git lfs pull to download it"
    elif at:
        suggestion = "another ref may have a sound one"
    elif damage.complaint == IN_CONFLICT:
        # All files, also those that git could merge: a mixture of two rankings was never measured.
        record = Path(place(RECORD))
        files = files_of_last_commit(record.parent, record.stem) or [Path(file)]
        suggestion = f"{checkout_command(files)} keeps the side of HEAD; then repeat what the other side accepted"
    else:
        suggestion = f"git checkout -- {file} restores what was committed; or {_again(file)}"
    where = f"{file}:{damage.line}" if damage.line else file
    return BaselineError(Problem(damage.complaint, place=where, suggestion=suggestion))


def _verified(load: Load, ending: str, record: Record, place: Place, at: str) -> bytes:
    """The plain content of a file that the record names, if it is the content that was accepted."""
    stored = next((e for e in (ending, ending + COMPRESSED) if e in record.files), None)
    if stored is None:
        raise _error_of(Damage(f"does not name {ending}, which belongs to it"), place, RECORD, at)
    data, wanted, packed = load(stored), record.files[stored], stored.endswith(COMPRESSED)
    if data is None:
        raise _error_of(Damage("is missing"), place, stored, at)
    try:
        plain = _unpacked(data) if packed else plain_line_ends(data)
        if fingerprint(plain) != wanted:
            raise _what_is_wrong(plain, ending, record)
    except Damage as damage:
        raise _error_of(damage, place, stored, at) from None
    return plain


def _what_is_wrong(data: bytes, ending: str, record: Record) -> Damage:
    """The most telling complaint about a file that is not what was accepted."""
    if foreign := _foreign_in(data):
        return foreign
    try:
        if ending in _DECODED:
            _DECODED[ending](data)
        else:
            decoded_rankings(data, record.baseline.depth, ending, scored=record.baseline.scored)
    except Damage as damage:
        return damage
    return Damage("is not what was accepted: it was edited by hand, by a tool or by a merge")


def _foreign_in(data: bytes) -> Damage | None:
    """The damage, if git or Git LFS has replaced the content."""
    if is_pointer(data):
        return Damage(LACKS_CONTENT)
    found = re.search(rb"^(<{7}|>{7}|\|{7})( |$)", data, re.MULTILINE)
    return Damage(IN_CONFLICT, data.count(b"\n", 0, found.start()) + 1) if found else None


def plain_line_ends(data: bytes) -> bytes:
    """Without the carriage returns that git adds on Windows; those of ids are escaped, so none is lost."""
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def _unpacked(data: bytes) -> bytes:
    import zstandard

    if is_pointer(data):
        raise Damage(LACKS_CONTENT)
    parts, size = [], 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            while (part := reader.read(PIECE)) and size <= LARGEST:
                parts.append(part)
                size += len(part)
    except zstandard.ZstdError as error:
        raise Damage(f"cannot be unpacked: {error}") from None
    if size > LARGEST:
        raise Damage(f"holds more than {LARGEST >> 20:,} MiB, the limit for a baseline")
    return b"".join(parts)


def _at_ref(ref: str, folder: Path, name: str) -> Load:
    return lambda ending: content_at(ref, path_of(folder, name, ending))


def _places(folder: Path, name: str, ref: str = "") -> Place:
    return lambda ending: f"{ref}:{near(path_of(folder, name, ending))}".removeprefix(":")


def _in_folder(folder: Path, name: str) -> Load:
    def load(ending: str) -> bytes | None:
        path = path_of(folder, name, ending)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BaselineError(Problem(f"cannot be read: {error.strerror}", place=str(near(path)))) from error

    return load


def _state(folder: Path, name: str) -> tuple[object, ...]:
    """Return a value that changes when another process writes the files."""
    journal = journal_of(folder, name)
    return (journal and journal.folder, *map(_stamp, baseline_files(folder, name)))


def _stamp(path: Path) -> tuple[str, int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return path.name, found.st_ino, found.st_size, found.st_mtime_ns


Figures = Mapping[str, float | None]
"""By metric."""


def figures_of_acceptances(folder: Path, name: str, now: Record, most: int) -> dict[Acceptance, Figures]:
    """The figures that each acceptance came with, as far as git has them in its last ``most`` commits of the file."""
    found = {now.baseline.accepted: _figures(now)}
    missing = set(now.baseline.acceptances) - found.keys()
    for record in _records(path_of(folder, name, RECORD), most):
        if not missing:
            break
        accepted = record.baseline.accepted
        if accepted in missing:
            found[accepted] = _figures(record)
            missing.discard(accepted)
    return found


def files_of_last_commit(folder: Path, name: str) -> tuple[Path, ...]:
    """The files of the baseline that the last commit has, as people write them; none where git knows of none."""
    there = standing(folder.absolute())  # the folder may be gone from the disk
    listed = git(folder, "ls-tree", "-z", "--name-only", "HEAD", f"{folder.absolute().relative_to(there).as_posix()}/")
    paths = [there / each.decode("utf-8", "replace") for each in (listed or b"").split(b"\0") if each]
    begins = tuple(f"{name}.{ending}" for ending in (RECORD, JUDGMENTS, FIELDS, TIMINGS, "rankings."))
    found = [path for path in paths if path.name.startswith(begins)]
    return tuple(map(near, found)) if any(path.name == f"{name}.{RECORD}" for path in found) else ()


def checkout_command(files: Iterable[Path]) -> str:
    """The command that takes files from the last commit."""
    return f"git checkout HEAD -- {' '.join(shlex.quote(path.as_posix()) for path in files)}"


def _figures(record: Record) -> Figures:
    return {name: metric.value for name, metric in record.baseline.metrics.items()}


def _records(path: Path, most: int) -> Iterator[Record]:
    """The file at each commit that changed it, the newest first, without those that cannot be read."""
    folder = standing(path.absolute().parent)
    listed = git(folder, "log", f"--max-count={most}", "--format=%H", "--", f":(literal){path.name}") or b""
    for commit in listed.decode("ascii").split():
        content = blob(f"{commit}:./{path.name}", folder)
        try:
            record = record_from(lambda _, content=content: content, lambda _: path.name)  # type: ignore[misc]  # a default
        except BaselineError:
            continue
        if record is not None:
            yield record
