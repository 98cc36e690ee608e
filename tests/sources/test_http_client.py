"""Requests over real sockets: connections, proxies, certificates, and answers that are not whole."""

import gzip
import json
import socket
import ssl
import threading
from base64 import b64encode
from pathlib import Path

import pytest

pytest.importorskip("urllib3", reason="needs pytest-ireval[live]")

from pytest_ireval import Queries
from pytest_ireval.masking import mask_text

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
FOUND = json.dumps({"hits": [{"id": "d1"}]}).encode()
WHOLE = HEAD % len(FOUND) + FOUND
PEM = Path(__file__).with_name("localhost.pem")


class Wire:
    """A server that answers the requests of each connection with the next bytes of ``answers``, and keeps their heads.

    ``last`` closes each connection after its answer. A request ``CONNECT`` opens a tunnel to ``behind``.
    """

    def __init__(self, *answers, last=False, behind=None, context=None):
        self.answers, self.last, self.behind, self.context = list(answers), last, behind, context
        self.heads, self.connections = [], 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True) if self.context else connection as opened:
                self._answer(opened)
        except OSError:  # a client that does not trust the certificate, or has gone away
            connection.close()

    def _answer(self, connection):
        data = b""
        while part := connection.recv(1 << 16):
            data += part
            head, end, body = data.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r")[0] or 0)
            if not end or len(body) < length:
                continue
            data = b""
            self.heads.append(head.decode())
            if head.startswith(b"CONNECT"):
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                with socket.create_connection(("127.0.0.1", self.behind)) as other:
                    back = threading.Thread(target=_pass_on, args=(other, connection), daemon=True)
                    back.start()
                    _pass_on(connection, other)
                return
            connection.sendall(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
            if self.last:
                return

    def close(self):
        self.listener.close()


def _pass_on(source, target):
    try:
        while part := source.recv(1 << 16):
            target.sendall(part)
    except OSError:
        pass
    finally:
        target.close()


@pytest.fixture
def wire():
    """A maker of such servers."""
    made = []

    def make(*answers, **options):
        made.append(Wire(*answers, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def source(port, scheme="http", host="127.0.0.1", **options):
    given = {"http": f"{scheme}://{host}:{port}/search", "params": {"q": "{text}"}, "hits": "hits", "attempts": "1"}
    return {**given, "concurrency": "1", **options}


EACH = {"q1": ["d1"], "q2": ["d1"]}


@pytest.mark.parametrize("number", [1, 16])
def test_no_more_connections_than_requests_at_a_time(shop, wire, number):
    shop.queries = Queries(tuple(f"q{i}" for i in range(100)), ("mug",) * 100)
    server = wire(WHOLE)

    assert len(shop.lists(source(server.port, concurrency=str(number)))) == 100
    assert server.connections <= number


def test_a_system_that_closes_each_connection_after_its_answer(shop, wire):
    server = wire(WHOLE, last=True)

    assert shop.lists(source(server.port, attempts="2")) == EACH
    assert server.connections == 2


def make_answer(*ids, size=0):
    """An answer, which is filled up with blanks to its size."""
    body = json.dumps({"hits": [{"id": each} for each in ids]}).encode()
    body = body.ljust(size - len(HEAD % size))
    return HEAD % len(body) + body


def test_an_interim_answer_is_never_the_answer_to_a_query(shop, wire):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    server = wire(
        b"HTTP/1.1 100 Continue\r\n\r\n" + make_answer("d1"), hints + make_answer("odd"), hints + make_answer("odd")
    )

    assert shop.lists(source(server.port, error_budget="1")) == {"q1": ["d1"], "q2": []}


def test_what_follows_an_answer_is_never_the_answer_to_the_next_query(shop, wire):
    server = wire(
        make_answer("d1", size=8192) + make_answer("odd"), make_answer("d2")
    )  # so that one read ends with the first answer

    assert shop.lists(source(server.port)) == {"q1": ["d1"], "q2": ["d2"]}


def test_the_time_limit_is_that_of_the_whole_answer(shop, wire, monkeypatch):
    server, given_up = wire(b""), threading.Event()

    def answer_slowly(_, opened):
        opened.recv(1 << 16)
        opened.sendall(HEAD % 100)
        while not given_up.wait(0.05):
            opened.sendall(b" ")

    monkeypatch.setattr(Wire, "_answer", answer_slowly)

    said = shop.refused(source(server.port, timeout="200ms"))
    given_up.set()
    assert "no answer in 0.2s" in said


PACKED = gzip.compress(FOUND, mtime=0)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(PACKED), PACKED),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(FOUND), FOUND),
    ],
    ids=["gzip", "chunked"],
)
def test_an_answer_in_another_form(shop, wire, answer):
    server = wire(answer)

    assert shop.lists(source(server.port)) == EACH
    assert "Accept-Encoding: gzip" in server.heads[0]
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        WHOLE[:12],
        WHOLE[:40],
        HEAD % (len(FOUND) + 1) + FOUND,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(FOUND), FOUND),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(PACKED) - 12, PACKED[:-12]),
    ],
    ids=["nothing", "first line", "head", "length", "chunks", "gzip"],
)
def test_an_answer_that_is_cut_off_is_an_error(shop, wire, answer):
    said = shop.refused(source(wire(answer, last=True).port))

    assert "the connection failed: " in said or "the answer is not JSON" in said


def test_an_answer_without_a_body(shop, wire):
    server = wire(b"HTTP/1.1 401 Unauthorized\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n")
    assert "status 401, for query 'q1' ('red mug')\n  it is empty" in shop.refused(source(server.port))


