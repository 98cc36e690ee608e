"""The worked tables of the texts this project began with, line by line (002: lectures, 003: tutorial)."""

import pytest

from pytest_ireval import why


def steps(metric, retrieved, missed=()):
    """The steps of one metric on one query, written as grades."""
    documents = [f"d{rank:02}" for rank in range(1, len(retrieved) + 1)]
    judgments = dict(zip(documents, retrieved, strict=True)) | {f"m{i}": grade for i, grade in enumerate(missed)}
    return why(metric, {"q": judgments}, {"q": documents}).first.steps


def column(steps, name, second=False):
    """A column by name."""
    columns = steps.second_table.columns if second else steps.columns
    return next(list(column.values) for column in columns if column.name == name)


class TestLectures:
    """Text 002."""

    FIRST, SECOND = [1, 0, 1, 1, 1, 1, 0, 0, 0, 1], [0, 1, 0, 0, 1, 1, 1, 0, 1, 1]

    @pytest.mark.parametrize(
        ("ranking", "recall", "precision"),
        [
            (
                FIRST,
                [0.17, 0.17, 0.33, 0.5, 0.67, 0.83, 0.83, 0.83, 0.83, 1.0],
                [1.0, 0.5, 0.67, 0.75, 0.8, 0.83, 0.71, 0.63, 0.56, 0.6],
            ),
            (
                SECOND,
                [0.0, 0.17, 0.17, 0.17, 0.33, 0.5, 0.67, 0.67, 0.83, 1.0],
                [0.0, 0.5, 0.33, 0.25, 0.4, 0.5, 0.57, 0.5, 0.56, 0.6],
            ),
        ],
    )
    @pytest.mark.parametrize("metric", ["AP", "F@10"])
    def test_recall_and_precision_at_every_rank(self, metric, ranking, recall, precision):
        found = steps(metric, ranking)

        assert column(found, "recall") == pytest.approx(recall, abs=5.1e-3)
        assert column(found, "precision") == pytest.approx(precision, abs=5.1e-3)

    def test_average_precision_is_the_mean_of_what_relevant_documents_add(self):
        found = steps("AP", self.FIRST)

        assert column(found, "adds") == pytest.approx(
            [1, None, 0.6667, 0.75, 0.8, 0.8333, None, None, None, 0.6], abs=5e-5
        )
        assert found.arithmetic == "(1 + 0.6667 + 0.7500 + 0.8000 + 0.8333 + 0.6000) / 6"
        assert steps("AP", self.SECOND).arithmetic == "(0.5000 + 0.4000 + 0.5000 + 0.5714 + 0.5556 + 0.6000) / 6"

    def test_average_precision_when_relevant_documents_are_missed(self):
        assert steps("AP", self.FIRST[:7], [1]).arithmetic == "(1 + 0.6667 + 0.7500 + 0.8000 + 0.8333) / 6"
        assert steps("AP", self.SECOND[:7], [1, 1]).arithmetic == "(0.5000 + 0.4000 + 0.5000 + 0.5714) / 6"

    def test_f_of_the_first_three_is_44_not_the_printed_22(self):
        found = steps("F@3", self.FIRST)

        assert found.arithmetic == "2 * (2 / 3) * (2 / 6) / ((2 / 3) + (2 / 6))"
        assert found.value == pytest.approx(0.44, abs=5e-3)

    QUERY_1, QUERY_2 = [1, 0, 1, 0, 0, 1, 0, 0, 1, 1], [0, 1, 0, 0, 1, 0, 1, 0, 0, 0]

    def test_recall_and_precision_of_two_queries(self):
        first, second = steps("AP", self.QUERY_1), steps("AP", self.QUERY_2)

        assert column(first, "recall") == pytest.approx([0.2, 0.2, 0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8, 1.0])
        assert column(first, "precision") == pytest.approx(
            [1.0, 0.5, 0.67, 0.5, 0.4, 0.5, 0.43, 0.38, 0.44, 0.5], abs=5.1e-3
        )
        assert column(second, "recall") == pytest.approx([0, 0.33, 0.33, 0.33, 0.67, 0.67, 1, 1, 1, 1], abs=5e-3)
        assert column(second, "precision") == pytest.approx(
            [0.0, 0.5, 0.33, 0.25, 0.4, 0.33, 0.43, 0.38, 0.33, 0.3], abs=5.1e-3
        )
        assert first.arithmetic == "(1 + 0.6667 + 0.5000 + 0.4444 + 0.5000) / 5"
        assert second.arithmetic == "(0.5000 + 0.4000 + 0.4286) / 3"

    def test_interpolated_precision_at_the_standard_levels_of_recall(self):
        first, second = (steps("IPrecAvg", ranking) for ranking in (self.QUERY_1, self.QUERY_2))

        assert column(first, "recall", second=True) == pytest.approx([level / 10 for level in range(11)])
        assert column(first, "precision", second=True) == pytest.approx([1, 1, 1, 0.67, 0.67] + [0.5] * 6, abs=5e-3)
        assert column(second, "precision", second=True) == pytest.approx([0.5] * 4 + [0.43] * 7, abs=5e-3)

    def test_the_average_of_both_at_recall_4_is_55_not_the_printed_47(self):
        first, second = (steps("IPrecAvg", ranking) for ranking in (self.QUERY_1, self.QUERY_2))
        curves = zip(column(first, "precision", second=True), column(second, "precision", second=True), strict=True)

        averages = [(a + b) / 2 for a, b in curves]

        assert averages == pytest.approx([0.75] * 3 + [0.585, 0.55] + [0.465] * 6, abs=5e-3)

    def test_discounted_gain_at_every_rank(self):
        found = steps("DCG(discount='jarvelin')", [3, 2, 3, 0, 0, 1, 2, 2, 3, 0])

        assert column(found, "discount")[2] == pytest.approx(1.59, abs=6e-3)
        assert column(found, "discounted") == pytest.approx([3, 2, 1.89, 0, 0, 0.39, 0.71, 0.67, 0.95, 0], abs=5e-3)
        assert column(found, "sum") == pytest.approx([3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61], abs=5.1e-3)


