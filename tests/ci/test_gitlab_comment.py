"""The comment on a merge request, written by the script of the recipe with curl over a real socket."""

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from steps import Machine, clean_environment, load
from test_recipes import RECIPES

MARK = "<!-- pytest-ireval summary -->"
RED = f"{MARK}\n**Not safe to land**: nDCG@10 fell.\n"
QUIET = f"{MARK}\n<!-- quiet -->\n**Safe to land**: all 7 checks passed.\n"
NOTES = "/api/v4/projects/7/merge_requests/12/notes"

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(shutil.which("curl") is None, reason="the recipe needs curl, as images of Python have it"),
]


class GitLab(ThreadingHTTPServer):
    """The notes of a merge request, which answers with JSON and keeps what is written."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Notes)
        self.notes = [{"id": 1, "body": "Nice."}]
        self.written = []


class Notes(BaseHTTPRequestHandler):
    def do_GET(self):
        assert self.path.partition("?")[0] == NOTES
        self.answer(self.server.notes)

    def do_POST(self):
        note = {"id": len(self.server.notes) + 1, "body": self.read_body()}
        self.server.notes.append(note)
        self.answer(note)

    def do_PUT(self):
        note = next(note for note in self.server.notes if self.path == f"{NOTES}/{note['id']}")
        note["body"] = self.read_body()
        self.answer(note)

    def read_body(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.written.append(self.command)
        return form["body"][0]

    def answer(self, value):
        assert self.headers["PRIVATE-TOKEN"] == "secret"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def gitlab():
    with GitLab() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def push(gitlab, tmp_path, comment, **variables):
    """Run what comes after the gate; the comments of ours that the merge request then has."""
    report = tmp_path / "clone" / "ireval-report"
    report.mkdir(parents=True, exist_ok=True)
    (report / "comment.md").write_text(comment)
    host, port = gitlab.server_address
    environment = {
        "CI_API_V4_URL": f"http://{host}:{port}/api/v4",
        "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "12",
        "CI_JOB_URL": "https://gitlab.example/shop/-/jobs/9",
        "IREVAL_COMMENT_TOKEN": "secret",
        **variables,
    }
    (script,) = load(RECIPES / "gitlab-ci.yml")["search gate"]["after_script"]
    ran = Machine(tmp_path / "clone", clean_environment(**environment)).bash(script, shell=["sh"])
    assert ran.code == 0, ran.text
    return [note["body"] for note in gitlab.notes if note["body"].startswith(MARK)]


LINK = "\nThe whole report: https://gitlab.example/shop/-/jobs/9/artifacts/browse/ireval-report\n"


def test_a_red_push_a_second_one_and_the_fixed_one_are_one_comment(gitlab, tmp_path):
    assert push(gitlab, tmp_path, RED) == [RED + LINK]
    assert push(gitlab, tmp_path, RED.replace("nDCG@10", "RR")) == [RED.replace("nDCG@10", "RR") + LINK]
    assert push(gitlab, tmp_path, QUIET) == [QUIET + LINK]
    assert gitlab.written == ["POST", "PUT", "PUT"]


def test_a_push_in_which_nothing_happened_makes_no_comment(gitlab, tmp_path):
    assert push(gitlab, tmp_path, QUIET) == []


@pytest.mark.parametrize("missing", ["IREVAL_COMMENT_TOKEN", "CI_MERGE_REQUEST_IID"])
def test_a_fork_without_the_token_and_a_run_of_main_write_nothing(gitlab, tmp_path, missing):
    assert push(gitlab, tmp_path, RED, **{missing: ""}) == []
    assert gitlab.written == []
