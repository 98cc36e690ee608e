"""Every unit, aggregate and need of the metric interface, each proven by a toy metric."""

import math
from typing import Annotated, Literal

import numpy as np
import pytest

from pytest_ireval import MetricError, Param, SideData, evaluate, metric, per_query_metric
from pytest_ireval.metrics.metric import SOURCES
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.registry import GivenHooks, build_registry

JUDGMENTS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "d": 1}, "q3": {"x": 1}}
RANKINGS = {"q1": {"b": 3.0, "a": 2.0, "u": 1.0}, "q2": {"d": 5.0, "z": 5.0, "a": 1.0}, "q3": {"y": 1.0}}


def only(toy, name=None, **side_data):
    """The result of one toy metric over the data above."""
    registry = build_registry(GivenHooks(ireval_metrics=[(Origin("toys", "toy-metrics", "1.0"), [toy])]))
    side_data = SideData(**side_data)
    (result,) = evaluate(JUDGMENTS, RANKINGS, [name or toy.name], side_data=side_data, registry=registry).metrics
    return result


class TestAggregates:
    @staticmethod
    def toy(aggregate):
        @metric(name="Toy", aggregate=aggregate, range=(0, 10), no_relevant=None)
        def toy(judged):
            """One, two, four."""
            return np.array([1.0, 2.0, 4.0])

        return toy

    @pytest.mark.parametrize(
        ("aggregate", "expected"),
        [("mean", 7 / 3), ("geometric", 2.0), ("sum", 7.0), ("p50", 2.0), ("p75", 3.0), ("none", None)],
    )
    def test_value_is_what_the_aggregate_says(self, aggregate, expected):
        assert only(self.toy(aggregate)).value == (None if expected is None else pytest.approx(expected))


class TestUnits:
    def test_a_value_for_each_session(self):
        @metric(name="SessionLength", unit="session", range=(0, math.inf))
        def session_length(judged):
            """How many queries a session has."""
            session = judged.sessions.session
            return np.bincount(session[session >= 0], minlength=len(judged.sessions.names)).astype(float)

        sessions = {"q1": ("monday", 1), "q2": ("monday", 2), "q3": ("tuesday", 1)}

        assert only(session_length, sessions=sessions).values == {"monday": 2, "tuesday": 1}

    def test_a_metric_of_sessions_without_sessions_says_who_brings_them(self):
        @metric(name="SessionLength", unit="session")
        def session_length(judged):
            """Never called."""

        with pytest.raises(MetricError) as caught:
            only(session_length)

        assert str(caught.value) == f"SessionLength\n  scores sessions\n  {SOURCES['sessions']}"

    def test_one_value_for_the_whole_run(self):
        @metric(name="Throughput", unit="run", needs=("timings",), range=(0, math.inf))
        def throughput(judged):
            """Queries a second."""
            return np.array([judged.count / judged.timings.sum()])

        result = only(throughput, timings={"q1": 0.1, "q2": 0.2, "q3": 0.3})

        assert result.values == {"run": pytest.approx(5.0)}
        assert result.unit == "run"


