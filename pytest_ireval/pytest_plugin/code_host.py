"""What a code host gets: links to its files, annotations, the summary of a step, and no commands hidden in texts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.masking import mask_text
from pytest_ireval.report.markdown_text import SourceLinks
from pytest_ireval.results.outcome import Outcome, Verdict
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.text_table import escape_unprintable
from pytest_ireval.words import format_count


def is_in_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def make_printable(text: str) -> str:
    """A text of any origin, safe to print: without secrets, and in CI without commands to the runner."""
    text = mask_text(text)
    in_azure = os.environ.get("TF_BUILD", "").lower() == "true"
    return remove_commands(text) if in_azure or is_in_github() else text


_BREAK = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_COMMAND = re.compile(rf"((?:^|[{_BREAK}])[^\S{_BREAK}]*):(?=:)")


def remove_commands(text: str) -> str:
    """A text without commands to a runner of GitHub or Azure."""
    # lines that begin with two colons; older forms, ``##[name]`` and Azure's ``##vso[name]``, are obeyed anywhere
    return _COMMAND.sub(r"\1: ", text).replace("##[", "## [").replace("##vso[", "## vso[")


def source_links(root: Path) -> SourceLinks:
    """Links to the files named from ``root``, on GitHub or GitLab; no links elsewhere."""
    get = os.environ.get
    github, gitlab = (get("GITHUB_SERVER_URL"), get("GITHUB_REPOSITORY"), get("GITHUB_SHA")), get("CI_PROJECT_URL")
    base = ""
    if all(github):
        base = "{}/{}/blob/{}".format(*github)
    elif gitlab and get("CI_COMMIT_SHA"):
        base = f"{gitlab}/-/blob/{get('CI_COMMIT_SHA')}"
    if not base.startswith(("https://", "http://")):  # a page would run what calls itself javascript:
        base = ""
    checkout = get("GITHUB_WORKSPACE") or get("CI_PROJECT_DIR")
    if not checkout:
        return SourceLinks(base)
    real_root, top = Path(os.path.realpath(root)), os.path.realpath(checkout)  # either may be a link to the same folder
    if not real_root.is_relative_to(top):
        return SourceLinks("")
    folder = real_root.relative_to(top).as_posix()
    return SourceLinks(base, "" if folder == "." else folder, Path(top).as_posix())


MAX_STEP_SUMMARY = 1024 * 1024
"""Bytes; GitHub shows nothing of a longer one."""


def append_step_summary(format_summary: Callable[[RunResult], str], result: RunResult) -> str | None:
    """Add the run to the step's page, if there is one; returns what prevents that, which changes no verdict."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return None
    text = f"\n{format_summary(result)}\n".encode()
    try:
        with open(path, "ab") as file:
            if file.tell() + len(text) > MAX_STEP_SUMMARY:
                limit = f"a step's summary holds {MAX_STEP_SUMMARY:,} bytes"
                return f"{path}: has no room for the summary of this run: {limit}"
            file.write(text)
    except OSError as error:
        return f"{path}: the summary of this run cannot be written: {error.strerror}"
    return None


MAX_ANNOTATIONS = 10
"""GitHub shows this many of a kind for each step, and drops the others without a word."""
MAX_CHARACTERS = 2000


class Annotation(NamedTuple):
    kind: str
    file: str
    line: int
    title: str
    text: str


def format_annotations(
    run: RunResult, links: SourceLinks, failures: bool = True, most: int = MAX_ANNOTATIONS
) -> list[str]:
    """Workflow commands: errors, ``failures`` unless another plugin reports them, warnings; the last counts others."""
    failed = _annotate_red(run, "fail") if failures else ()
    annotations = [*_annotate_problems(run), *_annotate_red(run, "error"), *failed, *_annotate_warnings(run)]
    shown, left = annotations[:most], len(annotations) - most
    if left > 0:
        more = f"… and {format_count(left, 'other finding')}: the summary and the log have all of them."
        shown[-1] = shown[-1]._replace(text=f"{shown[-1].text[:MAX_CHARACTERS]}\n{more}")
    return [_format_annotation(annotation, links) for annotation in shown]


_PLACE = re.compile(r"([^\s:]+\.ya?ml):(\d+)(?::\d+)?(?=: |\s|$)")


def _annotate_problems(run: RunResult) -> Iterator[Annotation]:
    """The files that could not be collected, at the line that the text begins with."""
    for problem in run.problems:
        place = _PLACE.match(problem.lstrip())
        file, line = (place[1], int(place[2])) if place else ("", 0)
        yield Annotation("error", file, line, "pytest-ireval", problem.strip()[:MAX_CHARACTERS])


def _annotate_red(run: RunResult, verdict: Verdict) -> Iterator[Annotation]:
    """Broken inputs are one error, however many checks they took with them; so is a suite without a verdict."""
    for suite in run.suites:
        red = [_annotate_outcome("error", suite, outcome) for outcome in suite.outcomes if outcome.verdict == verdict]
        if verdict == "error" and suite.verdict == "error" and not red:
            reason = suite.error or next(iter(suite.notes[-1:]), "could not be judged")
            red = [Annotation("error", suite.path, 1, suite.name, reason[:MAX_CHARACTERS])]
        yield from red[:1] if suite.error else red


def _annotate_warnings(run: RunResult) -> Iterator[Annotation]:
    for warning in run.warnings:
        yield Annotation("warning", "", 0, "pytest-ireval", warning[:MAX_CHARACTERS])
    for suite in run.suites:
        for outcome in suite.outcomes:
            if outcome.warning and outcome.verdict in ("pass", "inconclusive"):
                yield _annotate_outcome("warning", suite, outcome)


def _annotate_outcome(kind: str, suite: SuiteResult, outcome: Outcome) -> Annotation:
    owner = f"Owner {suite.owner}." if suite.owner else ""
    parts = (outcome.headline[:MAX_CHARACTERS], outcome.sentence[:MAX_CHARACTERS], owner)
    return Annotation(kind, outcome.file, outcome.line, f"{suite.name}: {outcome.id}", "\n".join(filter(None, parts)))


def _format_annotation(annotation: Annotation, links: SourceLinks) -> str:
    path = links.path(annotation.file)
    properties = [f"file={_escape_property(path)}"] if path else []
    properties += [f"line={annotation.line}"] if path and annotation.line else []
    properties.append(f"title={_escape_property(annotation.title)}")
    return f"::{annotation.kind} {','.join(properties)}::{_escape_data(annotation.text)}"


def _escape_data(text: str) -> str:
    """The text of a command: its lines stay lines, and none of them is read as another command."""
    lines = "\n".join(escape_unprintable(line) for line in text.splitlines())
    return remove_commands(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
