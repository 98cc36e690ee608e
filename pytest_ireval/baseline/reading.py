"""Reads a baseline whole or not at all; a damaged file is reported with the commands that heal it."""

from __future__ import annotations

import shlex
from pathlib import Path

from pytest_ireval.baseline.files import (
    SUFFIXES,
    baseline_name,
    check_name,
    display_path,
    find_baseline_file,
    find_suite_file,
    is_anchor,
    suite_name_of,
)
from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.baseline.text import LACKS_CONTENT, Damage, decode_baseline, find_acceptances
from pytest_ireval.errors import BaselineError, Problem, quote
from pytest_ireval.repositories.git import git_output, read_at_ref


def read_baseline(folder: Path, name: str) -> Baseline | None:
    """Return the baseline of a suite; None if there is none."""
    path = find_baseline_file(folder, name)
    if path is None:
        return None
    place = str(display_path(path))
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
        suggestion = (
            f"{format_checkout('HEAD', path)} restores what was committed; if the suite was renamed, "
            f"{_suggest_acceptance(folder, name, force=True)}"
        )
        raise BaselineError(Problem(f"is the baseline of suite {quote(baseline.suite)}", place, suggestion=suggestion))
    return baseline


def read_acceptances(folder: Path, name: str) -> tuple[Acceptance, ...]:
    """The acceptances in the file of a baseline; of a damaged one, those that can be read."""
    try:
        path = find_baseline_file(folder, name)
        return () if path is None else find_acceptances(path.read_bytes())
    except (BaselineError, OSError):
        return ()


def read_baseline_at_ref(ref: str, folder: Path, name: str) -> Baseline | None:
    """Return the baseline as it was at a git ref, without checking anything out; None if there was none."""
    for suffix in SUFFIXES:
        path = folder / f"{check_name(name)}{suffix}"
        data = read_at_ref(ref, path)
        if data is not None:
            return decode_content(data, f"{ref}:{display_path(path)}")
    return None


def decode_content(data: bytes, place: str) -> Baseline:
    """The baseline in the content of a file at a git ref, which has the name ``place`` in messages."""
    try:
        return decode_baseline(data, place)
    except Damage as damage:
        where = f"{place}:{damage.line}" if damage.line else place
        hint = FETCH_CONTENT if damage.complaint == LACKS_CONTENT else "another ref may have a sound one"
        raise BaselineError(Problem(damage.complaint, where, suggestion=hint)) from None


FETCH_CONTENT = "run git lfs pull to download it"


def _find_remedy(damage: Damage, path: Path, data: bytes) -> str:
    """The two commands that heal a damaged file."""
    if damage.complaint == LACKS_CONTENT:
        return FETCH_CONTENT
    folder, name = path.parent, baseline_name(path)
    again = _suggest_acceptance(folder, name)
    if git_output(folder, "ls-files", "--unmerged", "--", f":(literal){path.name}"):
        return (
            f"take either side: {format_checkout('--ours', path)} or {format_checkout('--theirs', path)}; then {again}"
        )
    committed = git_output(folder, "cat-file", "blob", f"HEAD:./{path.name}")
    if committed is None:
        return _suggest_acceptance(folder, name, force=True)
    if committed != data:
        return f"take what was committed: {format_checkout('HEAD', path)}; then {again}"
    commit = (git_output(folder, "log", "-1", "--format=%h", "--", f":(literal){path.name}") or b"").decode().strip()
    return f"it was committed like this: take what was before: {format_checkout(f'{commit}^', path)}; then {again}"


def format_checkout(ref: str, path: Path) -> str:
    """The command that takes a file from a commit."""
    return f"git checkout {ref} -- {_quote(display_path(path))}"


def _suggest_acceptance(folder: Path, name: str, *, force: bool = False) -> str:
    """The command that makes a baseline or an anchor again; with ``force`` in place of a file that cannot be read."""
    suite = suite_name_of(name)
    found = find_suite_file(folder, suite)
    if is_anchor(name):
        file, named = (found.file, bool(found.matrix_ending)) if found else (Path(), True)
        return f'pin again: ireval baseline anchor {_quote(file)}{f" --named {suite}" if named else ""} --reason "…"'
    if found is None:
        node = f". -k {shlex.quote(suite)}"
    else:
        node = "::".join(filter(None, (_quote(found.file), found.matrix_ending[1:])))
    forced = "--ireval-force " if force else ""
    return f'accept again: pytest --ireval {node} --ireval-update {forced}--ireval-reason "…"'


def _quote(path: Path) -> str:
    return shlex.quote(path.as_posix())
