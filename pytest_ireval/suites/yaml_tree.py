"""A YAML file as text, lists and mappings that know where they stand, with everything that is wrong with it as YAML.

Every scalar is text: ``007``, ``no`` and ``12:30`` stay what they are. It is built of the parser's events, not of its
nodes: so depth, aliases and repeated keys are under control while it grows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pytest_ireval.errors import Problem, shown
from pytest_ireval.suites.scalars import File, Items, Keys, Scalar, put
from pytest_ireval.suites.torn_names import mended
from pytest_ireval.suites.yaml_mistakes import syntax_problem

LARGEST = 2 << 20
DEEPEST = 50
REPEATED = 10_000
"""So many values may stand there through aliases."""
TEXT_TAG = "tag:yaml.org,2002:str"
PARSER: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The one written in C, where there is one."""


class Tree(NamedTuple):
    """What stands in a file, and what is wrong with it as YAML."""

    top: Keys
    problems: tuple[Problem, ...]
    whole: bool = True
    """Whether it was read to its end."""
    variables: bool = True
    """Whether there may be variables in it."""


def read_tree(path: Path, file: File) -> Tree:
    """The tree of a file; with problems it may lack what could not be read."""
    try:
        size = os.path.getsize(path)
        data = b"" if size > LARGEST else path.read_bytes()
    except OSError as error:
        return _nothing(file, f"cannot be read: {error.strerror}")
    return tree_of_bytes(data, file) if size <= LARGEST else _too_large(file)


def tree_of_bytes(data: bytes, file: File) -> Tree:
    """The same of what is known to be in the file."""
    if len(data) > LARGEST:
        return _too_large(file)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _nothing(file, f"byte {error.start + 1} is not UTF-8, which a suite is written in", line)
    return tree_of(data, file)


def tree_of(data: bytes, file: File) -> Tree:
    """The tree of a file's content."""
    builder = _Builder(file, brackets=b"(" in data)
    try:
        for event in yaml.parse(data, Loader=PARSER):
            builder.take(event)
            if builder.stopped:
                break
    except yaml.YAMLError as error:
        builder.problems.append(syntax_problem(error, data, file))
        builder.stopped = True
    if isinstance(builder.top, Keys):
        return Tree(builder.top, tuple(builder.problems), not builder.stopped, b"$" in data)
    if not builder.problems:
        what = "is empty" if builder.top is None or builder.top == "" else "is no mapping"
        builder.problems.append(Problem(f"{what}: a suite begins with a line 'ireval: 1'", file.shown))
    return Tree(put(Keys(), file, 1, 1), tuple(builder.problems), whole=False)


def _too_large(file: File) -> Tree:
    return _nothing(file, f"is larger than {LARGEST >> 20} MiB, and no suite is")


def _nothing(file: File, complaint: str, line: int = 0) -> Tree:
    place = f"{file.shown}:{line}" if line else file.shown
    return Tree(put(Keys(), file, 1, 1), (Problem(complaint, place),), whole=False)


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
        """One more event."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._tag(event, event.tag)
            self._count += 1
            value = self._put(Scalar(event.value), event)
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
        return put(value, self.file, mark.line + 1, mark.column + 1)

    def _wrong(self, event: Any, complaint: str, suggestion: str = "") -> None:
        mark = event.start_mark
        place = f"{self.file.shown}:{mark.line + 1}:{mark.column + 1}"
        self.problems.append(Problem(complaint, place, suggestion=suggestion))

    def _tag(self, event: Any, tag: str | None) -> None:
        if tag is not None and tag not in ("!", TEXT_TAG):
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
            self.problems += mended(done.value)
        self._anchor(done.event, done.value, done.count)
        self._place(done.value, done.event)

    def _anchor(self, event: Any, value: Any, before: int) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._count - before)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            own = any(each.event.anchor == event.anchor for each in self._open)
            why = "stands inside what it repeats" if own else "repeats nothing: there is no such anchor before it"
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
            self._wrong(event, "a list or a mapping is no key: a key is text", "quote it, if it is one text")
            return None
        if key == "<<" and not getattr(event, "style", None):
            self._wrong(
                event, "merge keys (<<) are refused: two ways to inherit are one too many", "use extends, or repeat it"
            )
            return None
        if key in into.value:
            first = next(each for each in into.value if each == key)
            self._wrong(event, f"the key {shown(key)} is given twice", f"the first is in line {first.line}")
            return None
        return key


class _Open:
    """A list or mapping that has not ended yet."""

    __slots__ = ("count", "event", "has_key", "key", "value")

    def __init__(self, value: Any, event: Any, count: int) -> None:
        self.value, self.event, self.count = value, event, count
        self.key: Any = None
        self.has_key = False