class TestTutorial:
    """Text 003."""

    A, B = [5, 2, 4, 0, 1], [2, 0, 5, 1, 4]

    @pytest.mark.parametrize(
        ("ranking", "discounted", "total"),
        [
            (A, [5.0, 1.261860, 2.0, 0.0, 0.386853], [5.00, 6.26, 8.26, 8.26, 8.65]),
            (B, [2.0, 0.0, 2.5, 0.430677, 1.547411], [2.00, 2.00, 4.50, 4.93, 6.48]),
        ],
    )
    def test_discounted_gain_of_two_models(self, ranking, discounted, total):
        found = steps("DCG@5", ranking)

        assert list(found.ranks) == [1, 2, 3, 4, 5]
        assert list(found.grades) == ranking
        assert column(found, "discount") == pytest.approx([1.0, 1.584963, 2.0, 2.321928, 2.584963], abs=1e-6)
        assert column(found, "discounted") == pytest.approx(discounted, abs=1e-6)
        assert column(found, "sum") == pytest.approx(total, abs=6e-3)

    def test_terms_of_the_sum(self):
        assert steps("DCG@5", self.A).arithmetic == "5 + 1.2619 + 2 + 0.3869"
        assert steps("CG@5", self.A).arithmetic == "5 + 2 + 4 + 1"

    def test_the_best_order_of_query_b(self):
        found = steps("nDCG(ideal='retrieved')@5", self.A)

        assert column(found, "grade", second=True) == [5, 4, 2, 1]  # a fifth document, worth 0, adds nothing
        assert column(found, "discounted", second=True) == pytest.approx([5.0, 2.523719, 1.0, 0.430677], abs=1e-6)
        assert column(found, "sum", second=True) == pytest.approx([5.00, 7.52, 8.52, 8.95], abs=5e-3)
        assert found.arithmetic == "8.6487 / 8.9544"  # printed 8.65 / 8.95 = 0.9664
        assert found.value == pytest.approx(0.9659, abs=5e-5)
