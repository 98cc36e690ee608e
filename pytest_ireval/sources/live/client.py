"""Requests to a live system, with urllib3: the proxies and certificates of the environment, one limit of time and size.

Nothing here makes a request again: whether another attempt may help also depends on what an answer says of itself.
"""

from __future__ import annotations

import json
import logging
import re
import ssl
import textwrap
import time
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import exceptions
from urllib3.response import BaseHTTPResponse

from pytest_ireval.data.formats.other_tools import find_missing_part
from pytest_ireval.errors import Problem, SourceError, clean_lines, quote
from pytest_ireval.masking import mask_error, mask_words, register_secret
from pytest_ireval.sources.calls import suggest_longer_timeout
from pytest_ireval.sources.live.exchange import LONGEST_WAIT, AttemptError, TimedAnswer

LARGEST = 64 << 20
"""The number of bytes of one answer that are read."""
_MAY_PASS = (408, 429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed."""
_CONTROL = re.compile(r"[\x00-\x08\n-\x1f\x7f]")


class _Reply(NamedTuple):
    """The whole answer to one request."""

    status: int
    data: bytes
    target: str | None
    """The address that it redirects to."""
    wait: float
    """Seconds that the system asks to wait before the next request; 0 if it does not say."""

    @property
    def beginning(self) -> str:
        """The reason that the system gives, or else the start of its answer, for a message."""
        reason = _find_reason(self.data)
        text = mask_words(reason or self.data[:600].decode("utf-8", "replace"))
        words = " ".join(clean_lines(textwrap.shorten(text, 280, placeholder=" …")))
        return f"{'it says' if reason else 'it begins'}: {words}" if words else "it is empty"

    def refuse_failure(self) -> None:
        """Raise AttemptError unless the answer is a success."""
        if 200 <= self.status < 300:
            return
        if self.status < 400 and self.target:
            raise AttemptError(f"status {self.status}: it redirects to {quote(self.target)}", "name that address")
        wait = f", and asks to wait {self.wait:g}s" if self.wait > LONGEST_WAIT else ""
        may_pass = self.status in _MAY_PASS and not wait
        raise AttemptError(
            f"status {self.status}{wait}", self.beginning, again=may_pass, after=self.wait, status=self.status
        )


def _find_reason(data: bytes) -> str:
    """The reason in a JSON answer about a failure, as Elasticsearch, OpenSearch, Solr and Vespa give it; else empty."""
    try:
        error = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    for path in ("error", "root", "errors", "root_cause"):  # in this order they are in each other
        below = error.get(path) if isinstance(error, dict) else None
        if below:
            error = below[0] if isinstance(below, list) else below
    if isinstance(error, dict):
        error = next((error[key] for key in ("reason", "msg", "message", "detail") if error.get(key)), None)
    return error if isinstance(error, str) else ""


class HttpClient:
    """Makes requests to the host of an address, from any number of threads."""

    def __init__(self, address: str, connections: int = 1) -> None:
        origin = urlsplit(address)
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": "pytest-ireval",
            **_make_login_header("Authorization", origin),
        }
        self._pool = _make_pool(origin, connections)

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def fetch_json(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> TimedAnswer:
        """The JSON of a whole and successful answer; AttemptError without one."""
        began = time.monotonic()
        reply = self._fetch(method, url, data, headers, timeout)
        seconds = time.monotonic() - began
        reply.refuse_failure()
        try:
            answer = json.loads(reply.data)
        except ValueError:
            raise AttemptError("the answer is not JSON", reply.beginning) from None
        if why := find_missing_part(answer):
            raise AttemptError(f"the answer is incomplete: {why}", again=True)
        return TimedAnswer(answer, seconds)

    def _fetch(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], timeout: float) -> _Reply:
        """The answer, whatever its status."""
        sent = {**self._headers, **{name.title(): text for name, text in headers.items()}}
        if data is not None:
            sent = {"Content-Type": "application/json", **sent}
        if wrong := next((name for name, text in sent.items() if _CONTROL.search(text)), ""):
            said = f"the request cannot be sent: the header {wrong} has a line end or another control character"
            raise AttemptError(said)
        try:
            return self._fetch_by_urllib3(method, url, data, sent, timeout)
        except (exceptions.LocationValueError, UnicodeError) as error:
            raise AttemptError(f"the request cannot be sent: {error}") from error
        except (exceptions.HTTPError, OSError) as error:
            cause = _find_cause(error)
            refused = isinstance(error, exceptions.NewConnectionError)  # which is a timeout, too, to urllib3
            if isinstance(cause, TimeoutError) or (isinstance(error, exceptions.TimeoutError) and not refused):
                said = f"no answer in {timeout:g}s"
                raise AttemptError(said, suggest_longer_timeout(timeout), again=True) from error
            if isinstance(cause, ssl.SSLCertVerificationError):
                trust = "set SSL_CERT_FILE to a file with the certificates that you trust"
                raise AttemptError(f"the certificate is not valid: {cause.verify_message}", trust) from error
            reason = getattr(cause, "strerror", None) or f"{type(cause).__name__}: {cause}"
            raise AttemptError(f"the connection failed: {reason}", again=True) from error

    def _fetch_by_urllib3(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> _Reply:
        until = time.monotonic() + timeout
        response = self._pool.urlopen(
            method,
            _encode_address(url),
            body=data,
            headers={name: text.encode() for name, text in headers.items()},  # in UTF-8; urllib3 would take Latin-1
            timeout=urllib3.Timeout(total=timeout),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            if response.status < 200:  # the answer itself comes later, and would be taken for that to the next request
                response.close()
            data = _read_body(response, until)
            return _Reply(response.status, data, response.headers.get("location"), _find_wait(response))
        except BaseException:
            response.close()
            raise
        finally:
            response.release_conn()


def _read_body(response: BaseHTTPResponse, until: float) -> bytes:
    """The unpacked body. The time limit of a socket is one for each read, so that of the whole answer is ours."""
    parts, size = [], 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise AttemptError(f"the answer is larger than {LARGEST >> 20} MiB", "ask for fewer documents or fields")
        if time.monotonic() > until:
            raise TimeoutError
    return b"".join(parts)


def _find_wait(response: BaseHTTPResponse) -> float:
    """The seconds of the header Retry-After, which has seconds or a date; 0 without one."""
    try:
        return urllib3.Retry().get_retry_after(response) or 0.0
    except (exceptions.InvalidHeader, ValueError):
        return 0.0


def _make_pool(origin: SplitResult, connections: int) -> urllib3.PoolManager:
    """The connections to a host, through the proxy that the environment names for it."""
    options: dict[str, Any] = {"num_pools": 1, "maxsize": connections}
    if origin.scheme == "https":
        options["ssl_context"] = ssl.create_default_context()  # one for all, because loading certificates takes time
    known = getproxies()
    address = known.get(origin.scheme) or known.get("all")
    if not address or any(map(proxy_bypass, (origin.netloc.rpartition("@")[2], origin.hostname or ""))):
        return urllib3.PoolManager(**options)
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme not in ("http", "https"):
        raise SourceError(
            Problem(
                f"the proxy {quote(proxy.scheme + '://' + (proxy.hostname or ''))} of the environment cannot be used",
                allowed="allowed: http://host:port",
                suggestion=f"or name hosts to ask without a proxy: NO_PROXY={origin.hostname}",
            )
        )
    where = f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"
    return urllib3.ProxyManager(where, proxy_headers=_make_login_header("Proxy-Authorization", proxy), **options)


def _make_login_header(header: str, address: SplitResult) -> dict[str, str]:
    """The header with the name and the password of an address; no text shows the password from now on."""
    if address.username is None:
        return {}
    password = unquote(address.password or "")
    register_secret("password", password)
    return {header: f"Basic {b64encode(f'{unquote(address.username)}:{password}'.encode()).decode()}"}


def _encode_address(url: str) -> str:
    """The address without a login, which a proxy would see; in ASCII, for which urllib3 needs another package."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2].encode("idna").decode()).geturl()


def _find_cause(error: BaseException) -> BaseException:
    """The exception inside of those of urllib3, whose texts begin with pools, hosts and addresses."""
    while True:
        inside = error.__cause__ or next((each for each in error.args if isinstance(each, BaseException)), None)
        if inside is None:
            return error
        error = inside


def _hide_secrets(record: logging.LogRecord) -> bool:
    """Hide secrets in what urllib3 logs, such as the parameters of an address: pytest may show it."""
    record.msg, record.args = mask_error(record.getMessage()), ()
    return True


logging.getLogger("urllib3.connectionpool").addFilter(_hide_secrets)
