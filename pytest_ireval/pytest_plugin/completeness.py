"""What a run leaves out of the places that the command line names: suites, checks, baselines whose suite is gone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.baseline.files import FOLDER, baseline_name, display_path, suite_name_of
from pytest_ireval.errors import BaselineError, IrevalError, format_inline
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.branch import BASE, find_relaxed_setting, read_branch_options
from pytest_ireval.pytest_plugin.change_filter import ChangeFilter
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite, make_baseline_key
from pytest_ireval.repositories.changed_files import list_absent_submodules
from pytest_ireval.repositories.git import find_root
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.suite.finding import files_below, is_suite
from pytest_ireval.suite.loading import list_suite_names
from pytest_ireval.words import format_count


class NamedPlaces(NamedTuple):
    """The places that the command line names; options such as -k and --ignore do not make them fewer."""

    folders: tuple[Path, ...] = ()
    """Folders, named with all that is in them."""
    folders_of_files: tuple[Path, ...] = ()


class SkippedSuite(NamedTuple):
    """A suite file that pytest did not collect: --ignore, norecursedirs, or a conftest.py passes over it."""

    path: Path
    names: tuple[str, ...]
    """Of its suites; the file itself where they cannot be read."""
    is_deliberate: bool
    """True if the command line names another file in its folder, and so leaves this one out on purpose."""


class Completeness(NamedTuple):
    problems: tuple[str, ...]
    """What makes the run red."""
    warnings: tuple[str, ...]
    skipped: tuple[SkippedSuite, ...]


def check_completeness(
    config: pytest.Config,
    suites: Sequence[PlannedSuite],
    gated_baselines: Collection[str],
    changes: ChangeFilter,
    registry_for: Callable[[Path], Registry],
    *,
    all_collected: bool,
    versus_ref: str = "",
) -> Completeness:
    """Compare what was run with what lies in the places that the command line names.

    Unless ``all_collected``, what is missing there was not left out.
    """
    options = read_branch_options(config)
    # with workers, only they have asked git so far
    base = config.stash.get(BASE, None) or BaseRef(options.base or changes.since or versus_ref)
    places = read_named_places(config) if all_collected else NamedPlaces()
    used = {*gated_baselines, *(suite.baseline_key for suite in suites)}
    skipped, unused_baselines = find_skipped_suites(places, {suite.path for suite in suites}, used)
    since_base: list[str] = []
    if options.base or changes.since or versus_ref:
        since_base += find_suites_missing_since(base, places.folders, suites, skipped, registry_for)
    if options.base and changes.since is not None:
        since_base += find_differing_bases(options.base, changes, base)
    submodules, submodules_of_suites = find_missing_submodules(places.folders)
    problems = [*unused_baselines, *submodules_of_suites]
    warnings = list(submodules)
    if options.lowering_fails:
        problems += since_base
        if options.base and (complaint := describe_partial_selection(config, suites, skipped)):
            problems.append(complaint)
    else:
        warnings += since_base
        folders = (*places.folders, *places.folders_of_files)
        if options.base and (warning := find_relaxed_setting(config, base, folders)):
            warnings.append(warning)
    return Completeness(tuple(problems), tuple(warnings), tuple(skipped))


def read_named_places(config: pytest.Config) -> NamedPlaces:
    """The places that the command line names, or testpaths, or the current folder."""
    paths = _read_paths(config, config.args)
    folders = tuple(dict.fromkeys(path for path in paths if path.is_dir()))
    folders_of_files = dict.fromkeys(path.parent for path in paths if path.is_file())
    return NamedPlaces(folders, tuple(folder for folder in folders_of_files if not _is_within(folder, folders)))


def _read_paths(config: pytest.Config, arguments: Sequence[str]) -> list[Path]:
    folder = config.invocation_params.dir
    return [Path(os.path.abspath(folder / argument.partition("::")[0])) for argument in arguments]


def _is_within(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def find_skipped_suites(
    places: NamedPlaces, collected: Collection[Path], used_baselines: Collection[str]
) -> tuple[list[SkippedSuite], list[str]]:
    """Return the suites that are not ``collected``, and a message for each baseline that nobody uses."""
    skipped: list[SkippedSuite] = []
    used, folders_of_unreadable = set(used_baselines), set[Path]()
    collected_files = {os.path.realpath(path) for path in collected}
    baselines: list[Path] = []
    for path in _find_files(places):
        if path.parent.name == FOLDER and baseline_name(path):
            baselines.append(path)
        elif os.path.realpath(path) not in collected_files and _is_suite(path):
            try:
                names = list_suite_names(path)
            except IrevalError:
                folders_of_unreadable.add(path.parent / FOLDER)
                names = [str(display_path(path))]
            used |= {make_baseline_key(path.parent / FOLDER, name) for name in names}
            skipped.append(SkippedSuite(path, tuple(names), not _is_within(path, places.folders)))
    unused = {
        (
            f"{display_path(path)}: no suite uses this baseline; was its suite renamed, moved or deleted? Bring the "
            f"suite back; or `ireval baseline prune {display_path(path.parent)} --yes` deletes the baseline"
        ): None
        for path in baselines
        if path.parent not in folders_of_unreadable
        and make_baseline_key(path.parent, suite_name_of(baseline_name(path))) not in used
    }
    return skipped, list(unused)


def _find_files(places: NamedPlaces) -> Iterator[Path]:
    for folder in places.folders:
        yield from files_below(folder)
    for folder in places.folders_of_files:
        for home in (folder, folder / FOLDER):
            yield from sorted(path for path in home.glob("*") if path.is_file())


def _is_suite(path: Path) -> bool:
    try:
        return is_suite(path)
    except OSError:  # a run that collects it reports it
        return False


def find_unrun_checks(config: pytest.Config, suites: Sequence[PlannedSuite]) -> Iterator[str]:
    """A problem for each suite that the command line names whole, and that pytest collected in part."""
    if getattr(config.option, "lf", False):  # --lf collects less, and does not say what
        return
    named = _read_paths(config, [argument for argument in config.args if "::" not in argument])
    for suite in suites:
        missing = set(suite.checks) - set(suite.selected) - suite.deselected
        if missing and any(path in (suite.path, *suite.path.parents) for path in named):
            count = format_count(len(missing), "verdict")
            yield f"{suite.name}: {count} neither run nor deselected, although the command line names all of it"


def find_suites_missing_since(
    base: BaseRef,
    folders: Sequence[Path],
    suites: Sequence[PlannedSuite],
    skipped: Sequence[SkippedSuite],
    registry_for: Callable[[Path], Registry],
) -> list[str]:
    """A message for each suite of the base that is gone, in folders that were run whole."""
    from pytest_ireval.gate.weaker_suite import find_missing_suites  # most runs are compared with no base

    names: dict[Path, set[str]] = {suite.path: set(suite.names) for suite in skipped}
    for suite in suites:
        names.setdefault(suite.path, set()).add(suite.name)
    messages: dict[str, None] = {}
    for folder in folders:
        try:
            messages |= dict.fromkeys(find_missing_suites(base.find_tree(folder), folders, names, registry_for))
        except BaselineError as error:
            messages[f"missing suites could not be determined: {format_inline(error)}"] = None
    return list(messages)


def find_differing_bases(ref: str, changes: ChangeFilter, base: BaseRef) -> Iterator[str]:
    """Messages where --ireval-changed-since begins elsewhere than --ireval-base: it may be set to miss what changed."""
    for root, since in changes.repositories.changes.items():
        with suppress(BaselineError):  # each suite says that there is no base
            merge_base = base.find_tree(root).base
            if merge_base.commit != since.base.commit:
                yield (
                    f"--ireval-changed-since {changes.since} begins at {since.base.short}, and --ireval-base {ref} at "
                    f"{merge_base.short}: suites that the branch concerns may be left out; give both the same ref"
                )


def find_missing_submodules(folders: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Messages about submodules that are not checked out, of which the second are problems.

    A run of a whole repository may leave out submodules on purpose; a run of a folder inside means the suites there.
    """
    warnings, problems = dict[str, None](), dict[str, None]()
    for folder in folders:
        with suppress(IrevalError):  # git does not say
            messages = problems if find_root(folder) != Path(os.path.realpath(folder)) else warnings
            for path in list_absent_submodules(folder):
                complaint = f"{display_path(path)}: this submodule is not checked out, and it may contain suites"
                messages[f"{complaint}: git submodule update --init {display_path(path)}"] = None
    return list(warnings), list(problems)


