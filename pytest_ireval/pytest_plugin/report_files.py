"""The files of a run's report. Those of an earlier run are discarded first: nobody may take them for this one's."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import count
from pathlib import Path

import pytest

import pytest_ireval
from pytest_ireval.baseline.rankings_file import BEFORE
from pytest_ireval.baseline.rankings_file import FILE as RANKINGS
from pytest_ireval.clock import format_moment, read_clock
from pytest_ireval.data.formats.writers import replace_files
from pytest_ireval.errors import InputError, IrevalError, Problem
from pytest_ireval.pytest_plugin.code_host import source_links
from pytest_ireval.report.commands import PAGE, make_fragment, make_rule_anchor, make_suite_anchor
from pytest_ireval.report.comment import format_comment
from pytest_ireval.report.markdown_summary import format_markdown_summary
from pytest_ireval.report.metrics_file import format_metrics
from pytest_ireval.report.page import render_page
from pytest_ireval.report.results_file import PARTS, RESULTS, format_results_files
from pytest_ireval.report.templates import SectionTemplate
from pytest_ireval.report.to_judge_file import HEADER, format_to_judge
from pytest_ireval.results.run_folder import FOLDER, IGNORED, is_run_folder
from pytest_ireval.results.suite_result import RunResult, SuiteResult

TO_JUDGE = "to_judge.tsv"
NOT_ENDED = "the run did not end"
GENERATOR = '<meta name="generator" content="pytest-ireval">'
"""The line by which a page of ours is known."""
FILES = (PAGE, RESULTS, "summary.md", "comment.md", "metrics.txt", TO_JUDGE, RANKINGS, BEFORE)
KEPT_GRADES = pytest.StashKey[Path]()
UNFINISHED_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
{GENERATOR}
<title>{NOT_ENDED}</title>
<p><strong>Could not be judged</strong>: {NOT_ENDED}. The terminal shows why; this page is replaced when a run ends.
</html>
"""
"""It is constant: rendering a page takes longer than a small suite, and may be interrupted."""


