"""The report of a run: its files, never those of an earlier run, and the sections that plugins add to it."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

import pytest_ireval
from pytest_ireval.data.formats.writers import put
from pytest_ireval.errors import InputError, IrevalError, PluginError, Problem, one_line
from pytest_ireval.gate.last_run import BEFORE
from pytest_ireval.gate.last_run import FILE as RANKINGS
from pytest_ireval.gate.material import moment_of, written
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins, answer_of
from pytest_ireval.pytest_plugin.terminal import source_links
from pytest_ireval.report.commands import PAGE, link_to, rule_anchor, suite_anchor
from pytest_ireval.report.data_files import PARTS, RESULTS, metrics_text, results_files, to_judge_text
from pytest_ireval.report.page import page_text
from pytest_ireval.report.summary_markdown import summary_text
from pytest_ireval.report.templates import SectionTemplate, check_sections
from pytest_ireval.results.plain import to_plain
from pytest_ireval.results.run_folder import FOLDER, IGNORED
from pytest_ireval.results.suite_result import RunResult, Section, SuiteResult

TO_JUDGE = "to_judge.tsv"
_Content = str | bytes


@dataclass
class RunFiles:
    """The files of a run; no folder: none are written."""

    folder: Path | None
    root: Path
    written: list[str] = field(default_factory=list)
    """As messages show them."""
    templates: Mapping[str, SectionTemplate] = field(default_factory=dict)
    """Those of the sections, by their names."""
    rankings: bytes = b""
    """The packed rankings of the run; empty where there are none."""

    @property
    def results(self) -> Path | None:
        """The file with everything."""
        return None if self.folder is None else self.folder / RESULTS

    @property
    def everything(self) -> str:
        """The same as messages show it; nothing where no files are written."""
        return "" if self.results is None else self._shown(self.results)

    def begin(self, moment: datetime) -> None:
        """Replace the files of an earlier run, so that they are not taken for those of this one."""
        if self.folder is not None:
            kept(self.folder / TO_JUDGE)
            with suppress(OSError):  # there was no run before, or the file cannot be moved: it is only compared with
                (self.folder / RANKINGS).replace(self.folder / BEFORE)
            self._remove_parts()
        unfinished = RunResult(pytest_ireval.__version__, written(moment), "error", (), problems=(NOT_ENDED,))
        if not self._folder_problem() and self._put_all(self._texts(unfinished, UNFINISHED_PAGE)):
            for path in self._texts(unfinished, UNFINISHED_PAGE):
                with suppress(OSError):  # a full disk has no room for another file, and lets an old one go all the same
                    path.unlink()
        self.written.clear()

    def withdraw(self) -> None:
        """Delete the files of a run that has not ended; those of a run that ended stay."""
        if self.results is None:
            return
        try:
            unfinished = NOT_ENDED in self.results.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return
        if unfinished:
            for path in self._texts(RunResult(pytest_ireval.__version__, "", "error", ()), UNFINISHED_PAGE):
                path.unlink(missing_ok=True)

    def write(self, result: RunResult) -> str:
        """Put the files in their places; returns why that is impossible."""
        if self.results is None:
            return ""
        if problem := self._folder_problem():
            return problem
        texts = self._texts(result, self._page(result))
        failed = self._put_all(texts)
        if len(failed) == sum(map(bool, texts.values())) and len(set(failed.values())) == 1:
            failed = {self.results: failed[self.results]}  # it is the folder
        told = "; ".join(_unwritten(*each) for each in failed.items())
        if failed and result.verdict != "error":
            # the run is red for want of a file, so the other files must not say that it is fine
            red = with_problem(result, told)
            for path, text in self._texts(red, self._page(red)).items():
                if path not in failed and self._put(path, text):
                    with suppress(OSError):
                        path.unlink()
        return told

    def _folder_problem(self) -> str:
        """Make the folder where it is missing; returns why that is impossible."""
        if self.folder is None or self.results is None or self.folder.exists():
            return ""
        try:
            self.folder.mkdir(parents=True)
            (self.folder / ".gitignore").write_text(IGNORED, encoding="utf-8")
        except OSError as error:
            return _unwritten(self.results, error.strerror or str(error))
        return ""

    def _remove_parts(self) -> None:
        """Remove the parts of the results of an earlier run."""
        if self.folder is not None:
            with suppress(OSError):  # there are none, or something else is there
                for path in sorted((self.folder / PARTS).glob("[0-9]*-*.json")):
                    path.unlink()
                (self.folder / PARTS).rmdir()

    def _put_all(self, texts: Mapping[Path, _Content]) -> dict[Path, str]:
        return {path: reason for path, text in texts.items() if (reason := self._put(path, text))}

    def _texts(self, result: RunResult, page: str) -> dict[Path, _Content]:
        """Return the text of each file, the results and their parts first; an empty text removes its file."""
        if self.folder is None or self.results is None:
            return {}
        return {
            **{self.folder / name: text for name, text in results_files(result).items()},
            self.folder / PAGE: page,
            **{self.folder / name: text for name, text in self._others(result).items()},
            self.folder / RANKINGS: self.rankings,
        }

    def redrawn(self, result: RunResult) -> dict[str, str]:
        """The text of each file but ``results.json``."""
        return {PAGE: self._page(result), **self._others(result)}

    def _others(self, result: RunResult) -> dict[str, str]:
        return {
            "summary.md": self.summary(result),
            "metrics.txt": metrics_text(result),
            TO_JUDGE: to_judge_text(result),
        }

    def _page(self, result: RunResult) -> str:
        return page_text(result, self.templates, source_links(self.root))

    def report(self, suite: SuiteResult, rule: str = "") -> str:
        """The place on the page of a rule or of the whole suite; empty if no files are written."""
        page = "" if self.folder is None else self._shown(self.folder / PAGE)
        return page and f"{page}{link_to(rule_anchor(suite, rule) if rule else suite_anchor(suite))}"

    def summary(self, result: RunResult) -> str:
        """The run for a pull request; a folder of another name makes another comment."""
        name = "" if self.folder is None or self.folder.name == FOLDER else self.folder.name
        return summary_text(result, source_links(self.root), name, self.everything)

    def _put(self, path: Path, text: _Content) -> str:
        try:
            if not text:
                path.unlink(missing_ok=True)
                return ""
            if isinstance(text, str):  # names of files may hold bytes that are not UTF-8
                text = text.encode("utf-8", "backslashreplace").decode()
            if self.folder is not None and path.parent != self.folder:
                path.parent.mkdir(exist_ok=True)
            put({path: [text] if isinstance(text, str) else text})
        except OSError as error:
            return error.strerror or str(error)
        except InputError as error:  # the folder is gone
            return error.problems[0].complaint
        if path.parent == self.folder and self._shown(path) not in self.written:
            self.written.append(self._shown(path))
        return ""

    def _shown(self, path: Path) -> str:
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()


NOT_ENDED = "the run did not end"
UNFINISHED_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{NOT_ENDED}</title>
<p><strong>Could not be judged</strong>: {NOT_ENDED}. The terminal shows why; this page is replaced when a run ends.
</html>
"""
"""It is constant: a page that is drawn takes longer than a small suite, and drawing may be interrupted."""
LOOKING = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow", "collectonly")