def describe_partial_selection(
    config: pytest.Config, suites: Sequence[PlannedSuite], skipped: Sequence[SkippedSuite]
) -> str | None:
    """The complaint of a run that must judge all suites it was asked for, and does not.

    Naming files, or -m on the command line, is a choice of a person. Other options may come from an ini file or a
    conftest.py that the branch itself has changed.
    """
    missing = [name for suite in skipped if not suite.is_deliberate for name in suite.names]
    if not _is_only_marks_option_deselecting(config):
        for suite in suites:
            deselected = suite.deselected.difference(suite.selected)
            if suite.is_affected and deselected:
                count = format_count(len(deselected), "check")
                missing.append(f"{count} of {suite.name}" if suite.selected else suite.name)
    if not missing:
        return None
    return (
        f"left out of this run: {', '.join(missing)}. With --ireval-base and ireval_baseline_lowering = fail, only the "
        "files and folders that the command line names, or its -m, may leave out suites; not -k, --deselect, --ignore, "
        "norecursedirs or a conftest.py"
    )


def _is_only_marks_option_deselecting(config: pytest.Config) -> bool:
    """Tell whether -m is written on the command line, and nothing else deselects."""
    option = config.option
    others = ("keyword", "deselect", "lf", "stepwise")
    expression = getattr(option, "markexpr", "")
    if not expression or any(getattr(option, other, None) for other in others):
        return False
    joined = re.compile(rf"-[A-Za-z]*m=?{re.escape(expression)}")
    words = ["", *config.invocation_params.args]
    return any(
        joined.fullmatch(word) or (word == expression and re.fullmatch("-[A-Za-z]*m", before))
        for before, word in pairwise(words)
    )
