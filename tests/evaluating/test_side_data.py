"""What is brought besides judgments and rankings is checked, and nothing of it vanishes."""

import pytest

from pytest_ireval import InputError, Policies, SideData, evaluate, metric, per_query_metric

JUDGMENTS = {"q1": {"a": 1}, "q2": {"a": 1}}
RANKINGS = {"q1": ["a"], "q2": ["b", "a"]}


@pytest.mark.parametrize(
    ("side_data", "message"),
    [
        ({"sessions": {"zz": ("s", 1)}}, "sessions\n  query 'zz' is not judged"),
        ({"sessions": {"q1": "s"}}, "sessions\n  query 'q1' has 's', not (session, position); positions start at 1"),
        (
            {"sessions": {"q1": ("s", 0)}},
            "sessions\n  query 'q1' has ('s', 0), not (session, position); positions start at 1",
        ),
        (
            {"sessions": {"q1": ("s", 1), "q2": ("s", 1)}},
            "sessions\n  queries 'q1' and 'q2' have the same position in session 's'",
        ),
        ({"sessions": ["q1"]}, "sessions\n  list is not a mapping"),
        ({"timings": {"q1": 0.1}}, "timings\n  query 'q2' has no timing"),
        ({"timings": {"q1": "x", "q2": 1}}, "timings\n  query 'q1' took 'x', which is not a number of seconds"),
        ({"fields": {"a": 3}}, "fields\n  document 'a' has 3, not a mapping"),
        ({"preferences": {"q1": ["ab"]}}, "preferences\n  query 'q1' has ['ab'], not pairs (better, worse)"),
    ],
)
def test_what_cannot_be_right_is_an_input_error(side_data, message):
    with pytest.raises(InputError) as caught:
        evaluate(JUDGMENTS, RANKINGS, "RR", side_data=SideData(**side_data))

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("qid,ms\nq1,500\nq2,1000\n", {"q1": 0.5, "q2": 1}),
        ('{"query": "q1", "milliseconds": 500}\n{"query": "q2", "milliseconds": 1e3}\n', {"q1": 0.5, "q2": 1}),
        ("query\ttook\nq1\t0.5\n", "no column says the unit of time: the columns are 'query', 'took'"),
        ("query\tseconds\tms\nq1\t1\t1\n", "the columns seconds and milliseconds are both there"),
        ("query\tseconds\nq1\t0.5\nq1\t1\n", ":3\n  query 'q1' has two times"),
        ("query\tseconds\nq1\t5ms\n", ":2\n  the time of query 'q1' is '5ms', not a number of seconds"),
        ("query\tseconds\n", "it has no rows"),
    ],
)
def test_times_are_read_from_a_file_that_says_their_unit(tmp_path, text, found):
    path = tmp_path / "times"
    path.write_text(text)
    try:
        values = evaluate(JUDGMENTS, RANKINGS, "Latency", side_data=SideData(timings=path))["Latency"].values
        assert values == {query: 1000 * seconds for query, seconds in found.items()}
    except InputError as error:
        assert str(found) in str(error)


@per_query_metric(name="Agreed", needs=("preferences",))
def agreed(ranking):
    """Share of the pairs that the ranking has in the right order."""
    place = {document: rank for rank, document in enumerate(ranking.documents)}
    pairs = [place[a] < place[b] for a, b in ranking.preferences if {a, b} <= set(place)]
    return sum(pairs) / len(pairs) if pairs else 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("query,worse,better\nq2,a,b\n", {"q1": 0, "q2": 1}),
        ('{"query": "q2", "better": "b", "worse": "a"}\n', {"q1": 0, "q2": 1}),
        ("query\tbetter\nq2\ta\n", "there is no column for the worse: the columns are 'query', 'better'"),
        ("query\tbetter\tworse\nq2\ta\ta\n", ":2\n  document 'a' is better than itself"),
        ("query\tbetter\tworse\nq2\ta\n", ":2\n  has 2 cells, not 3"),
    ],
)
def test_preferences_are_read_from_a_file(tmp_path, text, found):
    path = tmp_path / "pairs"
    path.write_text(text)
    try:
        assert evaluate(JUDGMENTS, RANKINGS, agreed, side_data=SideData(preferences=path))["Agreed"].values == found
    except InputError as error:
        assert str(found) in str(error)


