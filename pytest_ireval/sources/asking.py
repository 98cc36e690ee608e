"""Asks a source as often as its suite says: answers become rankings, and errors name the line of the suite."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread, current_thread
from typing import Any, NamedTuple, TypeVar

from pytest_ireval.baselines.index_facts import IndexFacts, index_facts, one_index
from pytest_ireval.baselines.trees import prune_tree
from pytest_ireval.errors import IrevalError, Problem, SourceError, raised, within
from pytest_ireval.progress import SILENT, Progress, Stopwatch
from pytest_ireval.results.suite_result import RecordedAnswers
from pytest_ireval.retrieval.companions import flat_fields, plain_field
from pytest_ireval.retrieval.doors import as_rankings, some
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import first_documents, of_queries
from pytest_ireval.secrets import hidden, hidden_in
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.turns import by_turns
from pytest_ireval.suites.suite import SourceAsked
from pytest_ireval.text_table import counted

UNPLACED = ("", "rankings")
"""The places of problems that were found in what Python returned."""


class _Answer(NamedTuple):
    """The result of one asking."""

    rankings: Rankings
    """Rankings of the requested queries; at most ``depth`` documents of each, unless all are wanted."""
    not_asked: tuple[str, ...]
    """Other queries that it ranked; their rankings are left out."""
    about: Mapping[str, str]
    """Facts on the system."""
    failed: Mapping[str, str]
    """Queries without an answer, with the reason; their rankings are empty."""
    notes: tuple[str, ...]
    facts: tuple[IndexFacts, ...]
    """Facts of the index, in the order of the time."""
    gone: tuple[str, ...]
    """Relevant documents that the index does not have."""
    recorded: RecordedAnswers | None
    """The answers that are recordings."""
    unknown_fields: tuple[str, ...] = ()
    """Fields that the request searches and the index does not have."""


def answers(source: SourceAsked, request: Request) -> tuple[_Answer, ...]:
    """The result of every asking, in order."""
    first = _answer(source, request)
    again = replace(request, relevant=tuple)
    later = (_answer(source, replace(again, repetition=number)) for number in range(2, source.repeat + 1))
    found = (first, *later)
    with _blamed(source, request):
        index, notes = one_index([facts for answer in found for facts in answer.facts])
    return (first._replace(facts=(index,), notes=(*first.notes, *notes)), *found[1:])


def _answer(source: SourceAsked, request: Request) -> _Answer:
    name = described_source(source, request.folder)
    with _blamed(source, request):
        fetched = _fetched(source, request)
        answer = fetched if isinstance(fetched, Answer) else Answer(fetched)
        found = _with_data(_rankings(answer.rankings, request), answer)
        rankings, others = of_queries(replace(found, origin=name), request.queries.position.__contains__)
        if not len(rankings):
            raise SourceError(_of_nothing_asked(others, request))
        rankings = rankings if request.keep_all else first_documents(rankings, request.depth)
        failed = {query: _one_line(why) for query, why in _entries(answer.failed, "failed")}
        index = tuple(map(index_facts, [answer.index] if isinstance(answer.index, Mapping) else answer.index))
        notes, gone = tuple(map(_one_line, answer.notes)), tuple(map(str, answer.gone))
        fields = tuple(map(_one_line, answer.unknown_fields))
        return _Answer(rankings, others, _facts(answer.about), failed, notes, index, gone, answer.recorded, fields)


def _with_data(rankings: Rankings, answer: Answer) -> Rankings:
    """The rankings with the timings and fields of the answer, checked and as plain values."""
    timings, fields = answer.timings, answer.fields
    for query, seconds in _entries(timings, "timings"):
        number = plain_field(seconds)
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < float("inf"):
            raise SourceError(f"timings: query {query!r} took {seconds!r}, which is not a number of seconds")
    for document, known in _entries(fields, "fields"):
        if not isinstance(known, Mapping):
            raise SourceError(f"fields: document {document!r} has {known!r}, not a mapping of names and values")
    if timings is not None:
        timings = {str(query): round(float(plain_field(each)), 6) for query, each in timings.items()}
    if fields is not None:
        named = {str(each): flat_fields(known) for each, known in fields.items()}
        fields = hidden_in({each: {name: plain_field(value) for name, value in known} for each, known in named.items()})
    timings = rankings.timings if timings is None else timings
    return replace(rankings, timings=timings, fields=rankings.fields if fields is None else fields)


def _entries(mapping: Any, what: str) -> list[tuple[Any, Any]]:
    if mapping is not None and not isinstance(mapping, Mapping):
        raise SourceError(f"{what} of the answer are {type(mapping).__name__}, not a mapping")
    return [] if mapping is None else list(mapping.items())


MOST_FACTS, LONGEST_FACT = 20, 200


def _facts(about: Any) -> dict[str, str]:
    """The facts as short lines; secrets are hidden."""
    entries = _entries(about, "about")
    if len(entries) > MOST_FACTS:
        raise SourceError(Problem(f"about has {len(entries)} facts", allowed=f"at most {MOST_FACTS}"))
    return {_one_line(name): _one_line(text) for name, text in entries}


def _one_line(text: object) -> str:
    return hidden(" ".join(str(text).split()))[:LONGEST_FACT]


def _fetched(source: SourceAsked, request: Request) -> Any:
    """The return value of the kind's function, which may be async."""
    found = source.kind.fetch(source.options, request)
    if not inspect.isawaitable(found):
        return found
    outcome = in_loop(lambda _: found, 1, 1, float("inf"), SILENT)[0]
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _rankings(found: Any, request: Request) -> Rankings:
    if found is None:
        raise SourceError("it returned None: is a return statement missing?")
    if isinstance(found, str):
        found = request.folder / found
    depth = None if request.keep_all else request.depth
    how = Reading(depth=depth, by_id=request.by_id, progress=request.progress)
    return as_rankings(found, request.readers, None, how)


