"""The report of a job to its code host: links to files, the summary of the step, and annotations at the rules."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.reports.markdown_text import SourceLinks
from pytest_ireval.results.outcome import Outcome, Verdict
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.secrets import hidden
from pytest_ireval.text_table import counted, printable

ROOM = 1024 * 1024
"""Bytes of a step's summary; GitHub shows nothing of one that is longer."""


def _in_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def as_printed(text: str) -> str:
    """A text of any origin, safe to print: a runner obeys lines that look like commands."""
    text = hidden(text)
    azure = os.environ.get("TF_BUILD", "").lower() == "true"
    return without_commands(text) if azure or _in_github() else text


def source_links(root: Path) -> SourceLinks:
    """Links to the files named from ``root``, on GitHub or GitLab; no links elsewhere."""
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
    """Print the lines that a runner of GitHub takes out of the log, and a problem of the summary."""
    if unsaid:
        reporter.write_line(f"warning: {unsaid}", yellow=True)
    if result is None or not _in_github():
        return
    # this plugin marks tests that failed; it passes over those that could not be set up, which our errors are
    failures = not config.pluginmanager.hasplugin("pytest_github_actions_annotate_failures")
    for line in annotation_lines(result, source_links(config.invocation_params.dir), failures):
        reporter.write_line(line)


MOST = 10
"""GitHub shows this many of a kind for each step, and drops the others without a word."""
LONGEST = 2000


class Annotation(NamedTuple):
    """A message and its place."""

    kind: str
    file: str
    line: int
    title: str
    text: str


def annotation_lines(run: RunResult, links: SourceLinks, failures: bool = True, most: int = MOST) -> list[str]:
    """Workflow commands: errors, ``failures`` unless another plugin reports them, warnings; the last counts others."""
    failed = _red(run, "fail") if failures else ()
    found = [*_problems(run), *_red(run, "error"), *failed, *_warnings(run)]
    shown, left = found[:most], len(found) - most
    if left > 0:
        more = f"… and {counted(left, 'other finding')}: the summary and the log have all of them."
        shown[-1] = shown[-1]._replace(text=f"{shown[-1].text[:LONGEST]}\n{more}")
    return [_line(each, links) for each in shown]


_PLACE = re.compile(r"([^\s:]+\.ya?ml):(\d+)(?::\d+)?(?=: |\s|$)")


def _problems(run: RunResult) -> Iterator[Annotation]:
    """The files that could not be collected, at the line that the text begins with."""
    for problem in run.problems:
        place = _PLACE.match(problem.lstrip())
        file, line = (place[1], int(place[2])) if place else ("", 0)
        yield Annotation("error", file, line, "pytest-ireval", problem.strip()[:LONGEST])


def _red(run: RunResult, verdict: Verdict) -> Iterator[Annotation]:
    """Broken inputs are one error, however many checks they took with them; so is a suite without a verdict."""
    for suite in run.suites:
        red = [_of("error", suite, each) for each in suite.outcomes if each.verdict == verdict]
        if verdict == "error" and suite.verdict == "error" and not red:
            reason = suite.error or next(iter(suite.notes[-1:]), "could not be judged")
            red = [Annotation("error", suite.path, 1, suite.name, reason[:LONGEST])]
        yield from red[:1] if suite.error else red


def _warnings(run: RunResult) -> Iterator[Annotation]:
    yield from (Annotation("warning", "", 0, "pytest-ireval", each[:LONGEST]) for each in run.warnings)
    for suite in run.suites:
        for each in suite.outcomes:
            if each.warning and each.verdict in ("pass", "inconclusive"):
                yield _of("warning", suite, each)


def _of(kind: str, suite: SuiteResult, outcome: Outcome) -> Annotation:
    owner = f"Owner {suite.owner}." if suite.owner else ""
    text = "\n".join(filter(None, (outcome.headline[:LONGEST], outcome.sentence[:LONGEST], owner)))
    return Annotation(kind, outcome.file, outcome.line, f"{suite.name}: {outcome.id}", text)


def _line(each: Annotation, links: SourceLinks) -> str:
    path = links.path(each.file)
    properties = [f"file={_property(path)}"] if path else []
    properties += [f"line={each.line}"] if path and each.line else []
    properties.append(f"title={_property(each.title)}")
    return f"::{each.kind} {','.join(properties)}::{_data(each.text)}"


def _data(text: str) -> str:
    """The text of a command: its lines stay lines, and none of them is read as another command."""
    lines = "\n".join(printable(line) for line in text.splitlines())
    return without_commands(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_COMMAND = re.compile(r"((?:^|[\r\v\f\x1c-\x1e\x85\u2028\u2029])\s*):(?=:)", re.MULTILINE)


def without_commands(text: str) -> str:
    """A text without commands to a runner of GitHub or Azure, fit to be printed in a job."""
    # lines that begin with two colons; older forms, ``##[name]`` and Azure's ``##vso[name]``, are obeyed anywhere
    return _COMMAND.sub(r"\1: ", text).replace("##[", "## [").replace("##vso[", "## vso[")
