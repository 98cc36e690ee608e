"""The facts that a live system reports of its index, before and after it is asked, and the documents that it lacks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_ireval.baselines.index_facts import FACTS
from pytest_ireval.errors import SourceError, one_line, shown
from pytest_ireval.retrieval.formats.other_tools import incomplete
from pytest_ireval.sources.live_request import AttemptError, compile_path
from pytest_ireval.sources.recording import OFFLINE, Recording, TimedAnswer
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suites.scalars import UnfitError

if TYPE_CHECKING:
    from pytest_ireval.sources.http_client import HttpClient
    from pytest_ireval.sources.live_options import LiveOptions

INDEX = "Facts of the index: the url of a GET request, and JMESPaths of name, build, mapping and documents."
COPIES = 5
"""Documents of one id that are expected at most: an alias may have several indexes."""
BATCH, MOST = 1000, 20_000
"""The numbers of documents that are looked up in one request, and at all."""


class Look(NamedTuple):
    """A request that asks for no ranking."""

    url: str
    body: Any = None
    """Sent with POST; without it, the request is a GET."""


class IndexRequests(NamedTuple):
    """The requests for the facts of an index, and the way to read them."""

    address: str
    looks: Mapping[str, Look]
    facts: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Of the answers by the names of the requests; those that failed are not among them."""
    found: Callable[[Sequence[str]], tuple[Look, Callable[[Any], list[str]]]] | None = None
    """For some documents the request for them, and the way to read which of them there are; None: not looked up."""
    more: Callable[[Mapping[str, Any]], Mapping[str, Look]] = lambda _answers: {}
    """Further requests, for what the engine keeps of the request: it may follow from the answers."""
    unknown_fields: Callable[[Mapping[str, Any]], list[str]] = lambda _answers: []
    """Of the same answers as the facts, the fields that the request searches and the index does not have."""


def fetch_with_index(
    fetch: Callable[[], Answer], index: IndexRequests | None, options: LiveOptions, request: Request
) -> Answer:
    """The answer, with the facts of the index before and after, and with the relevant documents that are gone.

    Facts that cannot be read are a note: a login may be allowed to search only.
    """
    if index is None:
        return fetch()
    from pytest_ireval.sources.http_client import HttpClient

    with ExitStack() as stack:
        client = stack.enter_context(closing(HttpClient(index.address)))
        fetcher = _IndexFetcher(client, index, options, request, stack)
        facts = [fetcher.fetch_facts("before")]
        found = fetch()
        facts.append(fetcher.fetch_facts("after"))
        gone = tuple(fetcher.find_gone_documents()) if index.found is not None else ()
    notes, fields = (*found.notes, *fetcher.notes.values()), tuple(fetcher.unknown_fields)
    return replace(found, index=facts, gone=gone, unknown_fields=fields, notes=notes)


