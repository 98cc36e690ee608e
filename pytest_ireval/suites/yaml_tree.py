"""A YAML file as text, lists and mappings with their places, and all its mistakes as YAML.

Every scalar is text: ``007``, ``no`` and ``12:30`` stay as they are. The tree is built from the parser's events, not
from its nodes, so that depth, aliases and repeated keys are under control while it grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pytest_ireval.errors import Problem, shown
from pytest_ireval.retrieval.queries import composed
from pytest_ireval.suites.scalars import File, Items, Keys, Scalar, put_value

LARGEST = 2 << 20
DEEPEST = 50
REPEATED = 10_000
"""The most values that aliases may make."""
PARSER: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The parser written in C, if it is installed."""


class _Tree(NamedTuple):
    """The content of a file, and its mistakes as YAML."""

    top: Keys
    problems: tuple[Problem, ...]
    whole: bool = True
    """True if the file was read to its end."""
    variables: bool = True
    """True if it may contain variables."""


def read_tree(path: Path, file: File) -> _Tree:
    """The tree of a file; with problems it may be incomplete."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        return _nothing(file, f"cannot be read: {error.strerror}")
    return tree_of_bytes(data, file)


def tree_of_bytes(data: bytes, file: File) -> _Tree:
    """The same, given the content of the file."""
    if len(data) > LARGEST:
        return _nothing(file, f"is larger than {LARGEST >> 20} MiB, the limit for a suite")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _nothing(file, f"byte {error.start + 1} is not UTF-8; a suite is written in UTF-8", line)
    return tree_of(data, file)


def tree_of(data: bytes, file: File) -> _Tree:
    """The tree of a file's content."""
    builder = _Builder(file, brackets=b"(" in data)
    try:
        for event in yaml.parse(data, Loader=PARSER):
            builder.take(event)
            if builder.stopped:
                break
    except yaml.YAMLError as error:
        builder.problems.append(_syntax_problem(error, data, file))
        builder.stopped = True
    if isinstance(builder.top, Keys):
        return _Tree(builder.top, tuple(builder.problems), not builder.stopped, b"$" in data)
    if not builder.problems:
        what = "is empty" if builder.top is None or builder.top == "" else "is not a mapping"
        builder.problems.append(Problem(f"{what}: a suite begins with a line 'ireval: 1'", file.shown))
    return _Tree(put_value(Keys(), file, 1, 1), tuple(builder.problems), whole=False)


def _nothing(file: File, complaint: str, line: int = 0) -> _Tree:
    place = f"{file.shown}:{line}" if line else file.shown
    return _Tree(put_value(Keys(), file, 1, 1), (Problem(complaint, place),), whole=False)


