"""Rankings of a live system: requests made of queries, made again where that may help, and answers read by JMESPath."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from hashlib import sha256
from statistics import fmean
from threading import Lock, local
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote as percent_encode
from urllib.parse import urlencode

from pytest_ireval.data.formats.other_tools import find_missing_part
from pytest_ireval.data.rankings import rank_lists
from pytest_ireval.errors import Problem, SourceError, format_inline, quote
from pytest_ireval.masking import drop_login
from pytest_ireval.sources.answers import read_total
from pytest_ireval.sources.calls import make_calls
from pytest_ireval.sources.live.exchange import LONGEST_WAIT, AttemptError, Exchange, TimedAnswer, compile_path
from pytest_ireval.sources.live.index import IndexFetcher, SearchedIndex
from pytest_ireval.sources.live.options import LiveOptions
from pytest_ireval.sources.live.placeholders import fill, find_placeholders
from pytest_ireval.sources.live.recording import WITHOUT_OFFLINE, Recording
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.request_mistakes import OF_ANY_QUERY, find_query_without_text, refuse_unknown_columns
from pytest_ireval.sources.returned_rankings import find_rising_scores
from pytest_ireval.suite.suite import OFFLINE
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from pytest_ireval.sources.live.client import HttpClient


class Batch(NamedTuple):
    """Several searches in one request, as Elasticsearch and OpenSearch read them: two lines of JSON for each search."""

    size: int
    url: str
    head: Mapping[str, str]
    """The first line of each search, with placeholders."""
    body: Any
    """The second line."""


class _Ranked(NamedTuple):
    """The answer to one query."""

    documents: list[tuple[str, float]]
    """Documents with their scores."""
    seconds: float | None
    """The time until the answer of the first page was there; None in a batch, which has one time for all."""
    took: Any = None
    """The milliseconds that the system says it took, if it does."""
    total: Any = None
    """The number of documents that match, if the exchange has a path for it."""


def fetch_over_http(
    exchange: Exchange,
    options: LiveOptions,
    request: Request,
    *,
    batch: Batch | None = None,
    index: SearchedIndex | None = None,
) -> Answer:
    """The rankings of all queries; with the facts of the index before and after, and the relevant documents it lacks.

    The first query that fails beyond the error budget is an error.
    """
    if index is None:
        return _fetch_rankings(exchange, options, request, batch)
    with ExitStack() as stack:
        client = stack.enter_context(_open_client(index.address, options.concurrency))
        fetcher = IndexFetcher(index, options, client)
        if options.record is not None:
            try:
                recording = Recording(options, request, ("index", index.requests))
                fetcher.recording = stack.enter_context(recording)
            except SourceError as error:
                fetcher.note("index facts", format_inline(error))
        before = fetcher.fetch_facts("before")
        answer = _fetch_rankings(exchange, options, request, batch)
        checked = index.has_documents_checked
        documents = fetcher.choose_lookups(request.relevant(), request.expected()) if checked else ()
        facts = [before, fetcher.fetch_facts("after", documents)]
    notes = (*answer.notes, *fetcher.notes.values())
    unknown_fields = tuple(fetcher.unknown_fields)
    return replace(answer, index=facts, gone=tuple(fetcher.gone), unknown_fields=unknown_fields, notes=notes)


def _fetch_rankings(exchange: Exchange, options: LiveOptions, request: Request, batch: Batch | None) -> Answer:
    queries, address = request.queries, exchange.url
    exchange = exchange._replace(url=drop_login(address))  # recordings and messages show it
    used = list(find_placeholders([exchange.url, exchange.params, exchange.body, options.headers]))
    refuse_unknown_columns(used, OF_ANY_QUERY | {*queries.columns}, queries, "{%s}")
    if "text" in used and (query := find_query_without_text(queries)):
        complaint = f"query {quote(query)} has no text ({queries.origin}), but the request needs {{text}}"
        raise SourceError(Problem(complaint, suggestion="set queries: to a file with columns id and text"))
    step = batch.size if batch else 1
    parts = [range(first, min(first + step, len(queries))) for first in range(0, len(queries), step)]
    # the longest that all attempts of a part can take, with the waits between them; for a batch, of each of its queries
    limit = options.attempts * (options.timeout + LONGEST_WAIT) * 2 * step
    with ExitStack() as stack:
        client = stack.enter_context(_open_client(address, options.concurrency))
        # The path of the total changes no answer, only what is read of it.
        asked = [value for name, value in exchange._asdict().items() if name != "total"]
        recording = stack.enter_context(Recording(options, request, asked)) if options.record else None
        if os.environ.get(OFFLINE) and recording is None:
            complaint = "the run is offline, but this source has no recording"
            again = f"add record: FOLDER, and run once {WITHOUT_OFFLINE}"
            raise SourceError(Problem(complaint, suggestion=again))
        request.progress.expect(len(parts), "batches of queries" if batch else "queries")
        fetcher = _Fetcher(client, exchange, options, request, recording)
        call = (lambda part: fetcher.fetch_batch(parts[part], batch)) if batch else fetcher.fetch_query
        outcomes = make_calls(call, len(parts), options.concurrency, limit, request.progress)
        if outcomes and (error := outcomes[-1].error):
            raise error
        if outcomes and outcomes[-1].overran:
            raise SourceError(f"no answer to query {quote(queries.ids[parts[len(outcomes) - 1][0]])} in {limit:g}s")
    values = [outcome.value for outcome in outcomes]
    ranked: list[_Ranked] = [ranking for part in values for ranking in part] if batch else values
    answers = dict(zip(queries.ids, ranked, strict=True))
    timings = {query: answer.seconds for query, answer in answers.items()}
    if options.times == "engine":
        timings |= {query: _read_took(query, answers[query]) for query in answers if query not in fetcher.failed}
    took = [answer.took for answer in ranked if isinstance(answer.took, int | float)]
    return Answer(
        rank_lists(
            {query: answer.documents for query, answer in answers.items()},
            "rankings",
            None if request.keep_all else request.depth,
            by_id=request.by_id,
        ),
        timings=timings if batch is None and None not in timings.values() else None,
        fields={document: fields for document, (_, fields) in fetcher.fields.items()} or None,
        about={"the system's own time": f"{fmean(took):.4g} ms for a query, as it says"} if took else {},
        failed=fetcher.failed,
        totals={query: answer.total for query, answer in answers.items() if answer.total is not None},
        notes=fetcher.describe_repeats(),
        recorded=None if recording is None else recording.count_replayed(),
    )


def fetch_once(exchange: Exchange, options: LiveOptions, request: Request, query: str, **more: str) -> Any:
    """The answer of the system to one request about a query; ``more`` has values of other placeholders."""
    with _open_client(exchange.url) as client:
        fetcher = _Fetcher(client, exchange, options, request, None)
        values = {**fetcher.find_values(request.queries.position[query]), **more}
        return fetcher.attempt(*fetcher.make_request(values)).answer


def _open_client(address: str, connections: int = 1) -> closing[HttpClient]:
    from pytest_ireval.sources.live.client import HttpClient  # brings urllib3, which only live systems need

    return closing(HttpClient(address, connections))


def _read_took(query: str, ranked: _Ranked) -> float:
    """The seconds that the system says it took."""
    if isinstance(ranked.took, bool) or not isinstance(ranked.took, int | float) or ranked.took < 0:
        complaint = f"times: engine, but the answer to query {quote(query)} does not say how long the engine took"
        raise SourceError(Problem(complaint, suggestion="write times: client; the source http has took: PATH for it"))
    return ranked.took / 1000


class _RateLimit:
    """Lets requests begin at equal distances of time."""

    def __init__(self, rate: float | None) -> None:
        self._distance = 1 / rate if rate else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self) -> None:
        """Wait until the next request may begin."""
        if not self._distance:
            return
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + self._distance
        time.sleep(begin - now)


class _Fetcher:
    """Asks for one query at a time, from any thread."""

    def __init__(
        self,
        client: HttpClient,
        exchange: Exchange,
        options: LiveOptions,
        request: Request,
        recording: Recording | None,
    ) -> None:
        self.client, self.exchange, self.options, self.request = client, exchange, options, request
        self.recording, self.rate = recording, _RateLimit(options.rate)
        self.allowed = options.error_budget.of(len(request.queries))
        self.read_hits, self.read_id = compile_path(exchange.hits), compile_path(exchange.id)
        self.read_score = compile_path(exchange.score) if exchange.score else None
        self.read_fields = {name: compile_path(path) for name, path in exchange.fields.items()}
        self.failed: dict[str, str] = {}
        """By query, the reason why it has no answer."""
        self.fields: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """By document, its fields, and the number of the query whose answer had them."""
        self._repeated: dict[str, int] = {}
        """The number of requests that were made again, by the reason."""
        self._lock = Lock()
        self._thread = local()

    def describe_repeats(self) -> list[str]:
        """A sentence about requests that were made again, if there are any."""
        reasons = ", ".join(f"{why}: {count}" for why, count in sorted(self._repeated.items()))
        return [f"{format_count(sum(self._repeated.values()), 'request')} made again ({reasons})"] if reasons else []

    def fetch_batch(self, numbers: range, batch: Batch) -> list[_Ranked]:
        """The rankings of the queries of a batch; what was not complete in it is asked again, query by query."""
        complete: dict[int, TimedAnswer] = {}
        try:
            sent = {number: self.make_request(self.find_values(number)) for number in numbers}
            if len(numbers) > 1 and not (self.recording and self.recording.offline):
                complete = self._attempt_batch(numbers, batch, sent[numbers[0]][1])
        except AttemptError as failure:
            self._count_repeat(f"a whole batch: {failure.complaint}")
            if failure.again:
                _wait_before_attempt(1, failure)
        return [self.fetch_query(number, complete.get(number)) for number in numbers]

    def _attempt_batch(
        self, numbers: Sequence[int], batch: Batch, headers: Mapping[str, str]
    ) -> dict[int, TimedAnswer]:
        """The complete answers to several queries."""
        values = [self.find_values(number) for number in numbers]
        lines = (json.dumps(fill(line, each)) for each in values for line in (batch.head, batch.body))
        answer, _ = self._attempt_once("POST", batch.url, "".join(f"{line}\n" for line in lines).encode(), headers)
        answers = answer.get("responses") if isinstance(answer, dict) else None
        if not isinstance(answers, list) or len(answers) != len(numbers):
            raise AttemptError("its answer has not one response for each query")
        complete = {}
        for number, each in zip(numbers, answers, strict=True):
            status = each.get("status", 200) if isinstance(each, dict) else "?"
            if why := f"status {status}" if status != 200 else find_missing_part(each):
                self._count_repeat(f"in a batch: {why}")
            else:
                complete[number] = TimedAnswer(each, None)
        return complete

    def fetch_query(self, number: int, known: TimedAnswer | None = None) -> _Ranked:
        """The ranking of a query; an empty one if it failed and the error budget allows that."""
        began = time.monotonic()
        try:
            return self._fetch_pages(number, known)
        except AttemptError as failure:
            with self._lock:
                self.failed[self.request.queries.ids[number]] = failure.complaint
                beyond = len(self.failed) > self.allowed
            if beyond:
                raise SourceError(self._describe_failure(number, failure)) from failure.__cause__
            return _Ranked([], time.monotonic() - began)  # so long a user would have waited for nothing

    def _describe_failure(self, number: int, failure: AttemptError) -> Problem:
        queries = self.request.queries
        address = self.exchange.url.partition("?")[0]
        where = f"query {quote(queries.ids[number])} ({quote(queries.text[number])})"
        more = min(len(self.failed) - 1, int(self.allowed))
        also = f"; {format_count(more, 'query')} before it failed, which error_budget allowed" if more else ""
        text = f"{self.exchange.method} {address}: {failure.complaint}, for {where}{also}"
        login = self.options.describe_login(self.request.public_texts) if failure.is_about_login else ""
        return Problem(text, suggestion=failure.shows, allowed=login)

    def find_values(self, number: int, page: int = 0) -> dict[str, Any]:
        """The values of the placeholders."""
        queries, depth = self.request.queries, self.request.depth
        size = self.exchange.page_size or depth
        values: dict[str, Any] = {name: column[number] for name, column in queries.columns.items()}
        values |= {"id": queries.ids[number], "text": queries.text[number], "depth": depth}
        return {**values, "size": size, "page": page, "from": page * size}

    def make_request(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The request for one query, as recordings keep it, and its headers."""
        exchange = self.exchange
        url = fill(exchange.url, values, lambda value: percent_encode(str(value), safe=""))
        params = urlencode({name: str(fill(text, values)) for name, text in exchange.params.items()})
        sent = {
            "method": exchange.method,
            "url": f"{url}{'&' if '?' in url else '?'}{params}" if params else url,
            "json": None if exchange.body is None else fill(exchange.body, values),
        }
        headers = {name: str(fill(text, values)) for name, text in self.options.headers.items()}
        if of_query := [headers[name] for name, text in self.options.headers.items() if any(find_placeholders(text))]:
            sent["headers"] = sha256(json.dumps(of_query).encode()).hexdigest()[:16]  # they may be secret
        return sent, headers

    def _fetch_pages(self, number: int, known: TimedAnswer | None) -> _Ranked:
        """The documents of as many pages as it takes."""
        size = self.exchange.page_size or self.request.depth
        documents: list[tuple[str, float]] = []
        seconds, took, total = None, None, None
        for page in range(-(-self.request.depth // size)):
            answer, needed = self._fetch_recorded(number, page, known)
            if not page:
                seconds, took = needed, compile_path(self.exchange.took)(answer) if self.exchange.took else None
                total = self._read_total(answer) if self.exchange.total else None
            if self._read_page(answer, number, documents) < size:
                break
        if self.read_score and (wrong := find_rising_scores(documents)):
            raise AttemptError(f"scores do not order the hits: {wrong}", "leave out score:, so that their order counts")
        return _Ranked(documents, seconds, took, total)

    def _read_total(self, answer: Any) -> Any:
        """The number of documents that match, in the words of the engine."""
        total = compile_path(self.exchange.total)(answer)
        if read_total(total) is None:
            it_is = f"it is {quote(json.dumps(total, ensure_ascii=False))}"
            raise AttemptError(f"the answer has no number of documents at {self.exchange.total}", it_is)
        return total

    def _fetch_recorded(self, number: int, page: int, known: TimedAnswer | None) -> TimedAnswer:
        """The answer to one request: known from a batch, recorded or from the system."""
        if known is not None and self.recording is None:
            return known
        sent, headers = self.make_request(self.find_values(number, page))
        if self.recording is None:
            return self.attempt(sent, headers)
        try:
            return self.recording.answer((number, page), sent, lambda: known or self.attempt(sent, headers))
        except LookupError as error:
            raise AttemptError(str(error), f"to record it, run {WITHOUT_OFFLINE}") from None

    def attempt(self, sent: Mapping[str, Any], headers: Mapping[str, str]) -> TimedAnswer:
        """The answer of the system to one request: another attempt follows one that failed for what may pass."""
        body = None if sent["json"] is None else json.dumps(sent["json"]).encode()
        if self.request.timed and not getattr(self._thread, "warm", False):
            self._thread.warm = True
            for _ in range(self.options.warm_up):
                with suppress(AttemptError):  # the query is asked again, and tells
                    self._attempt_once(sent["method"], sent["url"], body, headers)
        for attempt in range(1, self.options.attempts + 1):
            try:
                return self._attempt_once(sent["method"], sent["url"], body, headers)
            except AttemptError as failure:
                if not failure.again or attempt == self.options.attempts:
                    tries = f" (asked {attempt} times)" if attempt > 1 else ""
                    raise AttemptError(
                        f"{failure.complaint}{tries}", failure.shows, status=failure.status
                    ) from failure.__cause__
                if attempt == 1:
                    self._count_repeat(failure.complaint)
                _wait_before_attempt(attempt, failure)
        raise AssertionError("there is at least one attempt")

    def _count_repeat(self, why: str) -> None:
        with self._lock:
            self._repeated[why] = self._repeated.get(why, 0) + 1

    def _attempt_once(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> TimedAnswer:
        self.rate.wait()
        found = self.client.fetch_json(method, url, body, headers, self.options.timeout)
        if self.exchange.complete and compile_path(self.exchange.complete)(found.answer) is not True:
            raise AttemptError(f"the answer is incomplete: {self.exchange.complete} is not true", again=True)
        return found

    def _read_page(self, answer: Any, number: int, documents: list[tuple[str, float]]) -> int:
        """Add the documents of one page; return the number of hits."""
        hits = self.read_hits(answer)
        if not isinstance(hits, list):
            what = "has nothing" if hits is None else f"has {type(hits).__name__}, not a list,"
            keys = f"its keys: {', '.join(map(str, answer))}" if isinstance(answer, dict) else ""
            raise AttemptError(f"the answer {what} at hits: {self.exchange.hits}", keys)
        for hit in hits:
            found = self.read_id(hit)
            if not isinstance(found, str | int) or isinstance(found, bool) or found == "":
                it_is = f"it is {quote(json.dumps(hit, ensure_ascii=False))}"
                raise AttemptError(f"a hit has no id at {self.exchange.id}", it_is)
            document = sys.intern(str(found))  # most documents are found for several queries
            score = self.read_score(hit) if self.read_score else -len(documents)
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise AttemptError(f"document {quote(document)} has no number at score: {self.exchange.score}")
            documents.append((document, float(score)))
            if self.read_fields:
                self._keep_fields(document, hit, number)
        return len(hits)

    def _keep_fields(self, document: str, hit: Any, number: int) -> None:
        """Keep the fields of a document; those for the first query of the suite count, not those that came first."""
        if document in self.fields and self.fields[document][0] <= number:
            return
        fields = {name: value for name, read in self.read_fields.items() if (value := read(hit)) is not None}
        with self._lock:
            if fields and (document not in self.fields or self.fields[document][0] > number):
                self.fields[document] = number, fields


def _wait_before_attempt(attempt: int, failure: AttemptError) -> None:
    """As long as the system asks for; or twice as long as before, and not all threads at the same moment."""
    time.sleep(failure.after or min(LONGEST_WAIT, 0.25 * 2**attempt * random.uniform(0.5, 1)))  # noqa: S311
