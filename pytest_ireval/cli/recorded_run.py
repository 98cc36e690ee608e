"""The run that a ``results.json`` holds, for commands that look at it again."""

from __future__ import annotations

from pathlib import Path

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.reports.results_json import RESULTS, refuse_contradictions, run_of
from pytest_ireval.results.suite_result import RunResult


def recorded_run(results: Path) -> RunResult:
    """``results`` is such a file, or the folder that it lies in."""
    path = results / RESULTS if results.is_dir() else results
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Problem(f"is no text in UTF-8 (byte {error.start})", str(path))) from error
    except FileNotFoundError as error:
        suggestion = "pytest --ireval writes it; --ireval-report says where"
        raise InputError(Problem("there are no results of a run", str(path), suggestion=suggestion)) from error
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", str(path))) from error
    return refuse_contradictions(run_of(text, str(path)), str(path))
