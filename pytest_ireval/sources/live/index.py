"""The facts that a live system reports of its index, before and after it is asked, and the documents that it lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_ireval.baseline.index_facts import FACTS
from pytest_ireval.errors import quote
from pytest_ireval.progress import SILENT
from pytest_ireval.sources.calls import make_calls
from pytest_ireval.sources.live.exchange import AttemptError, TimedAnswer, compile_path
from pytest_ireval.sources.live.recording import Recording
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.suite.suite import OFFLINE

if TYPE_CHECKING:
    from pytest_ireval.sources.live.client import HttpClient
    from pytest_ireval.sources.live.options import LiveOptions

INDEX = "Facts of the index: the url of a GET request, and JMESPaths of name, build, mapping and documents."
COPIES = 5
"""Documents of one id that are expected at most: an alias may have several indexes."""
BATCH, MOST = 1000, 20_000
"""The numbers of documents that are looked up in one request, and at all."""
LOOKUPS = "documents"
WHAT = {"before": "index facts", "after": "index facts", LOOKUPS: "relevant documents in the index"}
"""What is asked for, by the moment; recordings keep the moments, for the same request may have other answers later."""
_Key = tuple[str, str]
"""The moment and the name of a request."""


class IndexRequest(NamedTuple):
    """A request that asks for no ranking."""

    url: str
    body: Any = None
    """Sent with POST; without it, the request is a GET."""


class SearchedIndex:
    """What can be asked of an index beside rankings, and how the answers are read; each engine has its own."""

    def __init__(
        self, address: str, requests: Mapping[str, IndexRequest], *, has_documents_checked: bool = False
    ) -> None:
        self.address = address
        self.requests = requests
        """The requests for facts, by name."""
        self.has_documents_checked = has_documents_checked
        """True if the relevant documents are looked up."""

    def list_further_requests(self, answers: Mapping[str, Any]) -> Mapping[str, IndexRequest]:  # noqa: ARG002 - most engines have none
        """Further requests, for what the engine keeps of the request: it may follow from the answers."""
        return {}

    def read_facts(self, answers: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts in the answers, by the names of the requests; those that failed are not among them."""
        raise NotImplementedError

    def find_unknown_fields(self, answers: Mapping[str, Any]) -> list[str]:  # noqa: ARG002 - most engines have none
        """The fields that the request searches and the index does not have, found in the same answers."""
        return []

    def make_lookup(self, ids: Sequence[str]) -> IndexRequest:
        """The request for documents with these ids."""
        raise NotImplementedError

    def read_ids(self, answer: Any) -> list[str]:
        """The ids in the answer to :meth:`make_lookup`."""
        raise NotImplementedError


