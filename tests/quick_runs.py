"""What cannot change between two pytest runs in this process is looked up by the first: they cost half."""

import inspect
import re
import sys
import sysconfig
from functools import cache
from importlib.metadata import PathDistribution
from types import ModuleType

import pluggy
import pytest
from _pytest.fixtures import FixtureManager
from _pytest.terminal import TerminalReporter

FOLDERS = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
PACKAGES = ("_pytest.", "xdist.", "pytest_ireval.")


@pytest.fixture(scope="session", autouse=True)
def quick_runs():
    """One fixture for all of this page: each fixture is looked up for each test."""
    with pytest.MonkeyPatch.context() as patch:
        read_packages_once(patch)
        search_where_fixtures_are(patch)
        interrupt_without_sources(patch)
        find_hooks_once(patch)
        record_nothing(patch)
        yield


def read_packages_once(patch):
    """Descriptions of installed packages are read once; each run would read all of them three times."""
    for name in ("entry_points", "metadata", "files", "_normalized_name"):
        patch.setattr(PathDistribution, name, property(_remember(getattr(PathDistribution, name).fget)))


def _remember(read):
    known = {}

    def read_once(distribution):
        place = str(distribution._path)
        if not place.startswith(FOLDERS):  # made by a test
            return read(distribution)
        if place not in known:
            known[place] = read(distribution)
        return known[place]

    return read_once


def search_where_fixtures_are(patch):
    """Else each run looks for fixtures at 2,000 names of plugins, of which 20 are fixtures."""
    search = FixtureManager.parsefactories

    def search_unless_known(manager, *arguments, **named):
        holder = named.get("holder", arguments[0] if arguments else None)
        if isinstance(holder, pytest.Collector) or _may_have_fixtures(holder):
            if isinstance(holder, ModuleType) and holder.__name__.startswith(PACKAGES):
                fixtures = _keep_fixtures(holder)
                arguments = (fixtures, *arguments[1:]) if arguments else ()
                named = {**named, "holder": fixtures} if "holder" in named else named
            search(manager, *arguments, **named)

    patch.setattr(FixtureManager, "parsefactories", search_unless_known)


def _may_have_fixtures(plugin):
    module = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    return not module.startswith(PACKAGES) or _defines_fixtures(module)


@cache
def _defines_fixtures(module):
    return re.search(r"^ *@(pytest\.)?fixture\b", inspect.getsource(sys.modules[module]), re.MULTILINE) is not None


@cache
def _keep_fixtures(module):
    """A module that has the fixtures of another one, and nothing else."""
    kept, kind = ModuleType(module.__name__), type(pytest.fixture(lambda: None))
    vars(kept).update({name: value for name, value in vars(module).items() if isinstance(value, kind)})
    return kept


def interrupt_without_sources(patch):
    """Else a run that ends while it collects parses files of pytest, for lines that --full-trace alone would show."""

    def remember(reporter, excinfo):
        reporter._keyboardinterrupt_memo = excinfo.getrepr(style="native")

    patch.setattr(TerminalReporter, "pytest_keyboard_interrupt", remember)


def find_hooks_once(patch):
    """Else each run, and each registry, asks all names of its plugins whether they are hooks."""
    parse = pluggy.PluginManager.parse_hookimpl_opts
    known = {}

    def parse_once(manager, plugin, name):
        if not isinstance(plugin, ModuleType) or not plugin.__name__.startswith((*PACKAGES, "pytest_ireval_")):
            return parse(manager, plugin, name)
        key = (manager.project_name, plugin, name)
        if key not in known:
            known[key] = parse(manager, plugin, name)
        return known[key] and dict(known[key])

    patch.setattr(pluggy.PluginManager, "parse_hookimpl_opts", parse_once)


class NoRecorder:
    def getcalls(self, names):
        return []


def record_nothing(patch):
    """No test asks pytester which hooks were called."""
    patch.setattr(pytest.Pytester, "make_hook_recorder", lambda pytester, manager: NoRecorder())
