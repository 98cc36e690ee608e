"""What the terminal shows in the end: a row for each suite and metric, and what was accepted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import pytest

from pytest_ireval.pytest_adapter.accepting import Accepting
from pytest_ireval.pytest_adapter.code_host import as_printed
from pytest_ireval.pytest_adapter.coloured import write_summary_line
from pytest_ireval.reports.affected_text import reason_lines
from pytest_ireval.reports.summary_table import brief_lines, section_warnings, summary_lines
from pytest_ireval.reports.update_text import update_lines
from pytest_ireval.results.suite_result import RunResult

WIDTH = 80
WIDEST = 200


def width_of(config: pytest.Config) -> int:
    """Columns of the terminal that pytest writes to; 80 where there is none."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        return int(shutil.get_terminal_size((WIDTH, 24)).columns) if "COLUMNS" in os.environ else WIDTH
    return min(WIDEST, shutil.get_terminal_size((WIDTH, 24)).columns)


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
        lines = [*reasons, *summary_lines(result, width)]
    else:
        lines = [*brief_lines(result, width), *section_warnings(result)]
    for line in (*lines, *update_lines(result, width), *accepting.told):
        write_summary_line(reporter, as_printed(line))
    for problem in accepting.problems:
        reporter.write_line(as_printed(f"not accepted: {problem}"), red=True)
    if not quiet:
        for path in files:
            reporter.write_line(f"written: {path}")
