"""Rankings from a live system over HTTP: a request for each query, filled in from its columns, and read by JMESPath."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from statistics import fmean
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from pydantic import Field, model_validator

from pytest_ireval.errors import Problem, SourceError, shown, tidy
from pytest_ireval.plugins.kinds import source
from pytest_ireval.retrieval.rankings import rankings_of_lists
from pytest_ireval.secrets import keep
from pytest_ireval.sources.asking import LOGIN, in_threads
from pytest_ireval.sources.callables import Described, out_of_order
from pytest_ireval.sources.exchange import Exchange, JsonTree, filled, holes, incomplete, json_path, refuse_unknown
from pytest_ireval.sources.index import INDEX, checked_index, configured, with_index
from pytest_ireval.sources.recording import OFFLINE, Recording, Reply
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suites.options import SourceOptions
from pytest_ireval.suites.quantities import Amount
from pytest_ireval.suites.scalars import UnfitError
from pytest_ireval.suites.values import AmountText, DurationText, Flag, Number, PathText, Text, Whole
from pytest_ireval.text_table import counted

if TYPE_CHECKING:
    import httpx

AGAIN = (429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed."""
LONGEST_WAIT = 60.0
"""Seconds that a server may ask for before the next attempt."""
LARGEST = 64 << 20
"""The number of bytes of one answer that are read."""
SECRET_HEADERS = re.compile(r"authorization|cookie|key|token|secret|password", re.IGNORECASE)


class LiveOptions(SourceOptions):
    """The options of every source that asks a live system."""

    keeps_order: ClassVar[bool] = True
    headers: dict[Text, Text] = Field(default_factory=dict, repr=False, description="Headers of each request.")
    concurrency: Whole = Field(4, repr=False, description="The number of requests at a time.")
    rate: Number | None = Field(None, gt=0, repr=False, description="The most requests a second; by default no limit.")
    timeout: DurationText = Field(30.0, repr=False, description="Time limit of one request.")
    attempts: Whole = Field(
        4, repr=False, description="How often a request is made that fails for a reason that may pass."
    )
    error_budget: AmountText = Field(
        Amount(0),
        description="The number of queries, or their share, that may fail; they count as answered with nothing.",
    )
    redirects: Flag = Field(False, description="Follow redirects on the same host.")
    record: PathText | None = Field(None, repr=False, description="A folder that keeps all answers, to replay them.")

    @model_validator(mode="after")
    def _installed(self) -> LiveOptions:
        absent = [name for name in ("httpx", "jmespath") if find_spec(name) is None]
        if absent:
            raise UnfitError(f"{' and '.join(absent)} must be installed", "pip install 'pytest-ireval[live]'")
        for name, value in self.headers.items():
            if SECRET_HEADERS.search(name):
                keep(name, value)
                keep(name, value.rpartition(" ")[2])  # the token without the word Bearer
        return self


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

    @model_validator(mode="after")
    def _sound(self) -> HttpOptions:
        address = urlsplit(self.http)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise UnfitError(f"{shown(self.http)} is not an address", "write https://host/path")
        if "{" in address.netloc:
            raise UnfitError("the host must not depend on the query", "use placeholders behind the host only")
        used = set(holes([self.http, self.params, self.body]))
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


class _Failed(Exception):  # noqa: N818 - it is the end of an attempt, and becomes an error if it is the last one
    """An attempt without a result; ``again`` says whether another one may succeed, ``after`` that many seconds."""

    def __init__(self, complaint: str, shows: str = "", *, again: bool = False, after: float = 0.0) -> None:
        super().__init__(complaint)
        self.complaint, self.shows, self.again, self.after = complaint, shows, again, after


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

    def notes(self) -> list[str]:
        """A sentence about requests that were made again."""
        reasons = ", ".join(f"{why}: {count}" for why, count in sorted(self.repeated.items()))
        return [f"{counted(sum(self.repeated.values()), 'request')} made again ({reasons})"] if reasons else []


