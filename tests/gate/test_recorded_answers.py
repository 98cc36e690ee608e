"""Answers from recordings are said everywhere; processes that record at the same time leave others alone."""

import json
import multiprocessing
import sys
import threading

import pytest
from live_server import Server

from pytest_ireval import load_suite, run_gate
from pytest_ireval.results.suite_result import RecordedAnswers

QUERIES = [f"q{number}" for number in range(1, 7)]
SUITE = """\
ireval: 1
suite: shop
source:
  http: {url}/search
  params: {{q: "{{text}}"}}
  hits: hits
  record: answers
{more}depth: 3
queries: queries.tsv
judgments: judgments.jsonl
rules:
  - threshold: {{"{metric}": ">= {least}"}}
"""
ALL = "6 answers are recordings of 2026-11-18; no system was asked"


@pytest.fixture
def server():
    server = Server()
    server.respond = lambda request: {"hits": [{"id": f"{request.text} mug"}, {"id": f"{request.text} pan"}]}
    yield server
    server.close()


class Shop:
    """A suite over HTTP that records its answers."""

    def __init__(self, pytester, server):
        self.path, self.pytester, self.server = pytester.path, pytester, server
        (self.path / "queries.tsv").write_text("id\ttext\n" + "".join(f"{each}\tred {each}\n" for each in QUERIES))
        (self.path / "judgments.jsonl").write_text(
            "".join(json.dumps({"query": q, "document": f"red {q} mug", "grade": 1}) + "\n" for q in QUERIES)
        )
        self.write()

    def write(self, least="0.5", more="", metric="nDCG@3"):
        text = SUITE.format(url=self.server.url, least=least, more=more, metric=metric)
        (self.path / "shop.ireval.yaml").write_text(text)

    def gate(self):
        """The result without pytest; with ``IREVAL_OFFLINE`` of recordings."""
        return run_gate(load_suite(self.path / "shop.ireval.yaml"))

    def run(self, *options):
        return self.pytester.runpytest("--ireval", "-p", "no:cacheprovider", *options)

    def suite(self):
        (found,) = json.loads((self.path / "ireval-report/results.json").read_text())["suites"]
        return found

    def read_summary(self):
        return (self.path / "ireval-report/summary.md").read_text()


@pytest.fixture
def shop(pytester, monkeypatch, server):
    for name in ("CI", "IREVAL_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795000000")  # 2026-11-18
    monkeypatch.setenv("COLUMNS", "200")
    return Shop(pytester, server)


def test_a_verdict_on_recordings_is_no_word_about_the_system(shop, server, monkeypatch):
    for _ in range(2):  # the second run asks again, although there is a recording
        result = shop.run()

        assert result.ret == 0
        assert "recordings of" not in result.stdout.str() + shop.read_summary()
        assert "**Safe to land**" in shop.read_summary()
        assert shop.suite().get("recorded") is None
    server.close()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1799000000")  # the date is that of the recording

    result = shop.run("--ireval-offline")

    assert result.ret == 0
    assert f"warning: shop.ireval.yaml:1: {ALL}" in result.stdout.str()
    assert f"**Passed on recordings, with 1 warning**: {ALL}; all 2 checks passed" in shop.read_summary()
    assert shop.suite()["recorded"] == {"count": 6, "date": "2026-11-18"}
    (inputs,) = [each for each in shop.suite()["outcomes"] if each["id"] == "inputs"]
    assert (inputs["verdict"], inputs["warning"], inputs["headline"]) == ("pass", True, ALL)

    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    said = shop.run("-q", "--ireval-offline").stdout.str()
    assert f"warning: shop: {ALL}" in said
    assert "::warning file=shop.ireval.yaml" in said

    shop.write(least="0.9", metric="P@3")
    assert shop.run("--ireval-offline").ret == 1
    assert f"failed; {ALL}." in shop.read_summary()


def test_a_source_that_is_asked_several_times_has_as_many_answers(shop, monkeypatch):
    shop.write(more="  repeat: 2\n")
    shop.gate()
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert shop.gate().recorded == RecordedAnswers(12, "2026-11-18")


LOGIN = "  headers: {Authorization: 'ApiKey ${SEARCH_KEY}'}\n"


