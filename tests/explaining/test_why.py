"""Why a metric has its value: from Python, with policies, with a second ranking, and for metrics without steps."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from pytest_ireval import (
    InputError,
    MetricError,
    Policies,
    SideData,
    evaluate,
    list_ranking,
    make_steps,
    metric,
    per_query_metric,
    steps_for,
    why,
)
from pytest_ireval.errors import MetricNameError
from pytest_ireval.results.explanation import Move

JUDGMENTS = {"mug": {"a": 2, "b": 0, "c": 1}, "cup": {"x": 1, "y": 0}}
RANKINGS = {"mug": ["b", "u", "a", "c"], "cup": ["x", "y"]}
BETTER = {"mug": ["a", "u", "c", "v"], "cup": ["x", "y"]}


def test_documents_grades_and_ranks_are_those_of_the_ranking():
    steps = why("nDCG@10", JUDGMENTS, RANKINGS, "mug").first.steps

    assert steps.ranks == (1, 2, 3, 4)
    assert steps.documents == ("b", "u", "a", "c")
    assert steps.grades == (0, None, 2, 1)


def test_a_metric_without_a_cutoff_looks_at_the_whole_list_and_one_with_a_cutoff_does_not():
    assert why("AP", JUDGMENTS, RANKINGS, "mug").first.steps.ranks == (1, 2, 3, 4)
    assert why("AP@2", JUDGMENTS, RANKINGS, "mug").first.steps.ranks == (1, 2)
    assert why("AP@2", JUDGMENTS, RANKINGS, "mug").first.retrieved == 4


def test_a_query_is_proposed_where_it_is_the_only_one_or_has_the_largest_difference():
    only = why("AP", {"mug": JUDGMENTS["mug"]}, RANKINGS)
    largest = why("AP", JUDGMENTS, RANKINGS, other=BETTER)

    assert (only.query, only.query_choice) == ("mug", "the only query")
    assert (largest.query, largest.query_choice) == ("mug", "the largest difference of 2 queries")


def test_moves_say_where_a_document_stood_and_what_it_contributes():
    explanation = why("P@2", JUDGMENTS, RANKINGS, "mug", BETTER)

    assert explanation.moves == (
        Move("b", 0, 1, None, 0.0, None),
        Move("a", 2, 3, 1, None, 0.5),
        Move("u", None, 2, 2, 0.0, 0.0),
    )
    assert [move.difference for move in explanation.moves] == [0, 0.5, 0]


def test_differences_add_up_to_the_difference_of_the_values():
    explanation = why("nDCG", JUDGMENTS, RANKINGS, "mug", BETTER)

    change = explanation.other.value - explanation.first.value
    assert sum(move.difference for move in explanation.moves) == pytest.approx(change)


@pytest.mark.parametrize(
    ("name", "policies"),
    [
        ("nDCG@10", Policies()),
        ("nDCG@3", Policies(depth=3)),
        ("SetP", Policies(unjudged="removed")),
        ("ERR", Policies(scale=5)),
    ],
)
def test_policies_are_those_of_evaluate(name, policies):
    explained = why(name, JUDGMENTS, RANKINGS, "mug", policies=policies).first

    assert explained.value == evaluate(JUDGMENTS, RANKINGS, [name], policies=policies)[name].values["mug"]


def test_equal_scores_are_ordered_as_the_policy_says_which_is_shown():
    tied = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    steps = why("AP", {"q": {"b": 1, "a": 0}}, tied, "q", policies=Policies(ties="input")).first.steps

    assert steps.documents == ("a", "b", "c")
    assert steps.facts[0] == "2 judged documents share scores with others; ties: in the order of the input"


def test_a_query_that_was_not_ranked_is_explained_as_empty():
    explained = why("AP", JUDGMENTS, {"cup": ["x"]}, "mug").first

    assert explained.value == 0
    assert explained.steps.ranks == ()
    assert explained.steps.facts[0] == "this query has no ranking; the ranking counts as empty"


def test_without_relevant_documents_the_metric_rules_what_the_value_is():
    explained = why("AP", {"q": {"a": 0}}, {"q": ["a"]}).first

    assert (explained.value, explained.special_case) == (0, "a query without relevant documents scores 0")


def read_error(kind, *arguments, **options):
    with pytest.raises(kind) as caught:
        why(*arguments, **options)
    return str(caught.value)


def test_one_ranking_needs_the_name_of_a_query():
    assert read_error(InputError, "AP", JUDGMENTS, RANKINGS) == (
        "no query was named, and 2 are judged: 'mug', 'cup'\n  name one: --query mug, or query='mug' from Python"
    )


def test_a_query_that_is_not_judged_is_an_error():
    assert read_error(InputError, "AP", JUDGMENTS, RANKINGS, "mugs") == (
        "judgments\n  query 'mugs' is not judged\n  did you mean 'mug'?\n  judged queries: 'mug', 'cup'"
    )


def test_several_metrics_and_one_of_the_whole_run_are_refused():
    assert read_error(MetricNameError, "P@[1, 2]", JUDGMENTS, RANKINGS, "mug") == (
        "more than one metric: P@1, P@2; only one can be explained at a time"
    )

    @metric(name="Whole", unit="run")
    def whole(judged):
        """One figure."""
        return np.ones(1)

    assert read_error(MetricError, whole, JUDGMENTS, RANKINGS, "mug") == (
        "Whole\n  scores a whole run; only metrics that score single queries, or whole sessions, can be explained"
    )


SESSION = (
    {"s1": {"a": 1, "b": 2}, "s2": {"a": 1, "b": 2, "c": 2}, "s3": {"d": 1}},
    {"s1": ["a", "x", "b"], "s2": ["x", "c", "b"], "s3": ["x", "d"]},
)
SESSIONS = SideData(sessions={"s1": ("monday", 1), "s2": ("monday", 2), "s3": ("friday", 1)})


def test_of_a_metric_of_sessions_all_queries_of_a_session_are_explained():
    explanation = why("SessionDCG@3", *SESSION, "monday", side_data=SESSIONS)

    steps = explanation.first.steps
    assert (explanation.unit, explanation.first.value) == ("session", pytest.approx(2 + 2 / math.log2(3) / 1.5))
    assert list(zip(steps.positions, steps.ranks, steps.documents, steps.grades, strict=True)) == [
        (1, 1, "a", 1),
        (1, 2, "x", None),
        (1, 3, "b", 2),
        (2, 1, "x", None),
        (2, 2, "c", 2),
        (2, 3, "b", 2),
    ]
    assert steps.shares.values == pytest.approx((1, 0, 1, 0, 2 / math.log2(3) / 1.5, 0))
    assert steps.second_table.columns[1].values == pytest.approx((2, 2 / math.log2(3)))
    assert steps.facts[0] == "queries of the session: 1: s1, 2: s2"


def test_of_two_sessions_the_one_that_differs_is_chosen_and_documents_move_within_their_query():
    judgments, rankings = SESSION
    better = rankings | {"s2": ["c", "x", "b"]}

    explanation = why("SessionDCG@3", judgments, rankings, other=better, side_data=SESSIONS)

    assert (explanation.query, explanation.query_choice) == ("monday", "the largest difference of 2 sessions")
    moved = [move for move in explanation.moves if move.rank != move.other_rank]
    assert [(move.position, move.document, move.rank, move.other_rank) for move in moved] == [
        (2, "x", 1, 2),
        (2, "c", 2, 1),
    ]
    change = explanation.other.value - explanation.first.value
    assert sum(move.difference for move in explanation.moves) == pytest.approx(change)


def test_a_query_in_place_of_its_session_is_an_error_that_names_the_session():
    assert read_error(InputError, "nsDCG@3", *SESSION, "s2", side_data=SESSIONS) == (
        "judgments\n  session 's2' is not judged\n  it is a query of session 'monday'\n"
        "  judged sessions: 'monday', 'friday'"
    )
    assert "needs sessions" in read_error(MetricError, "nsDCG@3", *SESSION, "monday")


def test_the_generic_table_of_a_session_is_true(registry):
    plain = registry.metrics["nSessionDCG"] @ 3
    declare = metric(name="Bare", unit="session", needs=("judgments", "sessions"))
    bare = declare(lambda judged: plain.batch(judged, **plain.settings))

    steps = why(bare, *SESSION, "monday", side_data=SESSIONS).first.steps

    assert steps.generic
    for position, document, value in zip(steps.positions, steps.documents, steps.columns[0].values, strict=True):
        if document != "x":
            query = f"s{position}"
            fewer = SESSION[0] | {query: {d: g for d, g in SESSION[0][query].items() if d != document}}
            scored = evaluate(fewer, SESSION[1], plain, side_data=SESSIONS).metrics[0]
            assert value == pytest.approx(scored.values["monday"])


@per_query_metric(name="Top")
def top(ranking, *, cutoff: int):
    """Share of the first documents that carry the top grade."""
    return (ranking.grades[:cutoff] == ranking.top_grade).mean()


def test_a_metric_without_steps_gets_a_table_that_says_what_each_judgment_does():
    steps = why(top @ 4, JUDGMENTS, RANKINGS, "mug").first.steps

    assert steps.generic
    assert steps.facts == (
        "Top does not describe its steps; this generic table is shown for such a metric:",
        "column unjudged: the metric's value if this document were unjudged",
    )
    assert steps.columns[0].values == (0.25, None, 0, 0.25)
    assert steps.shares.values == (0, None, 0.25, 0)


def test_the_generic_table_is_true(registry):
    plain = registry.metrics["AP"](rel=1)
    bare = metric(name="Bare")(lambda judged: plain.batch(judged, **plain.settings))
    found = why(bare, JUDGMENTS, RANKINGS, "mug").first.steps.columns[0].values

    for document, value in zip(RANKINGS["mug"], found, strict=True):
        if value is not None:
            without = {"mug": {d: grade for d, grade in JUDGMENTS["mug"].items() if d != document}}
            assert value == evaluate(without, {"mug": RANKINGS["mug"]}, ["AP"])["AP"].mean


def test_where_a_metric_has_no_value_without_a_judgment_the_table_is_empty_and_says_so():
    @per_query_metric(name="Picky", no_relevant=None)
    def picky(ranking):
        """Share of judged documents that are relevant, if there are two of them."""
        return (ranking.grades > 0).sum() / 2 if ranking.judged.sum() > 1 else 1 / 0

    steps = why(picky, JUDGMENTS, RANKINGS, "cup").first.steps

    assert steps.columns[0].values == (None, None)
    assert steps.facts[-1] == "2 documents have no such value: the metric raised an error"


def top_steps(judged, *, cutoff):
    listed = list_ranking(judged, cutoff)
    at_top = listed.judged & (listed.grade == judged.highest_grade)
    count = int(at_top.sum())
    return make_steps(
        listed,
        {"found": np.cumsum(at_top)},
        arithmetic=f"{count} / {cutoff}",
        value=count / cutoff,
        shares=at_top / cutoff,
        facts=[f"the top grade is {judged.highest_grade:g}"],
    )


def shares_doubled(judged, *, cutoff):
    steps = top_steps(judged, cutoff=cutoff)
    return replace(steps, shares=replace(steps.shares, values=tuple(2 * share for share in steps.shares.values)))


def not_a_number(judged, *, cutoff):
    return replace(top_steps(judged, cutoff=cutoff), value=float("nan"))


def too_short(judged, *, cutoff):
    return make_steps(list_ranking(judged), {"found": np.zeros(3)}, arithmetic="0", value=0.25)


def with_steps(steps):
    @per_query_metric(name="Top")
    def described(ranking, *, cutoff: int):
        """Share of the first documents that carry the top grade."""
        return (ranking.grades[:cutoff] == ranking.top_grade).mean()

    steps_for(described)(steps)
    return described @ 4


def test_a_third_party_describes_its_steps():
    steps = why(with_steps(top_steps), JUDGMENTS, RANKINGS, "mug").first.steps

    assert not steps.generic
    assert steps.columns[0].values == (0, 0, 1, 1)
    assert steps.arithmetic == "1 / 4"


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        (lambda judged, *, cutoff: 1 / 0, "its steps raised ZeroDivisionError: division by zero"),
        (lambda judged, *, cutoff: None, "its steps returned NoneType, not the Steps that make_steps returns"),
        (shares_doubled, "its shares add up to 0.5, but its value is 0.25"),
        (not_a_number, "its steps give nan, but its value is 0.25"),
        (too_short, "column 'found' of its steps must have one entry for each of 4 documents"),
    ],
)
def test_steps_that_do_not_come_to_the_value_are_an_error(steps, complaint):
    text = read_error(MetricError, with_steps(steps), JUDGMENTS, RANKINGS, "mug")

    assert text.startswith(f"Top@4\n  {complaint}")


def test_the_json_form_has_everything():
    data = json.loads(json.dumps(why("AP", JUDGMENTS, RANKINGS, "mug", BETTER).to_dict()))

    assert data["format"] == 1
    assert (data["metric"], data["query"]) == ("AP", "mug")
    assert data["first"]["steps"]["documents"] == ["b", "u", "a", "c"]
    assert data["first"]["steps"]["shares"] == {"name": "contributes", "values": [0, 0, 1 / 6, 0.25]}
    assert data["other"]["value"] == pytest.approx(5 / 6)
    assert data["moves"][0] == {
        "document": "b",
        "grade": 0,
        "rank": 1,
        "other_rank": None,
        "share": 0,
        "other_share": None,
        "position": None,
    }
