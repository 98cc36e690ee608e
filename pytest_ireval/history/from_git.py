"""What the git history of baselines tells of acceptances: when, why, and with which figures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baselines.anchors import is_anchor
from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.files import RECORD
from pytest_ireval.baselines.merging import FOLDER
from pytest_ireval.baselines.reading import record_from
from pytest_ireval.baselines.record import Record, begins_record
from pytest_ireval.errors import BaselineError, HistoryError, Problem
from pytest_ireval.history.kept import ALL, DATE, KeptFigures, KeptRun, KeptSuite
from pytest_ireval.repositories.git import asked, blob, git

PATIENCE = 300.0
"""Seconds for looking through all commits."""
CHANGED = re.compile(rb":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [AMT]\0([^\0]+)\0")
"""What git calls the new content, and the path."""


class FromGit(NamedTuple):
    """What git knows."""

    runs: tuple[KeptRun, ...]
    """One for each acceptance."""
    versions: int
    """How many contents baselines had, those that could not be read among them."""
    unread: tuple[str, ...] = ()
    """Those that could not be read, and why."""
    shallow: bool = False
    """Whether the clone has a part of the history only."""


def acceptances_in_git(folder: Path) -> FromGit:
    """All acceptances of baselines in ``folder`` and below; HistoryError where git cannot say."""
    found: dict[tuple[str, Acceptance], KeptRun] = {}
    unread = []
    records = []
    for content, path in _versions(folder):
        if is_anchor(Path(path).stem):
            continue  # it repeats a baseline, and what was pinned is no suite
        try:
            record = _record(content, path, folder)
        except BaselineError as error:
            unread.append(f"{path} ({content[:7]}): {error.problems[0].complaint}")
            continue
        if record is None:
            continue
        records.append((record, path))
        accepted = record.baseline.accepted
        found.setdefault((record.baseline.suite, accepted), _run(record, path, accepted))
    for record, path in records:  # acceptances that were never committed on their own are at least dates and reasons
        for accepted in record.baseline.acceptances:
            found.setdefault((record.baseline.suite, accepted), _run(record, path, accepted, figures=False))
    shallow = (git(folder, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true"
    return FromGit(tuple(found.values()), len(records) + len(unread), tuple(unread), shallow)


def _versions(folder: Path) -> Iterator[tuple[str, str]]:
    """What git calls each content that a baseline ever had, the newest first, and its path."""
    how = ("-m", "--raw", "--no-abbrev", "--no-renames", "--relative", "--format=", "-z")
    answer = asked(folder, "log", *how, "--", f":(glob)**/{FOLDER}/*.{RECORD}", patience=PATIENCE)
    if answer.status != 0:
        said = answer.said.splitlines()[-1] if answer.said else "it says nothing"
        raise HistoryError(Problem(f"git cannot tell what baselines were: {said}", place=str(folder)))
    seen = dict.fromkeys((content.decode("ascii"), os.fsdecode(path)) for content, path in CHANGED.findall(answer.out))
    yield from seen


def _record(content: str, path: str, folder: Path) -> Record | None:
    """What the content says; None of JSON that is none of ours."""
    data = blob(content, folder)
    if data is not None and data[:1] in (b"{", b"[") and not begins_record(data):
        return None
    record = record_from(lambda _: data, lambda _: path, content[:7])
    if record is None:
        raise BaselineError(Problem("git does not have the content here", place=path))
    if not DATE.fullmatch(record.baseline.accepted.date):
        raise BaselineError(Problem("was accepted at no date", place=path))
    return record


def _run(record: Record, path: str, accepted: Acceptance, *, figures: bool = True) -> KeptRun:
    metrics = record.baseline.metrics if figures else {}
    kept = tuple(
        KeptFigures(name, ALL, metric.value, queries=len(metric.values) or None)
        for name, metric in metrics.items()
        if metric.value is not None
    )
    suite = KeptSuite(record.baseline.suite, path, "", accepted=True, reason=accepted.reason, figures=kept)
    return KeptRun(accepted.date, accepted.commit, accepted.branch, accepted.dirty, "", "", (suite,), "git")