def without_keys(tree: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The entries of other names."""
    return {name: value for name, value in tree.items() if name not in names}


@dataclass
class _IndexFetcher:
    """Asks once for each fact; the first failure of a kind becomes a note."""

    client: HttpClient
    index: IndexRequests
    options: LiveOptions
    request: Request
    stack: ExitStack

    def __post_init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.asked = 0
        self.unknown_fields: list[str] = []
        self.recording: Recording | None = None
        if self.options.record is not None:
            source = ("index", self.index.address, self.index.looks)
            try:
                self.recording = self.stack.enter_context(Recording(self.options.record, self.request, source))
            except SourceError as error:
                self._note("index facts", one_line(error))

    def fetch_facts(self, when: str) -> Mapping[str, Any]:
        answers = self._fetch_answers(self.index.looks, when)
        try:
            answers |= self._fetch_answers(self.index.more(answers), when)
            self.unknown_fields = self.index.unknown_fields(answers)
            return self.index.facts(answers)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self._note("index facts", f"the answer has an unexpected form ({type(error).__name__}: {str(error)[:80]})")
            return {}

    def _fetch_answers(self, looks: Mapping[str, Look], when: str) -> dict[str, Any]:
        answers = {}
        for name, look in looks.items():
            try:
                answers[name] = self._fetch_recorded(look, when)
            except _LookError as error:
                self._note("index facts", str(error))
        return answers

    def find_gone_documents(self) -> Iterator[str]:
        wanted = list(self.request.relevant())
        step = -(-len(wanted) // MOST) or 1
        wanted = wanted[::step]
        if step > 1:
            self._note(
                "looked up", f"{len(wanted):,} of all relevant documents were looked up in the index", whole=True
            )
        assert self.index.found is not None  # noqa: S101 - the caller looks
        for begin in range(0, len(wanted), BATCH):
            batch = wanted[begin : begin + BATCH]
            look, read = self.index.found(batch)
            try:
                there = set(read(self._fetch_recorded(look, "documents")))
            except (_LookError, KeyError, TypeError, AttributeError) as error:
                self._note("relevant documents in the index", str(error))
                return
            yield from (document for document in batch if document not in there)

    def _fetch_recorded(self, look: Look, when: str) -> Any:
        """The answer, recorded or from the system; _LookError without one."""
        sent = {"method": "GET" if look.body is None else "POST", "url": look.url, "json": look.body}
        self.asked += 1
        if self.recording is None:
            if os.environ.get(OFFLINE):
                raise _LookError(f"{OFFLINE} is set")
            return self._fetch(sent).answer
        try:
            return self.recording.answer((self.asked, 0), {**sent, "when": when}, lambda: self._fetch(sent)).answer
        except LookupError as error:
            raise _LookError(str(error)) from None

    def _fetch(self, sent: Mapping[str, Any]) -> TimedAnswer:
        what = f"{sent['method']} {urlsplit(sent['url']).path}"
        headers = {name: text for name, text in self.options.headers.items() if "{" not in text}
        body, began = None if sent["json"] is None else json.dumps(sent["json"]).encode(), time.monotonic()
        try:
            reply = self.client.fetch(sent["method"], sent["url"], body, headers, self.options.timeout)
            value = json.loads(reply.data) if reply.status == 200 else None
        except AttemptError as error:
            raise _LookError(f"{what}: {error.complaint}") from None
        except ValueError:
            raise _LookError(f"{what}: the answer is not JSON") from None
        if reply.status != 200:
            raise _LookError(f"{what}: status {reply.status}")
        if why := incomplete(value):
            raise _LookError(f"{what}: the answer is incomplete: {why}")
        return TimedAnswer(value, time.monotonic() - began)

    def _note(self, what: str, why: str, *, whole: bool = False) -> None:
        self.notes.setdefault(what, why if whole else f"{what} could not be read: {why}")


class _LookError(Exception):
    """A request for facts has no answer."""


def read_index_option(index: Mapping[str, str], address: str) -> IndexRequests | None:
    """The request that a suite gives: its address, and by the name of a fact its path in the answer."""
    if not index:
        return None
    paths = {name: path for name, path in index.items() if name != "url"}

    def facts(answers: Mapping[str, Any]) -> dict[str, Any]:
        found = {name: compile_path(path)(answer) for answer in answers.values() for name, path in paths.items()}
        if absent := [paths[name] for name, value in found.items() if value is None]:
            raise ValueError(f"nothing at {absent[0]}")
        return found

    return IndexRequests(address, {"facts": Look(index["url"])}, facts)


def check_index_option(index: Mapping[str, str], address: str) -> None:
    """Refuse an ``index`` without address or paths, with unknown facts, or on another host, which gets no headers."""
    named = f"write index: {{url: ADDRESS, {': PATH, '.join(FACTS)}: PATH}}, with one PATH or more"
    unknown = [name for name in index if name not in ("url", *FACTS)]
    if index and (unknown or "url" not in index or len(index) < 2):
        raise UnfitError(f"index has unknown {shown(unknown[0])}" if unknown else "index lacks url or a path", named)
    for name, path in index.items():
        if name != "url":
            compile_path(path)
    if index and urlsplit(index["url"])[:2] != urlsplit(address)[:2]:
        raise UnfitError("index asks another host than the source", "only the host of the source gets its headers")
