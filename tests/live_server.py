"""A server of our own over a real socket, for sources that ask live systems."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest


class Server:
    """Answers with what ``respond(request)`` returns: a JSON value, or (status, value or bytes, headers)."""

    def __init__(self):
        pytest.importorskip("urllib3", reason="needs pytest-ireval[live]")
        self.requests = []
        self.respond = lambda request: {"hits": [{"id": word} for word in request.text.split()]}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else the body waits 40 ms for the client's word on the headers

            def handle_any(self):
                data = self.rfile.read(int(self.headers.get("content-length", 0)))
                address = urlsplit(self.path)
                asked = SimpleNamespace(
                    method=self.command,
                    path=address.path,
                    params={name: values[0] for name, values in parse_qs(address.query).items()},
                    headers={name.lower(): value for name, value in self.headers.items()},
                    lines=[json.loads(line) for line in data.splitlines()],
                )
                asked.body = asked.lines[0] if asked.lines else None
                asked.text = asked.params.get("q") or (asked.body or {}).get("q", "")
                outer.requests.append(asked)
                answer = outer.respond(asked)
                status, value, headers = answer if isinstance(answer, tuple) else (200, answer, {})
                sent = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {"content-length": str(len(sent)), **headers}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_POST = handle_any  # noqa: N815 - as the library calls them

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # a client that has gone away
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
