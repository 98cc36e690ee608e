"""Lines that show how far a system has answered, on a terminal alone."""

import os
import pty
import sys
from types import SimpleNamespace

import pytest
from suite_files import write_queries, write_suite

from pytest_ireval.pytest_plugin.progress_lines import ProgressLines

SEARCH = "def search(text):\n    return [text]\n"
AT_ONCE = (
    "from pytest_ireval.pytest_plugin import progress_lines\nprogress_lines.PATIENCE = progress_lines.PAUSE = 0.0\n"
)


def make_progress(*moments, isatty=True, verbosity=0):
    """The progress with the moments at which the clock is read, and the list of lines that it writes."""
    written = []
    reporter = SimpleNamespace(isatty=isatty, ensure_newline=lambda: None, write_line=written.append)
    plugins = SimpleNamespace(get_plugin={"terminalreporter": reporter}.get)
    config = SimpleNamespace(pluginmanager=plugins, get_verbosity=lambda: verbosity)
    return ProgressLines(config, iter(moments).__next__), written


def test_a_long_run_shows_its_rate_and_the_time_left():
    asking, written = make_progress(100.0, 100.2, 110.0, 110.1, 120.0)
    asking.expect(5000, "queries")
    asking.advance(10)
    asking.advance(490)
    asking.advance(10)
    asking.advance(490)

    assert written == [
        "500 of 5,000 queries, 50 a second, 1 min 30 s left",
        "1,000 of 5,000 queries, 50 a second, 1 min 20 s left",
    ]


def test_only_a_terminal_shows_them_and_not_with_q():
    for quiet in {"isatty": False}, {"verbosity": -1}:
        asking, written = make_progress(100.0, 110.0, **quiet)
        asking.expect(5000, "queries")
        asking.advance(490)

        assert not written


def test_reading_files_is_not_asking():
    asking, written = make_progress(100.0, 110.0, 110.0, 120.0)
    asking.expect(1 << 20, "reading rankings")
    asking.advance(1 << 19)
    asking.expect(2, "queries")
    asking.advance(1)

    assert written == ["1 of 2 queries, 0.1 a second, 10 s left"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of this system")
def test_a_run_on_a_terminal_shows_them(tmp_path):
    (tmp_path / "shelf.py").write_text(SEARCH)
    (tmp_path / "conftest.py").write_text(AT_ONCE)
    source = {"source": "{python: 'shelf:search'}", "judgments": None, "queries": "queries.tsv"}
    write_suite(tmp_path, "threshold: {Empty: '<= 0'}", **source)
    write_queries(tmp_path / "queries.tsv", [f"q{i}" for i in range(9)], text=[f"word{i}" for i in range(9)])
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest", "--ireval", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [f"--rootdir={tmp_path}", str(tmp_path)]  # else reports are written where this test was started
    pid = os.posix_spawn(
        command[0], command, {**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, number) for number in (0, 1, 2)],
    )  # fmt: skip
    os.close(theirs)
    written = bytearray()
    try:
        while part := os.read(ours, 1 << 16):
            written += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, written.decode()
    shown = written.decode()
    assert "\n9 of 9 calls, " in shown
    assert "[100%]" in shown
