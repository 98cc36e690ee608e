"""A YAML file as text, lists and mappings with their places, and all its mistakes as YAML.

Every scalar is text: ``007``, ``no`` and ``12:30`` stay as they are. What no suite needs of YAML is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pytest_ireval.data.queries import normalize_text
from pytest_ireval.errors import Problem, quote
from pytest_ireval.suite.scalars import File, Items, Keys, Scalar, put_value

LARGEST = 2 << 20
DEEPEST = 50
MOST_REPEATED = 10_000
"""The most values that aliases may make; a few lines of aliases of aliases could make billions."""
LOADER: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The loader written in C, if it is installed."""
TAGS = {yaml.ScalarNode: "str", yaml.SequenceNode: "seq", yaml.MappingNode: "map"}


@dataclass
class Tree:
    """The content of a file, and its mistakes as YAML."""

    top: Keys
    problems: list[Problem] = field(default_factory=list)
    whole: bool = True
    """False if a part is missing, so that nothing else can be said of the file."""


def read_tree(path: Path, file: File) -> Tree:
    """The tree of a file."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):  # reading it might never end
        return _make_empty_tree(Problem("is a pipe or a device, not a file", file.shown), file)
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        reason = "the link is broken" if path.is_symlink() and not os.path.exists(path) else error.strerror
        return _make_empty_tree(Problem(f"cannot be read: {reason}", file.shown), file)
    return tree_of(data, file)


def tree_of(data: bytes, file: File) -> Tree:
    """The tree of a file's content."""
    if len(data) > LARGEST:
        return _make_empty_tree(Problem(f"is larger than {LARGEST >> 20} MiB, the limit for a suite", file.shown), file)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"{file.shown}:{data.count(bytes([10]), 0, error.start) + 1}"
        complaint = f"byte {error.start + 1} is not UTF-8; a suite is written in UTF-8"
        return _make_empty_tree(Problem(complaint, place), file)
    try:
        node = yaml.compose(text.removeprefix("\ufeff"), Loader=LOADER)
    except yaml.YAMLError as error:
        return _make_empty_tree(_translate_yaml_error(error, text, file), file)
    except RecursionError:  # of the loader written in Python
        return _make_empty_tree(Problem(f"is nested deeper than {DEEPEST} levels", file.shown), file)
    if isinstance(node, yaml.MappingNode):
        return _Converter(file).convert_file(node)
    what = "is empty" if node is None or node.value == "" else "is not a mapping"
    return _make_empty_tree(Problem(f"{what}: a suite begins with a line 'ireval: 1'", file.shown), file)


def _make_empty_tree(problem: Problem, file: File) -> Tree:
    return Tree(put_value(Keys(), file, 1, 1), [problem], whole=False)


class _UnusableError(Exception):
    """The file cannot be read further."""


