"""Writes a baseline as a new file that takes the place of the old one; an anchor is a pinned baseline."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

from pytest_ireval.baseline.files import (
    SUFFIXES,
    anchor_name,
    baseline_path,
    check_name,
    display_path,
    find_baseline_file,
)
from pytest_ireval.baseline.reading import read_acceptances, read_baseline
from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.baseline.text import encode_baseline
from pytest_ireval.errors import BaselineError, Problem


def write_baseline(folder: Path, baseline: Baseline, *, compress: bool = False) -> Path:
    """Write the file and return its path.

    Acceptances are only ever appended: an error if another run has accepted since the baseline was read. Those in a
    file that cannot be read as this baseline, because it is damaged or was renamed, are kept as far as they can be.
    """
    known = read_acceptances(folder, baseline.suite)
    if baseline.acceptances[: len(known)] != known:
        try:
            read_baseline(folder, baseline.suite)
        except BaselineError:
            new = tuple(acceptance for acceptance in baseline.acceptances if acceptance not in known)
            baseline = replace(baseline, acceptances=(*known, *new))
        else:
            raise BaselineError(_describe_acceptance_meanwhile(folder, baseline.suite, known[-1]))
    return _write(folder, baseline, compress=compress)


def write_anchor(folder: Path, baseline: Baseline, anchoring: Acceptance, *, compress: bool = False) -> Path:
    """Make the baseline the anchor of its suite, with its acceptances and the anchoring; replaces an earlier anchor."""
    anchoring = anchoring._replace(figures=baseline.accepted.figures)
    name, acceptances = anchor_name(baseline.suite), (*baseline.acceptances, anchoring)
    return _write(folder, replace(baseline, suite=name, acceptances=acceptances), compress=compress)


def delete_baseline(folder: Path, name: str) -> tuple[Path, ...]:
    """Delete the file of a baseline, or both if there are two; returns their paths."""
    paths = tuple(path for suffix in SUFFIXES if (path := folder / f"{check_name(name)}{suffix}").is_file())
    for path in paths:
        path.unlink()
    return paths


def _write(folder: Path, baseline: Baseline, *, compress: bool) -> Path:
    path = baseline_path(folder, check_name(baseline.suite), compress=compress)
    text = encode_baseline(baseline)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, gzip.compress(text, mtime=0) if compress else text)
    except OSError as error:
        complaint = f"cannot be written: {error.strerror or error}; nothing was changed"
        raise BaselineError(Problem(complaint, place=str(display_path(path)))) from error
    baseline_path(folder, baseline.suite, compress=not compress).unlink(missing_ok=True)
    return path


def replace_file(path: Path, content: bytes) -> None:
    """Put a new file in the place of another in one step, so that whoever stops it leaves the old or the new one."""
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(new, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a full disk may only be noticed here
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _describe_acceptance_meanwhile(folder: Path, name: str, last: Acceptance) -> Problem:
    complaint = f"was accepted by another run meanwhile, at {last.date}{': ' + last.reason if last.reason else ''}"
    suggestion = "nothing was written; run again, to compare with what is accepted now"
    return Problem(complaint, str(display_path(find_baseline_file(folder, name) or folder)), suggestion=suggestion)
