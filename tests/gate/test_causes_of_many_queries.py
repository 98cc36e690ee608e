"""Causes are found in a time that grows as the number of queries does, whatever the lists are.

What takes the square of it is noticed by the length of a test; nothing here looks at the clock.
"""

import pytest
from suite_files import run_suite, write_judgments, write_rankings

QUERIES = 5_000


def find_causes(folder, before, now):
    """The causes for lists of four documents, made from the number of the query."""
    write_rankings(folder / "before.txt", {f"q{n}": before(n) for n in range(QUERIES)})
    write_rankings(folder / "now.txt", {f"q{n}": now(n) for n in range(QUERIES)})
    write_judgments(folder / "judgments.txt", {f"q{n}": {f"d{n}-0": 3, f"d{n}-1": 2} for n in range(QUERIES)})
    rule = "no_regression: {metric: P@1, tolerance: 1%, against: {run: before.txt}}"
    return run_suite(folder, rule, source="{run: now.txt}", depth=4, missing_queries="zero").diagnoses


def own(number):
    return [f"d{number}-{place}" for place in range(4)]


def of_the_first(_):
    return own(0)


def of_nobody(_):
    return ["x0", "x1", "x2", "x3"]


def of_one_in_twenty(number):
    return own(number % 20)


def rename_documents(number):
    return [f"shop:{each}" for each in own(number)]


@pytest.mark.parametrize(
    ("before", "now", "kind", "words"),
    [
        (own, of_the_first, "answers_of_others", "4999 of 5000 queries return the answers of other"),
        pytest.param(own, of_one_in_twenty, "answers_of_others", "4980 of 5000 queries", marks=pytest.mark.ci),
        pytest.param(own, of_nobody, "one_document", "5000 of 5000 queries have the document", marks=pytest.mark.ci),
        pytest.param(own, rename_documents, "other_ids", "5000 of 5000 queries list 20000", marks=pytest.mark.ci),
    ],
    ids=["one list", "twenty lists", "one new list", "renamed"],
)
def test_a_cause_of_thousands_of_queries_is_found(tmp_path, before, now, kind, words):
    first, *_ = find_causes(tmp_path, before, now)

    assert first.kind == kind
    assert first.headline.startswith(words)


@pytest.mark.ci
def test_another_list_for_all_is_no_answer_of_others(tmp_path):
    assert [each.kind for each in find_causes(tmp_path, of_the_first, of_nobody)] == ["one_document"]