def remove_keys(tree: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The entries of other names."""
    return {name: value for name, value in tree.items() if name not in names}


class IndexFetcher:
    """Asks once for each fact; the first failure of a kind becomes a note: a login may be allowed to search only."""

    def __init__(self, index: SearchedIndex, options: LiveOptions, client: HttpClient) -> None:
        self.index, self.client, self.options = index, client, options
        self.headers = {name: text for name, text in options.headers.items() if "{" not in text}
        self.recording: Recording | None = None
        self.notes: dict[str, str] = {}
        self.unknown_fields: list[str] = []
        self.gone: list[str] = []
        self._asked = 0

    def note(self, what: str, why: str) -> None:
        """Say why something could not be read, unless another reason was said."""
        self.notes.setdefault(what, f"{what} could not be read: {why}")

    def choose_lookups(self, relevant: Sequence[str], expected: Sequence[str]) -> list[str]:
        """The documents to look up: all that are expected, and of many relevant ones a part."""
        part = relevant[:: -(-len(relevant) // MOST) or 1]
        if len(part) < len(relevant):
            self.notes["looked up"] = f"{len(part):,} of all relevant documents were looked up in the index"
        return [*dict.fromkeys((*part, *expected))]

    def fetch_facts(self, when: str, documents: Sequence[str] = ()) -> Mapping[str, Any]:
        """The facts that the index gives; ``gone`` are those of the documents that it does not have."""
        batches = {str(begin): documents[begin : begin + BATCH] for begin in range(0, len(documents), BATCH)}
        lookups = {(LOOKUPS, name): self.index.make_lookup(batch) for name, batch in batches.items()}
        requests = {(when, name): request for name, request in self.index.requests.items()}
        answers = self._fetch_all({**requests, **lookups})
        self.gone += self._find_gone(batches, answers)
        return self._read_facts(when, {name: answer for (moment, name), answer in answers.items() if moment == when})

    def _find_gone(self, batches: Mapping[str, Sequence[str]], answers: Mapping[_Key, Any]) -> Iterator[str]:
        for name in batches:
            if (LOOKUPS, name) not in answers:
                continue
            try:
                there = set(self.index.read_ids(answers[LOOKUPS, name]))
            except (LookupError, TypeError, AttributeError) as error:
                self.note(WHAT[LOOKUPS], str(error))
                return
            yield from (document for document in batches[name] if document not in there)

    def _read_facts(self, when: str, answers: dict[str, Any]) -> Mapping[str, Any]:
        try:
            further = self.index.list_further_requests(answers)
            more = self._fetch_all({(when, name): request for name, request in further.items()})
            answers |= {name: answer for (_, name), answer in more.items()}
            self.unknown_fields = self.index.find_unknown_fields(answers)
            return self.index.read_facts(answers)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.note("index facts", f"the answer has an unexpected form ({type(error).__name__}: {str(error)[:80]})")
            return {}

    def _fetch_all(self, requests: Mapping[_Key, IndexRequest]) -> dict[_Key, Any]:
        """The answers by moment and name, several at a time; the first reason why one has none becomes a note."""
        answers: dict[_Key, Any] = {}
        failures: dict[_Key, str] = {}
        asked = [*requests]
        first = self._asked
        self._asked += len(asked)

        def ask(number: int) -> None:
            key = asked[number]
            try:
                answers[key] = self._fetch_recorded(first + number, requests[key], key[0])
            except (AttemptError, LookupError) as error:
                failures[key] = str(error)

        limit = 2 * self.options.timeout  # the client keeps to the timeout itself
        outcomes = make_calls(ask, len(asked), self.options.concurrency, limit, SILENT)
        if outcomes and (error := outcomes[-1].error):
            raise error
        for key in asked:
            if key not in answers:
                self.note(WHAT[key[0]], failures.get(key, f"no answer in {limit:g}s"))
        return {key: answers[key] for key in asked if key in answers}

    def _fetch_recorded(self, place: int, request: IndexRequest, when: str) -> Any:
        """The answer, recorded or from the system."""
        sent = {"method": "GET" if request.body is None else "POST", "url": request.url, "json": request.body}
        if self.recording is not None:
            return self.recording.answer((place, 0), {**sent, "when": when}, lambda: self._fetch(request)).answer
        if os.environ.get(OFFLINE):
            raise LookupError(f"{OFFLINE} is set")
        return self._fetch(request).answer

    def _fetch(self, request: IndexRequest) -> TimedAnswer:
        method, body = ("GET", None) if request.body is None else ("POST", json.dumps(request.body).encode())
        try:
            return self.client.fetch_json(method, request.url, body, self.headers, self.options.timeout)
        except AttemptError as error:
            raise AttemptError(f"{method} {urlsplit(request.url).path}: {error.complaint}") from error.__cause__


class _OptionIndex(SearchedIndex):
    """The index that the option ``index`` describes: an address, and by the name of a fact its path in the answer."""

    def __init__(self, address: str, url: str, paths: Mapping[str, str]) -> None:
        super().__init__(address, {"facts": IndexRequest(url)})
        self.paths = paths

    def read_facts(self, answers: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts that the one answer has."""
        if "facts" not in answers:
            return {}
        facts = {name: compile_path(path)(answers["facts"]) for name, path in self.paths.items()}
        if absent := [self.paths[name] for name, value in facts.items() if value is None]:
            raise ValueError(f"nothing at {absent[0]}")
        return facts


def read_index_option(index: Mapping[str, str], address: str) -> SearchedIndex | None:
    """The index that a suite describes; None if it does not."""
    paths = {name: path for name, path in index.items() if name != "url"}
    return _OptionIndex(address, index["url"], paths) if index else None


def check_index_option(index: Mapping[str, str], address: str) -> None:
    """Refuse an ``index`` without address or paths, with unknown facts, or on another host, which gets no headers."""
    named = f"write index: {{url: ADDRESS, {': PATH, '.join(FACTS)}: PATH}}, with one PATH or more"
    unknown = [name for name in index if name not in ("url", *FACTS)]
    if index and (unknown or "url" not in index or len(index) < 2):
        raise UnfitError(f"index has unknown {quote(unknown[0])}" if unknown else "index lacks url or a path", named)
    for name, path in index.items():
        if name != "url":
            compile_path(path)
    if index and urlsplit(index["url"])[:2] != urlsplit(address)[:2]:
        raise UnfitError("index asks another host than the source", "only the host of the source gets its headers")
