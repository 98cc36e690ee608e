"""Every worked example of the five texts on evaluation that the core metrics cover, printed mistakes corrected.

The texts: batch evaluation measures (000), text processing lectures (001), evaluation lectures (002), a tutorial on
offline evaluation (003), a survey of graded relevance metrics (004).
"""

import math

import pytest
from graded_rankings import relevant, result, value

from pytest_ireval import SideData, evaluate

R1 = [1, 0, 0, 1, 0]


class TestBatchMeasures:
    """Text 000."""

    def test_precision_recall_and_f1_of_the_example_vector(self):
        others = [1] * 18  # R = 20

        assert value("SetP", R1, others) == pytest.approx(0.4)
        assert value("SetR", R1, others) == pytest.approx(0.1)
        assert value("SetF", R1, others) == pytest.approx(0.16)

    def test_r_precision_is_precision_and_recall_at_rank_r(self):
        others = [1] * 3  # R = 5

        assert value("P@5", R1, others) == pytest.approx(0.4)
        assert value("R@5", R1, others) == pytest.approx(0.4)
        assert value("Rprec", R1, others) == pytest.approx(0.4)

    def test_average_precision(self):
        assert value("AP", R1) == pytest.approx(0.75)

    def test_reciprocal_rank(self):
        assert value("RR", R1) == 1

    def test_dcg_and_ndcg_in_the_form_of_jarvelin_and_kekalainen(self):
        assert value("DCG(discount='jarvelin')@5", [2, 0, 0, 3, 0]) == pytest.approx(3.5)
        assert value("nDCG(discount='jarvelin', ideal='retrieved')@5", [2, 0, 0, 3, 0]) == pytest.approx(0.7)


