"""A folder from which sources are asked."""

import sys

import pytest
from live_server import Server
from suite_on_line_5 import Asking


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "suites"
    folder.mkdir()
    before = set(sys.modules)
    yield Asking(folder)
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()