class _Ranked(NamedTuple):
    """The answer to one query."""

    documents: list[tuple[str, float]]
    described: Described
    seconds: float
    """The time until the answer of the first page was there."""
    took: float | None


def asked_over_http(exchange: Exchange, options: LiveOptions, request: Request) -> Answer:
    """The rankings of all queries of the request; the first that fails beyond the error budget is an error."""
    queries = request.queries
    known = {"id", "text", "depth", "size", "from", "page", *queries.columns}
    used = list(holes([exchange.url, exchange.params, exchange.body, options.headers]))
    refuse_unknown(used, known, queries, "{%s}")
    if "text" in used and not all(queries.text):
        query = next(query for query, text in zip(queries.ids, queries.text, strict=True) if not text)
        raise SourceError(f"query {shown(query)} has no text ({queries.origin}), but the request needs {{text}}")
    with ExitStack() as stack:
        recording = stack.enter_context(Recording(options.record, request, exchange)) if options.record else None
        if os.environ.get(OFFLINE) and recording is None:
            said = f"{OFFLINE} closes the network, and this source has no recording"
            raise SourceError(Problem(said, suggestion="add record: FOLDER, and run once with the network"))
        request.progress.expect(len(queries), "queries")
        asker = _Asker(stack.enter_context(_client(options)), exchange, options, request, recording)
        limit = options.attempts * (options.timeout + LONGEST_WAIT) * 2
        outcomes = in_threads(asker.answer, len(queries), options.concurrency, limit, request.progress)
        if outcomes and (error := outcomes[-1].error):
            raise error
        if outcomes and outcomes[-1].overran:
            raise SourceError(f"no answer to query {shown(queries.ids[len(outcomes) - 1])} in {limit:g}s")
    found = {query: outcome.value for query, outcome in zip(queries.ids, outcomes, strict=True)}
    fields: Described = {}
    for ranked in found.values():
        fields = {**ranked.described, **fields}
    lists = {query: ranked.documents for query, ranked in found.items()}
    rankings = rankings_of_lists(lists, "rankings", None if request.keep_all else request.depth, by_id=request.by_id)
    timings = {query: ranked.seconds for query, ranked in found.items()}
    took = [ranked.took for ranked in found.values() if isinstance(ranked.took, int | float)]
    about = {"the system's own time": f"{fmean(took):.4g} ms for a query, as it says"} if took else {}
    return Answer(rankings, timings, fields or None, about, asker.tally.failed, asker.tally.notes())


def _client(options: LiveOptions) -> httpx.Client:
    """Connections that are kept, with proxies and certificates of the environment."""
    import httpx

    limits = httpx.Limits(max_connections=options.concurrency, max_keepalive_connections=options.concurrency)
    http2 = find_spec("h2") is not None
    headers = {"accept": "application/json"}
    return httpx.Client(timeout=options.timeout, limits=limits, http2=http2, headers=headers)


