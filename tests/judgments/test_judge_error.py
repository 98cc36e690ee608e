"""The error of a judge: kappa with an interval, samples for an audit, and figures as humans might have it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.data.from_objects import convert_judgments
from pytest_ireval_judgments.agreement import (
    combine_draws,
    compare_slices,
    compare_with_humans,
    draw_per_slice,
    estimate_with_error,
    match_audit,
    redraw_grades,
)


def make_judgments(grades):
    """Judgments from ``{"q1 d1": 2}``."""
    found = {}
    for pair, grade in grades.items():
        query, document = pair.split()
        found.setdefault(query, {})[document] = grade
    return convert_judgments(found)


def test_kappa_of_the_textbook_with_its_interval():
    """50 grants that two readers rate: 20 both yes, 15 both no, 5 and 10 apart; kappa is 0.4 (Cohen's example)."""
    one = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 5, 10, 15])
    other = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 10, 15])
    found = compare_with_humans(one, other, np.zeros(50, np.int64), seed=1)

    assert (found.documents, found.same, round(found.kappa, 6), found.over) == (50, 0.7, 0.4, "documents")
    error = 0.127  # of the large-sample formula
    assert found.low == pytest.approx(0.4 - 1.96 * error, abs=0.05)
    assert found.high == pytest.approx(0.4 + 1.96 * error, abs=0.05)


def test_kappa_is_not_defined_where_all_grades_are_equal_or_there_is_none():
    same = compare_with_humans(np.ones(5), np.ones(5), np.arange(5), seed=1)
    none = compare_with_humans(np.zeros(0), np.zeros(0), np.zeros(0, np.int64), seed=1)

    assert (same.same, same.kappa, same.low) == (1.0, None, None)
    assert (none.documents, none.same, none.kappa) == (0, None, None)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.sampled_from("xyz")), st.integers(1, 4))
def test_a_sample_has_the_wanted_number_of_each_slice(slices, count):
    pairs = [("q", document) for document in slices]
    of_pair = {("q", document): name for document, name in slices.items()}
    drawn = draw_per_slice(pairs, of_pair, count, seed=1)

    assert len(set(drawn)) == len(drawn)
    for name in "xyz":
        there = sum(of_pair[pair] == name for pair in pairs)
        assert sum(of_pair[pair] == name for pair in drawn) == min(count, there)
    assert drawn == draw_per_slice(pairs, of_pair, count, seed=1)


def test_an_audit_is_matched_by_query_and_document_and_compared_by_slice():
    machine = make_judgments({"q1 a": 1, "q1 b": 0, "q2 a": 1, "q2 b": 1, "q3 a": 0})
    human = make_judgments({"q2 b": 0, "q1 a": 1, "q1 b": 0, "q2 a": 1, "q9 a": 1})
    audit = match_audit(machine, human, {"q1": "head", "q2": "tail", "q3": "tail"})
    every, head, tail = compare_slices(audit, seed=1)

    assert audit.not_judged == 1
    assert (every.slice, every.judgments, every.agreement.documents, every.agreement.same) == ("all", 5, 4, 0.75)
    assert (head.slice, head.judgments, head.agreement.documents, head.agreement.kappa) == ("head", 2, 2, 1.0)
    assert (tail.slice, tail.judgments, tail.agreement.documents, tail.agreement.same) == ("tail", 3, 2, 0.5)


def test_audited_documents_have_their_human_grade_and_the_others_that_of_their_slice():
    """In the head humans always agree; in the tail they always give 0 where the judge gives 1."""
    head = {f"h{n} d": n % 2 for n in range(200)}
    tail = {f"t{n} d": 1 for n in range(200)}
    machine = make_judgments(head | tail)
    human = make_judgments({**{f"h{n} d": n % 2 for n in range(100)}, **{f"t{n} d": 0 for n in range(100)}})
    audit = match_audit(machine, human, {query: query[0] for query in machine.queries})
    draws = np.array([judgments.grade for judgments in redraw_grades(audit, 50, seed=1)])

    assert (draws[:, :100] == machine.grade[:100]).all()
    assert (draws[:, 200:300] == 0).all()
    assert (draws[:, 100:200] == machine.grade[100:200]).mean() > 0.97
    assert draws[:, 300:].mean() < 0.03


def test_one_draw_has_the_interval_of_student_and_several_a_wider_one():
    values = np.array([0.1, 0.4, -0.2, 0.3])
    figure = combine_draws(values[None])
    half = 3.182446 * values.std(ddof=1) / 2
    assert figure == pytest.approx((0.15, 0.15 - half, 0.15 + half), abs=1e-5)

    same = combine_draws(np.array([values, values]))
    assert same == pytest.approx(tuple(figure))
    apart = combine_draws(np.array([values, values + 0.2]))
    assert apart.mean == pytest.approx(0.25)
    assert apart.high - apart.low > figure.high - figure.low


def test_one_query_has_no_interval():
    assert estimate_with_error([[0.5], [0.25], [0.75]]) == ((0.5, None, None), (0.5, None, None))


def test_a_query_without_a_value_in_one_of_the_draws_is_left_out():
    said, drawn = estimate_with_error([[0.5, 1.0, 0.0], [0.5, None, 0.5], [0.25, 0.0, 0.25]], [[0.0, 0.0, 0.0]] * 3)

    assert (said.mean, drawn.mean) == (0.25, 0.375)
    assert estimate_with_error([[None], [0.5]]) is None


@pytest.mark.slow
@pytest.mark.parametrize("errors", [0.2, 0.4])
def test_the_interval_with_the_error_of_the_judge_holds_the_true_difference(errors):
    """50 queries, 20 documents, 100 of them audited; figures of two rankings are the mean grade of their first five."""
    rng = np.random.default_rng(5)

    def drawn(queries):
        truth = rng.choice(4, (queries, 20), p=[0.5, 0.25, 0.15, 0.1])
        wrong = rng.random(truth.shape) < errors
        said = np.where(wrong, np.clip(truth + rng.choice([-1, 1], truth.shape), 0, 3), truth)
        return (
            truth,
            said,
            [np.argsort(-(truth + rng.normal(0, noise, truth.shape)), axis=1)[:, :5] for noise in (1.6, 1.2)],
        )

    def difference(grades, orders):
        one, other = (np.take_along_axis(grades, order, axis=1).mean(axis=1) for order in orders)
        return other - one

    truth, _, orders = drawn(20_000)
    true = difference(truth, orders).mean()
    held = 0
    for number in range(100):
        truth, said, orders = drawn(50)
        audited = set(rng.permutation(1000)[:100].tolist())
        machine = make_judgments({f"q{n // 20} d{n % 20}": int(said.flat[n]) for n in range(1000)})
        human = make_judgments({f"q{n // 20} d{n % 20}": int(truth.flat[n]) for n in sorted(audited)})
        draws = redraw_grades(match_audit(machine, human, {}), 40, number)
        figure = combine_draws(np.array([difference(each.grade.reshape(50, 20), orders) for each in draws]))
        held += figure.low <= true <= figure.high

    assert held >= 90
