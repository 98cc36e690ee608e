"""Reads a baseline whole or not at all; a damaged file is reported with the commands that heal it."""

from __future__ import annotations

import shlex
from pathlib import Path

from pytest_ireval.baseline.files import SUFFIXES, check_name, find_baseline, is_anchor, name_in, near
from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.baseline.text import LACKS_CONTENT, Damage, decode_baseline, find_acceptances
from pytest_ireval.errors import BaselineError, Problem, shown
from pytest_ireval.repositories.git import content_at, git


def read_baseline(folder: Path, name: str) -> Baseline | None:
    """Return the baseline of a suite; None if there is none."""
    path = find_baseline(folder, name)
    if path is None:
        return None
    place = str(near(path))
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BaselineError(Problem(f"cannot be read: {error.strerror}", place)) from error
    try:
        baseline = decode_baseline(data, place)
    except Damage as damage:
        where = f"{place}:{damage.line}" if damage.line else place
        raise BaselineError(Problem(damage.complaint, where, suggestion=_find_remedy(damage, path, data))) from None
    if baseline.suite != name:  # it was accepted for another suite, and its file was copied or renamed
        suggestion = f"{take_from('HEAD', path)} restores what was committed; if the suite was renamed, {_force(name)}"
        raise BaselineError(Problem(f"is the baseline of suite {shown(baseline.suite)}", place, suggestion=suggestion))
    return baseline


def read_acceptances(folder: Path, name: str) -> tuple[Acceptance, ...]:
    """The acceptances in the file of a baseline; of a damaged one, those that can be read."""
    try:
        path = find_baseline(folder, name)
        return () if path is None else find_acceptances(path.read_bytes())
    except (BaselineError, OSError):
        return ()


def read_baseline_at(ref: str, folder: Path, name: str) -> Baseline | None:
    """Return the baseline as it was at a git ref, without checking anything out; None if there was none."""
    for suffix in SUFFIXES:
        path = folder / f"{check_name(name)}{suffix}"
        data = content_at(ref, path)
        if data is not None:
            return decode_baseline_of(data, f"{ref}:{near(path)}")
    return None


def decode_baseline_of(data: bytes, place: str) -> Baseline:
    """The baseline in the content of a file at a git ref, which has the name ``place`` in messages."""
    try:
        return decode_baseline(data, place)
    except Damage as damage:
        where = f"{place}:{damage.line}" if damage.line else place
        hint = _FETCH if damage.complaint == LACKS_CONTENT else "another ref may have a sound one"
        raise BaselineError(Problem(damage.complaint, where, suggestion=hint)) from None


_FETCH = "run git lfs pull to download it"


def _find_remedy(damage: Damage, path: Path, data: bytes) -> str:
    """The two commands that heal a damaged file."""
    if damage.complaint == LACKS_CONTENT:
        return _FETCH
    name = name_in(path)
    if git(path.parent, "ls-files", "--unmerged", "--", f":(literal){path.name}"):
        return f"take either side: {take_from('--ours', path)} or {take_from('--theirs', path)}; then {_again(name)}"
    committed = git(path.parent, "cat-file", "blob", f"HEAD:./{path.name}")
    if committed is None:
        return _force(name)
    if committed != data:
        return f"take what was committed: {take_from('HEAD', path)}; then {_again(name)}"
    commit = (git(path.parent, "log", "-1", "--format=%h", "--", f":(literal){path.name}") or b"").decode().strip()
    return f"it was committed like this: take what was before: {take_from(f'{commit}^', path)}; then {_again(name)}"


def take_from(ref: str, path: Path) -> str:
    """The command that takes a file from a commit."""
    return f"git checkout {ref} -- {shlex.quote(near(path).as_posix())}"


def _again(name: str, option: str = "") -> str:
    """The command that makes a baseline or an anchor again."""
    if is_anchor(name):
        return 'pin again: ireval baseline anchor SUITE --reason "…"'
    return f'accept again: pytest --ireval SUITE --ireval-update {option}--ireval-reason "…"'


def _force(name: str) -> str:
    """The same in place of a file that cannot be read."""
    return _again(name, "--ireval-force ")
