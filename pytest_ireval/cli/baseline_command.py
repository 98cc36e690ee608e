"""``ireval baseline``: show, compare and pin what was accepted, and clean up."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import click

from pytest_ireval.baseline.files import (
    FOLDER,
    SUFFIXES,
    anchor_name,
    baseline_name,
    baseline_path,
    display_path,
    find_baseline_file,
    list_baseline_names,
    suite_name_of,
)
from pytest_ireval.baseline.reading import read_baseline, read_baseline_at_ref
from pytest_ireval.baseline.record import Acceptance, Baseline, describe_anchor
from pytest_ireval.baseline.writing import delete_baseline, write_anchor
from pytest_ireval.cli.baseline_text import (
    format_acceptance,
    format_baseline,
    format_diff,
    format_figure,
    format_query,
    get_metric_order,
)
from pytest_ireval.cli.options import load_chosen_suites
from pytest_ireval.clock import format_moment, read_clock
from pytest_ireval.errors import BaselineError, IrevalError, Problem, did_you_mean
from pytest_ireval.gate.changed_since import list_suite_files
from pytest_ireval.repositories.git import read_commit_state
from pytest_ireval.suite.finding import NOT_ENTERED, may_be_suite
from pytest_ireval.suite.loading import list_suite_names
from pytest_ireval.suite.suite import Suite
from pytest_ireval.text_table import escape_unprintable
from pytest_ireval.words import format_count, is_placeholder


@click.group(name="baseline")
def command() -> None:
    """Show, compare, pin and clean up baselines: what was accepted, when, by whom and why."""


@command.command(name="show")
@click.argument("baseline")
@click.option("-q", "--query", help="Show the accepted ranking of this query, with the grades of that time.")
def _show(baseline: str, query: str | None) -> None:
    """Show what BASELINE says: figures, who accepted it when and why, and what it rests on.

    BASELINE is the file of a baseline, a suite file, or REF:path for the baseline as it was at a git ref.
    """
    place = _parse_place(baseline)
    accepted = _require_baseline(place)
    click.echo(
        format_baseline(accepted, str(place)) if query is None else format_query(accepted, query, str(place)), nl=False
    )
    anchor = place._replace(name=anchor_name(place.name))
    if query is None and (pinned := _read_baseline(anchor)) is not None:
        click.echo(escape_unprintable(f"also pinned: {describe_anchor(pinned.accepted)}, {anchor}"))


@command.command(name="diff", context_settings={"show_default": True})
@click.argument("a")
@click.argument("b")
@click.option("--lines", default=10, type=click.IntRange(0), help="Number of queries to list.")
def _diff(a: str, b: str, lines: int) -> None:
    """Compare baseline A with baseline B: figures, what else is different, and the queries that differ most.

    A and B are files of baselines, suite files, or REF:path for a baseline as it was at a git ref; one of them
    may be a REF alone, which stands for the path of the other.
    """
    first, second = _parse_pair(a, b)
    click.echo(
        format_diff(_require_baseline(first), _require_baseline(second), (str(first), str(second)), lines), nl=False
    )


@command.command(name="log", context_settings={"show_default": True})
@click.argument("baseline")
@click.option("-n", "--last", default=20, type=click.IntRange(1), help="Number of acceptances to list.")
def _log(baseline: str, last: int) -> None:
    """List the acceptances of BASELINE, the newest first: when, at which commit, why, and with which figures.

    BASELINE is the file of a baseline, a suite file, or REF:path.
    """
    acceptances = _require_baseline(_parse_place(baseline)).acceptances
    shown = acceptances[::-1][:last]
    left = len(acceptances) - len(shown)
    entries = [_format_entry(acceptance) for acceptance in shown]
    more = [f"{format_count(left, 'earlier acceptance')}; --last shows more"] if left else []
    click.echo("\n\n".join([*("\n".join(map(escape_unprintable, entry)) for entry in entries), *more]))


def _format_entry(acceptance: Acceptance) -> Iterator[str]:
    yield format_acceptance(acceptance)
    yield f"  {acceptance.reason or '(no reason given)'}"
    if acceptance.figures:
        named = sorted(acceptance.figures.items(), key=get_metric_order)
        yield f"  {', '.join(f'{name} {format_figure(value)}' for name, value in named)}"


@command.command(name="anchor")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--reason", required=True, help="The name of the release; it is kept, and every comparison shows it.")
@click.option("--named", help="One suite of a matrix; the default is all suites at PATHS.")
def _anchor(paths: tuple[Path, ...], reason: str, named: str | None) -> None:
    """Pin the accepted baseline of each suite at PATHS, files or folders, as its anchor.

    Rules that say `against: anchor` compare with it. No acceptance moves it: this command alone does. If one of the
    suites has no baseline, none is pinned.
    """
    reason = reason.strip()
    if is_placeholder(reason):
        raise click.UsageError(f'--reason "{reason}" is no reason: name the release, for example "release 4.2"')
    pinned = _read_baselines(load_chosen_suites(paths, named))
    date = format_moment(read_clock())
    for suite, baseline in pinned:
        state = read_commit_state(suite.path.parent, list_suite_files(suite))
        anchoring = Acceptance(date, *state, reason)
        path = write_anchor(suite.baselines, baseline, anchoring, compress=suite.compress_baseline)
        click.echo(
            escape_unprintable(
                f"{suite.name}: pinned the baseline accepted {baseline.accepted.date}: {display_path(path)}"
            )
        )


def _read_baselines(suites: list[Suite]) -> list[tuple[Suite, Baseline]]:
    """The baseline of each suite; an error lists all suites without one, and all that cannot be read."""
    pinned: list[tuple[Suite, Baseline]] = []
    problems: list[Problem] = []
    for suite in suites:
        try:
            baseline = read_baseline(suite.baselines, suite.name)
        except IrevalError as error:
            problems += error.problems
            continue
        if baseline is None:
            remedy = f"accept one first: pytest --ireval {suite.shown} --ireval-update-new"
            problems.append(Problem(f"{suite.name} has no baseline to pin", suite.shown, (), remedy))
        else:
            pinned.append((suite, baseline))
    if problems:
        raise BaselineError(*problems)
    return pinned


@command.command(name="prune")
@click.argument("folders", nargs=-1)
@click.option("--yes", is_flag=True, help="Delete them.")
def _prune(folders: tuple[str, ...], yes: bool) -> None:
    """List baselines that belong to no suite any more, in FOLDERS and below; unless given, in this folder.

    Nothing is deleted without --yes. The exit code is 1 if there are some and they were not deleted. A suite file that
    cannot be read is an error: its baselines might be taken for orphans.
    """
    orphans = [(folder, name) for folder in _find_baseline_folders(folders or (".",)) for name in _list_orphans(folder)]
    for folder, name in orphans:
        click.echo(f"{'deleted' if yes else 'no suite has'} {BaselinePlace(folder, name)}")
        if yes:
            delete_baseline(folder, name)
    if not orphans:
        click.echo("every baseline belongs to a suite")
    elif not yes:
        click.echo(f"{format_count(len(orphans), 'baseline')} without a suite; --yes deletes them")
        sys.exit(1)


def _list_orphans(folder: Path) -> list[str]:
    """Names of the baselines and anchors in a folder that no suite beside it has."""
    suite_files = (path for path in sorted(folder.parent.iterdir()) if not path.is_dir() and may_be_suite(path))
    try:
        known = {each.name for path in suite_files for each in _list_places_of_suites(path)}
    except IrevalError as error:
        complaint = "nothing is pruned: a suite file cannot be read, so its baselines are unknown"
        raise BaselineError(Problem(complaint, place=str(folder)), *error.problems) from error
    return [name for name in list_baseline_names(folder) if suite_name_of(name) not in known]


SUITE_SUFFIXES = (".yaml", ".yml")


class BaselinePlace(NamedTuple):
    """A baseline in a folder; ``ref`` is empty for the one on the disk."""

    folder: Path
    name: str
    ref: str = ""

    def __str__(self) -> str:
        path = None if self.ref else find_baseline_file(self.folder, self.name)
        return f"{self.ref}:{path or baseline_path(self.folder, self.name)}".removeprefix(":")


def _parse_place(text: str) -> BaselinePlace:
    path = Path(text)
    if _is_path(text) and (path.exists() or ":" not in text):
        return _find_place(path)
    ref, colon, name = text.partition(":")
    if not colon or not _is_path(name):
        allowed = "a baseline is its .baseline file, its suite's .yaml file, or REF:path for the one at a git ref"
        raise BaselineError(Problem("is not a baseline", place=text, allowed=allowed))
    return _find_place(Path(name))._replace(ref=ref)


def _parse_pair(one: str, other: str) -> tuple[BaselinePlace, BaselinePlace]:
    """Two baselines; a ref alone stands for the path of the other one."""
    if not _is_path(one) and _is_path(other):
        second = _parse_place(other)
        return second._replace(ref=one), second
    first = _parse_place(one)
    return first, _parse_place(other) if _is_path(other) else first._replace(ref=other)


def _read_baseline(place: BaselinePlace) -> Baseline | None:
    folder, name, ref = place
    return read_baseline_at_ref(ref, folder, name) if ref else read_baseline(folder, name)


def _require_baseline(place: BaselinePlace) -> Baseline:
    stored = _read_baseline(place)
    if stored is None:
        raise BaselineError(_describe_missing(place))
    return stored


def _describe_missing(place: BaselinePlace) -> Problem:
    meant = did_you_mean(place.name, list_baseline_names(place.folder)) if not place.ref else ""
    return Problem("baseline not found", place=str(place), suggestion=meant)


def _is_path(text: str) -> bool:
    return text.endswith((*SUFFIXES, *SUITE_SUFFIXES))


def _find_place(path: Path) -> BaselinePlace:
    if path.suffix not in SUITE_SUFFIXES:
        return BaselinePlace(path.parent, baseline_name(path))
    places = [place._replace(folder=display_path(place.folder)) for place in _list_places_of_suites(path)]
    if len(places) == 1:
        return places[0]
    listed = ", ".join(map(str, places))
    raise BaselineError(Problem("has several suites, and each has a baseline", place=str(path), allowed=listed))


def _find_baseline_folders(roots: tuple[str, ...]) -> Iterator[Path]:
    """Those at some paths and below, each once, in order."""
    seen = set()
    for root in roots:
        if not os.path.isdir(root):
            raise BaselineError(Problem("is not a folder", place=root))
        for home, folders, _ in os.walk(Path(root)):
            folders[:] = sorted(name for name in folders if not any(fnmatch(name, each) for each in NOT_ENTERED))
            folder = Path(home).resolve()
            if folder.name == FOLDER and folder not in seen:
                seen.add(folder)
                yield Path(home)


def _list_places_of_suites(path: Path) -> list[BaselinePlace]:
    """The baselines of the suites in a file: one, or several if it has a matrix; they need not exist."""
    home = Path(os.path.abspath(path)).parent / FOLDER
    return [BaselinePlace(home, name) for name in list_suite_names(path)]
