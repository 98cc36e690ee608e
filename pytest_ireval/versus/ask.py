"""The merge base of HEAD and a ref, asked for the rankings of its suites in a process of its own."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pytest_ireval.baseline.rank_folder import RankFolder, read_rank_folder
from pytest_ireval.clock import format_moment, read_clock
from pytest_ireval.entry_points import BUNDLED_COMMANDS
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.repositories.git import OF_HOOKS, find_root, read_commit_state
from pytest_ireval.repositories.merge_base import MergeBase, find_merge_base, find_top
from pytest_ireval.sources.programs import end_programs_on_signals, make_temporary_folder
from pytest_ireval.suite.finding import find_suites
from pytest_ireval.suite.loading import list_suite_names
from pytest_ireval.versus.base_files import OTHER_WAY, BaseFiles, refuse_missing_contents, write_base_files
from pytest_ireval.versus.programs import ProgramEnd, run_program, run_setup
from pytest_ireval.words import format_count

STARTUP = Path(__file__).parent / "startup"
"""Python imports sitecustomize.py of this folder at its start, because the folder is PYTHONPATH."""
OF_BRANCH = (*OF_HOOKS, "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")
"""Variables that the base does not get: with them, uv and Poetry would change the environment of the branch."""
TOOL_PACKAGES = ("pytest_ireval", "pytest_ireval_metrics", *BUNDLED_COMMANDS)


@dataclass
class AskedBase:
    """The rankings of a merge base, and what it took to get them."""

    rankings: Path
    """The folder that ``ireval rank`` wrote."""
    base: MergeBase
    is_dirty: bool
    """True if the branch's side has changes that are not committed."""
    checkout_seconds: float
    setup_seconds: float
    rank_seconds: float

    @property
    def commit(self) -> str:
        return self.base.commit

    def describe_time(self) -> str:
        """The seconds of each step in words."""
        setup = f"{self.setup_seconds:.1f} s for its setup, " if self.setup_seconds else ""
        return f"{self.checkout_seconds:.1f} s for its files, {setup}{self.rank_seconds:.1f} s for its rankings"


def ask_merge_base(
    ref: str,
    *,
    suites: Sequence[Path],
    folder: Path,
    start: Path,
    setup: str,
    depth: int | None,
    paths: Sequence[str] = sys.path,
) -> AskedBase:
    """Write the rankings of the merge base of HEAD and ``ref`` to ``folder``; IrevalError if it cannot be asked.

    ``suites`` are files and folders of the branch, and ``start`` is the folder from which its run was started: setup
    and ``ireval rank`` run in that folder of the base. ``paths`` is the ``sys.path`` of the run.
    """
    if find_root(start) is None:
        complaint = "is not in a git repository, so there is no commit to compare with"
        raise IrevalError(Problem(complaint, str(start), suggestion="name a folder of ireval rank instead of a ref"))
    base = find_merge_base(ref, find_top(start))
    is_dirty = read_commit_state(base.top, suites).dirty
    with end_programs_on_signals(), make_temporary_folder() as name:
        began = time.monotonic()
        files = write_base_files(base, Path(name).resolve())
        checked_out = time.monotonic()
        environment = _isolate(files, paths)
        base_start = files.locate_folder(start)
        if setup.strip():
            run_setup(setup, base_start, "base", start.absolute(), environment)
        set_up = time.monotonic()
        refuse_missing_contents(files)
        environment |= {"IREVAL_SIDE": "base", "IREVAL_HEAD_FOLDER": str(start.absolute())}
        rankings = RankFolder(folder, format_moment(read_clock()), base.commit)
        rankings.begin()  # what an earlier call has written must not be taken for the answer
        if there := list(_find_base_suites(suites, files)):
            _rank(there, rankings, depth, files, base_start, environment)
        else:
            rankings.end()  # all suites are new in the branch
        ranked = time.monotonic()
        took = (checked_out - began, set_up - checked_out if setup.strip() else 0.0, ranked - set_up)
        return AskedBase(folder, base, is_dirty, *took)
    raise AssertionError  # a signal ends this process before