class _Converter:
    """Makes scalars, lists and mappings of YAML's nodes, and collects problems."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.tree = Tree(put_value(Keys(), file, 1, 1))
        self._seen: set[int] = set()
        self._repeated = 0

    def convert_file(self, node: yaml.MappingNode) -> Tree:
        try:
            self.tree.top = self._convert(node, 1)
        except _UnusableError:
            self.tree.whole = False
        return self.tree

    def _convert(self, node: Any, depth: int) -> Any:
        is_alias = id(node) in self._seen
        self._repeated += is_alias
        self._seen.add(id(node))
        if self._repeated > MOST_REPEATED:
            self._add(node, f"aliases repeat more than {MOST_REPEATED:,} values", "use extends or matrix")
            raise _UnusableError
        if depth > DEEPEST and not isinstance(node, yaml.ScalarNode):
            loop = "an alias stands inside of what it repeats" if is_alias else ""
            self._add(node, f"is nested deeper than {DEEPEST} levels", loop)
            raise _UnusableError
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")
        if tag != f"!!{TAGS[type(node)]}":
            complaint = f"the tag {quote(tag)} is refused: a suite holds text, lists and mappings only"
            is_glob = "*" in tag
            self._add(node, complaint, f'a text that begins with ! is quoted: "{tag.rstrip(",]}")}"' if is_glob else "")
        value: Any
        if isinstance(node, yaml.ScalarNode):
            value = Scalar(node.value, quoted=bool(node.style))
        else:
            self._find_torn_names(node)
            is_list = isinstance(node, yaml.SequenceNode)
            value = Items([self._convert(each, depth + 1) for each in node.value]) if is_list else Keys()
            for key_node, value_node in () if is_list else node.value:
                key = self._convert_key(key_node, value, depth + 1)
                converted = self._convert(value_node, depth + 1)
                if key is not None:
                    value[key] = converted
        return put_value(value, self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def _convert_key(self, node: Any, others: Any, depth: int) -> Scalar | None:
        """The key; None if it is refused."""
        if not isinstance(node, yaml.ScalarNode):
            self._add(node, "a list or a mapping cannot be a key: a key is text", "quote it, if it is one text")
            return None
        key: Scalar = self._convert(node, depth)
        if key == "<<" and not key.quoted:
            complaint = "merge keys (<<) are refused: suites inherit with extends"
            self._add(node, complaint, "use extends, or repeat it")
            return None
        # keys that differ only in how accents are encoded look the same
        same = (each for each in others if normalize_text(each) == normalize_text(key))
        if first := next(same, None) if key in others or not key.isascii() else None:
            is_list = isinstance(others[first], Items)
            place = f"the first is in line {first.line}"
            self._add(node, f"duplicate key {quote(key)}", f"{place}: add to its list" if is_list else place)
            return None
        return key

    def _find_torn_names(self, node: Any) -> None:
        """Find names of metrics that YAML has split at their commas.

        In ``{metric: nDCG(gain='exp', k=2)@10}`` the part after the comma is a key without a value.
        """
        if not node.flow_style:
            return
        pieces = [part for each in node.value for part in (each if isinstance(each, tuple) else [each])]
        pieces = [each for each in pieces if each.value != ""]
        for at, first in enumerate(pieces):
            if name := _join_name(pieces[at:]):
                mark = "'" if '"' in name else '"'
                self._add(first, "quote this metric name: it contains commas", f"write {mark}{name}{mark}")
                self.tree.whole = False  # what is read of the pieces is wrong, too

    def _add(self, node: Any, complaint: str, suggestion: str = "") -> None:
        place = f"{self.file.shown}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        self.tree.problems.append(Problem(complaint, place, suggestion=suggestion))


def _join_name(pieces: Sequence[Any]) -> str:
    """The name that begins with the first of these scalars and goes on in the next ones; empty if none does."""
    depth, parts = 0, list[str]()
    for piece in pieces:
        if not isinstance(piece, yaml.ScalarNode) or piece.style:
            return ""
        depth += piece.value.count("(") - piece.value.count(")")
        parts.append(piece.value)
        if depth <= 0:
            return ", ".join(parts) if len(parts) > 1 and depth == 0 else ""
    return ""


NO_BLANK = re.compile(r"(?P<before>[\s-]*)(?P<key>[A-Za-z_][\w.@-]*):(?P<value>(?!//)\S.*)")
"""A key without a space after its colon, so that the line is text to YAML."""
GLOB = re.compile(r"\*[*./][^\s,\]}]*")
"""A glob that YAML takes for an alias."""
ALIAS = re.compile(r"\*[^\s,\]}]+")
BOUND = re.compile(r"(?:[<>]=?|≥|≤)\s*[0-9.]+%?")
NAME_OF_METRIC = 'quote names of metrics that hold brackets, braces, commas or quotes: "nDCG(gain={1: 1, 2: 3})@10"'


def _translate_yaml_error(error: yaml.YAMLError, text: str, file: File) -> Problem:
    """YAML's own reason, or ours if that would mislead, with the place."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return _translate_marked(error, error.problem_mark, text.splitlines(), file)
    position = getattr(error, "position", None)
    before = text[: position or 0]
    at = f":{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}" if position is not None else ""
    return Problem(f"is not YAML: {getattr(error, 'reason', error)}", f"{file.shown}{at}")