def test_a_login_in_the_address_is_in_no_recording_and_no_message(shop, wire):
    shop.lists(source(wire(WHOLE).port, host="me:p%40ss@word9@127.0.0.1", record="answers"))

    (recording,) = (shop.folder / "answers").glob("*.gz")
    assert '"url":"/search?' in gzip.decompress(recording.read_bytes()).decode()

    sent = b64encode(b"me:p@ss@word9").decode()
    echo = f"you sent {sent}, p@ss@word9".encode()
    server = wire(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: %d\r\n\r\n%s" % (len(echo), echo))
    said = mask_text(shop.refused(source(server.port, host="me:p%40ss@word9@127.0.0.1")))
    assert "GET http://127.0.0.1:" in said
    assert "you sent " in said
    assert "word9" not in said
    assert sent not in said


def test_secrets_are_in_no_exception_of_urllib3_and_in_no_log(shop, wire, caplog):
    caplog.set_level("DEBUG")
    secret = "t0ken-of-the-shop"
    params = {"q": "{text}", "token": secret}
    port = wire(b"", last=True).port
    with pytest.raises(Exception, match="the connection failed") as caught:
        shop.ask(source(port, host=f"me:{secret}@127.0.0.1", params=params, headers={"X-Token": secret}))

    texts = []
    error = caught.value
    while error is not None:
        texts += [mask_text(str(error)), mask_text(repr(error))]
        error = error.__cause__
    assert len(texts) > 2
    assert secret not in str(texts)
    shop.lists(source(wire(WHOLE).port, params=params, headers={"X-Token": secret}))
    assert "GET /search?q=red+mug&token=${X-Token} HTTP" in caplog.text
    assert secret not in caplog.text


def test_a_login_in_the_address_and_headers_of_the_suite(shop, wire):
    server = wire(WHOLE)

    shop.lists(source(server.port, host="me:p%40ss@127.0.0.1", headers={"Accept": "text/json", "X-Shop": "{text} é"}))

    head = server.heads[0]
    assert f"Host: 127.0.0.1:{server.port}\r\n" in head
    assert "Authorization: Basic bWU6cEBzcw==\r\n" in head
    assert "Accept: text/json\r\n" in head
    assert "X-Shop: red mug é" in head
    assert "application/json" not in head


@pytest.mark.parametrize("text", ["red\nmug", "red\r\n\tmug", "red\0mug"])
def test_a_control_character_in_a_header_is_an_error(shop, wire, text):
    shop.queries, server = Queries(("q1",), (text,)), wire(WHOLE)

    said = "the request cannot be sent: the header X-Text has a line end or another control character"
    assert said in shop.refused(source(server.port, headers={"X-Text": "{text}"}))
    assert server.heads == []


def test_letters_of_any_language_in_an_address(shop, wire):
    server = wire(WHOLE)

    shop.lists(source(server.port, http=f"http://127.0.0.1:{server.port}/прo ducts?a=ü%20b"))

    assert server.heads[0].startswith("GET /%D0%BF%D1%80o%20ducts?a=%C3%BC%20b&q=red+mug HTTP/1.1\r\n")


def test_a_host_that_cannot_be_is_an_error(shop):
    assert "the request cannot be sent: " in shop.refused(source(80, host="search..example"))


def test_the_proxy_of_the_environment_unless_the_host_is_excluded(shop, wire, monkeypatch):
    server, proxy = wire(WHOLE), wire(WHOLE)
    monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")

    assert shop.lists(source(server.port, host="you:password@127.0.0.1")) == EACH
    assert server.heads == []
    assert proxy.heads[0].startswith(f"GET http://127.0.0.1:{server.port}/search?q=red+mug HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic bWU6c2VjcmV0" in proxy.heads[0]

    monkeypatch.setenv("NO_PROXY", "localhost, 127.0.0.1")
    assert shop.lists(source(server.port)) == EACH
    assert (len(server.heads), len(proxy.heads)) == (2, 2)


def test_a_name_in_letters_of_any_language_through_a_proxy(shop, wire, monkeypatch):
    proxy = wire(b"")
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")

    assert "the connection failed: " in shop.refused(source(443, "https", "müller.example"))
    assert proxy.heads[0].startswith("CONNECT xn--mller-kva.example:443 HTTP/1.")


def test_a_proxy_that_cannot_be_used_is_an_error(shop, wire, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9050")

    said = shop.refused(source(wire(WHOLE).port))

    assert "the proxy 'socks5://127.0.0.1' of the environment cannot be used" in said
    assert "NO_PROXY=127.0.0.1" in said


@pytest.fixture
def secure(wire):
    """A server with a certificate for localhost, signed by itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return wire(WHOLE, context=context)


def test_a_certificate_is_checked(shop, secure, monkeypatch):
    said = shop.refused(source(secure.port, "https", "localhost", attempts="4"))
    assert "the certificate is not valid: self-signed certificate, for query" in said.replace(
        "self signed", "self-signed"
    )
    assert "set SSL_CERT_FILE" in said
    assert secure.heads == []

    monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
    assert shop.lists(source(secure.port, "https", "localhost")) == EACH
    assert "the certificate is not valid: " in shop.refused(source(secure.port, "https", "127.0.0.1"))


def test_a_secure_connection_through_a_proxy(shop, secure, wire, monkeypatch):
    proxy = wire(WHOLE, behind=secure.port)
    monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")

    assert shop.lists(source(secure.port, "https", "localhost", body={"words": "{text}"})) == EACH

    assert proxy.heads[0].startswith(f"CONNECT localhost:{secure.port} HTTP/1.")
    assert "Proxy-Authorization: Basic bWU6c2VjcmV0" in proxy.heads[0]
    assert [head.split("\r\n")[0] for head in secure.heads] == [
        "POST /search?q=red+mug HTTP/1.1",
        "POST /search?q=blue+mug HTTP/1.1",
    ]
    assert "secret" not in str(secure.heads)
