"""Which verdicts count as reported: those of our own tests, and only if pytest is as content with them as we are."""

import pytest

FORGES = """\
def test_forged(record_property):
    record_property("ireval_suite", "shop")
    record_property("ireval_rule", "threshold::nDCG_10")
"""
ODD = """\
def test_half_of_it(record_property):
    record_property("ireval_rule", "inputs")


def test_no_name(record_property):
    record_property(["a", "list"], 1)


def test_no_pair(request):
    request.node.user_properties.append("text")
"""
SKIPS = """\
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if "threshold" in item.nodeid:
        pytest.skip("not today")
"""
BREAKS = """\
import pytest


@pytest.hookimpl(trylast=True)
def pytest_runtest_{phase}(item):
    if "threshold" in item.nodeid:
        raise RuntimeError("broken")
"""


def test_a_python_test_cannot_report_a_verdict(accepted_shop):
    (accepted_shop.path / "test_forged.py").write_text(FORGES)
    accepted_shop.pytester.makeconftest(SKIPS)

    result = accepted_shop.run(".")

    (suite,) = accepted_shop.results()["suites"]
    assert (result.ret, suite["verdict"]) == (1, "error")
    assert suite["notes"][-1] == "the run ended before 1 of its verdicts were reported"


def test_a_python_test_may_record_what_it_likes(accepted_shop):
    (accepted_shop.path / "test_odd.py").write_text(ODD)

    result = accepted_shop.run(".")

    assert (result.ret, accepted_shop.results()["verdict"]) == (0, "pass"), result.stdout.str()


@pytest.mark.parametrize("phase", ["setup", "teardown"])
def test_where_something_else_fails_the_test_the_files_say_no_pass_either(accepted_shop, phase):
    accepted_shop.pytester.makeconftest(BREAKS.format(phase=phase))

    result = accepted_shop.run()

    (suite,) = accepted_shop.results()["suites"]
    assert (result.ret, suite["verdict"]) == (1, "error")
    assert suite["notes"][-1] == "failed for a reason other than the verdict: threshold::nDCG_10"


def test_a_suite_whose_test_failed_for_another_reason_is_not_accepted(accepted_shop):
    accepted_shop.rankings["q01"].reverse()
    accepted_shop.write()
    accepted_shop.pytester.makeconftest(BREAKS.format(phase="teardown"))
    before = (accepted_shop.path / "baselines/shop.baseline").read_text()

    result = accepted_shop.run("--ireval-update", "--ireval-force", "--ireval-reason=new")

    result.stdout.fnmatch_lines(["not accepted: shop: 1 of its * verdicts were not part of this run; left as it is"])
    assert (accepted_shop.path / "baselines/shop.baseline").read_text() == before
