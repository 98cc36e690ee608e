"""The command line, called in this process, and the files of its current folder."""

import sys
from typing import NamedTuple

import pytest


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def write(tmp_path, monkeypatch):
    """``write("log.tsv", text)`` writes text or bytes to a file of the current folder, and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write_file(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write_file


@pytest.fixture
def write_texts(write):
    """``write_texts(ann=text, book_csv=text)`` writes ann.txt and book.csv."""

    def write_files(**files):
        for name, text in files.items():
            stem, _, ending = name.partition("_")
            write(f"{stem}.{ending or 'txt'}", text)

    return write_files


@pytest.fixture
def ireval(monkeypatch, capsys):
    """``ireval("evaluate", …)`` as the installed command would run it."""

    def run(*arguments):
        from pytest_ireval.cli import main

        monkeypatch.setattr(sys, "argv", ["ireval", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