@dataclass
class ReportFiles:
    folder: Path | None
    """None: no files are written."""
    root: Path
    written: list[str] = field(default_factory=list)
    """As messages show them."""
    templates: Mapping[str, SectionTemplate] = field(default_factory=dict)
    """Those of the sections, by their names."""
    rankings: bytes = b""
    """The packed rankings of the run; empty where there are none."""
    kept_grades: Path | None = None
    """Where the grades are that somebody typed into the table of the last run."""

    @property
    def results_path(self) -> Path | None:
        return None if self.folder is None else self.folder / RESULTS

    @property
    def shown_results_path(self) -> str:
        """The same as messages show it; empty where no files are written."""
        return "" if self.results_path is None else self._display(self.results_path)

    @property
    def key(self) -> str:
        """What tells the comments of several jobs apart: the name of the folder, where it is not the usual one."""
        return "" if self.folder is None or self.folder.name == FOLDER else self.folder.name

    @property
    def shown_kept_grades(self) -> str:
        return "" if self.kept_grades is None else self._display(self.kept_grades)

    def discard_earlier(self, moment: datetime) -> None:
        """Replace the files of an earlier run by those of a run that has not ended."""
        if self.folder is None or self._make_folder() is not None:
            return
        self.kept_grades = keep_grades(self.folder / TO_JUDGE)
        with suppress(OSError):  # there was no run before, or the file cannot be moved: it is only compared with
            (self.folder / RANKINGS).replace(self.folder / BEFORE)
        with suppress(OSError):  # results had no parts, or something else is there
            for path in sorted((self.folder / PARTS).glob("[0-9]*-*.json")):
                path.unlink()
            (self.folder / PARTS).rmdir()
        unfinished = RunResult(pytest_ireval.__version__, format_moment(moment), "error", (), problems=(NOT_ENDED,))
        contents = self._format_files(unfinished, UNFINISHED_PAGE)
        if self._put_all(contents):
            for path in contents:
                with suppress(OSError):  # a full disk has no room for another file, and lets an old one go all the same
                    path.unlink()
        self.written.clear()

    def delete_unfinished(self) -> None:
        """Delete the files of a run that has not ended; those of a run that ended stay."""
        if self.results_path is None:
            return
        try:
            unfinished = NOT_ENDED in self.results_path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return
        if unfinished:
            for path in self._format_files(RunResult(pytest_ireval.__version__, "", "error", ()), UNFINISHED_PAGE):
                path.unlink(missing_ok=True)

    def write(self, result: RunResult) -> str | None:
        """Write all files; returns what prevents that."""
        if self.results_path is None:
            return None
        if problem := self._make_folder():
            return problem
        contents = self._format_files(result, self._format_page(result))
        reasons = self._put_all(contents)
        if not reasons:
            return None
        if len(reasons) == sum(map(bool, contents.values())) and len(set(reasons.values())) == 1:
            failed = {self.results_path: reasons[self.results_path]}  # one complaint about the folder is enough
        else:
            failed = reasons
        problem = "; ".join(_describe_write_error(path, reason) for path, reason in failed.items())
        if result.verdict != "error":
            # the run is red for want of a file, so the other files must not say that it is fine
            red = add_problem(result, problem)
            for path, content in self._format_files(red, self._format_page(red)).items():
                if path not in failed and self._put(path, content) is not None:
                    with suppress(OSError):
                        path.unlink()
        return problem

    def format_derived_files(self, result: RunResult) -> dict[str, str]:
        """The content of each file that is made of ``results.json``; an empty one means that there is no such file."""
        return {PAGE: self._format_page(result), **self._format_texts(result)}

    def format_page_link(self, suite: SuiteResult, rule: str = "") -> str:
        """The place on the page of a rule or of the whole suite; empty if no files are written."""
        if self.folder is None:
            return ""
        anchor = make_rule_anchor(suite, rule) if rule else make_suite_anchor(suite)
        return f"{self._display(self.folder / PAGE)}{make_fragment(anchor)}"

    def format_summary(self, result: RunResult) -> str:
        """The run for the page of a job."""
        return format_markdown_summary(result, source_links(self.root), self.key, self.shown_results_path)

    def _format_page(self, result: RunResult) -> str:
        return render_page(result, self.templates, source_links(self.root))

    def _format_texts(self, result: RunResult) -> dict[str, str]:
        return {
            "summary.md": self.format_summary(result),
            "comment.md": format_comment(result, source_links(self.root), self.key),
            "metrics.txt": format_metrics(result),
            TO_JUDGE: format_to_judge(result),
        }

    def _format_files(self, result: RunResult, page: str) -> dict[Path, str | bytes]:
        """The content of each file, the results and their parts first; an empty content removes its file."""
        if self.folder is None:
            return {}
        contents: dict[str, str | bytes] = {**format_results_files(result), PAGE: page, **self._format_texts(result)}
        contents[RANKINGS] = self.rankings
        return {self.folder / name: content for name, content in contents.items()}

    def find_foreign_file(self) -> str:
        """The file that no run has written, and that this one would replace; empty if there is none."""
        path = None if self.folder is None else find_foreign_file(self.folder, FILES)
        return "" if path is None else self._display(path)

    def _make_folder(self) -> str | None:
        """Make the folder where it is missing; returns what prevents that, and why nothing may be written to it."""
        if self.folder is None or self.results_path is None:
            return None
        if self.folder.exists():
            foreign = self.find_foreign_file()
            return f"{foreign}: {NOT_OURS}; {OTHER_FOLDER}" if foreign else None
        try:
            self.folder.mkdir(parents=True)
            (self.folder / ".gitignore").write_text(IGNORED, encoding="utf-8")
        except OSError as error:
            return _describe_write_error(self.results_path, error.strerror or str(error))
        return None

    def _put_all(self, contents: Mapping[Path, str | bytes]) -> dict[Path, str]:
        """Write files; returns the reasons why some cannot be written."""
        reasons = ((path, self._put(path, content)) for path, content in contents.items())
        return {path: reason for path, reason in reasons if reason is not None}

    def _put(self, path: Path, content: str | bytes) -> str | None:
        try:
            if not content:
                path.unlink(missing_ok=True)
                return None
            if isinstance(content, str):  # names of files may hold bytes that are not UTF-8
                content = content.encode("utf-8", "backslashreplace").decode()
            if path.parent != self.folder:
                path.parent.mkdir(exist_ok=True)
            replace_files({path: [content] if isinstance(content, str) else content})
        except OSError as error:
            return error.strerror or str(error)
        except InputError as error:  # the folder is gone
            return error.problems[0].complaint
        if path.parent == self.folder and self._display(path) not in self.written:
            self.written.append(self._display(path))
        return None

    def _display(self, path: Path) -> str:
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()


