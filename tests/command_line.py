"""The command line, called in this process."""

import sys
from typing import NamedTuple

import pytest


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


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
