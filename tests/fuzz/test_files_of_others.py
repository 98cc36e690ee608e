"""Whatever stands in a file, reading it ends soon, with what it holds or with an error that says what is wrong."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import mutate
from targets import TARGETS, read, seeds

pytestmark = pytest.mark.ci

HERE = Path(__file__).parent
SECONDS = 20
"""Of processor time: a file takes milliseconds, and a busy machine takes longer without using more of it."""


@contextmanager
def ends_soon():
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(*_):
        raise AssertionError(f"did not end within {SECONDS} s of processor time")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("kind", TARGETS)
def test_each_kept_file_is_read_or_refused(kind):
    for name, data in seeds(kind).items():
        print(name)  # shown if this is the file that fails
        with ends_soon():
            read(kind, data)


SOUND = {
    "suite": ("example", "matrix", "every-rule"),
    "judgments": ("qrels", "tsv", "csv", "jsonl", "json", "quepid", "gzip"),
    "rankings": ("trec", "tsv", "csv", "json", "gzip"),
    "queries": ("tsv", "csv", "jsonl", "pairs"),
    **dict.fromkeys(("results", "baseline", "last_rankings"), ("sound",)),
}


@pytest.mark.parametrize("kind", SOUND)
def test_sound_files_are_read_so_that_their_mutations_go_deep(kind):
    kept = seeds(kind)
    for name in SOUND[kind]:
        TARGETS[kind](kept[name])


@pytest.mark.parametrize("kind", TARGETS)
def test_a_mutated_file_is_read_or_refused(kind):
    kept = [data for data in seeds(kind).values() if len(data) < 20_000]

    @settings(max_examples=60, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def mutations_are_read_or_refused(drawn):
        def choose(count):
            return drawn.draw(st.integers(0, max(0, count - 1)))

        data = mutate(kept[choose(len(kept))], choose, kept)
        with ends_soon():
            read(kind, data)

    mutations_are_read_or_refused()


@pytest.mark.ci
def test_the_long_search_begins_and_ends_within_its_time():
    pytest.importorskip("atheris", reason="atheris is not installed: it has packages for some systems only")
    command = [sys.executable, HERE / "search.py", "--seconds", "6", "aliases"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "aliases: nothing found" in done.stdout