def with_problem(result: RunResult, problem: str) -> RunResult:
    """The result, red because a file is missing; unchanged if there is no problem."""
    return replace(result, verdict="error", problems=(*result.problems, problem)) if problem else result


def _unwritten(results: Path, reason: str) -> str:
    return f"{results}: cannot be written: {reason}; --ireval-report DIR writes to another folder, none writes no files"


def only_looks(options: argparse.Namespace) -> bool:
    """Tell whether nothing is run."""
    return any(getattr(options, option, None) for option in LOOKING)


def begin(config: pytest.Config, options: argparse.Namespace) -> None:
    """Remove the files of an earlier run, however early this one ends."""
    if only_looks(options):
        return
    try:
        files = files_of(config, options)
    except IrevalError:  # told when the session starts, as is a moment that is none
        return
    try:
        files.begin(moment_of())
    except IrevalError:
        files.begin(datetime.now(timezone.utc))


def files_of(config: pytest.Config, options: argparse.Namespace) -> RunFiles:
    """The files that the option or the ini file asks for."""
    root = config.invocation_params.dir
    option = options.ireval_report
    told = option if option is not None else str(config.getini("ireval_report"))
    if not told.strip():
        name = "ireval_report" if option is None else "--ireval-report"
        raise IrevalError(Problem(f"{name} is empty", allowed=f"{name} none writes no files"))
    base = root if option is not None else config.rootpath
    return RunFiles(None if told == "none" else base / told, root)


