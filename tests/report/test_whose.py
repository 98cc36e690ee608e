"""The end of a run names whose suites are red."""

from pytest_ireval.report.terminal_summary import format_owners, group_red_suites_by_owner
from pytest_ireval.results.suite_result import RunResult, SuiteResult


def run_of(*suites):
    found = tuple(SuiteResult(name, f"{name}.yaml", verdict, (), owner) for name, verdict, owner in suites)
    return RunResult("0.1.0", "2027-03-03T09:00:00Z", "fail", found)


RUN = run_of(
    ("loose", "fail", ""),
    ("product-search", "fail", "@search-team"),
    ("ads", "error", "@ads"),
    ("categories", "fail", "@search-team"),
    ("fine", "pass", "@fine"),
    ("thin", "inconclusive", "@thin"),
)


def test_owners_of_what_failed_or_could_not_be_judged():
    assert format_owners(RUN, 200) == [
        "red: @search-team (product-search, categories), @ads (ads), without an owner (loose)"
    ]
    assert group_red_suites_by_owner(RUN) == {
        "@search-team": ["product-search", "categories"],
        "@ads": ["ads"],
        "": ["loose"],
    }


def test_many_suites_of_an_owner_are_counted():
    run = run_of(*((f"s{number}", "fail", "@search") for number in range(8)))

    assert format_owners(run) == ["red: @search (s0, s1, s2, s3, s4 and 3 more)"]


def test_nothing_is_said_where_nobody_owns_what_is_red():
    assert format_owners(run_of(("loose", "fail", ""), ("fine", "pass", "@fine"))) == []
    assert format_owners(run_of(("fine", "pass", "@fine"))) == []
