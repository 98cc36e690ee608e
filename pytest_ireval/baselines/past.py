"""What a baseline was at earlier commits: the figures of acceptances that later ones have replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.files import JUDGMENTS, RECORD, near, path_of
from pytest_ireval.baselines.reading import record_from
from pytest_ireval.baselines.record import Record
from pytest_ireval.errors import BaselineError
from pytest_ireval.repositories.git import blob, git, standing

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
    listed = git(folder, "ls-tree", "-z", "--name-only", "HEAD", *_names(folder)) or b""
    paths = [standing(folder.absolute()) / each.decode("utf-8", "replace") for each in listed.split(b"\0") if each]
    known = (RECORD, JUDGMENTS, "rankings.")
    found = [path for path in paths if path.name.startswith(tuple(f"{name}.{ending}" for ending in known))]
    return tuple(map(near, found)) if any(path.name == f"{name}.{RECORD}" for path in found) else ()


def _names(folder: Path) -> tuple[str, ...]:
    """The folder as git is asked for it: it may be gone from the disk."""
    below = folder.absolute().relative_to(standing(folder.absolute())).as_posix()
    return ("./",) if below == "." else (f"{below}/",)


def _figures(record: Record) -> Figures:
    return {name: metric.value for name, metric in record.baseline.metrics.items()}


def _records(path: Path, most: int) -> Iterator[Record]:
    """The file at each commit that changed it, the newest first; what cannot be read is passed over."""
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