def kept(path: Path) -> Path | None:
    """Keep a file with grades beside itself under a free name; returns that name, None if there are no grades."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
    except (OSError, UnicodeDecodeError):
        return None
    if not any("\t" in line and line.rpartition("\t")[2].strip() for line in lines):
        return None
    names = (path.with_name(f"judged{number if number > 1 else ''}.tsv") for number in count(1))
    target = next(name for name in names if not name.exists())
    with suppress(OSError):  # then the file is replaced as any other of an earlier run
        return path.rename(target)
    return None


MENTIONED = b"ireval_report_sections"
"""Conftest.py files that only workers have imported are imported here, too, if they contain this."""


@dataclass
class _Served:
    """A section and the suites that it may see: those that its plugin serves."""

    kind: ReportSection
    suites: list[str]


def with_sections(
    result: RunResult, suites: Sequence[PlannedSuite], plugins: RunPlugins
) -> tuple[RunResult, dict[str, SectionTemplate]]:
    """The run with the sections of plugins, and the templates that draw them."""
    found, troubles = _served(result, suites, plugins)
    kinds = {each.kind.name: each.kind for each in reversed(found)}
    sections = [_section(each, kinds[each.kind.name], result, plugins.root) for each in found]
    templates = templates_of(kinds.values())
    return check_sections(replace(result, sections=(*sections, *troubles)), templates), templates


def templates_of(kinds: Iterable[ReportSection]) -> dict[str, SectionTemplate]:
    """The templates of sections, by their names."""
    return {kind.name: SectionTemplate(kind.folder, kind.template, kind.style) for kind in kinds}


def _served(
    result: RunResult, suites: Sequence[PlannedSuite], plugins: RunPlugins
) -> tuple[list[_Served], list[Section]]:
    """Every section once, in the order of the suites; and the problems of plugins that cannot be asked."""
    found: dict[tuple[str, str], _Served] = {}
    troubles: dict[str, Section] = {}
    judged = {each.name: each for each in result.suites}
    for suite in suites:
        if suite.name not in judged:
            continue
        try:
            registry = plugins.registry_beside(suite.path, MENTIONED)
        except IrevalError as error:
            if judged[suite.name].verdict != "error":  # or it has been told the same
                troubles[str(error)] = Section("plugins", "Sections of plugins", suite.shown, problem=one_line(error))
            continue
        for kind in registry.sections.values():
            found.setdefault((kind.name, kind.origin), _Served(kind, [])).suites.append(suite.name)
    return list(found.values()), list(troubles.values())


def _section(served: _Served, first: ReportSection, result: RunResult, root: Path) -> Section:
    kind = served.kind
    empty = Section(kind.name, kind.title, kind.source)
    if first is not kind:
        return replace(empty, problem=f"its name {kind.name!r} is claimed twice: also by {first.source}")
    seen = replace(result, suites=tuple(suite for suite in result.suites if suite.name in served.suites))
    try:
        return replace(empty, data=plain_data(answer_of(lambda: kind.data(to_plain(seen)), root)))
    except PluginError as error:
        return replace(empty, problem=one_line(error))


DEEPEST = 50
"""Levels; a value that holds itself has no end."""


def plain_data(data: Any) -> dict[str, Any]:
    """A copy of it with lists for tuples; raises PluginError that names the path to what JSON does not know."""
    if not isinstance(data, dict):
        raise PluginError(f"returned {_called(data)}, where a dict is expected")
    wrong = list(islice(_wrong(data, "", 0), 3))
    if wrong:
        raise PluginError(f"did not return plain data: {'; '.join(wrong)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    except ValueError as error:  # a whole number of thousands of digits
        raise PluginError(f"did not return plain data: {error}") from error
    return copy


def _wrong(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        yield f"{path[:200]} is nested deeper than {DEEPEST} levels"
    elif isinstance(value, dict):
        yield from (
            f"{path or 'it'} has the key {key!r}, which is not text" for key in value if not isinstance(key, str)
        )
        for key, each in value.items():
            yield from _wrong(each, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _wrong(each, f"{path}[{number}]", depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{path} is {float(value)!r}"
    elif value is not None and not isinstance(value, str | bool | int | float):
        yield f"{path} is {_called(value)}"


def _called(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
