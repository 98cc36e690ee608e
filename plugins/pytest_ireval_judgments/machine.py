"""A program as a judge, such as a language model: JSON lines in and out, a cache of answers, a limit of spending."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Semaphore, Thread
from typing import IO, Any, NamedTuple

from pytest_ireval import InputError
from pytest_ireval.plugin_api import Problem, end_program, end_programs_on_signals, last_lines, quote
from pytest_ireval_judgments.rating import Item, Pair

PATIENCE = 2.0
"""Seconds that a program has to end by itself."""
LONGEST = 1 << 20
"""Bytes of an answer."""
MODEL, PROMPT = "{model}", "{prompt}"
"""Words that a command may contain: the name of the model, and the path of the prompt."""


class GivenGrade(NamedTuple):
    """The grade that a program gave, and who gave it when."""

    grade: int
    model: str
    date: str
    cost: float = 0.0


class BadAnswerError(InputError):
    """An answer that is not what was asked for."""


@dataclass
class MachineJudge:
    """The command, and everything on which its answers depend."""

    command: str
    grades: Mapping[int, str]
    """Labels, which may be empty."""
    model: str = ""
    prompt: Path | None = None
    timeout: float = 120.0
    """The longest silence in seconds."""

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise InputError(Problem(f"--with cannot be split into words: {error}")) from None
        if not words:
            raise InputError("--with names no program")
        values = {MODEL: self.model, PROMPT: str(self.prompt or "")}
        for name, value in values.items():
            words = [word.replace(name, value) for word in words]
        return words

    @property
    def name(self) -> str:
        """The model, or else the program without its arguments, which may have a secret."""
        script = next((word for word in self.words if word.endswith(".py")), self.words[0])
        return self.model or Path(script).name

    @cached_property
    def prompt_hash(self) -> str:
        """A short hash of the prompt; empty without one."""
        return "" if self.prompt is None else hashlib.sha256(self.prompt.read_bytes()).hexdigest()[:12]

    @cached_property
    def scripts_hash(self) -> str:
        """A hash of the files that the command names: another script is another judge."""
        digest = hashlib.sha256()
        for word in self.words[1:]:
            path = Path(word)
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def request(self, item: Item) -> dict[str, Any]:
        """One line for the program."""
        return {**item._asdict(), "grades": {str(grade): label for grade, label in self.grades.items()}}

    def key(self, item: Item) -> str:
        """Equal for equal questions to the same program; an id counts only where there is nothing else to read."""
        question = (
            item.text or item.query,
            dict(item.about),
            dict(item.fields) or item.document,
            list(self.grades.items()),
        )
        whole = json.dumps([*question, self.command, self.model, self.scripts_hash, self.prompt_hash], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:32]


class AnswerCache:
    """Answers by key in a file of JSON lines; each is on the disk before the next one is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, GivenGrade] = {}
        data = path.read_bytes() if path.exists() else b""
        end = data.rfind(b"\n") + 1
        whole = data if _is_json(data[end:]) else data[:end]  # an interrupted program may have left half a line
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                found = json.loads(line)
                values = int(found["grade"]), str(found["model"]), str(found["date"]), float(found["cost"])
                self.known[str(found["key"])] = GivenGrade(*values)
            except (ValueError, KeyError, TypeError, RecursionError):
                complaint = "is not an answer that ireval judge wrote"
                remedy = "remove the line, or name another file with --cache"
                raise InputError(Problem(complaint, f"{path}:{number}", suggestion=remedy)) from None
        self.size = len(whole)
        if self.size < len(data):
            os.truncate(path, self.size)
        elif whole[-1:] not in (b"", b"\n"):
            with open(path, "ab") as file:
                self.size += file.write(b"\n")

    def add(self, key: str, answer: GivenGrade, item: Item) -> None:
        """Keep an answer."""
        line = {"key": key, "query": item.query, "document": item.document, **answer._asdict()}
        with open(self.path, "ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        self.known[key] = answer

    def forget(self) -> None:
        """Remove the answers that were added."""
        if self.path.exists():
            os.truncate(self.path, self.size)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass
class Spending:
    """The answers, and the cost, that may still be asked for; None: without a limit."""

    answers: int | None = None
    cost: float | None = None
    asked: int = 0
    spent: float = 0.0

    @property
    def open(self) -> bool:
        """True if another answer may be asked for."""
        return (self.answers is None or self.asked < self.answers) and (self.cost is None or self.spent < self.cost)


@dataclass
class Asking:
    """Asks a judge about documents; answers of the cache are free."""

    judge: MachineJudge
    cache: AnswerCache
    budget: Spending
    date: str
    advance: Callable[[int], None] = field(default=lambda _: None)

    def answers(self, items: Sequence[Item]) -> dict[Pair, GivenGrade]:
        """The answers about the items, as far as the budget goes.

        Those that came before an error are kept in the cache. A program that answers too often may have answered the
        wrong document at any time: then none of its answers is kept.
        """
        keys = {item.pair: self.judge.key(item) for item in items}
        new = {keys[item.pair]: item for item in items if keys[item.pair] not in self.cache.known}
        wanted = list(new.items())
        if self.budget.answers is not None:
            wanted = wanted[: max(0, self.budget.answers - self.budget.asked)]
        if wanted and self.budget.open:
            self._ask(wanted)
        known = self.cache.known
        return {pair: known[key] for pair, key in keys.items() if key in known}

    def _ask(self, wanted: Sequence[tuple[str, Item]]) -> None:
        lines = [json.dumps(self.judge.request(item)).encode() + b"\n" for _, item in wanted]
        ahead = len(lines) if self.budget.cost is None else 1
        with closing(_run_program(self.judge, lines, ahead)) as found:
            for (key, item), line in zip(wanted, found, strict=False):
                place = f"answer {self.budget.asked + 1} of {self.judge.name}"
                answer = self._answer(line, item, place)
                self.cache.add(key, answer, item)
                self.budget.asked += 1
                self.budget.spent += answer.cost
                self.advance(1)
                if not self.budget.open and self.budget.cost is not None:
                    return
            if (extra := next(found, None)) is not None:
                self.cache.forget()
                complaint = f"answered more often than it was asked ({len(lines)} times): {quote(_show_line(extra))}"
                remedy = "print one line for each line that is read; none of these answers is kept"
                raise BadAnswerError(Problem(complaint, self.judge.name, suggestion=remedy))

    def _answer(self, line: bytes, item: Item, place: str) -> GivenGrade:
        """The answer in a line, checked."""
        about = f"document {quote(item.document)} of query {quote(item.query)}"
        allowed = f'a line {{"grade": N}}, where N is one of {", ".join(map(str, self.judge.grades))}'
        complaint = ""
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found, complaint = {}, "is not JSON"
        if not complaint and not isinstance(found, dict):
            found, complaint = {}, "is not a JSON object"
        grade, model = found.get("grade"), found.get("model", self.judge.model)
        cost = _parse_cost(found["cost"]) if "cost" in found else 0.0 if self.budget.cost is None else None
        echoed = [name for name in ("query", "document") if found.get(name, getattr(item, name)) != getattr(item, name)]
        if not complaint and echoed:
            complaint = f"is about another {echoed[0]}: {quote(str(found[echoed[0]]))}"
        elif not complaint and (isinstance(grade, bool | str | list | dict) or grade not in self.judge.grades):
            complaint = f"has the grade {quote(json.dumps(grade))}" if "grade" in found else "has no grade"
        elif not complaint and cost is None:
            complaint = (
                "has a cost that is not a number" if "cost" in found else "has no cost, which --budget-cost needs"
            )
        elif not complaint and not isinstance(model, str):
            complaint = f"has the model {quote(repr(model))}, which is not text"
        if complaint or cost is None:
            shown_line = f"the line: {quote(_show_line(line))}"
            raise BadAnswerError(Problem(f"{complaint} ({about})", place, suggestion=shown_line, allowed=allowed))
        plain = " ".join(model.encode("utf-8", "replace").decode().split())
        return GivenGrade(int(grade), plain, self.date, cost)


def _parse_cost(value: object) -> float | None:
    """A finite number that is not below 0."""
    try:
        cost = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else -1.0
    except OverflowError:
        return None
    return cost if isfinite(cost) and cost >= 0 else None


def _show_line(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()


def _run_program(judge: MachineJudge, lines: Sequence[bytes], ahead: int) -> Generator[bytes, None, None]:
    """The lines that the program prints: one for each of ``lines``, and one more if it prints too many.

    The program is given ``ahead`` lines before its first answer. So it may read all of them first, or ask several at a
    time. The generator ends the program, whatever happens.
    """
    found: Queue[bytes | None] = Queue()
    room, stopped = Semaphore(ahead), Event()
    with end_programs_on_signals(), tempfile.TemporaryFile() as errors:
        program = _start(judge.words, errors)
        assert program.stdin is not None  # noqa: S101 - it is a pipe
        assert program.stdout is not None  # noqa: S101 - as above
        Thread(target=_write, args=(program.stdin, lines, room, stopped), daemon=True).start()
        Thread(target=_read, args=(program.stdout, found, len(lines) + 1), daemon=True).start()
        try:
            for number in range(len(lines)):
                try:
                    line = found.get(timeout=judge.timeout)
                except Empty:
                    complaint = f"gave no answer for {judge.timeout:g}s"
                    raise _describe_failure(
                        judge, complaint, number, lines, errors, "--timeout allows more time"
                    ) from None
                if line is None:
                    _wait(program)
                    complaint = f"ended with exit code {program.returncode}"
                    raise _describe_failure(judge, complaint, number, lines, errors, "")
                yield line
                room.release()
            with suppress(Empty):  # it answered everything: it need not end by itself
                if (more := found.get(timeout=PATIENCE)) is not None:
                    yield more
            _wait(program)
        finally:
            stopped.set()
            room.release()
            if program.returncode is None:
                end_program(program)


def _wait(program: subprocess.Popen[bytes]) -> None:
    """Give it the time to end by itself."""
    try:
        program.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        end_program(program)


def _start(words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the user's own command
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(Problem(f"the judge {quote(words[0])} cannot be run: {reason}")) from None


def _write(pipe: IO[bytes], lines: Sequence[bytes], room: Semaphore, stopped: Event) -> None:
    with suppress(OSError, ValueError), pipe:  # the program ended; that it answered too little is told elsewhere
        for line in lines:
            room.acquire()
            if stopped.is_set():
                break
            pipe.write(line)
            pipe.flush()


def _read(pipe: IO[bytes], found: Queue[bytes | None], most: int) -> None:
    """Hand over the first lines that are not blank, then None; a program that prints without end fills no memory."""
    with suppress(OSError, ValueError), pipe:
        while most and (line := pipe.readline(LONGEST)):
            if line.strip():
                found.put(line)
                most -= 1
    found.put(None)


def _describe_failure(
    judge: MachineJudge, complaint: str, number: int, lines: Sequence[bytes], errors: IO[bytes], remedy: str
) -> InputError:
    """The error of a program that did not answer everything, with the end of its standard error."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - LONGEST))
    kept = f"after {number} of {len(lines)} answers; these are kept, and not asked for again"
    far = kept if number else f"before the first of {len(lines)} answers"
    last = last_lines(errors.read().decode("utf-8", "replace"))
    return InputError(
        Problem(
            f"{complaint} {far}",
            judge.name,
            suggestion=remedy,
            allowed=f"the end of its standard error:\n  {last}" if last else "it wrote nothing to standard error",
        )
    )
