"""What every pytest run imports: the option, and nothing heavy before it is given."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flag."""
    group = parser.getgroup("ireval", "search-ranking evaluation")
    group.addoption("--ireval", action="store_true", help="collect YAML evaluation suites as tests")


def pytest_configure(config: pytest.Config) -> None:
    """The marker; and the session, if the flag is given."""
    config.addinivalue_line("markers", "ireval: a rule of an evaluation suite")
    if config.getoption("ireval"):
        from pytest_ireval.pytest_adapter.session import start

        start(config)
