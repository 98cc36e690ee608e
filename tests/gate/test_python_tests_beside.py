"""A Python test that fails in the same run: the files and the exit code say the same."""

import pytest

HOLDS, FAILS = "def test_it():\n    assert True\n", "def test_it():\n    assert False\n"


def failed(shop, *arguments):
    result = shop.run(*arguments)
    results = shop.results()
    page = (shop.path / "ireval-report/index.html").read_text()
    summary = (shop.path / "ireval-report/summary.md").read_text()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert results["verdict"] == "fail"
    assert "Not safe to land</h1>" in page
    assert "**Not safe to land**" in summary
    assert "ireval: fail: 1 suite passed, 1 Python test failed" in result.stdout.str()
    return results["failed_tests"]


@pytest.mark.parametrize("arguments", [(), ("-n2",)], ids=["one process", "workers"])
def test_one_that_fails_keeps_the_run_from_a_pass(shop, arguments):
    shop.accept()
    (shop.path / "test_it.py").write_text(FAILS)

    assert failed(shop, *arguments) == ["test_it.py::test_it"]


@pytest.mark.parametrize(
    "text",
    [
        HOLDS,
        "import pytest\n@pytest.mark.xfail\n" + FAILS,
        "import pytest\n@pytest.mark.skip\n" + FAILS,
        "def test_it(ireval):\n    assert ireval\n",
    ],
)
def test_one_that_does_not_fail_changes_nothing(shop, text):
    shop.accept()
    (shop.path / "test_it.py").write_text(text)

    result = shop.run()

    assert result.ret == 0
    assert (shop.results()["verdict"], shop.results()["failed_tests"]) == ("pass", [])
    assert "Safe to land</h1>" in (shop.path / "ireval-report/index.html").read_text()


def test_a_rule_that_only_warns_is_told_beside_the_verdict(shop):
    shop.change(('nDCG@10: ">= 0.5"', 'nDCG@10: ">= 0.999", on_fail: warn'))
    shop.rankings["q10"].reverse()
    shop.write()
    shop.accept()

    assert shop.run().ret == 0
    assert "Safe to land, with 1 warning</h1>" in (shop.path / "ireval-report/index.html").read_text()


def test_a_run_of_fewer_checks_says_so(shop):
    shop.accept()

    assert shop.run("-k", "threshold").ret == 0
    assert "Passed, but not everything was checked</h1>" in (shop.path / "ireval-report/index.html").read_text()
