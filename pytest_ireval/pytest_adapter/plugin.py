"""What every pytest run imports: the options, the fixture, and nothing heavy before they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_ireval.pytest_adapter.fixture import Gatekeeper


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flag, and what can be said with it."""
    group = parser.getgroup("ireval", "search-ranking evaluation")
    group.addoption("--ireval", action="store_true", help="collect YAML evaluation suites as tests")
    group.addoption("--ireval-update", action="store_true", help="accept what this run measures as the new baselines")
    group.addoption("--ireval-update-new", action="store_true", help="write only baselines that do not exist yet")
    group.addoption("--ireval-reason", metavar="TEXT", default="", help="why the change is fine; kept in the baseline")
    group.addoption("--ireval-force", action="store_true", help="accept although thresholds or expectations are red")
    group.addoption("--ireval-allow-ci", action="store_true", help="accept even where CI is set")
    group.addoption("--ireval-report", metavar="DIR", default=None, help="folder of results.json, or none")
    parser.addini("ireval_report", "folder of results.json, or none", default="ireval-report")


def pytest_configure(config: pytest.Config) -> None:
    """The marker; and the session, if the flag is given."""
    config.addinivalue_line("markers", "ireval: a rule of an evaluation suite")
    if config.getoption("ireval"):
        from pytest_ireval.pytest_adapter.importing import as_they_are

        with as_they_are():
            from pytest_ireval.pytest_adapter.session import start

            start(config)
    elif any(config.getoption(option) for option in ("ireval_update", "ireval_update_new", "ireval_force")):
        raise pytest.UsageError("--ireval-update and the like accept what suites measure: say --ireval, too")


@pytest.fixture
def ireval(request: pytest.FixtureRequest) -> Gatekeeper:
    """``ireval.evaluate(…)`` and ``ireval.gate("suite.yaml")``, with the plugins that serve this test."""
    from pytest_ireval.pytest_adapter.fixture import gatekeeper

    return gatekeeper(request)