def add_problem(result: RunResult, problem: str | None) -> RunResult:
    """The result, red because of a problem; unchanged if there is none."""
    return replace(result, verdict="error", problems=(*result.problems, problem)) if problem else result


NOT_OURS = "is not a file of pytest-ireval, and is not overwritten"
OTHER_FOLDER = "--ireval-report DIR writes to another folder, none writes no files"


def _describe_write_error(path: Path, reason: str) -> str:
    return f"{path}: cannot be written: {reason}; {OTHER_FOLDER}"


def find_foreign_file(folder: Path, names: Iterable[str]) -> Path | None:
    """The first of these files that is in the folder, unless it is a folder of runs, or the page there is ours."""
    paths = [folder / name for name in names if (folder / name).exists()]
    if not paths or is_run_folder(folder):
        return None
    try:
        with open(folder / PAGE, encoding="utf-8", errors="replace") as page:
            return None if GENERATOR in page.read(1000) else paths[0]
    except OSError:
        return paths[0]


INFORMATION_OPTIONS = (
    "help",
    "version",
    "markers",
    "showfixtures",
    "show_fixtures_per_test",
    "cacheshow",
    "collectonly",
)


def only_shows_information(options: argparse.Namespace) -> bool:
    """Tell whether pytest runs no test."""
    return any(getattr(options, option, None) for option in INFORMATION_OPTIONS)


DISCARDED = pytest.StashKey[bool]()
"""True from the moment on when the files of an earlier run were discarded."""


def discard_earlier_report(config: pytest.Config, options: argparse.Namespace) -> None:
    """Discard the files of an earlier run, once and however early this one ends; raises if they are other files."""
    if only_shows_information(options) or config.stash.get(DISCARDED, False):
        return
    files = make_report_files(config, options)
    if foreign := files.find_foreign_file():
        raise IrevalError(Problem(NOT_OURS, foreign, (), OTHER_FOLDER))
    try:
        files.discard_earlier(read_clock())
    except IrevalError:  # the start of the session reports a wrong SOURCE_DATE_EPOCH
        files.discard_earlier(datetime.now(timezone.utc))
    if files.kept_grades is not None:
        config.stash[KEPT_GRADES] = files.kept_grades
    config.stash[DISCARDED] = True


def make_report_files(config: pytest.Config, options: argparse.Namespace) -> ReportFiles:
    """The files in the folder that the option or the ini file names."""
    current_folder, option = config.invocation_params.dir, options.ireval_report
    folder = option if option is not None else str(config.getini("ireval_report"))
    if not folder.strip():
        name = "ireval_report" if option is None else "--ireval-report"
        raise IrevalError(Problem(f"{name} is empty", allowed=f"{name} none writes no files"))
    if folder == "none":
        return ReportFiles(None, current_folder)
    path = (current_folder if option is not None else config.rootpath) / folder
    return ReportFiles(path, current_folder, kept_grades=config.stash.get(KEPT_GRADES, None))


def keep_grades(path: Path) -> Path | None:
    """Move a file that somebody has graded to a free name beside it; returns that name, None if it has no grades."""
    if not _has_grades(path):
        return None
    names = (path.with_name(f"judged{number if number > 1 else ''}.tsv") for number in count(1))
    target = next(name for name in names if not name.exists())
    with suppress(OSError):  # the folder is read-only, so the file is not replaced either
        return path.rename(target)
    return None


def _has_grades(path: Path) -> bool:
    """True also for a table that another program wrote with other columns, separators or letters."""
    try:
        header, *lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        return True
    except OSError:
        return False
    return header != "\t".join(HEADER) or any(line.rpartition("\t")[2].strip() for line in lines)
