"""The facts that a live system reports of its index, before and after it is asked, and the documents that it lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_ireval.baseline.index_facts import FACTS
from pytest_ireval.errors import SourceError, one_line, shown
from pytest_ireval.sources.live_request import AttemptError, TimedAnswer, compile_path
from pytest_ireval.sources.recording import OFFLINE, Recording
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suite.scalars import UnfitError

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
    from pytest_ireval.sources.http_client import HttpClient  # brings urllib3, which only live systems need

    with ExitStack() as stack:
        fetcher = _IndexFetcher(stack.enter_context(closing(HttpClient(index.address))), index, options)
        if options.record is not None:
            recording = Recording(options.record, request, ("index", index.address, index.looks))
            try:
                fetcher.recording = stack.enter_context(recording)
            except SourceError as error:
                fetcher.note("index facts", one_line(error))
        before = fetcher.fetch_facts("before")
        found = fetch()
        facts = [before, fetcher.fetch_facts("after")]
        gone = tuple(fetcher.find_gone_documents(request.relevant())) if index.found is not None else ()
    notes = (*found.notes, *fetcher.notes.values())
    return replace(found, index=facts, gone=gone, unknown_fields=tuple(fetcher.unknown_fields), notes=notes)


def remove_keys(tree: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The entries of other names."""
    return {name: value for name, value in tree.items() if name not in names}


class _IndexFetcher:
    """Asks once for each fact; the first failure of a kind becomes a note."""

    def __init__(self, client: HttpClient, index: IndexRequests, options: LiveOptions) -> None:
        self.client, self.index, self.timeout = client, index, options.timeout
        self.headers = {name: text for name, text in options.headers.items() if "{" not in text}
        self.recording: Recording | None = None
        self.notes: dict[str, str] = {}
        self.unknown_fields: list[str] = []
        self._asked = 0

    def note(self, what: str, why: str) -> None:
        """Say why something could not be read, unless another reason was said."""
        self.notes.setdefault(what, f"{what} could not be read: {why}")

    def fetch_facts(self, when: str) -> Mapping[str, Any]:
        """The facts that the index gives."""
        answers = self._fetch_answers(self.index.looks, when)
        try:
            answers |= self._fetch_answers(self.index.more(answers), when)
            self.unknown_fields = self.index.unknown_fields(answers)
            return self.index.facts(answers)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.note("index facts", f"the answer has an unexpected form ({type(error).__name__}: {str(error)[:80]})")
            return {}

    def _fetch_answers(self, looks: Mapping[str, Look], when: str) -> dict[str, Any]:
        answers = {}
        for name, look in looks.items():
            try:
                answers[name] = self._fetch_recorded(look, when)
            except (AttemptError, LookupError) as error:
                self.note("index facts", str(error))
        return answers

    def find_gone_documents(self, relevant: Sequence[str]) -> Iterator[str]:
        """The relevant documents that the index does not have, or of many those of a part."""
        wanted = relevant[:: -(-len(relevant) // MOST) or 1]
        if len(wanted) < len(relevant):
            self.notes["looked up"] = f"{len(wanted):,} of all relevant documents were looked up in the index"
        assert self.index.found is not None  # noqa: S101 - the caller looks
        for begin in range(0, len(wanted), BATCH):
            batch = wanted[begin : begin + BATCH]
            look, read = self.index.found(batch)
            try:
                there = set(read(self._fetch_recorded(look, "documents")))
            except (AttemptError, LookupError, TypeError, AttributeError) as error:
                self.note("relevant documents in the index", str(error))
                return
            yield from (document for document in batch if document not in there)

    def _fetch_recorded(self, look: Look, when: str) -> Any:
        """The answer, recorded or from the system."""
        sent = {"method": "GET" if look.body is None else "POST", "url": look.url, "json": look.body}
        self._asked += 1
        if self.recording is not None:
            return self.recording.answer((self._asked, 0), {**sent, "when": when}, lambda: self._fetch(look)).answer
        if os.environ.get(OFFLINE):
            raise LookupError(f"{OFFLINE} is set")
        return self._fetch(look).answer

    def _fetch(self, look: Look) -> TimedAnswer:
        method, body = ("GET", None) if look.body is None else ("POST", json.dumps(look.body).encode())
        try:
            return self.client.fetch_json(method, look.url, body, self.headers, self.timeout)
        except AttemptError as error:
            raise AttemptError(f"{method} {urlsplit(look.url).path}: {error.complaint}") from error.__cause__


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
