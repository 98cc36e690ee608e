"""What all tests share."""

import gc
import importlib.util
import os
import pkgutil
import signal

import numpy as np  # noqa: F401 - pytester forgets what an in-process run imported, and NumPy refuses to load twice
import pytest

try:
    from hypothesis import HealthCheck, settings
except ModuleNotFoundError:  # pytest --help works without the packages of the tests, and a run says what to install
    settings = None

gc.disable()
"""Modules and tests are loaded, and none of them is garbage: a fifth of the time would go into searches for it."""

PACKAGES = (
    *("pytest_ireval", "pytest_ireval_metrics", "pytest_ireval_more_metrics"),
    *("pytest_ireval_judgments", "pytest_ireval_lab"),
)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    """A job in the background of a script ignores Ctrl-C and hands that on; the tests send it to what they start."""

for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
    del os.environ[name]
"""Tests run in workers of pytest-xdist; the runs that they start are not workers."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""Else each program that a test starts would compile all modules, which takes longer than what it does."""

if settings:
    unhurried = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    """A machine that is busy with other work is slow, and that is no fault of a test."""
    settings.register_profile("exploring", max_examples=15, **unhurried)
    settings.register_profile("repeatable", derandomize=True, max_examples=15, **unhurried)
    settings.register_profile("few", derandomize=True, max_examples=5, **unhurried)
    settings.register_profile("many", max_examples=1000, **unhurried)
    settings.load_profile(os.environ.get("IREVAL_EXAMPLES") or ("repeatable" if os.environ.get("CI") else "exploring"))
    """A check says the same of the same code; whoever works on it sees new examples every time. Few are enough where
    the tests were run with more, in another environment; .ci/slow asks for many."""

pytest_plugins = ["pytester", "quick_runs", "command_line", "golden_files"]


def pytest_sessionstart(session):
    if settings is None:
        raise pytest.UsageError("these tests need more packages: pip install -e '.[test]'")
    if not session.config.pluginmanager.hasplugin("dsession"):  # which only starts workers
        import_all()


def import_all():
    """An in-process run would load what is missing, forget it, and leave classes that are two."""
    for package in filter(importlib.util.find_spec, PACKAGES):  # the core is also tested without those beside it
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Every core, unless -n says otherwise. It is not among addopts: suites run in a checkout without pytest-xdist."""
    option = config.option
    alone = hasattr(config, "workerinput") or option.usepdb or not config.pluginmanager.hasplugin("xdist")
    if not alone and option.numprocesses is None and option.dist == "no":
        option.numprocesses, option.dist = "auto", "worksteal"


UNUSED_PLUGINS = (
    *("hypothesispytest", "randomly", "looponfail"),
    *("doctest", "faulthandler", "legacypath", "pastebin", "subtests", "unittest"),
    *("logging", "monkeypatch", "recwarn", "threadexception", "tmpdir", "unraisableexception"),
)
ADDOPTS = " ".join(f"-p no:{plugin}" for plugin in UNUSED_PLUGINS)
"""For every pytest that a test starts, and for its workers: loading hypothesis takes each as long as our gate, the
plugins of pytest that have nothing to do with a suite a tenth of it, and the tests may be run in random order, but not
what they start."""


def pytest_runtest_setup(item):
    if item.get_closest_marker("more_metrics") and importlib.util.find_spec("pytest_ireval_more_metrics") is None:
        pytest.skip("needs pytest_ireval_more_metrics")


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch):
    """What one test calls a secret is none for the next."""
    from pytest_ireval.masking import MASKER

    monkeypatch.setattr(MASKER, "_replacements", {})
    monkeypatch.setattr(MASKER, "_short", {})
    monkeypatch.setattr(MASKER, "_pattern", None)


@pytest.fixture(scope="session", autouse=True)
def started_without_unused_plugins():
    """What tests start with ``subprocess``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", ADDOPTS)
        yield


@pytest.fixture(scope="session", autouse=True)
def frozen():
    """Modules and tests stay until the end; searches for garbage, which begin here, skip them."""
    gc.freeze()
    gc.set_threshold(20_000)  # the runs of tests make much that is soon garbage, and searches find it as well later
    gc.enable()


@pytest.fixture
def pytester(pytester, monkeypatch):
    """As pytest has it; it takes away what stands in the environment."""
    monkeypatch.setenv("PYTEST_ADDOPTS", ADDOPTS)
    return pytester


@pytest.fixture(scope="session")
def registry():
    """What is installed: the built-in metrics, through their entry point."""
    from pytest_ireval import load_registry

    return load_registry()


@pytest.fixture
def trec_files(tmp_path):
    """Writes judgments and rankings given as text, and returns both paths."""

    def write(judgments, rankings):
        paths = tmp_path / "judgments.txt", tmp_path / "rankings.txt"
        for path, text in zip(paths, (judgments, rankings), strict=True):
            path.write_text(text, encoding="utf-8", newline="")
        return paths

    return write
