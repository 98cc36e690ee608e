"""Documents under other names in a whole suite: after a new import, and as chunks of one document."""

import pytest
from suite_files import accept_suites, write_judgments, write_rankings, write_suite

from pytest_ireval import SuiteError, load_suite, run_gate


@pytest.fixture
def suite(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    def write(documents, ranked):
        write_judgments(pytester.path / "judgments.txt", {"q1": {"a": 1, "b": 1, "c": 1}})
        write_rankings(pytester.path / "rankings.txt", {"q1": ranked.split()})
        keys = {"depth": 3, "documents": documents, "metrics": "[RR@3, P@3]"}
        return write_suite(pytester.path, "no_regression: {metric: P@3, tolerance: 1%}", **keys)

    return write


@pytest.fixture
def accept(suite):
    def accept(documents, ranked):
        accept_suites(suite(documents, ranked))

    return accept


def test_a_baseline_judgments_and_rankings_meet_under_the_names_of_now(suite, accept, pytester):
    accept("{size: 10}", "a b c")
    (pytester.path / "ids.tsv").write_text("from\tto\na\tx1\nb\tx2\nc\tx3\n")

    result = run_gate(load_suite(suite("{aliases: ids.tsv}", "x1 b x3")))

    assert result.verdict == "pass"
    assert result.cause.rankings == 0
    assert "1 ranked document with an old id (documents: aliases)" in result.notes


def test_every_metric_sees_chunks_as_one_document(suite, accept):
    pattern = "{collapse: {pattern: '(.+)#[0-9]+'}}"
    accept(pattern, "a#1 a#2 b#9 a#3 c#1")

    result = run_gate(load_suite(suite(pattern, "a#7 b#1 b#2 c#3")))

    assert result.verdict == "pass"
    assert [metric.now for metric in result.metrics] == [1.0, 1.0]
    assert "1 ranked variant of a document above left out (documents: collapse)" in result.notes
    assert result.cause.rankings == 0


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ("{collapse: {pattern: 'a#[0-9]+'}}", "has 0 groups in parentheses; one is needed"),
        ("{collapse: {pattern: '(a)(b)'}}", "has 2 groups in parentheses; one is needed"),
        ("{collapse: {pattern: '(a'}}", "is not a regular expression: missing"),
        ("{collapse: {}}", "collapse needs either a file or a pattern"),
    ],
)
def test_a_pattern_that_cannot_be_right_is_an_error_on_its_line(suite, documents, said):
    with pytest.raises(SuiteError, match=r"shop\.ireval\.yaml:6:.*documents > collapse") as caught:
        load_suite(suite(documents, "a"))

    assert said in str(caught.value)