def test_queries_bring_their_text_columns_and_sessions(tmp_path):
    (tmp_path / "queries.tsv").write_text(
        "id\ttext\tsegment\tsession\tposition\nq2\tblue mug\ttail\ts\t1\nq1\tmug\thead\ts\t2\n"
    )

    @per_query_metric(name="Words", needs=("queries", "sessions"), range=(0, 9))
    def words(ranking):
        """The number of words, more for the head, and the place in the session."""
        return len(ranking.text.split()) + (ranking.columns["segment"] == "head") * 4 + ranking.session[1] / 10

    @metric(name="Tail", needs=("queries",))
    def tail(judged):
        """1 for queries of the tail."""
        return [float(each == "tail") for each in judged.columns["segment"]]

    found = evaluate(
        JUDGMENTS, {**RANKINGS, "q1": []}, [words, tail], side_data=SideData(queries=tmp_path / "queries.tsv")
    )

    assert found["Words"].values == {"q1": 0, "q2": 2.1}
    assert found["Tail"].values == {"q1": 0, "q2": 1}
    with pytest.raises(InputError, match="query 'q1' is judged, but it is not in this file"):
        evaluate(JUDGMENTS, RANKINGS, tail, side_data=SideData(queries={"q2": "x"}))


def test_judged_documents_that_were_not_retrieved(tmp_path):
    judgments = {"q1": {"a": 1, "b": 3, "c": 2}, "q2": {"a": 1, "b": 0}}

    @per_query_metric(name="Left", needs=("unretrieved",), range=(0, 99), no_relevant=None, empty=None)
    def left(ranking):
        """The grades as digits."""
        return float("".join(f"{grade:g}" for grade in ranking.unretrieved.values()) or 0)

    def score_left(rankings, **policies):
        return evaluate(judgments, rankings, left, policies=Policies(**policies))["Left"].values

    assert score_left({"q1": ["a", "x"], "q2": ["b", "a"]}) == {"q1": 32, "q2": 0}
    assert score_left({"q1": ["a", "b"], "q2": ["b", "a"]}, depth=1) == {"q1": 32, "q2": 1}
    assert score_left({"q2": ["x"]}, missing_queries="ignore") == {"q2": 10}


def test_a_reference_of_other_queries_is_refused():
    with pytest.raises(InputError, match=r"none of its queries \(1\) is judged"):
        evaluate(JUDGMENTS, RANKINGS, "RR", side_data=SideData(reference={"zz": ["a"]}))


def test_queries_that_a_reference_lacks_are_an_error_unless_told_otherwise():
    with pytest.raises(InputError, match=r"rankings \(the reference\)\n  1 of 2 judged queries have no ranking: 'q2'"):
        evaluate(JUDGMENTS, RANKINGS, "RR", side_data=SideData(reference={"q1": ["a"]}))

    policies, side_data = Policies(missing_queries="zero"), SideData(reference={"q1": ["a"]})
    assert evaluate(JUDGMENTS, RANKINGS, "RR", policies=policies, side_data=side_data)["RR"].mean == 0.75


def test_a_metric_cannot_change_the_attributes_it_is_shown():
    @per_query_metric(name="Bad", needs=("fields",))
    def bad(ranking):
        """Clears what is not its own."""
        ranking.fields[0].clear()
        return 0.0

    fields = {"a": {"stock": 1}}
    with pytest.raises(Exception, match="has no attribute 'clear'"):
        evaluate(JUDGMENTS, RANKINGS, [bad], side_data=SideData(fields=fields))
    assert fields == {"a": {"stock": 1}}