class _Asker:
    """Asks for one query at a time, from any thread."""

    def __init__(
        self,
        client: httpx.Client,
        exchange: Exchange,
        options: LiveOptions,
        request: Request,
        recording: Recording | None,
    ) -> None:
        self.client, self.exchange, self.options, self.request = client, exchange, options, request
        self.recording = recording
        self.tally = _Tally()
        self.allowed = options.error_budget.of(len(request.queries))
        self.hits, self.id = json_path(exchange.hits), json_path(exchange.id)
        self.score = json_path(exchange.score) if exchange.score else None
        self.fields = {name: json_path(path) for name, path in exchange.fields.items()}

    def answer(self, number: int) -> _Ranked:
        """The ranking of a query; an empty one if it failed and the error budget allows that."""
        queries, began = self.request.queries, time.monotonic()
        try:
            return self._pages(number)
        except _Failed as failure:
            with self.tally.lock:
                self.tally.failed[queries.ids[number]] = failure.complaint
                beyond = len(self.tally.failed) > self.allowed
            if beyond:
                raise SourceError(self._problem(number, failure)) from failure.__cause__
            return _Ranked([], {}, time.monotonic() - began, None)  # so long a user would have waited for nothing

    def _problem(self, number: int, failure: _Failed) -> Problem:
        queries = self.request.queries
        address = LOGIN.sub("", self.exchange.url.partition("?")[0])
        where = f"query {shown(queries.ids[number])} ({shown(queries.text[number])})"
        more = min(len(self.tally.failed) - 1, int(self.allowed))
        also = f"; {counted(more, 'query')} before it failed, which error_budget allowed" if more else ""
        text = f"{self.exchange.method} {address}: {failure.complaint}, for {where}{also}"
        return Problem(text, suggestion=failure.shows)

    def _pages(self, number: int) -> _Ranked:
        """The documents of as many pages as it takes."""
        exchange, wanted = self.exchange, self.request.depth
        queries, size = self.request.queries, exchange.page_size or self.request.depth
        values: dict[str, Any] = {name: column[number] for name, column in queries.columns.items()}
        values |= {"id": queries.ids[number], "text": queries.text[number], "depth": wanted, "size": size}
        documents: list[tuple[str, float | None]] = []
        described: Described = {}
        seconds, took = 0.0, None
        for page in range(-(-wanted // size)):
            answer, needed = self._answered((number, page), {**values, "page": page, "from": page * size})
            if not page:
                seconds, took = needed, json_path(exchange.took)(answer) if exchange.took else None
            found = self._read(answer, described)
            documents += found
            if len(found) < size:
                break
        return _Ranked(self._in_order(documents), described, seconds, took)

    def _answered(self, place: tuple[int, int], values: Mapping[str, Any]) -> Reply:
        """The answer to one request, recorded or from the system."""
        exchange = self.exchange
        url = filled(exchange.url, values, lambda value: quote(str(value), safe=""))
        params = urlencode({name: str(filled(text, values)) for name, text in exchange.params.items()})
        sent = {
            "method": exchange.method,
            "url": f"{url}{'&' if '?' in url else '?'}{params}" if params else url,
            "json": None if exchange.body is None else filled(exchange.body, values),
        }
        headers = {name: str(filled(text, values)) for name, text in self.options.headers.items()}
        if self.recording is None:
            return self._attempted(sent, headers)
        try:
            return self.recording.answered(place, sent, lambda: self._attempted(sent, headers))
        except LookupError as error:
            raise _Failed(str(error), f"unset {OFFLINE} to record it") from None

    def _attempted(self, sent: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        """The answer of the system to one request, and its seconds: another attempt follows one that may pass."""
        for attempt in range(1, self.options.attempts + 1):
            try:
                return self._once(sent, headers)
            except _Failed as failure:
                if not failure.again or attempt == self.options.attempts:
                    tries = f" (asked {attempt} times)" if attempt > 1 else ""
                    raise _Failed(f"{failure.complaint}{tries}", failure.shows) from failure.__cause__
                if attempt == 1:
                    with self.tally.lock:
                        self.tally.repeated[failure.complaint] = self.tally.repeated.get(failure.complaint, 0) + 1
                time.sleep(failure.after or min(LONGEST_WAIT, 0.25 * 2**attempt * random.uniform(0.5, 1)))  # noqa: S311
        raise AssertionError("there is at least one attempt")

    def _once(self, sent: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
        import httpx

        self._wait_for_turn()
        began = time.monotonic()
        try:
            status, data, returned = self._exchanged(sent, headers, began + self.options.timeout)
        except (httpx.TimeoutException, TimeoutError) as error:
            raise _Failed(
                f"no answer in {self.options.timeout:g}s", "to allow more time, set timeout:", again=True
            ) from error
        except httpx.TransportError as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise _Failed(reason, again=True) from error
        seconds = time.monotonic() - began
        if status >= 300:
            raise self._refused(status, data, returned)
        try:
            answer = json.loads(data)
        except ValueError:
            raise _Failed("the answer is not JSON", _start_of(data)) from None
        if why := incomplete(answer):
            raise _Failed(f"the answer is incomplete: {why}", again=True)
        if self.exchange.complete and json_path(self.exchange.complete)(answer) is not True:
            raise _Failed(
                f"the answer is incomplete: {self.exchange.complete} is not true", _start_of(data), again=True
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

    def _exchanged(
        self, what: Mapping[str, Any], headers: Mapping[str, str], until: float
    ) -> tuple[int, bytes, Mapping[str, str]]:
        """Status, body and headers of one answer; redirects are followed if they stay on the host."""
        sent = self.client.build_request(**what, headers=headers)
        for _ in range(5):
            answer = self.client.send(sent, stream=True)
            try:
                data = self._body(answer, until)
            finally:
                answer.close()
            onward = answer.next_request
            if onward is None or not self.options.redirects:
                return answer.status_code, data, answer.headers
            if (onward.url.scheme, onward.url.host, onward.url.port) != (sent.url.scheme, sent.url.host, sent.url.port):
                raise _Failed(f"it redirects to another host, {onward.url.host}", "name the right address in the suite")
            sent = onward
        raise _Failed("it redirects more than 5 times")

    def _body(self, answer: httpx.Response, until: float) -> bytes:
        parts, size = [], 0
        for part in answer.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                raise _Failed(f"the answer is larger than {LARGEST >> 20} MiB", "ask for fewer documents or fields")
            if time.monotonic() > until:
                raise TimeoutError
        return b"".join(parts)

    def _refused(self, status: int, data: bytes, headers: Mapping[str, str]) -> _Failed:
        """The failure of an answer that is not a success."""
        if status < 400:
            target = headers.get("location", "")
            return _Failed(
                f"status {status}: it redirects to {shown(target)}", "name that address, or set redirects: true"
            )
        after = _seconds_to_wait(headers.get("retry-after", ""))
        again = status in AGAIN and after <= LONGEST_WAIT
        wait = f", and asks to wait {after:g}s" if after > LONGEST_WAIT else ""
        return _Failed(f"status {status}{wait}", _start_of(data), again=again, after=after)

    def _read(self, answer: Any, described: Described) -> list[tuple[str, float | None]]:
        """The documents of one page."""
        hits = self.hits(answer)
        if not isinstance(hits, list):
            what = "has nothing" if hits is None else f"has {type(hits).__name__}, not a list,"
            keys = f"its keys: {', '.join(map(str, answer))}" if isinstance(answer, dict) else ""
            raise _Failed(f"the answer {what} at hits: {self.exchange.hits}", keys)
        found = []
        for hit in hits:
            document = self.id(hit)
            if not isinstance(document, str | int) or isinstance(document, bool) or document == "":
                raise _Failed(
                    f"a hit has no id at {self.exchange.id}", f"it is {shown(json.dumps(hit, ensure_ascii=False))}"
                )
            score = self.score(hit) if self.score else None
            if self.score and (isinstance(score, bool) or not isinstance(score, int | float)):
                raise _Failed(f"document {shown(str(document))} has no number at score: {self.exchange.score}")
            found.append((str(document), score))
            more = {name: value for name, path in self.fields.items() if (value := path(hit)) is not None}
            if more:
                described.setdefault(str(document), more)
        return found

    def _in_order(self, documents: list[tuple[str, float | None]]) -> list[tuple[str, float]]:
        """Documents with scores that keep their order."""
        if self.score is None:
            return [(document, -float(place)) for place, (document, _) in enumerate(documents)]
        scored = [(document, float(score or 0.0)) for document, score in documents]
        if wrong := out_of_order(scored):
            raise _Failed(f"scores do not order the hits: {wrong}", "leave out score:, so that their order counts")
        return scored


def _start_of(data: bytes) -> str:
    """The start of an answer, for a message."""
    lines = tidy(data[:600].decode("utf-8", "replace"))
    return f"it begins: {' '.join(lines)[:300]}" if lines else "it is empty"


def _seconds_to_wait(text: str) -> float:
    """The seconds of a header Retry-After, which has seconds or a date; 0 without one."""
    if text.strip().isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return 0.0
