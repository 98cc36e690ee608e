"""Rankings from a live system over HTTP: a request for each query, filled in from its columns, and read by JMESPath."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from statistics import fmean
from threading import Lock, local
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import numpy as np
from pydantic import Field, model_validator

from pytest_ireval.errors import Problem, SourceError, shown
from pytest_ireval.plugins.kinds import source
from pytest_ireval.retrieval.formats.other_tools import incomplete
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.rankings import rankings_of_columns
from pytest_ireval.retrieval.scan.tokens import Span
from pytest_ireval.sources.asking import LOGIN, in_threads
from pytest_ireval.sources.callables import out_of_order
from pytest_ireval.sources.exchange import (
    LONGEST_WAIT,
    OFFLINE,
    AttemptError,
    Exchange,
    JsonTree,
    Recording,
    Reply,
    filled,
    holes,
    json_path,
    refuse_unknown,
    sizes_in,
)
from pytest_ireval.sources.index import INDEX, checked_index, configured, with_index
from pytest_ireval.sources.live_options import LiveOptions
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suites.options import Text, Whole
from pytest_ireval.suites.scalars import UnfitError
from pytest_ireval.text_table import counted

if TYPE_CHECKING:
    from pytest_ireval.sources.connections import Connections

_NOT_DESCRIBED = (sys.maxsize, None)

SIZES = (
    "size",
    "limit",
    "rows",
    "hits",
    "per_page",
    "perPage",
    "hitsPerPage",
    "page_size",
    "pageSize",
    "top_k",
    "topK",
)
"""Names that most systems give to the number of documents."""


class HttpOptions(LiveOptions):
    """The options of a request of your own."""

    http: Text = Field(description="The address; {text}, {id}, {depth} and columns of the queries are filled in.")
    method: Literal["GET", "POST"] | None = Field(None, description="By default POST if there is a body, else GET.")
    params: dict[Text, Text] = Field(default_factory=dict, description="Parameters behind the ? of the address.")
    body: JsonTree = Field(None, description="The JSON body.")
    hits: Text = Field(description="A JMESPath to the list of hits in the answer.")
    id: Text = Field("id", description="A JMESPath to the document's id in a hit.")
    score: Text = Field("", description="A JMESPath to its score; without one, the order of the hits counts.")
    fields: dict[Text, Text] = Field(default_factory=dict, description="Fields such as title and url, by JMESPath.")
    took: Text = Field("", description="A JMESPath to the milliseconds that the system says it took.")
    complete: Text = Field("", description="A JMESPath that must be true, or the answer counts as incomplete.")
    page_size: Whole | None = Field(None, description="Ask in pages of that size, by {from} or {page} (from 0).")
    index: dict[Text, Text] = Field(default_factory=dict, repr=False, description=INDEX)

    def request_parts(self) -> Any:
        """Address, parameters and body."""
        return [self.http, self.params, self.body]

    def sizes_asked(self) -> Iterator[tuple[str, Any]]:
        """By the names that most systems give this number."""
        for tree in (dict(parse_qsl(urlsplit(self.http).query)), self.params, self.body):
            yield from sizes_in(tree, *SIZES)

    def documents_wanted(self, depth: int) -> int:
        """Those of a page, or all."""
        return min(depth, self.page_size or depth)

    @model_validator(mode="after")
    def _sound(self) -> HttpOptions:
        address = urlsplit(self.http)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise UnfitError(f"{shown(self.http)} is not an address", "write https://host/path")
        if "{" in address.netloc:
            raise UnfitError("the host must not depend on the query", "use placeholders behind the host only")
        used = set(holes(self.request_parts()))
        if self.page_size and not used & {"from", "page"}:
            raise UnfitError("page_size needs {from} or {page} in the request", "write for example from: '{from}'")
        if not self.hits:
            raise UnfitError("hits is empty", "write @ if the answer itself is the list of hits")
        for expression in filter(
            None, (self.hits, self.id, self.score, self.took, self.complete, *self.fields.values())
        ):
            json_path(expression)
        checked_index(self.index, self.http)
        return self


@source(name="http", options=HttpOptions)
def http(options: HttpOptions, request: Request) -> Answer:
    """Rankings of a live system that answers with JSON."""
    exchange = Exchange(
        options.http, options.method or ("GET" if options.body is None else "POST"), options.params, options.body,
        options.hits, options.id, options.score, options.fields, options.took, options.complete, options.page_size,
    )  # fmt: skip
    index = configured(options.index, options.http)
    return with_index(lambda: asked_over_http(exchange, options, request), index, options, request)


@dataclass
class _Tally:
    """Counts of what happened to requests, kept by all threads."""

    lock: Lock = field(default_factory=Lock)
    next_at: float = 0.0
    """The earliest moment of the next request, if there is a rate."""
    repeated: dict[str, int] = field(default_factory=dict)
    """The number of requests that were made again, by the reason."""
    failed: dict[str, str] = field(default_factory=dict)
    """By query, the reason why it has no answer."""

    def count(self, why: str) -> None:
        """Count a request that is made again."""
        with self.lock:
            self.repeated[why] = self.repeated.get(why, 0) + 1

    def notes(self) -> list[str]:
        """A sentence about requests that were made again."""
        reasons = ", ".join(f"{why}: {count}" for why, count in sorted(self.repeated.items()))
        return [f"{counted(sum(self.repeated.values()), 'request')} made again ({reasons})"] if reasons else []


class _Ranked(NamedTuple):
    """The answer to one query."""

    documents: array[int]
    """Codes of documents, which are cheaper to keep than ids."""
    scores: array[float]
    seconds: float | None
    """The time until the answer of the first page was there; None in a batch, which has one time for all."""
    took: float | None


class Batch(NamedTuple):
    """Several searches in one request, as Elasticsearch and OpenSearch read them: two lines of JSON for each search."""

    size: int
    url: str
    head: Mapping[str, str]
    """The first line of each search, with placeholders."""
    body: Any
    """The second line."""


def asked_over_http(exchange: Exchange, options: LiveOptions, request: Request, batch: Batch | None = None) -> Answer:
    """The rankings of all queries of the request; the first that fails beyond the error budget is an error."""
    from pytest_ireval.sources.connections import Connections  # brings TLS, which most suites can do without

    queries, address = request.queries, exchange.url
    exchange = exchange._replace(url=LOGIN.sub("", address))  # recordings and messages show it
    known = {"id", "text", "depth", "size", "from", "page", *queries.columns}
    used = list(holes([exchange.url, exchange.params, exchange.body, options.headers]))
    refuse_unknown(used, known, queries, "{%s}")
    if "text" in used and not all(queries.text):
        query = next(query for query, text in zip(queries.ids, queries.text, strict=True) if not text)
        said = f"query {shown(query)} has no text ({queries.origin}), but the request needs {{text}}"
        raise SourceError(Problem(said, suggestion="set queries: to a file with columns id and text"))
    with ExitStack() as stack:
        source = (exchange, options.headers, urlsplit(address).username)
        recording = stack.enter_context(Recording(options.record, request, source)) if options.record else None
        if os.environ.get(OFFLINE) and recording is None:
            said = f"{OFFLINE} is set, but this source has no recording"
            raise SourceError(Problem(said, suggestion=f"add record: FOLDER, and run once without {OFFLINE}"))
        numbers = range(0, len(queries), batch.size if batch else 1)
        request.progress.expect(len(numbers), "batches of queries" if batch else "queries")
        connections = Connections(address)
        asker = _Asker(stack.enter_context(closing(connections)), exchange, options, request, recording)
        limit = options.attempts * (options.timeout + LONGEST_WAIT) * 2 * numbers.step
        calls = [range(first, min(first + numbers.step, len(queries))) for first in numbers]
        call = (lambda number: asker.answers(calls[number], batch)) if batch else asker.answer
        outcomes = in_threads(call, len(calls), options.concurrency, limit, request.progress)
        if outcomes and (error := outcomes[-1].error):
            raise error
        if outcomes and outcomes[-1].overran:
            raise SourceError(f"no answer to query {shown(queries.ids[numbers[len(outcomes) - 1]])} in {limit:g}s")
    values = [each.value for each in outcomes]
    answers: list[_Ranked] = list(chain.from_iterable(values)) if batch else values
    found = dict(zip(queries.ids, answers, strict=True))
    filled = {query: ranked for query, ranked in found.items() if ranked.documents}
    codes = np.concatenate([np.zeros(0, np.int64), *(ranked.documents for ranked in filled.values())])
    ids = Ids.of(list(asker.codes))
    rankings = rankings_of_columns(
        list(filled),
        np.repeat(np.arange(len(filled)), [len(ranked.documents) for ranked in filled.values()]),
        Ids(ids.chunk, Span(ids.span.start[codes], ids.span.end[codes])),  # texts are not copied
        np.concatenate([np.zeros(0), *(ranked.scores for ranked in filled.values())]),
        "rankings",
        None if request.keep_all else request.depth,
        by_id=request.by_id,
        empty=[query for query in found if query not in filled],
    )
    timings = {query: ranked.seconds for query, ranked in found.items()}
    if options.times == "engine":
        timings |= {query: _engine_seconds(query, found[query]) for query in found.keys() - asker.tally.failed.keys()}
    timed = batch is None and None not in timings.values()
    fields = {document: more for document, (_, more) in asker.described.items()}
    took = [ranked.took for ranked in found.values() if isinstance(ranked.took, int | float)]
    about = {"the system's own time": f"{fmean(took):.4g} ms for a query, as it says"} if took else {}
    return Answer(
        rankings,
        timings if timed else None,
        fields or None,
        about,
        asker.tally.failed,
        asker.tally.notes(),
        recorded=None if recording is None else recording.recorded(),
    )


def asked_once(exchange: Exchange, options: LiveOptions, request: Request, query: str, **more: str) -> Any:
    """The answer of the system to one request about a query; ``more`` has values of other placeholders."""
    from pytest_ireval.sources.connections import Connections

    with closing(Connections(exchange.url)) as connections:
        asker = _Asker(connections, exchange, options, request, None)
        values = {**asker.values(request.queries.position[query]), **more}
        return asker.attempted(*asker.request_for(values)).answer


class _Asker:
    """Asks for one query at a time, from any thread."""

    def __init__(
        self,
        connections: Connections,
        exchange: Exchange,
        options: LiveOptions,
        request: Request,
        recording: Recording | None,
    ) -> None:
        self.connections, self.exchange, self.options, self.request = connections, exchange, options, request
        self.recording = recording
        self.tally = _Tally()
        self._thread = local()
        self.allowed = options.error_budget.of(len(request.queries))
        self.hits, self.id = json_path(exchange.hits), json_path(exchange.id)
        self.score = json_path(exchange.score) if exchange.score else None
        self.fields = {name: json_path(path) for name, path in exchange.fields.items()}
        self.codes: dict[str, int] = {}
        """The code of each document, from 0 in the order in which they were found."""
        self.described: dict[str, tuple[int, Mapping[str, Any]]] = {}
        """By document, its fields, and the number of the query whose answer had them."""

    def answers(self, numbers: range, batch: Batch) -> list[_Ranked]:
        """The rankings of the queries of a batch; what was not complete in it is asked again, query by query."""
        complete: dict[int, Reply] = {}
        try:
            sent = {number: self.request_for(self.values(number)) for number in numbers}
            asked = [each for each in numbers if self.recording is None or not self.recording.has(sent[each][0])]
            if len(asked) > 1:
                complete = self._in_batch(asked, batch, sent[asked[0]][1])
        except AttemptError as failure:
            self.tally.count(f"a whole batch: {failure.complaint}")
            if failure.again:
                time.sleep(failure.after or random.uniform(0.25, 0.5))  # noqa: S311
        return [self.answer(number, complete.get(number)) for number in numbers]

    def _in_batch(self, numbers: Sequence[int], batch: Batch, headers: Mapping[str, str]) -> dict[int, Reply]:
        """The complete answers to several queries."""
        values = [self.values(number) for number in numbers]
        lines = (json.dumps(filled(line, each)) for each in values for line in (batch.head, batch.body))
        answer, _ = self._once("POST", batch.url, "".join(f"{line}\n" for line in lines).encode(), headers)
        answers = answer.get("responses") if isinstance(answer, dict) else None
        if not isinstance(answers, list) or len(answers) != len(numbers):
            raise AttemptError("its answer has not one response for each query")
        found = {}
        for number, each in zip(numbers, answers, strict=True):
            status = each.get("status", 200) if isinstance(each, dict) else "?"
            why = f"status {status}" if status != 200 else incomplete(each)
            if why:
                self.tally.count(f"in a batch: {why}")
            else:
                found[number] = Reply(each, None)
        return found

    def answer(self, number: int, known: Reply | None = None) -> _Ranked:
        """The ranking of a query; an empty one if it failed and the error budget allows that."""
        queries, began = self.request.queries, time.monotonic()
        try:
            return self._pages(number, known)
        except AttemptError as failure:
            with self.tally.lock:
                self.tally.failed[queries.ids[number]] = failure.complaint
                beyond = len(self.tally.failed) > self.allowed
            if beyond:
                raise SourceError(self._problem(number, failure)) from failure.__cause__
            waited = time.monotonic() - began  # so long a user would have waited for nothing
            return _Ranked(array("l"), array("d"), waited, None)

    def _problem(self, number: int, failure: AttemptError) -> Problem:
        queries = self.request.queries
        address = self.exchange.url.partition("?")[0]
        where = f"query {shown(queries.ids[number])} ({shown(queries.text[number])})"
        more = min(len(self.tally.failed) - 1, int(self.allowed))
        also = f"; {counted(more, 'query')} before it failed, which error_budget allowed" if more else ""
        text = f"{self.exchange.method} {address}: {failure.complaint}, for {where}{also}"
        return Problem(text, suggestion=failure.shows)

    def values(self, number: int, page: int = 0) -> dict[str, Any]:
        """The values of the placeholders."""
        queries, depth = self.request.queries, self.request.depth
        size = self.exchange.page_size or depth
        values: dict[str, Any] = {name: column[number] for name, column in queries.columns.items()}
        values |= {"id": queries.ids[number], "text": queries.text[number], "depth": depth}
        return {**values, "size": size, "page": page, "from": page * size}

    def _pages(self, number: int, known: Reply | None) -> _Ranked:
        """The documents of as many pages as it takes."""
        exchange, size = self.exchange, self.exchange.page_size or self.request.depth
        documents: list[str] = []
        scores = array("d")
        seconds, took = None, None
        for page in range(-(-self.request.depth // size)):
            answer, needed = self._answered((number, page), self.values(number, page), known)
            if not page:
                seconds, took = needed, json_path(exchange.took)(answer) if exchange.took else None
            if self._read(answer, number, documents, scores) < size:
                break
        if self.score is None:
            scores = array("d", range(0, -len(documents), -1))
        elif wrong := out_of_order(list(zip(documents, scores, strict=True))):
            raise AttemptError(f"scores do not order the hits: {wrong}", "leave out score:, so that their order counts")
        with self.tally.lock:
            codes = array("l", [self.codes.setdefault(document, len(self.codes)) for document in documents])
        return _Ranked(codes, scores, seconds, took)

    def request_for(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The request for one query, as recordings keep it, and its headers."""
        exchange = self.exchange
        url = filled(exchange.url, values, lambda value: quote(str(value), safe=""))
        params = urlencode({name: str(filled(text, values)) for name, text in exchange.params.items()})
        sent = {
            "method": exchange.method,
            "url": f"{url}{'&' if '?' in url else '?'}{params}" if params else url,
            "json": None if exchange.body is None else filled(exchange.body, values),
        }
        headers = {name: str(filled(text, values)) for name, text in self.options.headers.items()}
        if of_query := [headers[name] for name, text in self.options.headers.items() if any(holes(text))]:
            sent["headers"] = sha256(json.dumps(of_query).encode()).hexdigest()[:16]  # they may be secret
        return sent, headers

    def _answered(self, place: tuple[int, int], values: Mapping[str, Any], known: Reply | None) -> Reply:
        """The answer to one request: known from a batch, recorded or from the system."""
        if known is not None and self.recording is None:
            return known
        sent, headers = self.request_for(values)
        if self.recording is None:
            return self.attempted(sent, headers)
        try:
            return self.recording.answered(place, sent, lambda: known or self.attempted(sent, headers))
        except LookupError as error:
            raise AttemptError(str(error), f"unset {OFFLINE} to record it") from None

    def attempted(self, sent: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        """The answer of the system to one request, and its seconds: another attempt follows one that may pass."""
        body = None if sent["json"] is None else json.dumps(sent["json"]).encode()
        if self.request.timed and not getattr(self._thread, "warm", False):
            self._thread.warm = True
            for _ in range(self.options.warm_up):
                with suppress(AttemptError):  # the query is asked again, and tells
                    self._once(sent["method"], sent["url"], body, headers)
        for attempt in range(1, self.options.attempts + 1):
            try:
                return self._once(sent["method"], sent["url"], body, headers)
            except AttemptError as failure:
                if not failure.again or attempt == self.options.attempts:
                    tries = f" (asked {attempt} times)" if attempt > 1 else ""
                    raise AttemptError(f"{failure.complaint}{tries}", failure.shows) from failure.__cause__
                if attempt == 1:
                    self.tally.count(failure.complaint)
                time.sleep(failure.after or min(LONGEST_WAIT, 0.25 * 2**attempt * random.uniform(0.5, 1)))  # noqa: S311
        raise AssertionError("there is at least one attempt")

    def _once(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        self._wait_for_turn()
        began = time.monotonic()
        received = self.connections.answer(method, url, body, headers, self.options.timeout)
        seconds = time.monotonic() - began - received.connecting
        if received.status >= 300:
            raise received.refused()
        try:
            answer = json.loads(received.data)
        except ValueError:
            raise AttemptError("the answer is not JSON", received.beginning) from None
        if why := incomplete(answer):
            raise AttemptError(f"the answer is incomplete: {why}", again=True)
        if self.exchange.complete and json_path(self.exchange.complete)(answer) is not True:
            raise AttemptError(
                f"the answer is incomplete: {self.exchange.complete} is not true", received.beginning, again=True
            )
        return Reply(answer, seconds)

    def _wait_for_turn(self) -> None:
        """Wait as long as the rate says."""
        if self.options.rate is None:
            return
        with self.tally.lock:
            now = time.monotonic()
            turn = max(now, self.tally.next_at)
            self.tally.next_at = turn + 1 / self.options.rate
        time.sleep(turn - now)

    def _read(self, answer: Any, number: int, documents: list[str], scores: array[float]) -> int:
        """Add the documents of one page, with scores if there are any; the number of hits."""
        hits = self.hits(answer)
        if not isinstance(hits, list):
            what = "has nothing" if hits is None else f"has {type(hits).__name__}, not a list,"
            keys = f"its keys: {', '.join(map(str, answer))}" if isinstance(answer, dict) else ""
            raise AttemptError(f"the answer {what} at hits: {self.exchange.hits}", keys)
        for hit in hits:
            found = self.id(hit)
            if not isinstance(found, str | int) or isinstance(found, bool) or found == "":
                raise AttemptError(
                    f"a hit has no id at {self.exchange.id}", f"it is {shown(json.dumps(hit, ensure_ascii=False))}"
                )
            document = str(found)
            documents.append(document)
            if self.score:
                score = self.score(hit)
                if isinstance(score, bool) or not isinstance(score, int | float):
                    raise AttemptError(f"document {shown(document)} has no number at score: {self.exchange.score}")
                scores.append(score)
            if self.fields and self.described.get(document, _NOT_DESCRIBED)[0] > number:
                more = {name: value for name, path in self.fields.items() if (value := path(hit)) is not None}
                with self.tally.lock:  # the first query of the suite decides, not the first answer
                    if more and self.described.get(document, _NOT_DESCRIBED)[0] > number:
                        self.described[document] = number, more
        return len(hits)


def _engine_seconds(query: str, ranked: _Ranked) -> float:
    if isinstance(ranked.took, bool) or not isinstance(ranked.took, int | float) or ranked.took < 0:
        complaint = f"times: engine, but the answer to query {shown(query)} does not say how long the engine took"
        raise SourceError(Problem(complaint, suggestion="write times: client; the source http has took: PATH for it"))
    return ranked.took / 1000
