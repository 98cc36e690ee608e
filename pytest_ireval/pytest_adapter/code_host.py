"""What the code host of a job is told: where files are linked to, the step's summary, lines beside the rules."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_ireval.reports.annotations import annotation_lines, without_commands
from pytest_ireval.reports.markdown_text import SourceLinks
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.secrets import hidden

MARKS_FAILURES = "pytest_github_actions_annotate_failures"
"""A plugin that marks tests that failed; it passes over those that could not be set up, which our errors are."""
ROOM = 1024 * 1024
"""Bytes of a step's summary; GitHub shows nothing of one that is longer."""


def in_github() -> bool:
    """Whether a runner of GitHub reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def in_azure() -> bool:
    """Whether an agent of Azure Pipelines reads it."""
    return os.environ.get("TF_BUILD", "").lower() == "true"


def as_printed(text: str) -> str:
    """A text that may hold anything, as it is printed: a runner obeys lines that look like commands."""
    text = hidden(text)
    return without_commands(text) if in_github() or in_azure() else text


def source_links(root: Path) -> SourceLinks:
    """For files that are named from ``root``: as GitHub or GitLab say, and no links elsewhere."""
    say = os.environ.get
    github, project = (say("GITHUB_SERVER_URL"), say("GITHUB_REPOSITORY"), say("GITHUB_SHA")), say("CI_PROJECT_URL")
    base = ""
    if all(github):
        base = "{}/{}/blob/{}".format(*github)
    elif project and say("CI_COMMIT_SHA"):
        base = f"{project}/-/blob/{say('CI_COMMIT_SHA')}"
    if not base.startswith(("https://", "http://")):  # a page would run what calls itself javascript:
        base = ""
    top = say("GITHUB_WORKSPACE") or say("CI_PROJECT_DIR")
    if not top:
        return SourceLinks(base)
    here, top = Path(os.path.realpath(root)), os.path.realpath(top)  # either may be a link to the same folder
    if not here.is_relative_to(top):
        return SourceLinks("")
    folder = here.relative_to(top).as_posix()
    return SourceLinks(base, "" if folder == "." else folder, Path(top).as_posix())


def append_step_summary(summary: Callable[[RunResult], str], result: RunResult) -> str:
    """Add the run to the step's page, if there is one; returns why that is impossible, which changes no verdict."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return ""
    text = f"\n{summary(result)}\n".encode()
    try:
        with open(path, "ab") as file:
            if file.tell() + len(text) > ROOM:
                return f"{path}: has no room for the summary of this run: a step's summary holds {ROOM:,} bytes"
            file.write(text)
    except OSError as error:
        return f"{path}: the summary of this run cannot be written: {error.strerror}"
    return ""


def tell_code_host(
    reporter: pytest.TerminalReporter, config: pytest.Config, result: RunResult | None, unsaid: str
) -> None:
    """Lines that a runner of GitHub takes out of the log, the summary's trouble among them."""
    if unsaid:
        reporter.write_line(f"warning: {unsaid}", yellow=True)
    if result is None or not in_github():
        return
    others = config.pluginmanager.hasplugin(MARKS_FAILURES)
    links = source_links(config.invocation_params.dir)
    for line in annotation_lines(result, links, failures=not others):
        reporter.write_line(line)
