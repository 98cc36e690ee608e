"""Connections to a live system: kept and used again, with the proxies and certificates of the environment."""

from __future__ import annotations

import http.client
import ssl
import time
import zlib
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_ireval.errors import Problem, SourceError, shown
from pytest_ireval.sources.exchange import AttemptError

LARGEST = 64 << 20
"""The number of bytes of one answer that are read."""
_REDIRECTS = {301: "GET", 302: "GET", 303: "GET", 307: "", 308: ""}
"""Statuses that name another address, with the method for it; "" keeps the method and the body."""
_PORTS = {"http": 80, "https": 443}
_UNQUOTED = "!#$%&'()*+,/:;=?@[]~"


class Received(NamedTuple):
    """The answer to one request."""

    status: int
    data: bytes
    headers: http.client.HTTPMessage
    connecting: float
    """Seconds in which the connection was set up."""


class _Connection(http.client.HTTPConnection):
    """Sends the head of a request together with its body: one packet and one call of the system, not two."""

    has_body = False
    _head = b""

    def send(self, data: bytes) -> None:  # type: ignore[override]  # no files are sent
        """Send it, or keep a head until its body comes."""
        if self.has_body:
            self.has_body, self._head = False, data
            return
        data, self._head = self._head + data, b""
        super().send(data)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    """The same with TLS."""


class Connections:
    """Connections to the host of an address. Each is used by one thread at a time, and then by any other."""

    def __init__(self, address: str, *, redirects: bool = False) -> None:
        self.origin, self.redirects = urlsplit(address), redirects
        self.headers = {
            "host": self.origin.netloc.rpartition("@")[2].encode("idna").decode(),
            "accept": "application/json",
            "accept-encoding": "gzip",
            "user-agent": "pytest-ireval",
            **_login("authorization", self.origin),
        }
        self._proxy = _proxy_for(self.origin)
        self._certificates = ssl.create_default_context() if self.origin.scheme == "https" else None
        self._idle: deque[_Connection] = deque()

    def close(self) -> None:
        """Close all that are idle."""
        while self._idle:
            self._idle.pop().close()

    def answer(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], timeout: float) -> Received:
        """The answer, whatever its status. Redirects are followed, if that is wanted, on the same host."""
        until = time.monotonic() + timeout
        sent = {**self.headers, **{name.lower(): text for name, text in headers.items()}}
        try:
            for _ in range(5):
                received = self._received(method, url, data, sent, until)
                location = received.headers.get("location", "")
                if not self.redirects or received.status not in _REDIRECTS or not location:
                    return received
                url = urljoin(url, location)
                if _origin(urlsplit(url)) != _origin(self.origin):
                    other = urlsplit(url).hostname
                    raise AttemptError(f"it redirects to another host, {other}", "name the right address in the suite")
                if _REDIRECTS[received.status]:
                    method, data = _REDIRECTS[received.status], None
        except TimeoutError as error:
            raise AttemptError(f"no answer in {timeout:g}s", "to allow more time, set timeout:", again=True) from error
        except ssl.SSLCertVerificationError as error:
            trust = "set SSL_CERT_FILE to a file with the certificates that you trust"
            raise AttemptError(f"the certificate is not valid: {error.verify_message}", trust) from error
        except (OSError, http.client.HTTPException, zlib.error) as error:
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            raise AttemptError(f"the connection failed: {reason}", again=True) from error
        except ValueError as error:  # a line break in a header, from a column of the queries
            raise AttemptError(f"the request cannot be sent: {error}") from error
        raise AttemptError("it redirects more than 5 times")

    def _received(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], until: float
    ) -> Received:
        parts = urlsplit(url)
        target = quote(f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/", safe=_UNQUOTED)
        if self._proxy and not self._certificates:
            target = f"http://{headers['host']}{target}"
            headers = {**headers, **_login("proxy-authorization", self._proxy)}
        if data is not None:
            headers = {"content-type": "application/json", **headers}
        encoded = {name: text.encode() for name, text in headers.items()}
        while True:
            try:
                connection, was_idle = self._idle.pop(), True
            except IndexError:
                connection, was_idle = self._new(), False
            try:
                _limit(connection, until)
                began = time.monotonic()
                if connection.sock is None:
                    connection.connect()
                connecting = time.monotonic() - began
                _limit(connection, until)
                connection.has_body = data is not None
                connection.request(method, target, data, encoded)
                answer = connection.getresponse()
                received = Received(answer.status, _body(answer, connection, until), answer.headers, connecting)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                if not was_idle:  # else the system closed a connection that was idle
                    raise
            except BaseException:
                connection.close()
                raise
            else:
                if answer.will_close:
                    connection.close()
                else:
                    self._idle.append(connection)
                return received

    def _new(self) -> _Connection:
        """A connection that is opened by its first request."""
        end = self._proxy or self.origin
        host, port = end.hostname or "", end.port or _PORTS[end.scheme]
        if self._certificates is None:
            return _Connection(host, port)
        connection = _SecureConnection(host, port, context=self._certificates)
        if self._proxy:
            connection.set_tunnel(
                self.origin.hostname or "", self.origin.port or 443, _login("proxy-authorization", self._proxy)
            )
        return connection


def _proxy_for(origin: SplitResult) -> SplitResult | None:
    """The proxy that the environment names for an address."""
    known = getproxies()
    address = known.get(origin.scheme) or known.get("all")
    if not address or proxy_bypass(origin.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http":
        raise SourceError(
            Problem(
                f"the proxy {shown(proxy.scheme + '://' + (proxy.hostname or ''))} of the environment cannot be used",
                allowed="allowed: http://host:port",
                suggestion=f"or name hosts to ask without a proxy: NO_PROXY={origin.hostname}",
            )
        )
    return proxy


def _login(header: str, address: SplitResult) -> dict[str, str]:
    """The header with the name and the password of an address."""
    if address.username is None:
        return {}
    login = f"{unquote(address.username)}:{unquote(address.password or '')}"
    return {header: f"Basic {b64encode(login.encode()).decode()}"}


def _origin(address: SplitResult) -> tuple[str, str | None, int | None]:
    return address.scheme, address.hostname, address.port or _PORTS.get(address.scheme)


def _limit(connection: http.client.HTTPConnection, until: float) -> None:
    """Let the next step on the connection take no longer than until then."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.timeout = left
    if connection.sock is not None:
        connection.sock.settimeout(left)


def _body(answer: http.client.HTTPResponse, connection: http.client.HTTPConnection, until: float) -> bytes:
    """The whole body, unpacked; the answer is closed."""
    encoding = answer.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise AttemptError(f"the answer is encoded as {encoding}, which was not asked for", "allowed: gzip")
    unpacker = None if encoding == "identity" else zlib.decompressobj(31)
    parts, size = [], 0
    with answer:
        while part := answer.read1(1 << 16):
            parts.append(part if unpacker is None else unpacker.decompress(part, LARGEST + 1 - size))
            size += len(parts[-1])
            if size > LARGEST:
                raise AttemptError(
                    f"the answer is larger than {LARGEST >> 20} MiB", "ask for fewer documents or fields"
                )
            if answer.length != 0:
                _limit(connection, until)
        if answer.length or (unpacker is not None and not unpacker.eof):
            raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)
