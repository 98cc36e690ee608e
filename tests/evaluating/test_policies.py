"""What an evaluation does where the data leave it open, and that it says so."""

import json

import pytest

from pytest_ireval import Evaluation, InputError, IrevalError, Policies, evaluate

JUDGMENTS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}


def test_a_missing_query_is_an_error_unless_told_otherwise():
    with pytest.raises(InputError) as caught:
        evaluate(JUDGMENTS, {"q1": ["a"]}, ["RR"])

    assert str(caught.value) == (
        "rankings\n  2 of 3 judged queries have no ranking: 'q2', 'q3'\n"
        '  missing_queries="zero" (command line: --missing zero) gives them the worst score, '
        '"ignore" leaves them out'
    )


def test_zero_scores_missing_queries_as_empty_rankings_and_lists_them():
    evaluation = evaluate(JUDGMENTS, {"q1": ["a"]}, ["RR", "NumRel"], policies=Policies(missing_queries="zero"))

    assert evaluation["RR"].values == {"q1": 1, "q2": 0, "q3": 0}
    assert evaluation["NumRel"].value == 2
    assert evaluation.missing == ("q2", "q3")


def test_ignore_leaves_missing_queries_out_and_lists_them():
    evaluation = evaluate(JUDGMENTS, {"q1": ["a"]}, ["RR"], policies=Policies(missing_queries="ignore"))

    assert evaluation["RR"].values == {"q1": 1}
    assert evaluation["RR"].mean == 1
    assert evaluation.missing == ("q2", "q3")


def test_an_empty_ranking_is_not_missing_scores_0_and_is_counted():
    evaluation = evaluate(JUDGMENTS, {"q1": ["a"], "q2": [], "q3": ["a"]}, ["RR"])

    assert evaluation["RR"].values == {"q1": 1, "q2": 0, "q3": 0}
    assert evaluation.missing == ()
    assert evaluation.empty == ("q2",)


def test_ranked_queries_without_judgments_are_listed_and_do_not_count():
    evaluation = evaluate({"q1": {"a": 1}}, {"q1": ["a"], "q9": ["a"]}, ["RR"])

    assert evaluation.without_judgments == ("q9",)
    assert evaluation["RR"].values == {"q1": 1}


def test_rankings_of_other_queries_are_an_error_whatever_the_policy():
    with pytest.raises(InputError, match=r"none of its queries \(1\) is judged in judgments"):
        evaluate({"q1": {"a": 1}}, {"Q1": ["a"]}, ["RR"], policies=Policies(missing_queries="zero"))


def test_queries_without_relevant_documents_are_counted_beside_the_mean():
    result = evaluate(JUDGMENTS, {query: ["a"] for query in JUDGMENTS}, ["RR", "RR(rel=2)"])

    assert result["RR"].no_relevant == 1
    assert result["RR"].mean == pytest.approx(2 / 3)
    assert result["RR(rel=2)"].no_relevant == 3


def test_queries_without_relevant_documents_may_be_left_out():
    some, none = evaluate(
        JUDGMENTS, {query: ["a"] for query in JUDGMENTS}, ["RR", "RR(rel=2)"], policies=Policies(no_relevant="ignore")
    ).metrics

    assert (some.mean, some.value, some.values) == (1, 1, {"q1": 1, "q2": 1})
    assert (none.mean, none.value, none.values) == (None, None, {})


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"ties": "trek"}, "ties='trek' is unknown\n  did you mean 'trec'?\n  allowed: trec, input"),
        ({"missing_queries": 0}, "missing_queries=0 is unknown\n  allowed: error, zero, ignore"),
        ({"depth": 10**30}, f"depth={10**30} is not a whole number from 1 to 1,000,000,000"),
        ({"depth": True}, "depth=True is not a whole number from 1 to 1,000,000,000"),
    ],
)
def test_an_unknown_policy_is_an_error(option, message):
    with pytest.raises(IrevalError) as caught:
        Policies(**option)

    assert str(caught.value) == message


def test_the_highest_grade_is_that_of_all_judgments_not_of_the_queries_that_count():
    judgments = {"q1": {"a": 1}, "q2": {"a": 3}}

    ignored = evaluate(judgments, {"q1": ["a"]}, ["ERR"], policies=Policies(missing_queries="ignore"))
    scaled = evaluate(judgments, {"q1": ["a"]}, ["ERR"], policies=Policies(missing_queries="ignore", scale=4))

    assert ignored.highest_grade == 3
    assert ignored["ERR"].value == pytest.approx(1 / 8)
    assert scaled["ERR"].value == pytest.approx(1 / 16)
    assert (scaled.highest_grade, scaled.policies.scale) == (3, 4)


@pytest.mark.parametrize("scale", [float("nan"), 0, True])
def test_a_scale_that_is_no_number_above_0_is_refused(scale):
    with pytest.raises(IrevalError, match=r"scale=.* is not a number above 0"):
        evaluate(JUDGMENTS, {}, ["RR"], policies=Policies(missing_queries="zero", scale=scale))


