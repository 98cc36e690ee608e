"""One grade of several judges: the same as plain Python with the statistics module, and every policy as stated."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError
from pytest_ireval.data.from_objects import convert_judgments
from pytest_ireval_judgments.panel import Merging, Votes, make_panel, merge_votes

PLAIN = {
    "highest": (max, max),
    "lowest": (min, min),
    "median": (statistics.median_low, statistics.median_high),
    "majority": (lambda g: min(statistics.multimode(g)), lambda g: max(statistics.multimode(g))),
    "mean": (statistics.mean, statistics.mean),
}


def votes_of(things):
    """Votes from ``[{judge: grade}]``; judges are numbers."""
    rows = [(thing, judge, grade) for thing, grades in enumerate(things) for judge, grade in grades.items()]
    thing, judge, grade = (np.array(column) for column in zip(*rows, strict=True))
    return Votes(("ann", "bob", "cid"), len(things), thing, judge, grade.astype(float))


THINGS = st.lists(st.dictionaries(st.integers(0, 2), st.integers(0, 3), min_size=1), min_size=1, max_size=8)


@given(THINGS, st.sampled_from(sorted(PLAIN)), st.randoms(use_true_random=False))
def test_one_grade_is_what_plain_python_says(things, choice, random):
    votes = votes_of(things)
    order = np.array(random.sample(range(votes.thing.size), votes.thing.size))
    votes = votes.at(order)
    low, high = ([of(list(grades.values())) for grades in things] for of in PLAIN[choice])

    assert merge_votes(votes, Merging(choice, "lower")).grade.tolist() == pytest.approx(low)
    assert merge_votes(votes, Merging(choice, "higher")).grade.tolist() == pytest.approx(high)
    dropped = np.isnan(merge_votes(votes, Merging(choice, "drop")).grade)
    assert dropped.tolist() == [one != other for one, other in zip(low, high, strict=True)]


@given(THINGS, st.sampled_from(["median", "majority", "mean"]), st.tuples(*[st.integers(1, 3)] * 3))
def test_a_weight_of_two_is_two_votes(things, choice, weights):
    weighted = Merging(choice, weights=dict(zip(("ann", "bob", "cid"), weights, strict=True)))
    copied = [[grade for judge, grade in grades.items() for _ in range(weights[judge])] for grades in things]

    found = merge_votes(votes_of(things), weighted).grade.tolist()
    assert found == pytest.approx([PLAIN[choice][0](grades) for grades in copied])


def test_missing_judges_have_no_vote_or_vote_0_or_drop_the_document():
    votes = votes_of([{0: 2, 1: 2, 2: 2}, {0: 3}])

    assert merge_votes(votes, Merging("lowest")).grade.tolist() == [2, 3]
    assert merge_votes(votes, Merging("lowest", missing="zero")).grade.tolist() == [2, 0]
    assert merge_votes(votes, Merging("majority", missing="zero")).grade.tolist() == [2, 0]
    assert np.isnan(merge_votes(votes, Merging("lowest", missing="drop")).grade).tolist() == [False, True]


def test_one_judge_with_two_grades_for_one_document_is_refused():
    batches = [("ann", convert_judgments({"q": {"a": 1}})), ("ann", convert_judgments({"q": {"a": 2}}))]

    with pytest.raises(InputError, match="judge 'ann' gave document 'a' of query 'q' two grades: 1 and 2"):
        make_panel(batches)


def test_batches_of_one_judge_are_one_judge():
    batches = [("ann", convert_judgments({"q": {"a": 1}})), ("ann", convert_judgments({"q": {"a": 1, "b": 2}}))]
    found = make_panel(batches)

    assert found.votes.names == ("ann",)
    assert found.pairs.with_grades(found.votes.of(0), "ann").documents.texts() == ["a", "b"]
