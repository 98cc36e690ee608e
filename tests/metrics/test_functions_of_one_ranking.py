"""What a function of one ranking sees, and when it is asked."""

import numpy as np
import pytest

from pytest_ireval import Policies, evaluate, per_query_metric
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.registry import GivenHooks, build_registry

JUDGMENTS = {"q": {"a": 3, "b": 0, "c": 1, "n": -1}, "other": {"a": 1}}


def collect_rankings(rankings, name="Probe", judgments=JUDGMENTS, needs=(), **options):
    """The rankings that a metric's function was given, by query."""
    given = {}

    @per_query_metric(name="Probe", needs=needs, **options)
    def probe(ranking, *, cutoff: int | None = None):
        """Notes what it sees."""
        given[ranking.query] = ranking
        return 0.0

    registry = build_registry(GivenHooks(ireval_metrics=[(Origin("probe"), [probe])]))
    evaluate(judgments, rankings, [name], registry=registry, policies=Policies(missing_queries="zero"))
    return given


def test_grades_are_by_rank_with_0_for_unjudged_documents():
    ranking = collect_rankings({"q": ["x", "a", "b", "n"]})["q"]

    assert ranking.grades.tolist() == [0, 3, 0, -1]
    assert ranking.judged.tolist() == [False, True, True, True]
    assert ranking.retrieved == 4


def test_a_cutoff_gives_that_many_places():
    ranking = collect_rankings({"q": ["x", "a"]}, "Probe@4")["q"]

    assert ranking.grades.tolist() == [0, 3, 0, 0]
    assert ranking.judged.tolist() == [False, True, False, False]


def test_ideal_holds_all_judged_grades_best_first():
    assert collect_rankings({"q": ["x"]})["q"].ideal.tolist() == [3, 1, 0, -1]


def test_top_grade_is_that_of_the_whole_judgments():
    assert collect_rankings({"q": ["x"], "other": ["a"]})["other"].top_grade == 3


def test_parts_nobody_asked_for_are_not_there():
    ranking = collect_rankings({"q": ["x", "a"]})["q"]

    assert (ranking.documents, ranking.scores, ranking.session, ranking.seconds) == (None, None, None, None)


def test_scores_and_ties_come_by_rank():
    ranking = collect_rankings({"q": {"x": 2.0, "a": 2.0, "b": 1.0}}, needs=("scores", "ties"))["q"]

    assert ranking.documents == ["x", "a", "b"]
    assert ranking.scores.tolist() == [2, 2, 1]
    assert ranking.tied_from.tolist() == [1, 1, 3]
    assert ranking.tied_to.tolist() == [2, 2, 3]


def test_an_empty_ranking_scores_empty_without_being_asked():
    assert "q" not in collect_rankings({"q": []})


def test_with_empty_none_it_is_asked():
    assert collect_rankings({"q": []}, empty=None)["q"].retrieved == 0


def test_a_query_without_relevant_documents_scores_no_relevant_without_being_asked():
    judgments = {"q": {"a": 0}}

    assert collect_rankings({"q": ["a"]}, judgments=judgments) == {}
    assert "q" in collect_rankings({"q": ["a"]}, judgments=judgments, no_relevant=None)


@pytest.mark.parametrize("cutoff", [3])
def test_one_ranking_at_a_time_equals_all_at_once(cutoff):
    @per_query_metric(name="MyPrecision")
    def my_precision(ranking, *, cutoff: int):
        """Precision, written the plain way."""
        return float((ranking.grades >= 1).sum()) / cutoff

    generator = np.random.default_rng(cutoff)
    judgments = {f"q{i}": {f"d{j}": int(generator.integers(0, 3)) for j in range(8)} for i in range(30)}
    rankings = {q: [f"d{j}" for j in generator.permutation(12)[: generator.integers(1, 12)]] for q in judgments}
    registry = build_registry(GivenHooks(ireval_metrics=[(Origin("mine"), [my_precision])]))

    mine = evaluate(judgments, rankings, [f"MyPrecision@{cutoff}"], registry=registry).metrics[0].values
    ours = evaluate(judgments, rankings, [f"P@{cutoff}"]).metrics[0].values

    assert mine == ours


class Named:
    def method(self, ranking, *, cutoff: int = 3) -> float:
        return float(ranking.grades[:cutoff].max())

    @classmethod
    def of_class(cls, ranking, *, cutoff: int = 3) -> float:
        return float(ranking.grades[:cutoff].max())


@pytest.mark.parametrize("function", [Named().method])
def test_methods_are_functions_too(function):
    best = per_query_metric(name="Best", range=(0, 9))(function)

    assert evaluate({"q": {"a": 2}}, {"q": ["x", "a"]}, [best])["Best"].mean == 2.0