def test_grades_above_the_scale_are_refused():
    with pytest.raises(InputError, match=r"judgments\n  its grades go up to 1, above scale=0.5"):
        evaluate(JUDGMENTS, {}, ["RR"], policies=Policies(missing_queries="zero", scale=0.5))


TIED = {"q": {"bad": 2.0, "good": 2.0, "hole": 2.0}}
TIED_JUDGMENTS = {"q": {"good": 1, "bad": 0}}


@pytest.mark.parametrize(("ties", "rank"), [("trec", 2), ("input", 3)])
def test_equal_scores(ties, rank):
    ranked = {"q": {"bad": 2.0, "hole": 2.0, "good": 2.0}}

    assert evaluate(TIED_JUDGMENTS, ranked, ["RR"], policies=Policies(ties=ties))["RR"].value == pytest.approx(1 / rank)


ONE_EACH = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1}}
AT_RANKS_2_AND_3 = {"q1": {"x": 3, "a": 1, "b": 1}, "q2": {"a": 3, "b": 2, "x": 1}, "q3": {"a": 3, "x": 1, "y": 1}}


@pytest.mark.parametrize(
    ("metrics", "policies", "tied"),
    [
        ("AP", {}, 1),
        (["P@1", "RR@1"], {}, 0),
        ("AP", {"depth": 1}, 0),
        ("P(judged_only=True)@1", {}, 1),
        ("P@1", {"unjudged": "removed"}, 1),
        ("P@1", {"unjudged": "removed", "depth": 1}, 0),
    ],
)
def test_queries_with_equal_scores_at_a_judged_document_are_counted_as_far_down_as_metrics_look(
    metrics, policies, tied
):
    assert evaluate(ONE_EACH, AT_RANKS_2_AND_3, metrics, policies=Policies(**policies)).tied == tied


def test_a_judged_document_with_the_score_of_an_unjudged_one_counts_unless_that_is_removed():
    ranked = {"q": {"a": 1, "x": 1}}

    assert evaluate({"q": {"a": 1}}, ranked, "AP").tied == 1
    assert evaluate({"q": {"a": 1}}, ranked, "AP", policies=Policies(unjudged="removed")).tied == 0


def test_depth_cuts_before_anything_is_counted():
    evaluation = evaluate(
        {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}, ["NumRet", "AP", "Judged@10"], policies=Policies(depth=2)
    )

    assert evaluation["NumRet"].value == 2
    assert evaluation["AP"].value == pytest.approx(1 / 4)
    assert evaluation["Judged@10"].value == pytest.approx(1 / 2)


def test_an_evaluation_survives_json():
    evaluation = evaluate(TIED_JUDGMENTS, TIED, ["RR", "NumRet"], policies=Policies(depth=3))

    assert Evaluation.from_dict(json.loads(json.dumps(evaluation.to_dict()))) == evaluation


def test_another_format_version_is_refused():
    data = evaluate(TIED_JUDGMENTS, TIED, ["RR"]).to_dict() | {"format": 2}

    with pytest.raises(InputError, match="format 2 is not an evaluation that this version can read; it reads format 1"):
        Evaluation.from_dict(data)


def test_a_result_is_found_by_the_name_that_was_asked_for_and_by_its_own():
    evaluation = evaluate(TIED_JUDGMENTS, TIED, (name for name in ("mrr", "ndcg_cut_10", "P@[1,2]", "ndcg@10")))

    assert evaluation["mrr"] is evaluation["RR"] is evaluation.metrics[0]
    assert evaluation["ndcg_cut_10"] is evaluation["nDCG@10"] is evaluation["ndcg@10"]
    for name in ("P@[1,2]", "MRR"):
        with pytest.raises(KeyError, match="evaluated: RR, nDCG@10, P@1, P@2"):
            evaluation[name]


@pytest.mark.parametrize("ranked", [["m"]])
def test_a_grade_above_max_grade_is_an_error_retrieved_or_not(ranked):
    with pytest.raises(IrevalError, match=r"ERR\(max_grade=2\)\n  grade 3 is above max_grade=2"):
        evaluate({"q": {"top": 3, "m": 1}}, {"q": ranked}, "ERR(max_grade=2)")


def test_one_query_as_text_and_as_number_is_refused():
    with pytest.raises(InputError, match="query '1' occurs twice, as text and as a number"):
        evaluate({1: {"a": 1}, "1": {"b": 1}}, {"1": ["a"]}, "RR")


@pytest.mark.parametrize(
    ("ranked", "judged", "said"),
    [
        ("c\u0327a", "\u00e7a", "ids differ only in the form of their accents"),
        ("Q1", "q1", "ids differ only in upper and lower case"),
        ("MB051", "51", "ids differ only in letters or zeros before a number: 'MB051' and '51'"),
        ("051", "51", "ids differ only in letters or zeros before a number"),
    ],
)
def test_ids_that_look_alike_are_told_apart(ranked, judged, said):
    with pytest.raises(InputError, match=said):
        evaluate({judged: {"a": 1}}, {ranked: ["a"]}, ["AP"])
