"""The exchange with a live system: how a query becomes a request, where its answer has what, and the answers kept."""

from __future__ import annotations

import glob
import gzip
import hashlib
import io
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, WithJsonSchema

from pytest_ireval.errors import InputError, Problem, SourceError, did_you_mean, shown, within
from pytest_ireval.results.suite_result import RecordedAnswers
from pytest_ireval.retrieval.formats.input_file import input_file
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.secrets import hidden_in
from pytest_ireval.sources.request import Request
from pytest_ireval.suites.scalars import NUMBER, Scalar, UnfitError


def _json_tree(value: Any) -> Any:
    """Read a JSON value as a suite writes it: ``10``, ``true`` and ``null`` as in JSON, and what is quoted as text."""
    if isinstance(value, Mapping):
        return {str(key): _json_tree(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_tree(each) for each in value]
    if not isinstance(value, Scalar):
        return value
    text = str(value)
    if not value.quoted and (text in ("true", "false", "null") or NUMBER.fullmatch(text)):
        with suppress(ValueError):  # a number such as 007, which JSON does not know
            return json.loads(text)
    return text


JsonTree = Annotated[Any, BeforeValidator(_json_tree), WithJsonSchema({})]


class Exchange(NamedTuple):
    """The way in which a query becomes a request, and the answer a ranking. Texts have holes, paths are JMESPath."""

    url: str
    method: str
    params: Mapping[str, str]
    body: Any
    hits: str
    id: str
    score: str = ""
    fields: Mapping[str, str] = {}
    took: str = ""
    complete: str = ""
    page_size: int | None = None


LONGEST_WAIT = 60.0
"""Seconds that a server may ask for before the next attempt."""


class AttemptError(Exception):
    """An attempt without a result; ``again`` is true if another one may succeed, ``after`` that many seconds."""

    def __init__(self, complaint: str, shows: str = "", *, again: bool = False, after: float = 0.0) -> None:
        super().__init__(complaint)
        self.complaint, self.shows, self.again, self.after = complaint, shows, again, after


_HOLE = re.compile(r"\{\{(?P<literal>[A-Za-z_][\w.-]*)\}\}|\{(?P<json>json:)?(?P<name>[A-Za-z_][\w.-]*)\}")
Encode = Callable[[Any], str]


def holes(tree: Any) -> Iterator[str]:
    """The names of all placeholders."""
    if isinstance(tree, str):
        yield from (hole["name"] for hole in _HOLE.finditer(tree) if hole["name"])
    elif isinstance(tree, Mapping | list | tuple):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            yield from holes(each)


def filled(tree: Any, values: Mapping[str, Any], encode: Encode = str) -> Any:
    """The tree with placeholders filled in; a text that is one placeholder becomes its value, which may be a number.

    ``{json:name}`` is the value of JSON in a column.
    """
    if isinstance(tree, str):
        if "{" not in tree:
            return tree
        whole = _HOLE.fullmatch(tree)
        if whole and whole["name"] and encode is str:
            return _from_json(whole["name"], values) if whole["json"] else values[whole["name"]]
        return _HOLE.sub(lambda hole: encode(values[hole["name"]]) if hole["name"] else f"{{{hole['literal']}}}", tree)
    if isinstance(tree, Mapping):
        return {key: filled(each, values, encode) for key, each in tree.items()}
    return [filled(each, values, encode) for each in tree] if isinstance(tree, list) else tree


def _from_json(name: str, values: Mapping[str, Any]) -> Any:
    """The JSON value that a column has as text, such as the list of numbers of a vector."""
    try:
        return json.loads(str(values[name]))
    except ValueError:
        complaint = f"{{json:{name}}} needs JSON in the column {name}, which has {shown(str(values[name])[:100])}"
        raise AttemptError(complaint, f"write {{{name}}} for a text") from None


def refuse_unknown(used: Iterable[str], known: Collection[str], queries: Queries, written: str) -> None:
    """Refuse the name of a column that the queries do not have; ``written`` is the form of a name in the suite."""
    unknown = next((name for name in sorted(used) if name not in known), None)
    if unknown is not None:
        complaint = f"{written % unknown} is not a column of the queries ({queries.origin})"
        allowed = f"allowed: {', '.join(sorted(known))}"
        raise SourceError(Problem(complaint, suggestion=did_you_mean(unknown, known), allowed=allowed))


SAME_FOR_ALL = frozenset(("depth", "size", "from", "page"))
"""Placeholders whose value does not depend on the query."""
OF_ANY_QUERY = SAME_FOR_ALL | {"id", "text"}
"""Placeholders that need no column."""


def find_mistakes(
    used: Collection[str], sizes: Iterable[tuple[str, Any]], queries: Queries | None, depth: int, written: str
) -> Iterator[Problem]:
    """Mistakes of requests: names that are no columns, nothing that depends on the query, too few documents.

    ``used`` are the names in the request, and ``written`` is how a suite writes one. ``sizes`` are the numbers of
    documents that it asks for, by the name of the parameter. ``queries`` are None if they have not been read.
    """
    if queries is not None:
        try:
            refuse_unknown(used, OF_ANY_QUERY | {*queries.columns}, queries, written)
        except SourceError as error:
            yield from error.problems
            return
    if not set(used) - SAME_FOR_ALL:
        text = written % "text"
        complaint = f"every query gets the same request: it has neither {text} nor a column of the queries"
        yield Problem(complaint, suggestion=f"write {text} where the words of the query belong")
    elif queries is not None and "text" in used and (query := _query_without_text(queries)):
        complaint = f"query {shown(query)} has no text ({queries.origin}), but the request needs {written % 'text'}"
        yield Problem(complaint, suggestion="set queries: to a file with columns id and text")
    for name, size in sizes:
        number = int(size) if str(size).isascii() and str(size).isdigit() else depth
        if number < depth:
            complaint = f"{name}: {number} asks for fewer documents than the suite, whose depth is {depth}"
            yield Problem(
                complaint, suggestion=f"ask for {written % 'depth'} documents, or write depth: {number} in the suite"
            )


def _query_without_text(queries: Queries) -> str:
    return next((query for query, text in zip(queries.ids, queries.text, strict=True) if not text), "")


def sizes_in(tree: Any, *names: str) -> Iterator[tuple[str, Any]]:
    """The values that a mapping has under some names."""
    if isinstance(tree, Mapping):
        yield from ((name, tree[name]) for name in names if name in tree)


_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def json_path(expression: str) -> Callable[[Any], Any]:
    """A function that finds the value of a JMESPath expression; plain names, which are most, without the library."""
    if _PLAIN_PATH.fullmatch(expression):
        *parents, last = expression.split(".")

        def found(value: Any) -> Any:
            for name in parents:
                value = value.get(name) if isinstance(value, dict) else None
            return value.get(last) if isinstance(value, dict) else None

        return found
    try:
        import jmespath
    except ImportError:
        needs = "jmespath must be installed, for paths other than names and dots"
        raise UnfitError(f"{shown(expression)}: {needs}", "pip install 'pytest-ireval[live]'") from None
    try:
        search: Callable[[Any], Any] = jmespath.compile(expression).search
    except jmespath.exceptions.JMESPathError as error:
        complaint = " ".join(str(error).split("\n")[0].split())
        raise UnfitError(f"{shown(expression)} is not JMESPath: {complaint}", "see https://jmespath.org") from None
    return search


OFFLINE = "IREVAL_OFFLINE"
"""The variable with which no system is asked: answers come from recordings alone."""
RUN_KEYS = ("IREVAL_RUN_KEY", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILD_TAG")
"""Variables that name a run of CI: what an interrupted attempt of the same run got is not asked for again."""
FORMAT = 1


class Reply(NamedTuple):
    """An answer, and the seconds that it took."""

    answer: Any
    seconds: float | None
    """None for one of several answers to one request."""


class Recording:
    """The answers to the requests of one source. They are lines of JSON, without secrets, in query order.

    Several processes may record one source at the same time: each writes files of its own, and the last one that
    finishes replaces the recording. In CI each answer is also kept at once, so that a second attempt of an interrupted
    run finds it.
    """

    def __init__(self, folder: Path, request: Request, source: object) -> None:
        self.folder, self.request = folder, request
        self.offline = bool(os.environ.get(OFFLINE))
        digest = hashlib.sha256(_line(hidden_in(source)).encode()).hexdigest()[:8]
        number = f".against-{request.reference}" if request.reference else ""
        number += f"-{request.repetition}" if request.repetition > 1 else ""
        self.path = folder / f"{request.suite}.{digest}{number}.jsonl.gz"
        self._run = next((f"{name}={os.environ[name]}" for name in RUN_KEYS if os.environ.get(name)), "")
        self._own = f"{self.path.stem}.{secrets.token_hex(8)}"
        """The beginning of the names of files that no other process writes."""
        self._date = _day_of_today()
        """Of the oldest answer."""
        self._known: dict[str, Reply] = {}
        self._lines: dict[tuple[int, int], str] = {}
        self._asked: set[int] = set()
        self._replayed: set[int] = set()
        self._lock = Lock()
        self._writes: io.TextIOWrapper | None = None

    def __enter__(self) -> Recording:
        """Read what is there, or begin."""
        if self.offline:
            if not self.path.is_file():
                again = f"set the variables of the recorded run; or, to record one, unset {OFFLINE}"
                raise SourceError(Problem(f"there is no recording {self._shown}", suggestion=again))
            self._known = {key: answered for key, answered, _ in self._read(self.path)}
            return self
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self._run:
                kept = {key: (answered, line) for path in self._parts() for key, answered, line in self._read(path)}
                self._known = {key: answered for key, (answered, _) in kept.items()}
                self._writes = open(self.folder / f"{self._own}.part", "w", encoding="utf-8", newline="\n")
                head = _line(self._head() | {"run": self._run})
                self._writes.writelines(f"{line}\n" for line in (head, *(line for _, line in kept.values())))
                self._writes.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """A whole run becomes the recording; what an interrupted one got stays for its next attempt."""
        if self._writes is not None:
            self._writes.close()
        if self.offline or kind is not None:
            return
        lines = [_line(self._head()), *(self._lines[place] for place in sorted(self._lines))]
        made = self.folder / f"{self._own}.new"
        try:
            made.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
            os.replace(made, self.path)
        except OSError as error:
            made.unlink(missing_ok=True)
            raise self._unwritable(error) from None
        for part in self._parts():  # those of interrupted runs, too, for nobody else would remove them
            with suppress(OSError):  # another process has removed it, or writes it on Windows
                part.unlink()

    def recorded(self) -> RecordedAnswers | None:
        """The queries that were answered by recordings alone; None if there is none."""
        replayed = len(self._replayed - self._asked)
        return RecordedAnswers(replayed, len(self._replayed | self._asked), self._date) if replayed else None

    def has(self, sent: Mapping[str, Any]) -> bool:
        """True if the answer to what is ``sent`` is recorded, or must be because there is no network."""
        return self.offline or _line(hidden_in(sent)) in self._known

    def answered(self, place: tuple[int, int], sent: Mapping[str, Any], ask: Callable[[], Reply]) -> Reply:
        """The recorded answer to what is ``sent``, or the one that ``ask`` gets; ``place`` is its query and page."""
        key = _line(hidden_in(sent))
        found = self._known.get(key)
        if found is None and self.offline:
            raise LookupError(f"the recording {self._shown} has no answer to this request")
        (self._asked if found is None else self._replayed).add(place[0])
        if found is None:
            found = ask()
        seconds = None if found.seconds is None else round(found.seconds, 6)
        line = _line({"request": json.loads(key), "seconds": seconds, "answer": hidden_in(found.answer)})
        with self._lock:
            self._lines[place] = line
            if self._writes is not None and key not in self._known:
                self._writes.write(f"{line}\n")
                self._writes.flush()
        return found

    @property
    def _shown(self) -> str:
        return within(self.path, self.request.folder)

    def _head(self) -> dict[str, Any]:
        return {"ireval_recording": FORMAT, "date": self._date}

    def _parts(self) -> list[Path]:
        """What interrupted runs got, and what others get at this moment."""
        return sorted(self.folder.glob(f"{glob.escape(self.path.stem)}.*.part"))

    def _unwritable(self, error: OSError) -> SourceError:
        return SourceError(f"the recording cannot be written to {self._shown}: {error.strerror}")

    def _read(self, path: Path) -> Iterator[tuple[str, Reply, str]]:
        """The answers in a file. A part of another run has none for this one, and its last line may be cut off."""
        try:
            with input_file(path) as file:
                for number, line in enumerate(file.lines()):
                    found = json.loads(line)
                    if not number:
                        if not self.offline and found["run"] != self._run:
                            return
                        self._date = min(self._date, str(found["date"])) if not self.offline else str(found["date"])
                        continue
                    seconds = found["seconds"]
                    answered = Reply(found["answer"], None if seconds is None else float(seconds))
                    yield _line(found["request"]), answered, line.rstrip("\n")
        except (InputError, OSError, ValueError, KeyError, TypeError) as error:
            if not self.offline:  # an interruption cuts its last line anywhere, and another process may remove it
                return
            said = f"the recording {self._shown} is damaged: {error}"
            raise SourceError(Problem(said, suggestion="record it again")) from None


def _day_of_today() -> str:
    """``2026-11-20``, in UTC."""
    moment = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return datetime.fromtimestamp(moment, timezone.utc).date().isoformat()


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=list)
