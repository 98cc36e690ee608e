"""The page of error messages is what the code says, and its remedies are about errors that there are."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").is_dir() or not (ROOT / "pytest_ireval").is_dir(), reason="needs a checkout of the project"
)


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("troubleshooting_page", ROOT / "docs/troubleshooting_page.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a NamedTuple looks there for the types of its fields
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def every(generator):
    """All errors of the code."""
    return tuple(generator.errors())


def test_the_page_is_what_the_code_says(generator, every, monkeypatch):
    monkeypatch.setattr(generator, "errors", lambda: every)  # they are looked for once
    page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")

    assert page == generator.page(), "run docs/troubleshooting_page.py"


def test_every_remedy_is_for_an_error_that_there_is(generator, every):
    known = {told.complaint for told in every}

    assert [complaint for complaint in generator.remedies() if complaint not in known] == []


OFTEN = (
    "Options of pytest, and the run",
    "Suites",
    "Files: queries, judgments, rankings",
    "Sources",
    "Baselines and git",
    "Rules and the gate",
    "Metrics",
    "The command ireval",
)


@pytest.mark.parametrize("group", OFTEN)
def test_what_is_met_often_has_remedies(generator, every, group):
    mine = {told.complaint for told in every if told.group == group}

    assert mine & set(generator.remedies())


CODE = '''
def passed(place, complaint):
    """No error."""
    return InputError(Problem(complaint, place))


def raised(name, count):
    if count:
        raise passed("a", f"has {counted(count, 'query')} too many")
    which = "first" if count else "last"
    raise SuiteError(Problem(f"the {which} {name!r} is wrong: {error.strerror}", suggestion="try another"))


def judged(seen):
    return Ruling("error", "no figure " + f"of {seen.metric}")


def fine():
    Ruling("pass", "nothing to be said")
    raise ValueError("for those who call it wrongly")
'''


def test_errors_are_found_with_the_words_of_their_fields(generator):
    found = [(told.complaint, told.suggestion) for told in generator.errors_in(CODE, "pytest_ireval/gate/made.py")]

    assert found == [
        ("has <number of querys> too many", ""),
        ("the <which> '<name>' is wrong: <reason of the system>", "try another"),
        ("no figure of <metric>", ""),
    ]


def test_what_the_run_itself_says_is_found(generator):
    code = '"""A docstring with words."""\n\ndef lost(name):\n    yield f"{name}: left as it is, for nobody ran it"\n'

    found = [told.complaint for told in generator.errors_in(code, "pytest_ireval/pytest_adapter/made.py")]

    assert found == ["<name>: left as it is, for nobody ran it"]
