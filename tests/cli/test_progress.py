"""A bar appears on a terminal when work takes more than a second; nothing of it in a pipe."""

import io
import sys

import pytest

from pytest_ireval import evaluate
from pytest_ireval.cli import options
from pytest_ireval.cli.options import ProgressBar


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def show_on(monkeypatch):
    """Makes a stream standard error; to be called in the test, since capturing sets it anew after fixtures."""

    def show(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        return stream

    return show


def work(bar):
    with bar:
        bar.expect(1000, "reading rankings")
        bar.advance(400)
        bar.advance(600)


def test_quick_work_and_a_pipe_show_nothing(show_on, monkeypatch):
    terminal = show_on(Terminal())
    work(ProgressBar())
    assert terminal.getvalue() == ""

    pipe = show_on(io.StringIO())
    monkeypatch.setattr(options, "PATIENCE", -1)
    work(ProgressBar())
    assert pipe.getvalue() == ""


def test_long_work_shows_a_bar_and_takes_it_away(show_on, monkeypatch):
    terminal = show_on(Terminal())
    monkeypatch.setattr(options, "PATIENCE", -1)

    work(ProgressBar())

    assert "reading rankings [##########               ] 40%" in terminal.getvalue()
    assert terminal.getvalue().endswith("100%\r\x1b[2K")


def test_an_evaluation_reports_every_byte_it_reads(trec_files):
    class Counting:
        expected = done = 0

        def expect(self, amount, what):
            self.expected += amount

        def advance(self, amount):
            self.done += amount

    files = trec_files("q 0 a 1\n", "q Q0 a 1 1 t\n" + "q Q0 b 1 0 t")
    progress = Counting()

    evaluate(*files, ["AP"], progress=progress)

    assert progress.done == progress.expected == sum(path.stat().st_size for path in files)
