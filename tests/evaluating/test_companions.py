"""What is brought besides judgments and rankings is checked, and nothing of it vanishes."""

import pytest

from pytest_ireval import InputError, evaluate, per_query_metric

JUDGMENTS = {"q1": {"a": 1}, "q2": {"a": 1}}
RANKINGS = {"q1": ["a"], "q2": ["b", "a"]}


@pytest.mark.parametrize(
    ("companions", "message"),
    [
        ({"sessions": {"zz": ("s", 1)}}, "sessions\n  query 'zz' is not judged"),
        ({"sessions": {"q1": "s"}}, "sessions\n  query 'q1' has 's', not (session, position); positions start at 1"),
        (
            {"sessions": {"q1": ("s",)}},
            "sessions\n  query 'q1' has ('s',), not (session, position); positions start at 1",
        ),
        (
            {"sessions": {"q1": ("s", 0)}},
            "sessions\n  query 'q1' has ('s', 0), not (session, position); positions start at 1",
        ),
        (
            {"sessions": {"q1": ("s", 1.7)}},
            "sessions\n  query 'q1' has ('s', 1.7), not (session, position); positions start at 1",
        ),
        (
            {"sessions": {"q1": (3, 1)}},
            "sessions\n  query 'q1' has (3, 1), not (session, position); positions start at 1",
        ),
        (
            {"sessions": {"q1": ("s", 1), "q2": ("s", 1)}},
            "sessions\n  queries 'q1' and 'q2' have the same position in session 's'",
        ),
        ({"sessions": ["q1"]}, "sessions\n  list is not a mapping"),
        ({"timings": {"q1": 0.1}}, "timings\n  query 'q2' has no timing"),
        ({"timings": {"q1": "x", "q2": 1}}, "timings\n  query 'q1' took 'x', which is not a number of seconds"),
        ({"timings": {"q1": -1, "q2": 1}}, "timings\n  query 'q1' took -1, which is not a number of seconds"),
        ({"fields": {"a": 3}}, "fields\n  document 'a' has 3, not a mapping"),
        ({"preferences": {"q1": ["ab"]}}, "preferences\n  query 'q1' has ['ab'], not pairs (better, worse)"),
    ],
)
def test_what_cannot_be_right_is_an_input_error(companions, message):
    with pytest.raises(InputError) as caught:
        evaluate(JUDGMENTS, RANKINGS, "RR", **companions)

    assert str(caught.value) == message


def test_a_reference_of_other_queries_is_refused():
    with pytest.raises(InputError, match=r"none of its queries \(1\) is judged"):
        evaluate(JUDGMENTS, RANKINGS, "RR", reference={"zz": ["a"]})


def test_queries_that_a_reference_lacks_are_an_error_unless_told_otherwise():
    with pytest.raises(InputError, match=r"rankings \(the reference\)\n  1 of 2 judged queries have no ranking: 'q2'"):
        evaluate(JUDGMENTS, RANKINGS, "RR", reference={"q1": ["a"]})

    assert evaluate(JUDGMENTS, RANKINGS, "RR", reference={"q1": ["a"]}, missing_queries="zero")["RR"].mean == 0.75


def test_a_metric_cannot_change_the_attributes_it_is_shown():
    @per_query_metric(name="Bad", needs=("fields",))
    def bad(ranking):
        """Clears what is not its own."""
        ranking.fields[0].clear()
        return 0.0

    fields = {"a": {"stock": 1}}
    with pytest.raises(Exception, match="has no attribute 'clear'"):
        evaluate(JUDGMENTS, RANKINGS, [bad], fields=fields)
    assert fields == {"a": {"stock": 1}}