class TestTextProcessing:
    """Text 001."""

    @pytest.mark.parametrize(
        ("hits", "others", "recall", "precision", "f"),
        [(16, 9, 16 / 28, 16 / 25, 2 * 16 / 53), (12, 3, 12 / 28, 12 / 15, 2 * 12 / 43)],
    )
    def test_recall_precision_and_f_of_two_sets_of_which_28_documents_are_relevant(
        self, hits, others, recall, precision, f
    ):
        found = [value(name, relevant(hits, hits + others), [1] * (28 - hits)) for name in ("SetR", "SetP", "SetF")]

        assert found == pytest.approx([recall, precision, f])  # printed .57 .64 .603, and .43 .8 .559 from rounded ones

    @pytest.mark.parametrize(
        ("ranking", "at_5", "average"),
        [
            ([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], 1.0, 1.0),
            ([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 0.0, 0.354),
            ([0, 1, 1, 0, 0, 1, 1, 1, 0, 0], 0.4, 0.573),
        ],
    )
    def test_precision_at_a_cutoff_and_average_precision_of_three_rankings(self, ranking, at_5, average):
        assert value("P@5", ranking) == pytest.approx(at_5)
        assert value("P@10", ranking) == pytest.approx(0.5)
        assert value("AP", ranking) == pytest.approx(average, abs=5e-4)

    def test_the_harmonic_mean_is_low_if_one_of_both_is_low(self):
        assert value("SetF", relevant(9, 90), [1]) == pytest.approx(0.18)  # P = 0.1, R = 0.9


class TestLectures:
    """Text 002."""

    def test_mean_average_precision_and_mean_reciprocal_rank_of_two_queries(self):
        queries = {"q1": (self.MAP_1, []), "q2": (self.MAP_2, [])}

        assert result("AP", queries).value == pytest.approx(0.53, abs=5e-3)
        assert result("RR", queries).value == pytest.approx(0.75)

    def test_recall_precision_and_f_at_ranks_3_and_6_where_the_printed_22_lacks_the_factor_2(self):
        found = [value(name, [1, 0, 1, 1, 1, 1, 0, 0, 0, 1]) for name in ("R@3", "P@3", "F@3", "R@6", "P@6", "F@6")]

        assert found == pytest.approx([1 / 3, 2 / 3, 4 / 9, 5 / 6, 5 / 6, 5 / 6])

    def test_the_second_formula_of_dcg(self):
        grades = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
        expected = sum((2**grade - 1) / math.log(1 + rank) for rank, grade in enumerate(grades, 1))

        assert value("DCG(gain='exp')@10", grades) == pytest.approx(expected * math.log(2))
        assert value(f"DCG(gain='exp', log_base={math.e})@10", grades) == pytest.approx(expected)

    MAP_1, MAP_2 = [1, 0, 1, 0, 0, 1, 0, 0, 1, 1], [0, 1, 0, 0, 1, 0, 1, 0, 0, 0]

    def test_interpolated_precision_needs_the_level_of_recall_itself(self):
        first = [value(f"IPrec@{level / 10}", self.MAP_1) for level in range(11)]
        second = [value(f"IPrec@{level / 10}", self.MAP_2) for level in range(11)]

        assert first == pytest.approx([1, 1, 1, 2 / 3, 2 / 3, *[0.5] * 6])
        assert second == pytest.approx([*[0.5] * 4, *[3 / 7] * 7])  # recall 0.4 of 3 documents takes two, not one
        assert value("IPrecAvg", self.MAP_2) == pytest.approx(sum(second) / 11)

    def test_a_level_that_is_not_reached_counts_0_so_that_the_average_is_485_and_not_the_printed_439(self):
        fourth = [0, 1, 1, 0, 0, 1, 0, 1, 0, 0]  # four of five are found

        assert value("IPrecAvg", fourth, [1]) == pytest.approx((5 * 2 / 3 + 4 / 2) / 11)

    def test_interpolated_average_precision(self):
        assert value("IPrecAvg", [0, 1, 1, 0, 0, 1, 1, 1, 0, 0]) == pytest.approx(0.644, abs=5e-4)


class TestTutorial:
    """Text 003."""

    A, B = [5, 2, 4, 0, 1], [2, 0, 5, 1, 4]

    def test_cumulated_gain_does_not_tell_two_orders_apart(self):
        assert value("CG@5", self.A) == value("CG@5", self.B) == 12

    def test_discounted_gain_at_each_rank(self):
        found = [[value(f"DCG@{k}", grades) for k in range(1, 6)] for grades in (self.A, self.B)]

        assert found[0] == pytest.approx([5, 6.26, 8.26, 8.26, 8.65], abs=5e-3)
        assert found[1] == pytest.approx([2, 2, 4.5, 4.93, 6.48], abs=5e-3)

    def test_normalised_by_the_returned_documents_alone(self):
        assert value("nDCG(ideal='retrieved')@3", [5, 2, 4]) == pytest.approx(0.9693, abs=5e-5)
        assert value("nDCG(ideal='retrieved')@5", self.A) == pytest.approx(0.9659, abs=5e-5)

    def test_reciprocal_rank_falls_as_1_divided_by_the_rank(self):
        assert [value("RR", [0] * (rank - 1) + [1]) for rank in (1, 2, 20)] == pytest.approx([1, 1 / 2, 1 / 20])


class TestSurveyOfGradedMetrics:
    """Text 004."""

    def test_err_of_the_table_with_9_16_in_place_of_the_printed_17_16(self):
        expected = 7 / 16 + 1 / 2 * 3 / 16 * 9 / 16 + 1 / 3 * 15 / 16 * 13 / 16 * 9 / 16

        assert expected == pytest.approx(0.63, abs=5e-3)
        assert value("ERR(max_grade=4)", [3, 2, 4]) == pytest.approx(expected)

    @pytest.mark.parametrize("q", [1, 3])
    def test_dcg_of_the_qth_query_of_a_session_is_divided_by_1_plus_its_logarithm(self, q):
        judgments, rankings = {"q": {"a": 3, "b": 1}}, {"q": ["x", "a", "b"]}

        single = evaluate(judgments, rankings, "DCG@3")["DCG@3"].value
        found = (
            evaluate(judgments, rankings, "SessionDCG(bq=2)@3", side_data=SideData(sessions={"q": ("s", q)}))
            .metrics[0]
            .value
        )

        assert found == pytest.approx(single / (1 + math.log2(q)))

    def test_the_dcg_of_a_session_may_have_the_discount_of_this_text(self):
        judgments = {"first": {"a": 1, "b": 2}, "second": {"a": 1, "b": 2, "c": 2}}
        rankings = {"first": ["a", "x", "b"], "second": ["x", "c", "y"]}
        sessions = SideData(sessions={"first": ("s", 1), "second": ("s", 2)})
        names = ["SessionDCG@3", "SessionDCG(discount='jarvelin')@3", "nsDCG(repeats='count')@3"]

        found = [metric.value for metric in evaluate(judgments, rankings, names, side_data=sessions).metrics]

        dcg = 1 + 2 / math.log2(4)
        best = (2 + 1 / math.log2(3)) + (2 + 2 / math.log2(3) + 1 / math.log2(4)) / 1.5
        assert found[0] == pytest.approx(dcg + 2 / math.log2(3) / 1.5)
        assert found[1] == pytest.approx(1 + 2 / math.log2(3) + 2 / 1.5)
        assert found[2] == pytest.approx(found[0] / best)

    def test_rbp_with_p_0_sees_the_first_document_only(self):
        assert value("RBP(p=0)", [1, 1, 1]) == 1
        assert value("RBP(p=0)", [0, 1, 1]) == 0

    def test_rbp_formula(self):
        assert value("RBP(p=0.5)", [1, 0, 1, 1]) == pytest.approx(0.5 * (1 + 0.25 + 0.125))

    def test_q_measure_formula_with_a_graded_list(self):
        # cg = 1 1 4, cg* = 3 4 4; at rank 1 (1+1)/(3+1), at rank 3 (4+2)/(4+3); R = 2
        assert value("Q", [1, 0, 3]) == pytest.approx((2 / 4 + 6 / 7) / 2)

    @pytest.mark.parametrize(
        ("metric", "rank", "expected"),
        [
            ("AP", 1, 0.1),
            ("AP", 2, 0.05),
            ("AP", 5, 0.02),
            ("AP", 20, 0.005),
            ("Q", 20, 0.00667),
            ("nDCG", 1, 0.2201),
            ("nDCG", 2, 0.1389),
            ("RBP(p=0.5)", 10, 0.00098),
        ],
    )
    def test_top_heaviness_one_relevant_document_of_ten(self, metric, rank, expected):
        assert value(metric, [0] * (rank - 1) + [1], [1] * 9) == pytest.approx(expected, abs=5e-5)

    @pytest.mark.parametrize("metric", ["AP", "Q", "nDCG"])
    def test_condensed_lists_leave_unjudged_documents_out(self, metric):
        assert value(f"{metric}(judged_only=True)", [None, 2, None, 0, 1]) == value(metric, [2, 0, 1])

    def test_bpref_r_divides_by_all_relevant_documents(self):
        grades = [1, 0, 1, 0, 1]  # R = 3, N = 2

        assert value("Bpref(denominator='R')", grades) == pytest.approx((1 + 2 / 3 + 1 / 3) / 3)
        assert value("Bpref", grades) == pytest.approx((1 + 1 / 2 + 0) / 3)
