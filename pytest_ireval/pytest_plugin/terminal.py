"""The output of a run: the summary in the terminal, and what a code host gets: annotations, links, a step's summary."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import pytest

from pytest_ireval.report.markdown_text import SourceLinks
from pytest_ireval.report.summary_table import brief_lines, reason_lines, section_warnings, summary_lines, update_lines
from pytest_ireval.results.outcome import Outcome, Verdict
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.secrets import hidden
from pytest_ireval.text_table import escape_unprintable
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from pytest_ireval.pytest_plugin.accepting import Accepting


RULE = "ireval_rule"
"""The property of a report that holds the rule it is about."""
WIDTH = 80


def width_of(config: pytest.Config) -> int:
    """Columns of the terminal that pytest writes to; 80 where there is none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        return int(shutil.get_terminal_size((WIDTH, 24)).columns) if "COLUMNS" in os.environ else WIDTH
    return min(200, shutil.get_terminal_size((WIDTH, 24)).columns)


def summarise(
    reporter: pytest.TerminalReporter,
    config: pytest.Config,
    result: RunResult,
    accepting: Accepting,
    files: Sequence[str],
) -> None:
    """The rows; with -q a line for each red suite, and the verdict unless all is well."""
    quiet, width = config.get_verbosity() < 0, width_of(config)
    if not quiet:
        reporter.section("ireval")
        reasons = reason_lines(result, width) if config.get_verbosity() > 0 else []
        lines = [*reasons, *summary_lines(result, width, statistics=config.get_verbosity() > 0)]
    else:
        lines = [*brief_lines(result, width), *section_warnings(result)]
    for line in (*lines, *update_lines(result, width), *accepting.told):
        for piece in summary_pieces(as_printed(line)):
            reporter.write(piece.text, **MARKUP[piece.tone])
        reporter.write("\n")
    for problem in accepting.problems:
        reporter.write_line(as_printed(f"not accepted: {problem}"), red=True)
    if not quiet:
        for path in files:
            reporter.write_line(f"written: {path}")


_Tone = Literal["plain", "good", "doubtful", "bad"]
TONES: dict[str, _Tone] = {
    **dict.fromkeys(("pass", "accepted"), "good"),
    **dict.fromkeys(("warning", "inconclusive", "look at this"), "doubtful"),
    **dict.fromkeys(("fail", "error", "problem", "red", "likely cause", "mostly in"), "bad"),
}
_VERDICT = "pass|accepted|warning|inconclusive|fail|error"
_ROW = re.compile(rf"(?P<before>.* {{2}})(?P<word>{_VERDICT})(?P<after>)")
"""A row of a table that ends in a verdict."""
_NOTE = re.compile(rf"(?P<before>)(?P<word>{_VERDICT}|problem|likely cause|mostly in|look at this|red)(?P<after>: .*)")
_RUN = re.compile(rf"(?P<before>ireval: )(?P<word>{_VERDICT})(?P<after>[:,] .*)")
_DECIDES = re.compile(r" {2}.* <- (over tolerance|breaks the rule|over|red)")
"""A line of figures that the verdict rests on."""


class Piece(NamedTuple):
    """Text in one tone."""

    text: str
    tone: _Tone = "plain"


def summary_pieces(line: str) -> tuple[Piece, ...]:
    """A line of a summary, its verdict in the tone of it."""
    found = _RUN.fullmatch(line) or _NOTE.fullmatch(line) or _ROW.fullmatch(line)
    if found is None:
        return (Piece(line),)
    word = found["word"]
    return (Piece(found["before"]), Piece(word, TONES[word]), Piece(found["after"]))


def failure_pieces(text: str) -> Iterator[Piece]:
    """The lines of a failure: its headline and the figures that decided stand out."""
    for number, line in enumerate(text.split("\n")):
        yield Piece(line, "bad" if number == 0 or _DECIDES.fullmatch(line) else "plain")


MARKUP: Mapping[_Tone, Mapping[str, bool]] = {
    "plain": {},
    "good": {"green": True},
    "doubtful": {"yellow": True},
    "bad": {"red": True, "bold": True},
}


class FailureShown:
    """A failure as pytest keeps it, drawn in colour; its text and other attributes are unchanged."""

    def __init__(self, plain: Any) -> None:
        self.reprcrash, self.reprtraceback = plain.reprcrash, plain.reprtraceback
        self.sections = plain.sections
        self.text = "\n".join(plain.reprtraceback.reprentries[0].lines)

    def __str__(self) -> str:
        return self.text.strip()

    def toterminal(self, writer: Any) -> None:
        """Called by pytest, also without colours: then the writer leaves them out."""
        for piece in failure_pieces(self.text):
            writer.line(piece.text, **MARKUP[piece.tone])


def colour(report: pytest.TestReport) -> None:
    """Draw a verdict in colour where reports are shown: those of other processes arrive as plain data."""
    if not report.failed or not recorded(report, RULE):
        return
    plain: Any = report.longrepr
    entries: Sequence[Any] = getattr(getattr(plain, "reprtraceback", None), "reprentries", ())
    if len(entries) == 1 and getattr(entries[0], "style", "") == "value":
        report.longrepr = FailureShown(plain)  # type: ignore[assignment] # pytest asks for these names only


def as_one(reports: Sequence[pytest.TestReport], title: str, text: str) -> pytest.TestReport | None:
    """Several failures of a suite as one, for the terminal; None if one has another text or printed something."""
    first, *others = reports
    if not all(isinstance(each.longrepr, FailureShown) for each in reports) or any(each.sections for each in others):
        return None
    one, block = copy(first), copy(cast(Any, first.longrepr))
    block.text = as_printed(text)
    one.longrepr, one.location = block, (*first.location[:2], title)
    return one


def recorded(report: pytest.TestReport, name: str) -> list[object]:
    """The values that a test recorded under a name; properties of other tests may be anything."""
    pairs = [each for each in report.user_properties if isinstance(each, tuple | list) and len(each) == 2]
    return [value for key, value in pairs if key == name]


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
        more = f"… and {format_count(left, 'other finding')}: the summary and the log have all of them."
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
    lines = "\n".join(escape_unprintable(line) for line in text.splitlines())
    return without_commands(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_BREAK = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_COMMAND = re.compile(rf"((?:^|[{_BREAK}])[^\S{_BREAK}]*):(?=:)")


def without_commands(text: str) -> str:
    """A text without commands to a runner of GitHub or Azure, fit to be printed in a job."""
    # lines that begin with two colons; older forms, ``##[name]`` and Azure's ``##vso[name]``, are obeyed anywhere
    return _COMMAND.sub(r"\1: ", text).replace("##[", "## [").replace("##vso[", "## vso[")
