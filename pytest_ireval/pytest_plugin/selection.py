"""The suites of a run: which take part where only affected ones are asked for, and what is compared with a base."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.errors import BaselineError, IrevalError, Problem, did_you_mean
from pytest_ireval.gate.changed_since import IN_ANY_CASE, Repositories, reason_of
from pytest_ireval.gate.verdicts import Circumstances
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite
from pytest_ireval.repositories.changed_files import Changes
from pytest_ireval.repositories.git import short_ref
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count


@dataclass
class Affected:
    """The choice of suites; made for each suite as it is collected."""

    since: str | None = None
    """The ref; None: all suites take part."""
    repositories: Repositories = field(default_factory=Repositories)

    def reason(self, suite: Suite, plugins: Iterable[Path] = ()) -> str | None:
        """The reason why a suite takes part, empty where all do; None if it does not. Raises where git cannot tell."""
        if self.since is None:
            return ""
        return reason_of(suite, self.since, self.repositories, plugins) or None

    def header(self) -> list[str]:
        """The lines at the top of pytest's output."""
        if self.since is None:
            return []
        changes = self.repositories.changes.values()
        said = ", ".join(f"{format_count(len(each.files.names), 'file')} changed since {each.base}" for each in changes)
        notes = dict.fromkeys(f"  {note}" for each in changes for note in each.base.notes)
        return [f"ireval: only suites affected by a change: {said}", *notes]


def affected_of(config: pytest.Config, known: Mapping[Path, Changes] | None = None) -> Affected:
    """The choice of the command line; ``known`` are changes that another process of the run has found."""
    since = config.getoption("ireval_changed_since")
    if since is not None and not since.strip():  # as of a variable that is not set
        raise IrevalError("--ireval-changed-since is empty: give a git ref, such as origin/main")
    found = Affected(since, Repositories(dict(known or {})))
    if since is not None:
        paths = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
        try:  # git refuses a bad ref before anything is run
            for folder in dict.fromkeys(path if path.is_dir() else path.parent for path in paths):
                found.repositories.changes_around(folder, since)
        except IrevalError as error:  # git's complaint about the ref itself is one about the option
            complaints = (replace(each, place=each.place or "--ireval-changed-since") for each in error.problems)
            raise IrevalError(*complaints) from error
    return found


def nobody(suites: Sequence[PlannedSuite]) -> bool:
    """Tell whether there are suites, and no change concerns any of them."""
    return bool(suites) and all(suite.affected_by is None for suite in suites)


def with_unaffected(result: RunResult, since: str | None, suites: Sequence[PlannedSuite]) -> RunResult:
    """The result with the suites that took no part, and the reasons of the others; no affected suite is a pass."""
    if since is None:
        return result
    reasons = {suite.name: suite.affected_by for suite in suites}
    passes = nobody(suites) and not result.suites and not result.problems
    return replace(
        result,
        suites=tuple(_explained(suite, reasons[suite.name] or "") for suite in result.suites),
        verdict="pass" if passes else result.verdict,
        changed_since=short_ref(since),
        unaffected=tuple(name for name, reason in reasons.items() if reason is None),
    )


def _explained(suite: SuiteResult, reason: str) -> SuiteResult:
    """Add the reason, and a note of it where the suite runs in any case."""
    note = (reason,) if reason.startswith(IN_ANY_CASE) else ()
    return replace(suite, affected_by=reason, notes=(*suite.notes, *note))


INI = "ireval_baseline_lowering"
MODES = ("report", "fail")
BASE = pytest.StashKey[BaseRef]()
"""The answers of git about the base so far."""


class Branch(NamedTuple):
    """The git ref, empty if none is given; and whether a lowered baseline fails."""

    base: str = ""
    lowering_fails: bool = False


def branch_of(config: pytest.Config) -> Branch:
    """The branch options. An empty ref is refused: it may come from a variable that is not set."""
    mode, base = str(config.getini(INI)).strip(), config.getoption("ireval_base")
    if mode not in MODES:
        hint = did_you_mean(mode, MODES)
        raise IrevalError(Problem(f"invalid {INI}: {mode!r}", suggestion=hint, allowed="allowed: report, fail"))
    if base is not None and not base.strip():
        raise IrevalError("--ireval-base is empty: give a git ref, such as origin/main")
    return Branch((base or "").strip(), mode == "fail")


def circumstances_of(config: pytest.Config, today: date) -> Circumstances:
    """For all suites of a process; the answers of git about the base are kept there."""
    base, fails = branch_of(config)
    if base and BASE not in config.stash:
        config.stash[BASE] = BaseRef(base)
    return Circumstances(today, config.stash.get(BASE, None), fails)


INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
STRICT = re.compile(rf"^[^#;\n]*{INI}[\"']?\s*=\s*[\"']?fail".encode(), re.MULTILINE)


def relaxed_setting(config: pytest.Config, base: BaseRef, folders: Iterable[Path]) -> str:
    """Say that a lowered baseline only warns, although an ini file at the merge base lets it fail; else empty."""
    if branch_of(config).lowering_fails or any(INI in word for word in config.invocation_params.args):
        return ""
    for folder in folders:
        with suppress(BaselineError):  # each suite says that there is no base
            tree = base.find_tree(folder)
            real = folder.resolve()
            for home in (each for each in (real, *real.parents) if each.is_relative_to(tree.base.top)):
                names = [tree.path_from_top(home / name) for name in INI_FILES]
                for path, content in tree.read_files(names).items():
                    if STRICT.search(content):
                        return (
                            f"{INI} is {config.getini(INI)} here, but fail in {path} at {tree.base}, so a lowered "
                            "baseline only warns"
                        )
    return ""


CLAIMS = pytest.StashKey[list[str]]()
"""Of a test: the baselines of the suites that it has gated itself, as :func:`claim` names them."""
REPORTED = "ireval_claims"
"""The same of the report of a test, which also comes from a worker."""
GATED = pytest.StashKey[list[tuple[str, str]]]()
"""Of a test: the suites that it has gated itself, each with its verdict."""
VERDICTS_OF_GATES = "ireval_gates"
"""The same of the report of a test."""


def claim(folder: Path, name: str) -> str:
    """The name of a baseline here."""
    return os.path.join(os.path.realpath(folder), name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the test has gated to its report, so that a worker's report has it, too."""
    report = yield
    claimed, gated = item.stash.get(CLAIMS, []), item.stash.get(GATED, [])
    if claimed:
        setattr(report, REPORTED, claimed)
    if gated:
        setattr(report, VERDICTS_OF_GATES, gated)
    return report
