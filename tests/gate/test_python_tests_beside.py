"""A Python test that fails in the same run: the files and the exit code say the same."""

import pytest

GREEN = """\
import pytest

def test_holds(ireval):
    assert ireval

@pytest.mark.xfail
def test_is_expected_to_fail():
    assert False

@pytest.mark.skip
def test_is_skipped():
    assert False
"""


def test_one_that_fails_keeps_the_run_from_a_pass(shop):
    shop.accept()
    (shop.path / "test_it.py").write_text("def test_it():\n    assert False\n")

    result = shop.run()

    results = shop.results()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (results["verdict"], results["failed_tests"]) == ("fail", ["test_it.py::test_it"])
    assert "Not safe to land</h1>" in (shop.path / "ireval-report/index.html").read_text()
    assert "**Not safe to land**" in (shop.path / "ireval-report/summary.md").read_text()
    assert "ireval: fail: all 7 checks of shop passed, 1 Python test failed" in result.stdout.str()


def test_those_that_do_not_fail_change_nothing(shop):
    shop.accept()
    (shop.path / "test_it.py").write_text(GREEN)

    result = shop.run()

    assert result.ret == 0
    assert (shop.results()["verdict"], shop.results()["failed_tests"]) == ("pass", [])
    assert "Safe to land</h1>" in (shop.path / "ireval-report/index.html").read_text()


def test_a_run_of_fewer_checks_says_so(shop):
    shop.accept()

    assert shop.run("-k", "threshold").ret == 0
    assert "Passed, but not everything was checked</h1>" in (shop.path / "ireval-report/index.html").read_text()
