"""``results.json``, with everything that a run found: written, and read again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.results.outcome import VERDICTS, Verdict
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.results.run_folder import FOLDER
from pytest_ireval.results.suite_result import QueryTable, RunResult, SuiteResult

RESULTS = "results.json"
FORMAT = 1
"""The version of the form; a reader refuses another one."""
PARTS = "results.parts"
"""The folder of the parts of a large ``results.json``: the queries and documents of a suite each."""
MAX_SINGLE_FILE = 32 << 20
"""Characters; a ``results.json`` that would have about as many is written in parts."""
IN_PARTS = ("queries", "documents")
_PART = re.compile(rf"{re.escape(PARTS)}/[0-9]+-[\w.-]+\.json", re.ASCII)


def format_results(run: RunResult) -> str:
    """The same text for equal runs."""
    return _format_json(to_plain(run))


def format_results_files(run: RunResult) -> dict[str, str]:
    """The texts of ``results.json`` and of its parts by file name: the parts first, which it names."""
    if sum(map(_estimate_size, run.suites)) <= MAX_SINGLE_FILE:
        return {RESULTS: format_results(run)}
    data = to_plain(run)
    texts = {}
    for number, suite in enumerate(data["suites"], 1):
        name = re.sub(r"[^\w.-]+", "-", suite["name"], flags=re.ASCII)
        suite["part"] = f"{PARTS}/{number:04}-{name}.json"
        content = {name: suite[name] for name in IN_PARTS}
        texts[suite["part"]] = _format_json({"date": run.date, "suite": suite["name"], **content})
        suite |= {"queries": to_plain(QueryTable()), "documents": []}
    return {**texts, RESULTS: _format_json(data)}


def _format_json(data: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **data}, ensure_ascii=False, allow_nan=False) + "\n"


def _estimate_size(suite: SuiteResult) -> int:
    """About as many characters as its queries and documents take."""
    table = suite.queries
    columns = 2 + len(table.columns) + len(table.now) + len(table.baseline)
    return 16 * columns * len(table.ids) + 120 * sum(len(document.documents) for document in suite.documents)


def list_report_folders(suite: Path, report: Path | None) -> list[Path]:
    """The named folder of a report; or all that may hold that of the last run: here, above here, or above the suite."""
    here = Path.cwd()
    above = dict.fromkeys(folder / FOLDER for folder in (here, *here.parents, *suite.parents))
    return list(above) if report is None else [report]


def read_run(results: Path, *, parts: bool = True) -> RunResult:
    """The run in a results.json file, or in its folder; without ``parts`` the queries and documents are left out."""
    path = results / RESULTS if results.is_dir() else results
    suggestion = "pytest --ireval writes it; --ireval-report names the folder"
    text = _read_text(path, Problem("results of a run not found", str(path), suggestion=suggestion))
    return refuse_contradictions(parse_run(text, str(path), parts=parts), str(path))


def _read_text(path: Path, missing: Problem) -> str:
    if path.is_fifo() or path.is_char_device():  # reading it might never end
        raise InputError(Problem("is a pipe or a device, not a file", str(path)))
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Problem(f"is not UTF-8 text (byte {error.start})", str(path))) from error
    except FileNotFoundError as error:
        raise InputError(missing) from error
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", str(path))) from error


def parse_run(text: str, place: str = RESULTS, *, parts: bool = True) -> RunResult:
    """The run that :func:`results_text` wrote; ``place`` is the file, for messages. Its ``parts`` are beside it."""
    data = _parse_object(text, place)
    suites = data.get("suites")
    for suite in suites if isinstance(suites, list) else ():
        if isinstance(suite, dict):
            part = suite.pop("part", None)
            if not parts:  # most of a large file, and slow to check
                for name in IN_PARTS:
                    suite.pop(name, None)
            elif part is not None:
                suite.update(_read_part(data, suite, str(part), place))
    return from_plain({key: value for key, value in data.items() if key != "format"}, RunResult, place)


def _parse_object(text: str, place: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(f"is not JSON: {error}", place)) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = f"format {data.get('format')!r}" if isinstance(data, dict) else type(data).__name__
        raise InputError(Problem(f"{found} cannot be read as results; this version reads format {FORMAT}", place))
    return data


def _read_part(run: dict[str, Any], suite: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    """The queries and documents of a suite, from its own file."""
    if not _PART.fullmatch(name):
        raise InputError(Problem(f"{name!r} is not a file of a part", place, allowed=f"{PARTS}/NAME.json"))
    path = Path(place).parent / name
    whole = "keep the folder of a report whole"
    found = _parse_object(
        _read_text(path, Problem(f"is missing, and {place} needs it", str(path), (), whole)), str(path)
    )
    date, of = found.get("date"), found.get("suite")
    if (date, of) != (run.get("date"), suite.get("name")):
        complaint = f"is a part of the run of {date} and the suite {of}, and {place} is of another run or suite"
        raise InputError(Problem(complaint, str(path), suggestion=whole))
    if lacking := [each for each in IN_PARTS if each not in found]:
        raise InputError(Problem(f"lacks {' and '.join(lacking)}", str(path)))
    return {each: found[each] for each in IN_PARTS}


def refuse_contradictions(run: RunResult, place: str) -> RunResult:
    """The run. Raises InputError if a whole is better than its parts: no run writes such a file."""
    if wrong := next(_find_contradictions(run), ""):
        complaint = f"is inconsistent, so it may have been edited: {wrong}"
        raise InputError(Problem(complaint, place, suggestion="run the suites again and use the new file"))
    return run


def _find_contradictions(run: RunResult) -> Iterator[str]:
    for suite in run.suites:
        for each in suite.outcomes:
            if _is_better(suite.verdict, each.verdict):
                yield f"suite {suite.name} has the verdict {suite.verdict}, but its {each.id} has {each.verdict}"
        if _is_better(run.verdict, suite.verdict):
            yield f"the run has the verdict {run.verdict}, but suite {suite.name} has {suite.verdict}"
    if run.failed_tests and _is_better(run.verdict, "fail"):
        yield f"the run has the verdict {run.verdict}, but {run.failed_tests[0]} failed"
    if run.verdict != "error" and (run.problems or not (run.suites or run.unaffected)):
        yield f"the run has the verdict {run.verdict}, but {run.problems[0] if run.problems else 'no suite was judged'}"


def _is_better(one: Verdict, other: Verdict) -> bool:
    return VERDICTS.index(one) < VERDICTS.index(other)
