"""What is wrong with a file that is no YAML: where the mistake is rather than where YAML noticed, and what to write."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from pytest_ireval.errors import Problem
from pytest_ireval.suites.scalars import File

NO_BLANK = re.compile(r"(?P<before>[\s-]*)(?P<key>[A-Za-z_][\w.@-]*):(?P<value>(?!//)\S.*)")
"""A key whose colon has no blank behind it, so that the line is text to YAML."""
GLOB = re.compile(r"\*[*./][^\s,\]}]*")
"""What YAML takes for an alias."""
BOUND = re.compile(r"(?:[<>]=?|≥|≤)\s*[0-9.]+%?")
NAME_OF_METRIC = 'quote names of metrics that hold brackets, braces, commas or quotes: "nDCG(gain={1: 1, 2: 3})@10"'


def syntax_problem(error: yaml.YAMLError, data: bytes, file: File) -> Problem:
    """YAML's own reason, or ours where that would lead astray, and where."""
    text = data.decode("utf-8")
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return _marked(error, error.problem_mark, text.splitlines(), file)
    position = getattr(error, "position", None)
    before = text[: position or 0]
    at = f":{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}" if position is not None else ""
    return Problem(f"is no YAML: {getattr(error, 'reason', error)}", f"{file.shown}{at}")


def _marked(error: yaml.MarkedYAMLError, mark: yaml.Mark, lines: Sequence[str], file: File) -> Problem:
    line, column = mark.line, mark.column
    torn = _without_blank(error, mark.line, lines)
    if torn is not None:
        return _missing_blank(torn, lines[torn], file)
    if error.context == "while scanning a simple key" and error.context_mark is not None:  # noticed lines later
        line, column = error.context_mark.line, error.context_mark.column
    reason = ", ".join(str(part) for part in (error.context, error.problem) if part)
    return Problem(
        f"is no YAML: {reason}", f"{file.shown}:{line + 1}:{column + 1}", suggestion=_remedy(lines, line, column)
    )


def _without_blank(error: yaml.MarkedYAMLError, last: int, lines: Sequence[str]) -> int | None:
    """The line whose colon lacks a blank, if that is what is wrong: YAML notices in a later one, the ``last``."""
    if error.context == "while scanning a simple key" and error.context_mark is not None:
        first = last = error.context_mark.line
    elif str(error.problem).startswith("mapping values are not allowed"):
        first = max(0, last - 1)
    else:
        return None
    return next((n for n in range(first, min(last + 1, len(lines))) if NO_BLANK.fullmatch(lines[n])), None)


def _missing_blank(number: int, line: str, file: File) -> Problem:
    match = NO_BLANK.fullmatch(line)
    before, key, value = match.groups() if match else ("", "", "")
    place = f"{file.shown}:{number + 1}:{len(before) + len(key) + 1}"
    return Problem("is no YAML: a blank is missing behind the colon", place, suggestion=f"write {key}: {value.strip()}")


def _remedy(lines: Sequence[str], line: int, column: int) -> str:
    """What to write instead, where that can be told."""
    here = lines[line] if line < len(lines) else ""
    if "\t" in here[: len(here) - len(here.lstrip())]:
        return "a tab indents this line, and YAML takes blanks only: put blanks in its place"
    if glob := GLOB.match(here, max(0, column - 1)):
        return f'a text that begins with * is quoted: "{glob[0]}"'
    if here[max(0, column - 1) : column + 1] == "${":
        variable = here[column - 1 :].partition("}")[0] + "}"
        return f'quote a variable inside of braces or brackets: "{variable}"'
    for begin in (column, column - 1, column - 2):
        if begin >= 0 and (bound := BOUND.match(here, begin)):
            return f'quote text that begins with {bound[0][0]}: "{bound[0]}"'
    for text in lines[max(0, line - 1) : line + 1][::-1]:
        if "@[" in text or any(mark in text.partition("(")[2] for mark in ("{", "'", '"', ",")):
            return NAME_OF_METRIC
    return f"quote text that begins with {here[column]}" if here[column : column + 1] in ("@", "`", "%") else ""