class _Builder:
    """Takes events from first to last; ``problems`` are in the order of the file."""

    def __init__(self, file: File, *, brackets: bool) -> None:
        self.file = file
        self.brackets = brackets
        self.top: Any = None
        self.problems: list[Problem] = []
        self.stopped = False
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._count = 0
        self._repeated = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """Add one event."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._tag(event, event.tag)
            self._count += 1
            value = self._put(Scalar(event.value, quoted=bool(event.style)), event)
            self._anchor(event, value, self._count - 1)
            self._place(value, event)
        elif kind is yaml.MappingStartEvent:
            self._begin(Keys(), event)
        elif kind is yaml.SequenceStartEvent:
            self._begin(Items(), event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._end()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self._documents += 1
            if self._documents > 1:
                self._wrong(event, "a second document begins here: a file holds one suite", "use a file for each")
                self.stopped = True

    def _put(self, value: Any, event: Any) -> Any:
        mark = event.start_mark
        return put_value(value, self.file, mark.line + 1, mark.column + 1)

    def _wrong(self, event: Any, complaint: str, suggestion: str = "") -> None:
        mark = event.start_mark
        place = f"{self.file.shown}:{mark.line + 1}:{mark.column + 1}"
        self.problems.append(Problem(complaint, place, suggestion=suggestion))

    def _tag(self, event: Any, tag: str | None) -> None:
        if tag is not None and tag not in ("!", "tag:yaml.org,2002:str"):
            written = tag.replace("tag:yaml.org,2002:", "!!")
            complaint = f"the tag {shown(written)} is refused: a suite holds text, lists and mappings only"
            glob = f'a text that begins with ! is quoted: "{written.rstrip(",]}")}"' if "*" in written else ""
            self._wrong(event, complaint, glob)

    def _begin(self, value: Any, event: Any) -> None:
        self._tag(event, event.tag)
        self._put(value, event)
        self._open.append(_Open(value, event, self._count))
        self._count += 1
        if len(self._open) > DEEPEST:
            self._wrong(event, f"is nested deeper than {DEEPEST} levels")
            self.stopped = True

    def _end(self) -> None:
        done = self._open.pop()
        if self.brackets and done.event.flow_style:
            self.problems += _in_list(done.value) if isinstance(done.value, Items) else _in_mapping(done.value)
        self._anchor(done.event, done.value, done.count)
        self._place(done.value, done.event)

    def _anchor(self, event: Any, value: Any, before: int) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._count - before)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            own = any(each.event.anchor == event.anchor for each in self._open)
            why = "is inside of what it repeats" if own else "refers to an anchor that is not defined before it"
            self._wrong(event, f"*{event.anchor} {why}")
            self._place(self._put(Scalar(""), event), event)
            return
        value, size = self._anchors[event.anchor]
        self._count += size
        self._repeated += size
        if self._repeated > REPEATED:
            self._wrong(event, f"aliases repeat more than {REPEATED:,} values", "use extends or matrix")
            self.stopped = True
        self._place(value, event)

    def _place(self, value: Any, event: Any) -> None:
        """Put a finished value where it belongs."""
        if not self._open:
            self.top = value
            return
        into = self._open[-1]
        if isinstance(into.value, Items):
            into.value.append(value)
        elif not into.has_key:
            into.key, into.has_key = self._key(value, into, event), True
        else:
            if into.key is not None:
                into.value[into.key] = value
            into.has_key = False

    def _key(self, key: Any, into: _Open, event: Any) -> Any:
        """The key; None if its value must be dropped."""
        if not isinstance(key, Scalar):
            self._wrong(event, "a list or a mapping cannot be a key: a key is text", "quote it, if it is one text")
            return None
        if key == "<<" and not getattr(event, "style", None):
            self._wrong(event, "merge keys (<<) are refused: suites inherit with extends", "use extends, or repeat it")
            return None
        same = (each for each in into.value if composed(each) == composed(key))
        if first := next(same, None) if key in into.value or not key.isascii() else None:
            self._wrong(event, f"duplicate key {shown(key)}", f"the first is in line {first.line}")
            return None
        return key


@dataclass(slots=True)
class _Open:
    """A list or mapping that has not ended yet."""

    value: Any
    event: Any
    count: int
    key: Any = None
    has_key: bool = False


NO_BLANK = re.compile(r"(?P<before>[\s-]*)(?P<key>[A-Za-z_][\w.@-]*):(?P<value>(?!//)\S.*)")
"""A key without a space after its colon, so that the line is text to YAML."""
GLOB = re.compile(r"\*[*./][^\s,\]}]*")
"""A glob that YAML takes for an alias."""
BOUND = re.compile(r"(?:[<>]=?|≥|≤)\s*[0-9.]+%?")
NAME_OF_METRIC = 'quote names of metrics that hold brackets, braces, commas or quotes: "nDCG(gain={1: 1, 2: 3})@10"'


def _syntax_problem(error: yaml.YAMLError, data: bytes, file: File) -> Problem:
    """YAML's own reason, or ours if that would mislead, with the place."""
    text = data.decode("utf-8")
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return _marked(error, error.problem_mark, text.splitlines(), file)
    position = getattr(error, "position", None)
    before = text[: position or 0]
    at = f":{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}" if position is not None else ""
    return Problem(f"is not YAML: {getattr(error, 'reason', error)}", f"{file.shown}{at}")