@pytest.fixture
def job(shop, server, monkeypatch):
    """A recording that was made with the address and the key of variables, which are not set any more."""
    monkeypatch.setenv("ENGINE_URL", server.url)
    monkeypatch.setenv("SEARCH_KEY", "the-key-of-the-shop")
    text = SUITE.format(url="${ENGINE_URL}", least="0.5", more=LOGIN, metric="nDCG@3")
    (shop.path / "shop.ireval.yaml").write_text(text)
    assert shop.gate().verdict == "pass"
    for name in ("ENGINE_URL", "SEARCH_KEY"):
        monkeypatch.delenv(name)
    return shop


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"ENGINE_URL": "", "SEARCH_KEY": ""},  # as CI sets secrets that a fork does not get
        {"ENGINE_URL": "https://me:a-password@search.example:9200", "SEARCH_KEY": "another-key"},
    ],
)
def test_a_replay_needs_no_address_and_no_login(job, monkeypatch, variables):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)

    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    result = job.gate()
    assert (result.verdict, result.recorded.count) == ("pass", 6)


def test_a_recording_of_the_default_address_is_that_of_any_address(job, server, monkeypatch):
    path = job.path / "shop.ireval.yaml"
    path.write_text(path.read_text().replace("${ENGINE_URL}", "${ENGINE_URL:-" + server.url + "}"))
    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    assert job.gate().verdict == "error"  # a suite with another address has another recording
    monkeypatch.delenv("IREVAL_OFFLINE")
    monkeypatch.setenv("SEARCH_KEY", "the-key-of-the-shop")
    assert job.gate().verdict == "pass"
    monkeypatch.setenv("ENGINE_URL", "http://search.example")
    monkeypatch.setenv("IREVAL_OFFLINE", "1")

    assert job.gate().verdict == "pass"


def test_a_replay_needs_variables_that_may_change_the_answers(job):
    path = job.path / "shop.ireval.yaml"
    path.write_text(
        path.read_text().replace("/search", "/${INDEX}").replace('q: "{text}"', 'q: "{text}", m: "${MODEL}"')
    )

    said = job.run("--ireval-offline").stdout.str()

    for name in ("INDEX", "MODEL"):
        assert f"the environment variable {name} is not set, and may change the answers\n" in said
    assert "  set it as in the recorded run\n" in said
    for name in ("ENGINE_URL", "SEARCH_KEY"):
        assert name not in said


def test_a_failed_connection_names_the_host(job, server, monkeypatch):
    server.close()
    monkeypatch.setenv("SEARCH_KEY", "the-key-of-the-shop")
    host = server.url
    path = job.path / "shop.ireval.yaml"
    path.write_text(path.read_text().replace("record:", "attempts: 1\n  record:"))
    for address, shown in (
        (host, host),
        (f"{host}/a-token", f"{host}/***"),
        (host.replace("://", "://me:a-password@"), host),
    ):
        monkeypatch.setenv("ENGINE_URL", address)

        said = job.gate().error

        assert f"GET {shown}/search: the connection failed: Connection refused" in said
        assert not any(secret in said for secret in ("a-token", "a-password", "the-key"))


def judge_here():
    """The gate of a job of CI, in a process of its own."""
    sys.exit(run_gate(load_suite("shop.ireval.yaml")).verdict != "pass")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_runs_that_record_at_once_leave_one_whole_recording(shop, server, monkeypatch):
    every_run_has_asked = threading.Barrier(3)
    good = server.respond

    def respond(request):
        if request.text == "red q6":
            every_run_has_asked.wait(timeout=100)  # none is done before the others have begun
        return good(request)

    server.respond = respond
    shop.write(more="  concurrency: 1\n  timeout: 2m\n")
    shop.pytester.chdir()
    jobs = [multiprocessing.get_context("fork").Process(target=judge_here) for _ in range(3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(200)

    assert [job.exitcode for job in jobs] == [0, 0, 0]
    assert [path.suffix for path in (shop.path / "answers").iterdir()] == [".gz"]
    monkeypatch.setenv("IREVAL_OFFLINE", "1")
    result = shop.gate()
    assert (result.verdict, result.recorded.count) == ("pass", 6)
