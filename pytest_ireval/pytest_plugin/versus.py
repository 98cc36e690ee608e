"""``--ireval-versus``: the rankings of another commit are what rules compare with, in place of stored baselines."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pytest_ireval.baseline.rank_folder import RankFolder
from pytest_ireval.errors import IrevalError, PluginError, Problem, quote
from pytest_ireval.gate.versus import HEAD_SIDE, SIDE, Versus, read_versus, report_unusable_base
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.pytest_plugin.plugin import ACCEPTING
from pytest_ireval.pytest_plugin.run_plugins import call_plugin
from pytest_ireval.repositories.git import git_output
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.suite.finding import find_suites, is_shared
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import list_changes

VERSUS = pytest.StashKey[Versus | None]()
"""What the comparisons of a run are made with, for the gates of Python tests."""
MAX_AGE_INI = "ireval_versus_max_age"
SETUP_INI = "ireval_versus_setup"
AGE = re.compile(r"(\d{1,6})\s*([smhd])[a-z]*")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def prepare_versus(config: pytest.Config, moment: datetime) -> Versus | None:
    """Read the folder that the option names, or ask the merge base with the ref that it names; None without it."""
    asked = config.getoption("ireval_versus")
    if asked is None:
        return None
    if not asked.strip():  # it may come from a variable that is not set
        raise IrevalError("--ireval-versus is empty: give a folder of ireval rank, or a git ref, such as origin/main")
    if accepting := next((name for name in ACCEPTING if config.getoption(name)), None):
        complaint = f"--{accepting.replace('_', '-')} accepts a baseline, and --ireval-versus compares with none"
        raise IrevalError(Problem(complaint, suggestion="leave out one of them"))
    max_age = read_age(str(config.getini(MAX_AGE_INI)))
    if SIDE not in os.environ:
        os.environ[SIDE] = HEAD_SIDE
        config.add_cleanup(_forget_side)
    folder = config.invocation_params.dir / asked
    if folder.is_dir():
        return read_versus(folder, moment, max_age)
    if config.option.collectonly:  # nothing is compared, so nothing is asked
        return None
    return _ask_merge_base(config, asked.strip(), moment, max_age)


def _forget_side() -> None:
    os.environ.pop(SIDE, None)


def read_age(text: str) -> timedelta:
    """An age such as ``1 day``, ``12h`` or ``90 minutes``."""
    match = AGE.fullmatch(text.strip())
    if match is None:
        allowed = "allowed: a number with s, m, h or d, such as 12h or 2 days"
        raise IrevalError(Problem(f"invalid {MAX_AGE_INI}: {text!r}", allowed=allowed))
    return timedelta(seconds=int(match[1]) * SECONDS[match[2]])


def _ask_merge_base(config: pytest.Config, ref: str, moment: datetime, max_age: timedelta) -> Versus:
    """The rankings of the merge base with a ref; a failure is a problem of all comparisons."""
    from pytest_ireval.versus import ask_merge_base, run_setup  # starts programs, which most runs do not

    here, setup = config.invocation_params.dir, str(config.getini(SETUP_INI)).strip()
    paths = [Path(os.path.abspath(here / argument.partition("::")[0])) for argument in config.args]
    temporary = TemporaryDirectory(prefix="ireval-", ignore_cleanup_errors=True)
    config.add_cleanup(temporary.cleanup)
    try:
        base = ask_merge_base(
            ref,
            suites=paths,
            folder=Path(temporary.name),
            start=config.rootpath,
            setup=setup,
            depth=_find_depth(config, paths),
        )
        began = time.monotonic()
        if setup:
            run_setup(setup, config.rootpath, HEAD_SIDE, config.rootpath)
        took = base.describe_time() + (f"; {time.monotonic() - began:.1f} s for the setup here" if setup else "")
    except IrevalError as error:
        return report_unusable_base(IrevalError(f"--ireval-versus {ref}: {error}"))
    warnings = list(base.base.notes)
    if base.is_dirty:
        warnings.append("this side has changes that are not committed")
    versus = read_versus(base.rankings, moment, max_age, base.base.commit)
    return replace(versus, ref=ref, took=took, warnings=tuple(warnings))


def _find_depth(config: pytest.Config, paths: list[Path]) -> int:
    """The largest depth of the suites of the branch, down to which the other commit is asked.

    The plugins of the run stay as they are: pytest registers a conftest.py itself when it collects its folder.
    """
    conftests, depths = Conftests(skip_broken=True), [0]
    for file in find_suites(tuple(path for path in paths if path.exists())):
        if not is_shared(file.name):
            with suppress(PluginError):  # the collection of the suites reports it
                suites = call_plugin(partial(_load_suites, file, conftests), config.rootpath)
                depths += [suite.depth for suite in suites]
    return max(depths)


def _load_suites(file: Path, conftests: Conftests) -> Sequence[Suite]:
    return load_suites(file, conftests.registry_for(file))


INDEX_FILE = re.compile(r"(?:mapping|settings|schema|solrconfig|synonym|stopword|analy[sz]er)[^/]*$", re.IGNORECASE)
"""The name of a file that says how an index is made."""
ONE_INDEX = (
    "both sides asked one index, so changes of mapping or analysis cannot be seen this way; "
    "give each side its index with IREVAL_SIDE"
)


def add_versus_notes(run: RunResult, versus: Versus, root: Path, places: Sequence[Path]) -> RunResult:
    """Say once that both sides asked one index, and name suites of the other commit that are gone."""
    if versus.folder is None:
        return run
    # with a ref, git knows which suites are gone
    gone = () if versus.ref else _warn_of_gone_suites(run, versus.folder, root, places)
    warnings = [*versus.warnings, *gone]
    same = [suite.name for suite in run.suites if suite.baseline is not None and suite.baseline.same_index]
    suites = run.suites
    if same:
        changed = [name for name in _list_changed_files(root, versus.commit) if INDEX_FILE.search(name)]
        if changed:
            warnings.append(f"{ONE_INDEX}; this branch changed {list_changes(changed)}")
        else:
            suites = tuple(
                replace(suite, notes=(*suite.notes, ONE_INDEX)) if suite.name == same[0] else suite for suite in suites
            )
    return replace(run, suites=suites, warnings=(*run.warnings, *warnings))


def _warn_of_gone_suites(run: RunResult, folder: RankFolder, root: Path, places: Sequence[Path]) -> Iterator[str]:
    """The suites of the other commit in the folders that were run whole, and that are not here."""
    here = {*(suite.name for suite in run.suites), *run.not_selected, *run.unaffected}
    for name, entry in folder.suites.items():
        path = Path(os.path.abspath(root / entry.path))
        if name not in here and any(path.is_relative_to(place) for place in places):
            yield f"the other commit has a suite {quote(name)} ({entry.path}), and this one does not"


def _list_changed_files(root: Path, commit: str) -> list[str]:
    """The files that differ from a commit; none where git does not know it."""
    if not commit:
        return []
    output = git_output(root, "diff", "-z", "--name-only", "--no-renames", commit, "--")
    return [os.fsdecode(name) for name in (output or b"").split(b"\0") if name]