class TestNeeds:
    """Each need, in a batch metric and where it applies in a function of one ranking."""

    def test_scores(self):
        @metric(name="BestScore", needs=("scores",), range=(0, 10))
        def best_score(judged):
            """The score of the first judged document."""
            best = np.zeros(judged.count)
            np.maximum.at(best, judged.hits.query, judged.hits.score)
            return best

        assert only(best_score).values == {"q1": 3, "q2": 5, "q3": 0}

    def test_documents(self):
        @per_query_metric(name="Alphabetic", needs=("documents",), empty=None, no_relevant=None)
        def alphabetic(ranking):
            """1 if the documents come in order of their names."""
            return float(list(ranking.documents) == sorted(ranking.documents))

        assert only(alphabetic).values == {"q1": 0, "q2": 0, "q3": 1}

    def test_unjudged(self):
        @metric(name="Holes", needs=("unjudged",), range=(0, math.inf))
        def holes(judged):
            """How many documents are not judged."""
            documents = judged.documents
            query = np.repeat(np.arange(judged.count), np.diff(documents.first))
            return np.bincount(query[np.isnan(documents.grade)], minlength=judged.count).astype(float)

        assert only(holes).values == {"q1": 1, "q2": 1, "q3": 1}

    def test_attributes_of_documents(self):
        @per_query_metric(name="InStock", needs=("fields",), no_relevant=None)
        def in_stock(ranking):
            """Share of documents in stock."""
            return sum(fields.get("stock", 0) > 0 for fields in ranking.fields) / ranking.retrieved

        stock = {"a": {"stock": 3}, "b": {"stock": 0}, "z": {"stock": 1}}

        assert only(in_stock, fields=stock).values == {"q1": 1 / 3, "q2": 2 / 3, "q3": 0}

    def test_sessions_of_a_query(self):
        @per_query_metric(name="Place", needs=("sessions",), range=(0, 9), no_relevant=None)
        def place(ranking):
            """The query's place in its session."""
            return ranking.session[1]

        sessions = {"q1": ("s", 1), "q2": ("s", 2), "q3": ("s", 3)}

        assert only(place, sessions=sessions).values == {"q1": 1, "q2": 2, "q3": 3}

    def test_preferences(self):
        @per_query_metric(name="Preferred", needs=("preferences",), no_relevant=None)
        def preferred(ranking):
            """Share of the preferences that the ranking keeps."""
            rank = {document: i for i, document in enumerate(ranking.documents)}
            pairs = [(a, b) for a, b in ranking.preferences if a in rank and b in rank]
            return sum(rank[a] < rank[b] for a, b in pairs) / len(pairs) if pairs else 0.0

        pairs = {"q1": [("a", "u"), ("a", "b")], "q2": [("d", "a")]}

        assert only(preferred, preferences=pairs).values == {"q1": 0.5, "q2": 1, "q3": 0}

    def test_timings(self):
        @metric(
            name="Latency",
            needs=("timings",),
            aggregate="p50",
            direction="lower",
            range=(0, math.inf),
            no_relevant=None,
        )
        def latency(judged):
            """Seconds."""
            return judged.timings

        assert only(latency, timings={"q1": 0.1, "q2": 0.2, "q3": 0.9}).value == pytest.approx(0.2)

    def test_reference(self):
        @metric(name="Gained", needs=("reference",), range=(-10, 10), no_relevant=None)
        def gained(judged):
            """How many more relevant documents were retrieved than by the reference."""
            return judged.sum(judged.relevant()) - judged.reference.sum(judged.reference.relevant())

        reference = {"q1": ["c", "a"], "q2": ["z"], "q3": ["y"]}

        assert only(gained, reference=reference).values == {"q1": -1, "q2": 2, "q3": 0}

    def test_reference_in_a_function_of_one_ranking(self):
        @per_query_metric(name="SameTop", needs=("documents", "reference"), no_relevant=None)
        def same_top(ranking):
            """1 if both rankings begin with the same document."""
            return float(ranking.documents[0] == ranking.reference.documents[0])

        reference = {"q1": ["b", "a"], "q2": ["z"], "q3": ["y"]}

        assert only(same_top, reference=reference).values == {"q1": 1, "q2": 1, "q3": 1}

    def test_subtopics(self):
        @per_query_metric(name="StRecall", needs=("subtopics",))
        def subtopic_recall(ranking, *, cutoff: int):
            """Share of three subtopics that the first documents cover."""
            return len({name for entry in ranking.subtopics for name, grade in entry.items() if grade > 0}) / 3

        judgments = {"q": {"a": {"1": 1, "2": 0}, "b": {"2": 1, "1": 1}, "c": {"3": 1}}}
        registry = build_registry(GivenHooks(ireval_metrics=[(Origin("toys"), [subtopic_recall])]))

        found = evaluate(judgments, {"q": ["a", "u", "b", "c"]}, ["StRecall@[1,3,4]"], registry=registry)

        assert [m.value for m in found.metrics] == pytest.approx([1 / 3, 2 / 3, 1])

    @pytest.mark.parametrize("need", ["subtopics", "timings", "reference"])
    def test_what_nobody_brought_is_an_error_that_says_how(self, need):
        @metric(name="Needy", needs=(need,))
        def needy(judged):
            """Never called."""

        with pytest.raises(MetricError) as caught:
            only(needy)

        assert str(caught.value) == f"Needy\n  needs {need}\n  {SOURCES[need]}"


class TestParameters:
    def test_all_kinds_with_defaults_bounds_and_choices(self):
        @metric(name="Toy", no_relevant=None, range=(0, 1000))
        def toy(
            judged,
            *,
            cutoff: int,
            p: Annotated[float, Param("weight", low=0, below=1, aliases={"weight": {}})] = 0.5,
            kind: Annotated[Literal["a", "b"], Param("kind", aliases={"sort": {"alpha": "a"}})] = "b",
            flag: bool = False,
            gains: dict[float, float] | None = None,
            note: str = "",
        ):
            """Adds everything up."""
            total = cutoff + p + (kind == "a") * 10 + flag * 100 + sum((gains or {}).values())
            return np.full(judged.count, total)

        assert only(toy, "Toy@3").value == 3.5
        assert only(toy, "toy(sort='alpha', weight=0.25, flag=True, gains={1: 2, 2: 3})@4").value == 119.25
        assert only(toy, "toy(weight=0, kind='a')@4").name == "Toy(kind='a', p=0)@4"

    def test_range_may_depend_on_arguments(self, registry):
        dcg = registry.metrics["nDCG"]

        assert dcg.bounds == (0, 1)
        assert dcg(gains={0: -1}).bounds == (-math.inf, 1)


def test_origin_and_version_travel_with_the_result():
    @metric(name="Toy", version=3)
    def toy(judged):
        """Zero."""
        return np.zeros(judged.count)

    found = only(toy)

    assert (found.origin, found.version) == ("toy-metrics 1.0", 3)
