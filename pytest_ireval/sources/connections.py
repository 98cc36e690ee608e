"""Connections to a live system: kept and used again, with the proxies and certificates of the environment."""

from __future__ import annotations

import http.client
import io
import re
import select
import socket
import ssl
import time
import zlib
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_ireval.errors import Problem, SourceError, shown, tidy
from pytest_ireval.secrets import keep
from pytest_ireval.sources.exchange import LONGEST_WAIT, AttemptError

LARGEST = 64 << 20
"""The number of bytes of one answer that are read."""
_AGAIN = (408, 429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed."""
_CONTROL = re.compile(r"[\x00-\x08\n-\x1f\x7f]")
_PORTS = {"http": 80, "https": 443}
_UNQUOTED = "!#$%&'()*+,/:;=?@[]~"


class Received(NamedTuple):
    """The answer to one request."""

    status: int
    data: bytes
    headers: http.client.HTTPMessage
    connecting: float
    """Seconds in which the connection was set up."""

    @property
    def beginning(self) -> str:
        """The start of the answer, for a message."""
        lines = tidy(self.data[:600].decode("utf-8", "replace"))
        return f"it begins: {' '.join(lines)[:300]}" if lines else "it is empty"

    def refused(self) -> AttemptError:
        """The failure of an answer that is not a success."""
        if self.status < 400 and (target := self.headers.get("location")):
            return AttemptError(f"status {self.status}: it redirects to {shown(target)}", "name that address")
        after = _seconds_to_wait(self.headers.get("retry-after", ""))
        again = self.status in _AGAIN and after <= LONGEST_WAIT
        wait = f", and asks to wait {after:g}s" if after > LONGEST_WAIT else ""
        return AttemptError(f"status {self.status}{wait}", self.beginning, again=again, after=after)


def _seconds_to_wait(text: str) -> float:
    """The seconds of a header Retry-After, which has seconds or a date; 0 without one."""
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return 0.0


class Connections:
    """Connections to the host of an address. Each is used by one thread at a time, and then by any other."""

    def __init__(self, address: str) -> None:
        self.origin = urlsplit(address)
        self.headers = {
            "host": self.origin.netloc.rpartition("@")[2].encode("idna").decode(),
            "accept": "application/json",
            "accept-encoding": "gzip",
            "user-agent": "pytest-ireval",
            **_login("authorization", self.origin),
        }
        self._proxy = _proxy_for(self.origin)
        self._proxy_login = _login("proxy-authorization", self._proxy) if self._proxy else {}
        self._certificates = ssl.create_default_context() if self.origin.scheme == "https" else None
        self._idle: deque[http.client.HTTPConnection] = deque()

    def close(self) -> None:
        """Close all that are idle."""
        while self._idle:
            self._idle.pop().close()

    def answer(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], timeout: float) -> Received:
        """The answer, whatever its status."""
        until = time.monotonic() + timeout
        sent = {**self.headers, **{name.lower(): text for name, text in headers.items()}}
        try:
            return self._received(method, url, data, sent, until)
        except TimeoutError as error:
            raise AttemptError(f"no answer in {timeout:g}s", "to allow more time, set timeout:", again=True) from error
        except ssl.SSLCertVerificationError as error:
            trust = "set SSL_CERT_FILE to a file with the certificates that you trust"
            raise AttemptError(f"the certificate is not valid: {error.verify_message}", trust) from error
        except (OSError, http.client.HTTPException, zlib.error) as error:
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            raise AttemptError(f"the connection failed: {reason}", again=True) from error
        except ValueError as error:  # a line end in a header, from a column of the queries
            raise AttemptError(f"the request cannot be sent: {error}") from error

    def _received(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], until: float
    ) -> Received:
        parts = urlsplit(url)
        target = quote(f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/", safe=_UNQUOTED)
        if self._proxy and not self._certificates:
            target = f"http://{self.headers['host']}{target}"
            headers = {**headers, **self._proxy_login}
        if data is not None:
            headers = {"content-type": "application/json", **headers}
        if data is not None or method != "GET":
            headers = {**headers, "content-length": str(len(data or b""))}
        request = _head(f"{method} {target} HTTP/1.1", tuple(headers.items())) + (data or b"")
        while True:
            connection, was_idle = self._connection(until)
            try:
                began = time.monotonic()
                if not was_idle:
                    # the answer of a proxy, too, has to come in time
                    connection.response_class = partial(_response, until)  # type: ignore[assignment]  # called only
                    connection.connect()
                    _limit(connection.sock, until)
                connecting = time.monotonic() - began
                connection.sock.sendall(request)  # head and body in one packet
                answer = _begun(_response(until, connection.sock, method=method))
                received = Received(answer.status, _body(answer), answer.headers, connecting)
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

    def _connection(self, until: float) -> tuple[http.client.HTTPConnection, bool]:
        """A connection for a request that ends until then, and true if an earlier request used it."""
        left = _left(until)
        try:
            while not _silent((connection := self._idle.pop()).sock):
                connection.close()
            _limit(connection.sock, until)
        except IndexError:
            connection = self._new()
        connection.timeout = left
        return connection, connection.sock is not None

    def _new(self) -> http.client.HTTPConnection:
        """A connection that is opened by its first request."""
        end = self._proxy or self.origin
        host, port = end.hostname or "", end.port or _PORTS[end.scheme]
        if self._certificates is None:
            return http.client.HTTPConnection(host, port)
        connection = http.client.HTTPSConnection(host, port, context=self._certificates)
        if self._proxy:
            name = (self.origin.hostname or "").encode("idna").decode()
            connection.set_tunnel(name, self.origin.port or 443, self._proxy_login)
        return connection


def _proxy_for(origin: SplitResult) -> SplitResult | None:
    """The proxy that the environment names for an address."""
    known = getproxies()
    address = known.get(origin.scheme) or known.get("all")
    if not address or any(map(proxy_bypass, (origin.netloc.rpartition("@")[2], origin.hostname or ""))):
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
    """The header with the name and the password of an address; no text shows the password from now on."""
    if address.username is None:
        return {}
    password = unquote(address.password or "")
    keep("password", password)
    return {header: f"Basic {b64encode(f'{unquote(address.username)}:{password}'.encode()).decode()}"}


@lru_cache(maxsize=64)
def _head(first: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """The lines of a request before its body."""
    if wrong := next((name for name, text in headers if _CONTROL.search(text)), ""):
        raise ValueError(f"the header {wrong} has a line end or another control character")
    lines = [first, *(f"{name}: {text}" for name, text in headers), "", ""]
    return "\r\n".join(lines).encode()


def _silent(sock: socket.socket) -> bool:
    """True if an idle connection is open, and has no bytes that would be read as the answer to the next request."""
    if not _readable(sock) and not (isinstance(sock, ssl.SSLSocket) and sock.pending()):
        return True  # most often
    sock.settimeout(0)
    try:
        sock.recv(1)  # of TLS there may be bytes that are no part of an answer
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    return False


def _readable(sock: socket.socket) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _left(until: float) -> float:
    """The seconds until then."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _limit(sock: socket.socket, until: float) -> None:
    """Let the next call of the socket end by then, or up to 50 ms later.

    Each change of a socket's limit lets other threads run first, so a limit that is nearly right is left.
    """
    left, limit = _left(until), sock.gettimeout()
    if limit is None or not 0 <= limit - left < 0.05:
        sock.settimeout(left + 0.02)


def _response(until: float, sock: socket.socket, *given: Any, **named: Any) -> http.client.HTTPResponse:
    return http.client.HTTPResponse(_InTime(sock, until), *given, **named)  # type: ignore[arg-type]  # opened only


def _begun(answer: http.client.HTTPResponse) -> http.client.HTTPResponse:
    """The same answer, its head read."""
    answer.begin()
    while answer.status < 200:  # an interim answer other than 100, which is known to the library
        answer.headers = None  # type: ignore[assignment]  # as it is before the first line is read
        answer.begin()
    if answer.fp.raw.ended:  # type: ignore[attr-defined]  # an _InTime; the library takes half a head for a whole one
        raise http.client.IncompleteRead(b"")
    return answer


class _InTime(io.RawIOBase):
    """The bytes that a socket receives. All of them come within one time limit, however slowly they come."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock, self._until = sock, until
        self.ended = False
        """True if the other side has closed the connection, and that was seen."""

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        _limit(self._sock, self._until)
        size = self._sock.recv_into(buffer)
        self.ended = not size
        return size


def _body(answer: http.client.HTTPResponse) -> bytes:
    """The whole body, unpacked; the answer is closed."""
    encoding = answer.headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise AttemptError(f"the answer is encoded as {encoding}, which was not requested", "allowed: gzip")
    unpacker = None if encoding == "identity" or answer.length == 0 else zlib.decompressobj(31)
    parts, size = [], 0
    with answer:
        while part := answer.read1(1 << 16):
            parts.append(part if unpacker is None else unpacker.decompress(part, LARGEST + 1 - size))
            size += len(parts[-1])
            if unpacker is not None and unpacker.unused_data:
                raise zlib.error("bytes follow the end of the compressed answer")
            if size > LARGEST:
                raise AttemptError(
                    f"the answer is larger than {LARGEST >> 20} MiB", "ask for fewer documents or fields"
                )
        if answer.length or (unpacker is not None and not unpacker.eof):
            raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)