def _marked(error: yaml.MarkedYAMLError, mark: yaml.Mark, lines: Sequence[str], file: File) -> Problem:
    line, column = mark.line, mark.column
    found = _without_blank(error, mark.line, lines)
    if found is not None:
        number, match = found
        place = f"{file.shown}:{number + 1}:{match.end('key') + 1}"
        suggestion = f"write {match['key']}: {match['value'].strip()}"
        return Problem("is not YAML: missing space after ':'", place, suggestion=suggestion)
    if error.context == "while scanning a simple key" and error.context_mark is not None:  # noticed lines later
        line, column = error.context_mark.line, error.context_mark.column
    place = f"{file.shown}:{line + 1}:{column + 1}"
    if "nesting depth" in str(error.problem):  # libyaml has a limit of its own, and may read ahead
        return Problem(f"is nested deeper than {DEEPEST} levels", place)
    begun = error.context_mark
    since = f" that begins in line {begun.line + 1}" if begun is not None and begun.line != line else ""
    reason = ", ".join(str(part) for part in (f"{error.context or ''}{since}", error.problem) if part)
    return Problem(f"is not YAML: {reason}", place, suggestion=_remedy(lines, line, column))


def _without_blank(error: yaml.MarkedYAMLError, last: int, lines: Sequence[str]) -> tuple[int, re.Match[str]] | None:
    """The line with a missing space after a colon, if that is the mistake; YAML notices in the ``last`` line."""
    if error.context == "while scanning a simple key" and error.context_mark is not None:
        first = last = error.context_mark.line
    elif str(error.problem).startswith("mapping values are not allowed"):
        first = max(0, last - 1)
    else:
        return None
    numbers = range(first, min(last + 1, len(lines)))
    return next(((number, match) for number in numbers if (match := NO_BLANK.fullmatch(lines[number]))), None)


def _remedy(lines: Sequence[str], line: int, column: int) -> str:
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
    for text in lines[max(0, line - 1) : line + 1][::-1]:
        if "@[" in text or any(mark in text.partition("(")[2] for mark in ("{", "'", '"', ",")):
            return NAME_OF_METRIC
    return f"quote text that begins with {here[column]}" if here[column : column + 1] in ("@", "`", "%") else ""


def _in_list(items: Items) -> Iterator[Problem]:
    """Join names of metrics that YAML has split at their commas; a problem for each."""
    at = 0
    while at < len(items):
        end = _end_of_name(list(items[at:]))
        if end:
            items[at : at + end] = [whole := _joined(items[at : at + end])]
            yield _problem(whole)
        at += 1


def _in_mapping(keys: Keys) -> Iterator[Problem]:
    """The same: of ``{metric: nDCG(gain='exp', k=2)@10}`` the part after the comma becomes a key without a value."""
    pieces = list(keys.items())
    for at, (key, value) in enumerate(pieces):
        parts = [value, *(k if v == "" else None for k, v in pieces[at + 1 :])]
        end = _end_of_name(parts)
        if end:
            keys[key] = whole = _joined(parts[:end])
            for each in parts[1:end]:
                del keys[each]
            yield _problem(whole)


def _end_of_name(pieces: list[object]) -> int:
    """The number of pieces of a name whose brackets close; 0 if the first piece does not begin such a name."""
    depth = 0
    for number, piece in enumerate(pieces, 1):
        if not isinstance(piece, Scalar):
            return 0
        depth += piece.count("(") - piece.count(")")
        if depth <= 0:
            return number if number > 1 else 0
    return 0


def _joined(pieces: list[Scalar]) -> Scalar:
    first = pieces[0]
    return put_value(Scalar(", ".join(pieces)), first.file, first.line, first.column)


def _problem(whole: Scalar) -> Problem:
    quote = "'" if '"' in whole else '"'
    suggestion = f"write {quote}{whole}{quote}"
    return Problem("quote this metric name: it contains commas", str(whole.place), suggestion=suggestion)
