"""Stands for GitHub's API on a port of this machine; the real program ``gh`` asks it, through ``HTTP_PROXY``."""

import io
import json
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

API = "http://api.github.localhost"
"""What gh asks for the host ``github.localhost``: without TLS."""


class FakeGitHub(ThreadingHTTPServer):
    """Answers by path, keeps the comments that are written, and writes down every call."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {}
        self.artifacts = {}
        """Of the run: names, each with its files."""
        self.calls = []
        self.is_read_only = False
        """If what is written is refused, as GitHub refuses a token without the right."""

    def environment(self, config):
        """Variables with which gh asks this server; ``config`` is a folder for its settings."""
        host, port = self.server_address
        return {
            "HTTP_PROXY": f"http://{host}:{port}",
            "GH_HOST": "github.localhost",
            "GH_CONFIG_DIR": str(config),
            "GH_NO_UPDATE_NOTIFIER": "1",
        }


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path, fields = self.read_address()
        self.server.calls.append({"call": f"GET {path}", **fields})
        if path.endswith("/artifacts"):
            listed = [
                {"name": name, "size_in_bytes": 1, "expired": False, "archive_download_url": f"{API}/archives/{name}"}
                for name in self.server.artifacts
            ]
            return self.answer({"total_count": len(listed), "artifacts": listed})
        if path.startswith("archives/"):
            return self.send_archive(self.server.artifacts[path.removeprefix("archives/")])
        value = self.server.answers[path]
        return self.send_page(path, value, fields) if isinstance(value, list) else self.answer(value)

    def do_POST(self):
        path, body = self.read_written()
        if self.server.is_read_only:
            return self.answer({"message": "Resource not accessible by integration"}, 403)
        comments = self.server.answers.setdefault(path, [])
        comments.append({"id": len(comments) + 100, "user": {"login": "github-actions[bot]"}, **body})
        return self.answer(comments[-1], 201)

    def do_PATCH(self):
        path, body = self.read_written()
        if self.server.is_read_only:
            return self.answer({"message": "Resource not accessible by integration"}, 403)
        number = int(path.rpartition("/")[2])
        values = [value for value in self.server.answers.values() if isinstance(value, list)]
        (comment,) = [each for value in values for each in value if each.get("id") == number]
        comment.update(body)
        return self.answer(comment)

    def read_address(self):
        address = urlsplit(self.path)
        assert f"{address.scheme}://{address.netloc}" == API
        assert self.headers["Authorization"] == "token token"
        return address.path.lstrip("/"), {name: values[0] for name, values in parse_qs(address.query).items()}

    def read_written(self):
        path, _ = self.read_address()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls.append({"call": f"{self.command} {path}", **body})
        return path, body

    def send_page(self, path, values, fields):
        size, number = int(fields.get("per_page", 30)), int(fields.get("page", 1))
        following = (
            f'<{API}/{path}?per_page={size}&page={number + 1}>; rel="next"' if number * size < len(values) else ""
        )
        self.answer(values[(number - 1) * size : number * size], link=following)

    def send_archive(self, files):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            for name, text in files.items():
                packed.writestr(name, text)
        self.send(archive.getvalue(), "application/zip")

    def answer(self, value, status=200, link=""):
        self.send(json.dumps(value).encode(), "application/json", status, link)

    def send(self, content, kind, status=200, link=""):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if link:
            self.send_header("Link", link)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass
