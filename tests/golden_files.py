"""Texts that are compared with files: ``golden(name, text)``, and ``--update-golden`` writes what differs."""

import os
from difflib import unified_diff
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
SWITCH = "--update-golden"


def pytest_addoption(parser):
    parser.addoption(SWITCH, action="store_true", help="write the files of tests/golden/ that differ, or are missing")


def pytest_configure(config):
    """A check that mends what it compares with would always be content."""
    if config.getoption(SWITCH) and os.environ.get("CI"):
        raise pytest.UsageError(f"{SWITCH} is refused under CI: update on your machine, and look at the difference")


def golden_folder(module):
    """Where the files of a test module lie: those of ``test_failure_text.py`` in ``tests/golden/failure_text``."""
    return GOLDEN / Path(module).stem.removeprefix("test_")


@pytest.fixture
def golden(request):
    """``golden(name, text)``: the text is what the file says; ``name`` is spelled out in the test module.

    Lines end as they do in the text; escape sequences of a terminal are kept, so that ``cat`` shows the colours.
    """

    def compare(name, text):
        path = golden_folder(request.path) / name
        known = path.read_bytes().decode() if path.is_file() else None
        if known == text:
            return
        if request.config.getoption(SWITCH):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            return
        pytest.fail(difference(path, known, text), pytrace=False)

    return compare


def difference(path, known, text):
    """What is there and should not be, and the other way round; what a terminal would obey is spelled out."""
    place = path.relative_to(GOLDEN.parents[1]).as_posix() if GOLDEN in path.parents else path.name
    head = f"{place} {'says something else' if known is not None else 'does not exist'}; if the text is right: {SWITCH}"
    shown = unified_diff(_lines(known or ""), _lines(text), "golden", "now", lineterm="")
    return "\n".join([head, *shown])


def _lines(text):
    """A line each, with its end where that is not a plain one."""
    lines = [_spell_out(line) for line in text.split("\n")]
    return lines[:-1] if text.endswith("\n") else [*lines[:-1], f"{lines[-1]}<no end of line>"] if text else []


def _spell_out(line):
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