def _isolate(files: BaseFiles, paths: Sequence[str]) -> dict[str, str]:
    """The environment in which Python imports the base's code; startup/sitecustomize.py does it."""
    job = files.temporary / "job.json"
    files.reports.mkdir()
    specs = {name: spec for name in TOOL_PACKAGES if (spec := find_spec(name)) is not None}
    library = os.path.dirname(os.__file__)
    until = paths.index(library) if library in paths else len(paths)
    what = {
        "top": str(files.base.top),
        "base": str(files.folder),
        "commit": files.base.short,
        # A .zip may be another standard library than that of the base's Python.
        "first": [os.path.abspath(path) for path in paths[:until] if not path.endswith(".zip")],
        "last": list(paths[until:]),
        "prefix": sys.prefix,
        "tool": {name: os.path.dirname(os.path.realpath(str(spec.origin))) for name, spec in specs.items()},
        "reports": str(files.reports),
    }
    job.write_text(json.dumps(what), "utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in OF_BRANCH}
    return {**inherited, "PYTHONPATH": str(STARTUP), "IREVAL_VERSUS_JOB": str(job)}


def _find_base_suites(suites: Sequence[Path], files: BaseFiles) -> Iterator[Path]:
    """Find the suites of the base at the same paths, as files and folders for ``ireval rank``.

    A path that the base lacks was added or renamed in the branch: of the nearest folder, the suites of the same names.
    """
    yielded = set()
    for path in suites:
        there = files.locate(path)
        if there.exists():
            found = [there] if find_suites([there]) else []
        else:
            names = {name for suite in find_suites([path]) for name in _read_names(suite)}
            found = [suite for suite in find_suites([files.locate_folder(path)]) if names & _read_names(suite)]
        yield from (suite for suite in found if suite not in yielded)
        yielded |= {*found}


def _read_names(path: Path) -> set[str]:
    """The names of the suites in a file; none of one that cannot be read: whoever runs it says what is wrong."""
    try:
        return {*list_suite_names(path, environment={**os.environ, "IREVAL_SIDE": "base"})}
    except IrevalError:
        return set()


def _rank(
    suites: Sequence[Path],
    rankings: RankFolder,
    depth: int | None,
    files: BaseFiles,
    start: Path,
    environment: Mapping[str, str],
) -> None:
    """Run ``ireval rank`` on the base, and check that it ran the base's code."""
    python = sys.executable
    programs = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    for home in (start, *start.parents):
        if home.is_relative_to(files.folder) and (home / ".venv" / programs).is_file():
            python = str(home / ".venv" / programs)
            search = f"{Path(python).parent}{os.pathsep}{environment.get('PATH', '')}"
            environment = {**environment, "VIRTUAL_ENV": str(home / ".venv"), "PATH": search}
            break
    named = [os.path.relpath(suite, start) for suite in suites]
    deep = ("--depth", str(depth)) if depth else ()
    command = [python, str(STARTUP / "run_ireval.py"), "rank", "-o", str(rankings.path.absolute()), *deep, "--", *named]
    end = run_program(command, start, environment)
    _refuse_code_of_branch(files)
    if end.code and not _has_rankings(rankings.path):  # else the folder says which suites could not be asked
        shown = ProgramEnd(end.code, end.output.replace(f"{files.folder}{os.sep}", f"{files.base.short}:"))
        hint = "files that git ignores are not there: ireval_versus_setup can make them, or copy them from the folder "
        raise shown.make_error(f"ireval rank failed at {files.base}", f"{hint}IREVAL_HEAD_FOLDER", OTHER_WAY)


def _has_rankings(folder: Path) -> bool:
    """Tell whether all suites were asked, and one of them at least has answered."""
    try:
        return any(suite.digest for suite in read_rank_folder(folder).suites.values())
    except BaselineError:
        return False


def _refuse_code_of_branch(files: BaseFiles) -> None:
    """Raise IrevalError if a process of the base loaded a module of the branch in a way that was not redirected."""
    of_branch: dict[str, str] = {}
    for report in files.reports.glob("*.json"):
        of_branch |= json.loads(report.read_text("utf-8"))
    if of_branch:
        module, file = min(of_branch.items())
        more = f", and {format_count(len(of_branch) - 1, 'other module')}" if len(of_branch) > 1 else ""
        where = f"at {files.base}, the module {module} was loaded from {file}, which is the branch's{more}"
        hint = "give the base an environment of its own: ireval_versus_setup = uv sync, for example"
        raise IrevalError(Problem(f"both sides would be the same code: {where}", suggestion=hint, allowed=OTHER_WAY))