def _of_nothing_asked(others: tuple[str, ...], request: Request) -> Problem:
    number = counted(len(request.queries), "query")
    if not others:
        return Problem(f"it returned no ranking for {number}")
    return Problem(
        f"it ranks none of the requested queries ({number} of {request.queries.origin})",
        suggestion=f"ranked: {some(others)}; requested: {some(request.queries.ids)}",
    )


@contextmanager
def _blamed(source: SourceAsked, request: Request) -> Iterator[None]:
    """Every exception becomes an error that names the source and its line, unless it names a better place."""
    try:
        yield
    except IrevalError as error:
        if error.problems and error.problems[0].place not in UNPLACED:
            raise
        problems = [_placed(problem, source) for problem in error.problems]
        raise SourceError(*problems) from error.__cause__
    except KeyboardInterrupt:
        raise
    # A foreign function may raise anything; sys.exit() and a test's skip are no Exceptions, and would end a run green.
    except BaseException as error:
        raise SourceError(_placed(raised("it", error, folder=request.folder), source)) from error


def _placed(problem: Problem, source: SourceAsked) -> Problem:
    """The problem on the suite's line; for a source of a plugin, with the name of the plugin."""
    if problem.place not in UNPLACED or problem.complaint.startswith("…"):
        return problem
    kind = source.kind
    brought = "" if kind.fetch.__module__.startswith(f"{__package__}.") else f"the source comes from {kind.source}"
    allowed = "\n  ".join(filter(None, (problem.allowed, brought)))
    place = str(source.place) if source.place.file else ""
    return replace(problem, place=place, path=("source", kind.name, *problem.path), allowed=allowed)


LOGIN = re.compile(r"(?<=://)[^/?#\s]+@")
"""Name and password in the address of a service."""


def described_source(source: SourceAsked, folder: Path | None = None) -> str:
    """The kind with its options that are not at their defaults: ``python: shop:search, mode: all``.

    Paths are relative to ``folder``, that of the suite unless given. Options made with ``Field(…, repr=False)`` are
    left out: secrets, and options that do not change the answer, such as a time limit. Variables that may hold secrets
    are shown by name.
    """
    folder = folder or Path(source.place.file).absolute().parent
    return hidden(", ".join(f"{name}: {_text(value, folder)}" for name, value in _described_options(source)))


def _described_options(source: SourceAsked) -> Iterator[tuple[str, Any]]:
    fields = type(source.options).model_fields
    for name in (source.kind.name, *(name for name in fields if name != source.kind.name)):
        value = getattr(source.options, name)
        if name == source.kind.name or (
            fields[name].repr and value != fields[name].get_default(call_default_factory=True)
        ):
            yield name, value


