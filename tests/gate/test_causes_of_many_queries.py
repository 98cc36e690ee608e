"""Causes are found in a time that grows as the number of queries does, whatever the lists are.

A test that took the square of it, such as twenty minutes for 20,000 queries with one list, would be noticed by its
length; nothing here looks at the clock.
"""

import pytest

from pytest_ireval import load_suite, run_gate

QUERIES = 20_000


def gate(folder, before, now):
    """The result for lists of four documents, made from the number of the query."""
    for name, ids in (("before.txt", before), ("now.txt", now)):
        rows = ((n, each, rank) for n in range(QUERIES) for rank, each in enumerate(ids(n), 1))
        (folder / name).write_text("".join(f"q{n} Q0 {each} {rank} {9 - rank} x\n" for n, each, rank in rows))
    (folder / "judgments.txt").write_text(
        "".join(f"q{n} 0 {each} {3 - place}\n" for n in range(QUERIES) for place, each in enumerate(own(n)[:2]))
    )
    (folder / "shop.ireval.yaml").write_text(
        "ireval: 1\nsuite: shop\nsource: {run: now.txt}\ndepth: 4\njudgments: judgments.txt\nmissing_queries: zero\n"
        "metrics: [nDCG@4]\nrules:\n"
        "  - no_regression: {metric: nDCG@4, tolerance: 1%, against: {run: before.txt}}\n"
    )
    return run_gate(load_suite(folder / "shop.ireval.yaml"))


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
        pytest.param(
            own, of_the_first, "answers_of_others", "19999 of 20000 queries return the answers of other", id="one list"
        ),
        pytest.param(
            own,
            of_one_in_twenty,
            "answers_of_others",
            "19980 of 20000 queries",
            id="twenty lists",
            marks=pytest.mark.ci,
        ),
        pytest.param(
            own,
            of_nobody,
            "one_document",
            "20000 of 20000 queries have the document",
            id="one new list",
            marks=pytest.mark.ci,
        ),
        pytest.param(
            own, renamed, "other_ids", "20000 of 20000 queries list 80000 documents", id="renamed", marks=pytest.mark.ci
        ),
    ],
)
def test_a_cause_of_twenty_thousand_queries_is_found(tmp_path, before, now, kind, words):
    first, *_ = gate(tmp_path, before, now).diagnoses

    assert first.kind == kind
    assert first.headline.startswith(words)


@pytest.mark.ci
def test_another_list_for_all_is_no_answer_of_others(tmp_path):
    assert [each.kind for each in gate(tmp_path, of_the_first, of_nobody).diagnoses] == ["one_document"]
