"""Many calls at a time: never more than allowed, answers in order, and nobody waits for ever."""

import multiprocessing
import os
import sys

import pytest

from pytest_ireval import Queries
from pytest_ireval.sources.answers import fetch_answers

PLAIN = """
import threading, time

now = most = 0
lock = threading.Lock()

def search(text):
    global now, most
    with lock:
        now += 1
        most = max(most, now)
    time.sleep(0.02 if int(text) % 3 else 0.05)
    with lock:
        now -= 1
    return [text, str(threading.get_ident())]
"""
HANGS = "import threading\n\ndef hang():\n    threading.Event().wait(600)\n\n"
"""Longer than any machine takes to notice: a test that waits for its end waits for ten minutes, and fails."""
ASYNC = """
import asyncio

now = most = 0

async def search(text):
    global now, most
    now += 1
    most = max(most, now)
    await asyncio.sleep(0.02 if int(text) % 3 else 0.05)
    now -= 1
    return [text]
"""


@pytest.fixture
def many(shop):
    """Twelve queries, each with its number as text, asked of ``busy.search``."""
    shop.queries = Queries(tuple(f"q{i}" for i in range(12)), tuple(map(str, range(12))))

    def ask(code, *, lists=True, **options):
        shop.write("busy.py", code)
        sys.modules.pop("busy", None)
        return (shop.lists if lists else shop.refused)({"python": "busy:search", **options})

    return ask


@pytest.mark.parametrize("code", [PLAIN, ASYNC], ids=["threads", "async"])
def test_no_more_calls_at_a_time_than_allowed_and_answers_in_order(many, code):
    found = many(code, concurrency=4)

    assert [ids[0] for ids in found.values()] == [str(i) for i in range(12)]
    assert 2 <= sys.modules["busy"].most <= 4


def test_calls_one_after_the_other_come_from_the_thread_that_imported_the_module(shop):
    shop.write(
        "kept.py",
        "import threading\n\nown = threading.get_ident()\n\ndef search(text):\n"
        "    return ['the same thread' if threading.get_ident() == own else 'another one']\n",
    )

    first, second = shop.answers({"python": "kept:search", "repeat": 2})

    assert first.rankings.ranking("q1") == second.rankings.ranking("q2") == ["the same thread"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_a_thread_of_its_own(shop):
    shop.write("forked.py", "def search(text):\n    return [text]\n")
    shop.lists({"python": "forked:search"})
    job = multiprocessing.get_context("fork").Process(target=shop.lists, args=[{"python": "forked:search"}])
    job.start()
    job.join(60)

    assert job.exitcode == 0


@pytest.mark.parametrize("kind", ["", "async "], ids=["threads", "async"])
def test_the_first_query_that_fails_is_named_whoever_comes_first(many, kind):
    code = f"""
import asyncio, time

{kind}def search(text):
    {"await asyncio" if kind else "time"}.sleep(0.05 if text == "2" else 0.001)
    raise_at = ("2", "3", "7")
    if text in raise_at:
        raise ValueError(text)
    return [text]
"""
    assert "busy:search raised ValueError: 2 for query 'q2' ('2')" in many(code, lists=False, concurrency=4)


def test_nothing_more_is_asked_after_a_failure(many):
    many("asked = []\n\ndef search(text):\n    asked.append(text)\n    raise ValueError\n", lists=False)

    assert sys.modules["busy"].asked == ["0"]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_plain_function_that_takes_too_long_is_left_alone(many, concurrency):
    code = f"{HANGS}def search(text):\n    hang() if text == '1' else None\n    return [text]\n"

    said = many(code, lists=False, timeout="200ms", concurrency=concurrency)

    assert said == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  busy:search took longer than 0.2s for query 'q1' ('1')\n"
        "  its thread cannot be stopped and continues in the background; "
        "to allow more time, write timeout: 0.4s in the source"
    )
    assert many("def search(text):\n    return [text]\n")["q1"] == ["1"]


def test_an_async_call_that_takes_too_long_is_cancelled(many):
    code = """
import asyncio

ended = []

async def search(text):
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        ended.append(text)
        raise
"""
    assert many(code, lists=False, timeout="100ms") == (
        "shop.ireval.yaml:5:11: source > python\n"
        "  busy:search took longer than 0.1s for query 'q0' ('0')\n"
        "  to allow more time, write timeout: 0.2s in the source"
    )
    assert sys.modules["busy"].ended == ["0"]


def test_an_async_function_that_blocks_its_loop_is_left_alone(many):
    code = f"{HANGS}async def search(text):\n    hang()\n"

    assert "continues in the background" in many(code, lists=False, timeout="100ms")
    assert many("async def search(text):\n    return [text]\n")["q1"] == ["1"]


def test_a_function_that_asks_another_source_does_not_wait_for_itself(shop):
    shop.write("inner.py", "def search(text):\n    return [text]\n")
    shop.write("outer.py", "ask = None\n\ndef search(text):\n    return ask() if ask else ['x']\n")
    shop.lists({"python": "outer:search"})
    inner, request = shop.source({"python": "inner:search"}), shop.request()
    sys.modules["outer"].ask = lambda: fetch_answers(inner, request)[0].rankings.ranking("q1")

    assert shop.lists({"python": "outer:search", "timeout": "5s"})["q2"] == ["red mug"]


INTERRUPTED = (
    "import os, signal\nfrom threading import Timer\n\n"
    "def interrupt():\n    Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n\n"
)


def test_ctrl_c_is_heard_while_a_call_hangs(many):
    code = f"{HANGS}{INTERRUPTED}def search(text):\n    interrupt()\n    hang()\n"

    with pytest.raises(KeyboardInterrupt):
        many(code)
    assert many("def search(text):\n    return [text]\n")["q1"] == ["1"]


def test_ctrl_c_is_heard_while_an_async_call_hangs(many):
    code = (
        f"import asyncio\n{INTERRUPTED}"
        "async def search(text):\n    interrupt() if text == '0' else None\n    await asyncio.sleep(600)\n"
    )

    with pytest.raises(KeyboardInterrupt):
        many(code, concurrency=2)
    assert many("async def search(text):\n    return [text]\n")["q1"] == ["1"]


def test_ctrl_c_ends_a_program_too(shop):
    value = {"command": ["sh", "-c", "echo $$ > number; sleep 1; kill -INT $PPID; sleep 600"]}

    with pytest.raises(KeyboardInterrupt):
        shop.ask(value)
    with pytest.raises(ProcessLookupError):
        os.kill(int((shop.folder / "number").read_text()), 0)
