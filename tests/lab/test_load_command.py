"""``ireval load``: levels of load over a real socket and over Python functions; times from the moment they were due."""

import csv
import io
import json
import threading
from collections import Counter
from xml.etree import ElementTree

import pytest
from live_server import Server
from suite_files import write_queries, write_suite

from pytest_ireval.progress import Stopwatch
from pytest_ireval.sources.calls import make_calls
from pytest_ireval.sources.event_loop import await_in_loop
from pytest_ireval_lab.commands.load_command import LoadLevel, find_knee

QUERIES = [f"q{number:02}" for number in range(30)]
RULE = "threshold: {Empty: '<= 0'}"


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def load(tmp_path, ireval):
    """``load(source, …)``: the command, over a suite with this source."""
    write_queries(tmp_path / "queries.tsv", QUERIES, text=[f"mug {query}" for query in QUERIES])

    def run(source, *arguments):
        suite = write_suite(tmp_path, RULE, source=f"{{{source}}}", queries="queries.tsv", judgments=None)
        return ireval("load", suite, *arguments)

    return run


def over(server, more=""):
    return f"http: {server.url}/search, params: {{q: '{{text}}'}}, hits: hits{more}"


def test_each_level_asks_each_query_once_after_all_were_asked(load, server):
    done = load(over(server, ", warm_up: 3, repeat: 2"), "--concurrency", "4,1,2", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))

    assert (done.code, done.err) == (0, "")
    assert Counter(request.text for request in server.requests) == {f"mug {query}": 4 for query in QUERIES}
    assert [(row["concurrency"], row["rate"], row["requests"], row["failed"]) for row in rows] == [
        ("1", "", "29", "0"),
        ("2", "", "28", "0"),
        ("4", "", "26", "0"),
    ]
    assert list(rows[0]) == ["concurrency", "rate", "requests", "failed", "throughput", "mean", "p50", "p95", "p99"]
    assert all(float(row["p50"]) <= float(row["p95"]) and float(row["throughput"]) > 0 for row in rows)
    assert all(row["p99"] == "" for row in rows)  # of 29 times none would be above it


def test_no_more_requests_at_a_time_than_the_level_says(load, server):
    running, most, lock = [0], [0], threading.Lock()
    together = threading.Barrier(3, timeout=600)

    def respond(_):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait()  # answers only when three are asked at a time
        with lock:
            running[0] -= 1
        return {"hits": []}

    server.respond = respond

    assert load(over(server), "--concurrency", "3").code == 0
    assert most == [3]


def test_failed_requests_are_counted_and_not_repeated(load, server):
    server.respond = lambda request: (503, {}, {}) if request.text in ("mug q20", "mug q21") else {"hits": []}
    done = load(over(server), "--concurrency", "1", "--repeat", "5", "--format", "json")
    (level,) = json.loads(done.out)["levels"]

    assert len(server.requests) == 6 * len(QUERIES)
    assert (level["requests"], level["failed"]) == (5 * 27, 5 * 2)
    assert level["p99"] is not None


def test_a_drawing_of_times_over_throughput(load, server, tmp_path):
    done = load(over(server), "--concurrency", "1,2,4", "--svg", tmp_path / "load.svg")
    drawn = ElementTree.parse(tmp_path / "load.svg").getroot()

    assert done.err == f"written: {tmp_path / 'load.svg'}\n"
    paths = [
        each.get("d") for each in drawn.iter("{http://www.w3.org/2000/svg}path") if "curve" in each.get("class", "")
    ]
    assert [path.count(" ") for path in paths] == [3, 3]  # both percentiles at three levels
    assert "from concurrency 1 to concurrency 4" in "".join(drawn.itertext())


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_functions_are_measured_too(load, tmp_path, kind):
    module = f"shop_{kind.partition(' ')[0]}"
    (tmp_path / f"{module}.py").write_text(f"{kind} search(text):\n    return ['d']\n")
    done = load(f"python: '{module}:search'", "--concurrency", "1,2", "--rate", "2000,5000", "--format", "json")
    found = json.loads(done.out)

    assert (done.code, found["loop"]) == (0, "fixed rate")
    levels = [(each["concurrency"], each["rate"], each["requests"]) for each in found["levels"]]
    assert levels == [(2, 2000, 28), (2, 5000, 28)]


@pytest.mark.parametrize(
    ("source", "options", "complaint"),
    [
        ("run: queries.tsv", (), "run has no option concurrency"),
        ("python: 'math:sqrt'", ("--concurrency", "16"), "30 queries are too few for 16 requests at a time"),
        (
            "http: 'http://localhost:1/?q={text}', hits: hits, rate: 5",
            ("--concurrency", "1"),
            "limits requests to 5 a second",
        ),
        ("python: 'math:sqrt'", ("--concurrency", "0,2"), "'0,2' is not a list of numbers above 0"),
        ("python: 'math:sqrt'", ("--rate", "fast"), "'fast' is not a list of numbers above 0"),
    ],
)
def test_a_load_that_cannot_be_measured_is_an_error(load, source, options, complaint):
    done = load(source, *options)

    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


class Time:
    """A clock that moves only when a call takes time."""

    def __init__(self):
        self.now = 100.0

    def call(self, number):
        self.now += 1.0 if number == 0 else 0.125
        return number

    async def awaited(self, number):
        return self.call(number)


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(
    ("rate", "seconds"),
    [(None, [1.0, 0.125, 0.125]), (4, [1.0, 0.875, 0.75])],  # due at 0, 0.25 and 0.5; ended at 1, 1.125 and 1.25
)
def test_at_a_fixed_rate_a_time_includes_the_wait_behind_a_slow_answer(kind, rate, seconds):
    time = Time()
    watch = Stopwatch(rate, clock=lambda: time.now)
    call = time.call if kind == "def" else lambda number: await_in_loop(time.awaited(number))
    make_calls(call, 3, 1, 600, watch)

    assert [watch.seconds(number) for number in range(3)] == seconds


def level(throughput, mean, rate=None):
    return LoadLevel(1, rate, 100, 0, throughput, mean, (mean, mean, mean))


def test_the_knee_has_the_most_throughput_for_its_time():
    levels = [level(100, 10), level(190, 10.5), level(380, 10.5), level(400, 20), level(410, 40)]

    assert find_knee(levels) is levels[2]
    assert find_knee(levels[:3]) is None  # it may come later
    assert find_knee([level(100, 10, 100), level(300, 28, 300), level(900, 29, 2000)]).rate == 300


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "has 2 suites: choose one with --named"),
        ("--named shop-en", "unknown suite 'shop-en'"),
        ("--concurrency ,", "--concurrency is empty"),
    ],
)
def test_one_suite_is_asked(ireval, tmp_path, options, said):
    matrix = {"suite": "shop-{lang}", "source": "{run: '{lang}.txt'}", "matrix": "{lang: [de, fr]}"}
    suite = write_suite(tmp_path, RULE, queries="queries.tsv", judgments=None, **matrix)
    for name, text in {"queries.tsv": "id\ttext\n", "de.txt": "", "fr.txt": ""}.items():
        (tmp_path / name).write_text(text)

    found = ireval("load", suite, *options.split())

    assert (found.code, found.out) == (2, "")
    assert said in found.err
