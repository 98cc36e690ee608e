"""NoAnswer and FalseAnswers are about judged queries without a relevant document, and no others."""

import pytest
from suite_files import run_suite, write_judgments, write_rankings

from pytest_ireval import Policies, evaluate

JUDGMENTS = {"answered": {"a": 1}, "empty": {"a": 0}, "two": {"a": 0, "b": 0}, "many": {"a": 0}}
RANKINGS = {"answered": ["a", "b"], "empty": [], "two": ["a", "x"], "many": ["x", "y", "z", "a"], "unjudged": ["a"]}


def values(metric, judgments=JUDGMENTS, rankings=RANKINGS, **policies):
    return evaluate(judgments, rankings, metric, policies=Policies(**policies))[metric]


def test_the_share_of_queries_without_an_answer_that_show_nothing():
    found = values("NoAnswer")

    assert dict(found.values) == {"empty": 1, "two": 0, "many": 0}
    assert found.value == pytest.approx(1 / 3)


def test_the_number_of_documents_that_they_show():
    found = values("FalseAnswers@3")

    assert dict(found.values) == {"empty": 0, "two": 2, "many": 3}
    assert found.value == pytest.approx(5 / 3)


def test_the_lowest_relevant_grade_decides_which_queries_have_an_answer():
    assert dict(values("NoAnswer(rel=2)").values) == {"answered": 0, "empty": 1, "two": 0, "many": 0}


def test_a_query_without_a_ranking_was_not_answered_with_nothing():
    rankings = {"answered": ["a"], "two": ["a"]}

    assert dict(values("NoAnswer", rankings=rankings, missing_queries="zero").values) == dict.fromkeys(
        ("empty", "two", "many"), 0
    )
    assert values("FalseAnswers@3", rankings=rankings, missing_queries="zero").values["empty"] == 3


def test_where_every_query_has_an_answer_there_is_no_value():
    found = values("NoAnswer", judgments={"answered": {"a": 1}})

    assert (dict(found.values), found.value) == ({}, None)


def test_a_rule_about_them_stays_red_whatever_unjudged_documents_are(tmp_path):
    write_judgments(tmp_path / "judgments.txt", {f"q{i}": {"a": 0} for i in range(9)})
    for name, length in (("rankings", 3), ("before", 1)):
        write_rankings(tmp_path / f"{name}.txt", {f"q{i}": ["a", "x", "y"][:length] for i in range(9)})
    rule = "no_regression: {metric: FalseAnswers@10, tolerance: 5%, against: {run: before.txt}}"

    _, outcome = run_suite(tmp_path, rule).outcomes

    assert outcome.verdict == "fail"
    assert outcome.headline.startswith("FalseAnswers@10 rose 200.0%")