def options_of_source(source: SourceAsked, folder: Path) -> dict[str, Any]:
    """The same options as a tree, whose changes can be named key by key; of an address, the host apart from the rest.

    A host may be another one in each job, and says little about the request.
    """
    found = {name: _plain_option(value, folder) for name, value in _described_options(source)}
    own = found[source.kind.name]
    if isinstance(own, str) and (parts := re.fullmatch(r"(https?://[^/?#]*)(.*)", own)):
        found[source.kind.name] = {"host": parts[1], "path": parts[2]}
    return prune_tree(found)


def _plain_option(value: Any, folder: Path) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain_option(each, folder) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain_option(each, folder) for each in value]
    return value if isinstance(value, bool | int | float) or value is None else _text(value, folder)


def _text(value: Any, folder: Path) -> str:
    if isinstance(value, Path):
        return within(value, folder)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(each, folder)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        texts = [_text(each, folder) for each in value]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    text = " ".join(f"{value:g}".split() if isinstance(value, float) else str(value).split())
    return LOGIN.sub("", text.replace(f"{folder}/", ""))


Work = Callable[[], None]


class _Line:
    """A thread that does one thing after the other."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Work] = SimpleQueue()
        self.thread = Thread(target=self._do_all, name="ireval-source", daemon=True)
        self.thread.start()

    def do(self, work: Work) -> None:
        """Do it when everything before is done."""
        self._work.put(work)

    def _do_all(self) -> None:
        while True:
            self._work.get()()


class Loop:
    """An event loop in a thread of its own: it works where another loop is running already, as in a notebook."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="ireval-source-loop", daemon=True)
        self.thread.start()
        atexit.register(self.end)

    def end(self) -> None:
        """Stop the loop, unless a call blocks it."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(_GRACE)
        if not self.thread.is_alive():
            self.loop.close()

    def give_up(self) -> None:
        """Stop using the loop: a call blocks it. Later errors of other calls are ignored."""
        self.loop.set_exception_handler(lambda _loop, _context: None)
        _loops.clear()


_lines: list[_Line] = []
_loops: list[Loop] = []
"""At most one each; their threads outlive a run, because the state of a user's module does, too."""


Threaded = TypeVar("Threaded", _Line, Loop)


def _kept(kept: list[Threaded], kind: type[Threaded]) -> Threaded:
    """The one that is kept; a new one for calls made in its thread, or it would wait for itself."""
    if not kept or not kept[0].thread.is_alive() or kept[0].thread is current_thread():
        kept[:] = [kind()]
    return kept[0]


def in_line(work: Callable[[], Any], progress: Progress) -> CallOutcome:
    """The outcome of one call without a time limit, in the thread of calls one after the other."""
    return in_threads(lambda _: work(), 1, 1, float("inf"), progress)[0]


