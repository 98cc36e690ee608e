"""The page on which a person judges a pool: served to this machine only, behind a random token."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import jinja2

from pytest_ireval import IrevalError
from pytest_ireval.plugin_api import format_inline
from pytest_ireval_judgments.rating import Item, JudgmentFile, Row, find_next_unjudged

if TYPE_CHECKING:
    from pytest_ireval_judgments.grade_lines import GradeLines
    from pytest_ireval_judgments.kept_runs import Verdicts

TEMPLATES = Path(__file__).parents[1] / "templates"
TITLES = ("title", "name", "headline", "label")
"""Fields that are the title of a document, the first one that it has."""
VERDICTS, END = "verdicts", "end"
"""What the page asks for beside items: the verdicts of the run, and the end of the command."""
LARGEST = 10_000
"""Bytes of a request; a grade takes fifty."""
SECONDS = 30
"""The time that a client has to send its request."""


@dataclass
class Rating:
    """A pool, the judge, and the file that the grades go to."""

    pool: str
    items: Sequence[Item]
    file: JudgmentFile | GradeLines
    row: Row
    """Date, guideline and the like of each judgment."""
    grades: Mapping[int, str]
    """Labels, which may be empty."""
    guideline: str = ""
    guessed: bool = False
    """True if neither the user nor the pool named the grades."""
    verdicts: Verdicts | None = None
    """Those of the run that asks for the grades; None for a pool."""

    def show(self, place: int) -> dict[str, Any]:
        """An item as the page shows it, with its grade and the progress of this judge."""
        item, known = self.items[place], self.file.grades
        title = next((name for name in TITLES if name in item.fields), "")
        return {
            "place": place,
            "query": item.query,
            "text": item.text,
            "about": list(item.about.items()),
            "document": item.document,
            "title": item.fields.get(title, ""),
            "fields": [pair for pair in item.fields.items() if pair[0] != title],
            "grade": known.get(item.pair, ""),
            "judged": sum(each.pair in known for each in self.items),
            "total": len(self.items),
            "next": find_next_unjudged(self.items, known, place),
            "rankings": None if self.verdicts is None else self.verdicts.list_rankings(item.pair),
        }

    def change(self, place: int, grade: str, seen: str) -> bool:
        """Save a grade (empty: remove it), unless the present one is not what the page had seen."""
        return self.file.put({self.items[place].pair: {**self.row, "grade": grade} if grade else None}, seen)

    def describe_clash(self, place: int, grade: str) -> str:
        """Why a grade was not saved: the file has another one than the page had seen."""
        pair = self.items[place].pair
        there = self.file.grades.get(pair, "")
        if not there:
            return "The grade of this document was removed from the file. Press a key again to save yours."
        if isinstance(self.file, JudgmentFile):
            return f"This document was judged elsewhere: {there}. Press a key again to change it."
        line, given = self.file.find_line(pair), f"you gave {grade}" if grade else "you removed it"
        return f"Not saved: {self.file.path}:{line} has grade {there} now, and {given}. Settle it in that file."

    def page(self) -> tuple[str, str]:
        """The HTML, and the policy that lets only its own script and style take part."""
        style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("judge.css", "judge.js"))
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        text = environment.get_template("judge.html.jinja").render(
            pool=self.pool,
            judge=self.file.judge,
            guideline=self.guideline,
            grades=self.grades,
            guessed=self.guessed,
            target=str(self.file.path),
            run="" if self.verdicts is None else str(self.verdicts.run.last),
            style=style,
            script=script,
        )
        only = "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        sources = f"style-src {_fingerprint(style)}; script-src {_fingerprint(script)}"
        return text, f"default-src 'none'; {sources}; {only}"


def _fingerprint(text: str) -> str:
    """The source of a style or script in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _Server(ThreadingHTTPServer):
    """Bound to the loopback address; a client that goes away is not an error."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors of ours; a broken connection is none."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def make_rating_server(rating: Rating, port: int = 0) -> tuple[BaseServer, str]:
    """A server that is ready to serve the page, and its address with the token."""
    token = secrets.token_urlsafe(24)
    server = _Server(("127.0.0.1", port), _make_handler(rating, token))
    return server, f"http://127.0.0.1:{server.server_address[1]}/{token}/"


def _make_handler(rating: Rating, token: str) -> Callable[..., BaseHTTPRequestHandler]:
    text, policy = rating.page()

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "ireval", ""
        timeout = SECONDS

        def log_message(self, *_: Any) -> None:
            """Write nothing: the address has the token."""

        def do_GET(self) -> None:
            """The page, or one item."""
            place = self._place()
            if place == "":
                self._send(200, text, "text/html")
            elif place == VERDICTS and rating.verdicts is not None:
                self._answer(200, rating.verdicts.describe)
            elif isinstance(place, int):
                self._answer(200, lambda: rating.show(place))

        def do_POST(self) -> None:
            """A grade, or the removal of one."""
            place = self._place()
            if place is None:
                return
            if place == END and rating.verdicts is not None:
                self._send(200, "{}", "application/json")
                Thread(target=self.server.shutdown).start()  # it waits for this request to end
                return
            body = self._body()
            if not isinstance(place, int) or body is None:
                self._refuse(400, "expected JSON with grade and seen")
            elif body["grade"] not in ("", *map(str, rating.grades)):
                self._refuse(400, f"grades are {', '.join(map(str, rating.grades))}")
            else:
                self._saved(place, body)

        def _saved(self, place: int, body: Mapping[str, str]) -> None:
            try:
                if rating.change(place, body["grade"], body["seen"]):
                    self._answer(200, lambda: rating.show(place))
                else:
                    clash = rating.describe_clash(place, body["grade"])
                    self._answer(409, lambda: {**rating.show(place), "clash": clash})
            except IrevalError as error:
                self._refuse(500, format_inline(error))
            except OSError as error:
                self._refuse(500, error.strerror or str(error))

        def _place(self) -> int | str | None:
            """The item, VERDICTS or END, the empty text for the page; None if the request was refused."""
            own = self.connection.getsockname()[1]
            hosts = [f"{name}:{own}" for name in ("127.0.0.1", "localhost")]
            origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "none")
            if self.headers.get("Host") not in hosts:  # another name that leads here: DNS rebinding
                self._refuse(421, "unknown host")
                return None
            given, _, path = self.path.partition("?")[0].lstrip("/").partition("/")
            if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
                self._refuse(404, "not found")
                return None
            if (origin is not None and origin not in [f"http://{host}" for host in hosts]) or (
                self.command == "POST" and site not in ("same-origin", "none")
            ):
                self._refuse(403, "from another page")
                return None
            kind, _, number = path.partition("/")
            if kind == "items" and number == "next":
                return self._next()
            if kind == "items" and number.isascii() and number.isdigit() and int(number[:9]) < len(rating.items):
                return int(number[:9])
            if path in (VERDICTS, END):
                return path
            if path:
                self._refuse(404, "not found")
            return None if path else ""

        def _next(self) -> int | None:
            try:
                return find_next_unjudged(rating.items, rating.file.grades) or 0
            except IrevalError as error:  # as in _answer
                self._refuse(500, format_inline(error))
                return None

        def _body(self) -> dict[str, str] | None:
            """The texts ``grade`` and ``seen`` of the request; None if it is something else."""
            length = self.headers.get("Content-Length", "")
            if (
                self.headers.get_content_type() != "application/json"
                or not (length.isascii() and length.isdigit())
                or int(length) > LARGEST
            ):
                return None
            try:
                found = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                return None
            right = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("grade", "seen"))
            return found if right else None

        def _answer(self, status: int, make: Callable[[], dict[str, Any]]) -> None:
            try:
                found = json.dumps(make())
            except IrevalError as error:  # the file was changed to something that cannot be read
                self._refuse(500, format_inline(error))
                return
            self._send(status, found, "application/json")

        def _refuse(self, status: int, why: str) -> None:
            self._send(status, json.dumps({"error": why}), "application/json")

        def _send(self, status: int, content: str, kind: str) -> None:
            data = content.encode("utf-8", "replace")
            self.send_response(status)
            for name, value in {
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(data)),
                "Content-Security-Policy": policy,
                "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY",
                "Referrer-Policy": "no-referrer",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Cache-Control": "no-store",
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler
