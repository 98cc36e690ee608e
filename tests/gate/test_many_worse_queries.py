"""A rule that thousands of queries speak against: lists end, and counts and shares are of all."""

import pytest
from town import Town

from pytest_ireval import load_suite, run_gate
from pytest_ireval.report.failure_text import format_failure
from pytest_ireval.rules import worst_queries

QUERIES = 300
NOTHING_ELSE = 100
RULES = {
    "no_regression::RR_10.all": "no_regression: {metric: RR@10, tolerance: 1%}",
    "worsened::RR_10": "worsened: {metric: RR@10, by_more_than: 0.3, at_most: 1%}",
}
SENTENCES = {
    "no_regression::RR_10.all": "300 of 400 queries (60.0% of all searches) got worse.",
    "worsened::RR_10": "300 of 400 queries (60.0% of all searches) got much worse.",
}


@pytest.fixture
def town(tmp_path):
    """Of 400 queries 300 lose half of their value; they are asked twice each, the others four times."""
    ranks = [(1, 2)] * QUERIES + [(1, 1)] * NOTHING_ELSE
    return Town(tmp_path / "town", ranks, weights=[2] * QUERIES + [4] * NOTHING_ELSE)


def test_counts_and_shares_of_a_long_list_are_of_all_its_queries(town):
    outcomes = town.gate(*RULES.values())

    for name, sentence in SENTENCES.items():
        outcome = outcomes[name]
        assert (outcome.verdict, outcome.sentence) == ("fail", sentence)
        assert (len(outcome.queries), outcome.more_queries) == (QUERIES, 0)
        assert {each.weight for each in outcome.queries} == {2.0}


def test_a_list_that_would_be_too_long_ends_and_says_how_many_are_left_out(town, monkeypatch):
    monkeypatch.setattr(worst_queries, "MOST_LISTED", 250)

    outcomes = town.gate(*RULES.values(), "churn: {overlap: RBO(p=0.9), below: 0.9, at_most: 1%}")
    path = town.folder / "with_a_threshold.ireval.yaml"
    text = (town.folder / "town.ireval.yaml").read_text().partition("rules:")[0]
    path.write_text(text + 'rules:\n  - threshold: {RR@10: ">= 0.9"}\n')
    _, threshold = run_gate(load_suite(path)).outcomes

    for outcome in (*list(outcomes.values())[1:], threshold):
        assert (len(outcome.queries), outcome.more_queries, outcome.query_count) == (250, 50, 300)
        assert outcome.sentence == SENTENCES.get(outcome.id, outcome.sentence)
    worsened = outcomes["worsened::RR_10"]
    assert [each.query for each in worsened.queries] == [f"q{number:04}" for number in range(250)]
    text = format_failure(worsened, town.result, date="2026-11-20", width=80)
    assert "  … and 297 more: -v shows ten, -vv shows the worst 250" in text.splitlines()
    whole = format_failure(worsened, town.result, date="2026-11-20", width=80, queries=None)
    assert "  … and 50 more" in whole.splitlines()


def test_a_query_that_lost_its_best_document_is_counted_where_all_documents_are_looked_up(tmp_path):
    few = Town(tmp_path / "few", [(1, 0)] * 200).only(RULES["no_regression::RR_10.all"])
    many = Town(tmp_path / "many", [(1, 0)] * 201).only(RULES["no_regression::RR_10.all"])

    assert few.sentence == "200 of 200 queries (100.0% of all searches) lost their best document."
    assert many.sentence == "201 of 201 queries (100.0% of all searches) got worse."