def in_threads(
    call: Callable[[int], Any], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    """The outcomes of ``call(0)``, ``call(1)`` and so on, ``concurrency`` at a time."""

    def some(numbers: range) -> list[CallOutcome]:
        return _in_threads(lambda at: call(numbers[at]), len(numbers), concurrency, limit, progress)

    return by_turns(some, count, concurrency)


def _in_threads(
    call: Callable[[int], Any], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    calls = _Calls(count, limit)

    def timed(number: int) -> Any:
        if not isinstance(progress, Stopwatch):
            return call(number)
        time.sleep(progress.wait(number))
        try:
            return call(number)
        finally:
            progress.end(number)

    def work() -> None:
        while (number := calls.begin()) is not None:
            calls.end(number, _attempted(lambda at=number: timed(at)))  # type: ignore[misc]  # bound now, called now

    if concurrency > 1:
        for _ in range(min(concurrency, count)):
            Thread(target=work, name="ireval-source", daemon=True).start()
        return calls.wait(progress)
    line = _kept(_lines, _Line)
    line.do(work)
    free = False
    try:
        outcomes = calls.wait(progress)
        free = not any(outcome.goes_on for outcome in outcomes)
    finally:
        if not free and line in _lines:
            _lines.clear()  # it is busy with an abandoned call that may take any time
    return outcomes


def in_loop(
    call: Callable[[int], Awaitable[Any]], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    """The outcomes of an async function; a call that overruns is cancelled."""

    def some(numbers: range) -> list[CallOutcome]:
        return _in_loop(lambda at: call(numbers[at]), len(numbers), concurrency, limit, progress)

    return by_turns(some, count, concurrency)


def _in_loop(
    call: Callable[[int], Awaitable[Any]], count: int, concurrency: int, limit: float, progress: Progress
) -> list[CallOutcome]:
    calls = _Calls(count, limit + _GRACE)

    async def work() -> None:
        while (number := calls.begin()) is not None:
            if isinstance(progress, Stopwatch):
                await asyncio.sleep(progress.wait(number))
            outcome = await _within(call(number), limit)
            if isinstance(progress, Stopwatch):
                progress.end(number)
            calls.end(number, outcome)

    async def all_work() -> None:
        await asyncio.gather(*(work() for _ in range(min(concurrency, count))))

    loop = _kept(_loops, Loop)
    future = asyncio.run_coroutine_threadsafe(all_work(), loop.loop)
    try:
        outcomes = calls.wait(progress)
    finally:
        future.cancel()
    if any(outcome.goes_on for outcome in outcomes):
        loop.give_up()
    return outcomes


async def _within(call: Awaitable[Any], limit: float) -> CallOutcome:
    """The outcome of an async call within the limit; a timeout that it raises itself is an exception like any other."""
    began = time.monotonic()
    try:
        outcome = await asyncio.wait_for(_awaited(call), None if limit == float("inf") else limit)
    except (asyncio.CancelledError, asyncio.TimeoutError) as error:
        outcome = CallOutcome(error=error)
    return CallOutcome(overran=True) if time.monotonic() - began >= limit else outcome


async def _awaited(call: Awaitable[Any]) -> CallOutcome:
    """The outcome of an async call; an exception such as that of sys.exit() would end the loop."""
    try:
        return CallOutcome(value=await call)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - a foreign function may raise anything
        return CallOutcome(error=error)


PATIENCE = 0.1
"""Seconds between two looks at the clock and at the progress; Ctrl-C is heard in between."""
_GRACE = 1.0
"""Seconds beyond its limit in which a cancelled call may end."""


class CallOutcome(NamedTuple):
    """The outcome of a call: a value, an exception, or nothing in time."""

    value: Any = None
    error: BaseException | None = None
    overran: bool = False
    goes_on: bool = False
    """True if a call that overran is still running."""

    @property
    def failed(self) -> bool:
        """True if there is no value."""
        return self.error is not None or self.overran


class _Calls:
    """The start times and outcomes of calls; shared by the calling threads and the waiting one.

    Calls begin in order, and none begins after a failure. So the first that fails is always the same one.
    """

    def __init__(self, count: int, limit: float) -> None:
        self.count, self.limit = count, limit
        self._begun = 0
        self._closed = False
        self._running: dict[int, float] = {}
        self._outcomes: dict[int, CallOutcome] = {}
        self._lock = Lock()
        self._all_ended = Event()

    def begin(self) -> int | None:
        """The number of the next call; None if there is no further call."""
        with self._lock:
            number = self._begun
            if self._closed or number == self.count:
                return None
            self._begun += 1
            self._running[number] = time.monotonic()
            return number

    def end(self, number: int, outcome: CallOutcome) -> None:
        """Report the outcome of a call."""
        now = time.monotonic()
        with self._lock:
            if number in self._running:  # else it was given up
                late = not outcome.failed and now - self._running[number] > self.limit
                self._end(number, CallOutcome(overran=True) if late else outcome)

    def _end(self, number: int, outcome: CallOutcome) -> None:
        del self._running[number]
        self._outcomes[number] = outcome
        self._closed |= outcome.failed
        if not self._running and (self._closed or self._begun == self.count):
            self._all_ended.set()

    def wait(self, progress: Progress) -> list[CallOutcome]:
        """The outcomes of all calls, in order, until the first that failed."""
        advanced = 0
        try:
            over = not self.count
            while not over:
                over = self._all_ended.wait(min(PATIENCE, self.limit))
                with self._lock:
                    now = time.monotonic()
                    for number in [number for number, began in self._running.items() if now - began > self.limit]:
                        self._end(number, CallOutcome(overran=True, goes_on=True))
                    ended = len(self._outcomes)
                progress.advance(ended - advanced)
                advanced = ended
        finally:
            with self._lock:
                self._closed = True  # no further call begins
        in_order = [outcome for _, outcome in sorted(self._outcomes.items())]
        first = next((place for place, outcome in enumerate(in_order) if outcome.failed), len(in_order))
        return in_order[: first + 1]


def _attempted(call: Callable[[], Any]) -> CallOutcome:
    try:
        return CallOutcome(value=call())
    # A foreign function may raise anything, sys.exit() and a test's skip too; it becomes an error that names it.
    except BaseException as error:  # noqa: BLE001
        return CallOutcome(error=error)
