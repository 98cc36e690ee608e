"""Golden files: what the comparison says, who may update, and that each file is still used."""

import ast
import re
from pathlib import Path

import pytest
from golden_files import GOLDEN, difference, golden_folder

TESTS = Path(__file__).parents[1]
A_NAME = re.compile(r"[\w-]+(\.\w+)+")
A_TEST = """
    def test_page(golden):
        golden("page.txt", "one\\ntwo\\n")
"""


@pytest.fixture
def checked(pytester, monkeypatch):
    """Runs the test above with the comparison, in a folder of its own."""

    def run(*arguments, ci=""):
        monkeypatch.setenv("CI", ci)
        source = (TESTS / "golden_files.py").read_text(encoding="utf-8")
        (pytester.path / "conftest.py").write_text(source, encoding="utf-8")
        pytester.makepyfile(test_pages=A_TEST)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    return run


def test_a_text_that_is_as_the_file_says_passes(pytester, checked):
    (pytester.path / "golden" / "pages").mkdir(parents=True)
    (pytester.path / "golden" / "pages" / "page.txt").write_text("one\ntwo\n", encoding="utf-8")
    checked().assert_outcomes(passed=1)


def test_another_text_fails_with_the_difference(pytester, checked):
    (pytester.path / "golden" / "pages").mkdir(parents=True)
    (pytester.path / "golden" / "pages" / "page.txt").write_text("one\n2\n", encoding="utf-8")
    result = checked()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*golden/pages/page.txt says something else; if the text is right: --update-golden", "-2", "+two"]
    )


def test_a_missing_file_fails_and_says_how_to_write_it(checked):
    checked().stdout.fnmatch_lines(["*golden/pages/page.txt does not exist; if the text is right: --update-golden"])


def test_the_switch_writes_what_differs_and_the_next_run_is_content(pytester, checked):
    checked("--update-golden").assert_outcomes(passed=1)
    assert (pytester.path / "golden" / "pages" / "page.txt").read_bytes() == b"one\ntwo\n"
    checked().assert_outcomes(passed=1)


def test_nothing_is_updated_under_ci(pytester, checked):
    result = checked("--update-golden", ci="true")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--update-golden is refused under CI: *"])
    assert not (pytester.path / "golden").exists()


def test_differences_that_cannot_be_seen_are_spelled_out():
    said = difference(GOLDEN / "a" / "b.txt", "red\n", "\x1b[31mred\x1b[0m\r\n")
    assert said.splitlines()[-2:] == ["-red", "+\\x1b[31mred\\x1b[0m\\r"]


def test_a_missing_end_of_line_is_a_difference():
    assert difference(GOLDEN / "a" / "b.txt", "one\n", "one").splitlines()[-2:] == ["-one", "+one<no end of line>"]


def test_no_golden_file_is_unused():
    """Each lies in the folder of a test module that spells its name out."""
    spelled = {
        golden_folder(module) / each.value
        for module in TESTS.rglob("test_*.py")
        for each in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and A_NAME.fullmatch(each.value)
    }
    files = {path for path in GOLDEN.rglob("*") if path.is_file()}
    assert sorted(map(str, files - spelled)) == []


def test_no_two_modules_of_tests_have_one_name():
    """pytest imports them by their names alone, and golden folders are called like them."""
    names = [path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py"]

    assert [name for name in sorted(set(names)) if names.count(name) > 1] == []