def _translate_marked(error: yaml.MarkedYAMLError, mark: yaml.Mark, lines: Sequence[str], file: File) -> Problem:
    line, column = mark.line, mark.column
    for number, match in _find_lines_without_blank(error, mark.line, lines):
        place = f"{file.shown}:{number + 1}:{match.end('key') + 1}"
        suggestion = f"write {match['key']}: {match['value'].strip()}"
        return Problem("is not YAML: missing space after ':'", place, suggestion=suggestion)
    begun = error.context_mark
    if error.context == "while scanning a simple key" and begun is not None:  # noticed lines later
        line, column = begun.line, begun.column
    place = f"{file.shown}:{line + 1}:{column + 1}"
    if "another document" in str(error.problem):
        complaint = "a second document begins here: a file holds one suite"
        return Problem(complaint, place, suggestion="use a file for each")
    if "undefined alias" in str(error.problem):
        alias = ALIAS.match(lines[line], column)
        complaint = f"{alias[0] if alias else '*'} refers to an anchor that is not defined before it"
        return Problem(complaint, place, suggestion="quote it, if it is a text")
    if "nesting depth" in str(error.problem):  # libyaml has a limit of its own
        return Problem(f"is nested deeper than {DEEPEST} levels", place)
    since = f" that begins in line {begun.line + 1}" if begun is not None and begun.line != line else ""
    reason = ", ".join(str(part) for part in (f"{error.context or ''}{since}", error.problem) if part)
    return Problem(f"is not YAML: {reason}", place, suggestion=_find_remedy(lines, line, column))


def _find_lines_without_blank(
    error: yaml.MarkedYAMLError, last: int, lines: Sequence[str]
) -> Iterator[tuple[int, re.Match[str]]]:
    """Lines with a missing space after a colon, if that may be the mistake; YAML notices in the ``last`` line."""
    if error.context == "while scanning a simple key" and error.context_mark is not None:
        first = last = error.context_mark.line
    elif str(error.problem).startswith("mapping values are not allowed"):
        first = max(0, last - 1)
    else:
        return
    for number in range(first, min(last + 1, len(lines))):
        if match := NO_BLANK.fullmatch(lines[number]):
            yield number, match


def _find_remedy(lines: Sequence[str], line: int, column: int) -> str:
    """A suggestion for the line; empty if there is none."""
    here = lines[line] if line < len(lines) else ""
    if "\t" in here[: len(here) - len(here.lstrip())]:
        return "a tab indents this line, but YAML allows only spaces: replace it with spaces"
    if glob := GLOB.match(here, max(0, column - 1)):
        return f'a text that begins with * is quoted: "{glob[0]}"'
    if here[max(0, column - 1) : column + 1] == "${":
        variable = here[column - 1 :].partition("}")[0] + "}"
        return f'quote a variable inside of braces or brackets: "{variable}"'
    for begin in (column, column - 1, column - 2):
        if begin >= 0 and (bound := BOUND.match(here, begin)):
            return f'quote text that begins with {bound[0][0]}: "{bound[0]}"'
    if here.lstrip().startswith("- "):
        indent = here[: here.index("-")]
        for number in range(line - 1, -1, -1):
            if re.match(rf"{indent}[^\s#-]", lines[number]):
                return f"begin line {number + 1} with '- ', too: it is an entry of the same list"
            if lines[number].strip() and not lines[number].startswith((f"{indent} ", f"{indent}-", f"{indent}#")):
                break
    for text in lines[max(0, line - 1) : line + 1][::-1]:
        if "@[" in text or any(mark in text.partition("(")[2] for mark in ("{", "'", '"', ",")):
            return NAME_OF_METRIC
    return f"quote text that begins with {here[column]}" if here[column : column + 1] in ("@", "`", "%") else ""
