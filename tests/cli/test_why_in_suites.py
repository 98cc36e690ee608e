"""``ireval why --suite``: what is said where there is no baseline to compare with."""

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

RULE = "no_regression: {metric: AP, tolerance: 1%}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baselines").mkdir()
    write_suite(tmp_path, RULE)
    write_judgments(tmp_path / "judgments.txt", {"q1": {"a": 1}, "q2": {"a": 1}})
    write_rankings(tmp_path / "rankings.txt", {"q1": ["a"], "q2": ["a"]})
    (tmp_path / "baselines/shop.baseline").write_text("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> main\n")
    return tmp_path


def test_a_baseline_in_conflict_is_told_instead_of_asking_for_a_query(ireval, folder):
    assert ireval("why", "AP", "--suite", "shop.ireval.yaml") == (
        2,
        "",
        "error: baselines/shop.baseline:1\n"
        "  has the marks of a merge conflict\n"
        '  accept again: pytest --ireval shop.ireval.yaml --ireval-update --ireval-force --ireval-reason "…"\n'
        "there is no baseline to choose a query by: name a query with --query\n",
    )


def test_the_text_of_a_query_leads_to_its_id(ireval, folder):
    write_queries(folder / "queries.tsv", ["q1", "q2"], text=["red shoes", "무선 이어폰"])
    write_suite(folder, RULE, queries="queries.tsv")

    assert ireval("why", "AP", "--suite", "shop.ireval.yaml", "--query", "무선 이어폰") == (
        2,
        "",
        "error: queries.tsv\n  query '무선 이어폰' is not judged\n  that is the text of 'q2'\n",
    )
