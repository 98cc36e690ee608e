"""Causes are found in a time that grows as the number of queries does, whatever the lists are.

What takes the square of it is noticed by the length of a test; nothing here looks at the clock.
"""

import pytest

from pytest_ireval import load_suite, run_gate

QUERIES = 5_000


def find_causes(folder, before, now):
    """The causes for lists of four documents, made from the number of the query."""
    for name, ids in (("before.txt", before), ("now.txt", now)):
        rows = ((n, each, rank) for n in range(QUERIES) for rank, each in enumerate(ids(n), 1))
        (folder / name).write_text("".join(f"q{n} Q0 {each} {rank} {9 - rank} x\n" for n, each, rank in rows))
    (folder / "judgments.txt").write_text(
        "".join(f"q{n} 0 {each} {3 - place}\n" for n in range(QUERIES) for place, each in enumerate(own(n)[:2]))
    )
    (folder / "shop.ireval.yaml").write_text(
        "ireval: 1\nsuite: shop\nsource: {run: now.txt}\ndepth: 4\njudgments: judgments.txt\nmissing_queries: zero\n"
        "metrics: [P@1]\nrules:\n"
        "  - no_regression: {metric: P@1, tolerance: 1%, against: {run: before.txt}}\n"
    )
    return run_gate(load_suite(folder / "shop.ireval.yaml")).diagnoses


def own(number):
    return [f"d{number}-{place}" for place in range(4)]


def of_the_first(_):
    return own(0)


def of_nobody(_):
    return ["x0", "x1", "x2", "x3"]


def of_one_in_twenty(number):
    return own(number % 20)


def renamed(number):
    return [f"shop:{each}" for each in own(number)]


@pytest.mark.parametrize(
    ("before", "now", "kind", "words"),
    [
        (own, of_the_first, "answers_of_others", "4999 of 5000 queries return the answers of other"),
        pytest.param(own, of_one_in_twenty, "answers_of_others", "4980 of 5000 queries", marks=pytest.mark.ci),
        pytest.param(own, of_nobody, "one_document", "5000 of 5000 queries have the document", marks=pytest.mark.ci),
        pytest.param(own, renamed, "other_ids", "5000 of 5000 queries list 20000", marks=pytest.mark.ci),
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
