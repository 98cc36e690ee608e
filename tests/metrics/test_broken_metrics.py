"""A metric that breaks its promises is an error that names metric, query and distribution."""

import re
import sys
from importlib import import_module

import numpy as np
import pytest

from pytest_ireval import IrevalError, MetricError, evaluate, metric, per_query_metric
from pytest_ireval.errors import PluginError
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.registry import GivenHooks, build_registry

JUDGMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}
RANKINGS = {"q1": ["a"], "q2": ["c", "b"]}


def message(toy):
    registry = build_registry(GivenHooks(ireval_metrics=[(Origin("acme", "acme-metrics", "2.1"), [toy])]))
    with pytest.raises(MetricError) as caught:
        evaluate(JUDGMENTS, RANKINGS, [toy.name], registry=registry)
    return str(caught.value)


def placeless(text):
    """The text with the name of this file in place of its path and line."""
    return re.sub(r"\S*?(test_broken_metrics\.py):\d+", r"\1", text)


def test_a_function_of_one_ranking_that_raises():
    @per_query_metric(name="Bad")
    def bad(ranking):
        """Works for one query."""
        return 1 / (2 - ranking.retrieved)

    assert placeless(message(bad)) == (
        "Bad\n  raised ZeroDivisionError: division by zero for query 'q2'\n  at test_broken_metrics.py, in bad\n"
        "  the metric comes from acme-metrics 2.1"
    )


def test_a_batch_metric_that_raises():
    @metric(name="Bad")
    def bad(judged):
        """Works for one query."""
        if "q2" in judged.queries:
            raise KeyError("no such thing")
        return np.zeros(judged.count)

    assert placeless(message(bad)) == (
        "Bad\n  raised KeyError: 'no such thing' for query 'q2'\n  at test_broken_metrics.py, in bad\n"
        "  the metric comes from acme-metrics 2.1"
    )


MODULE = """\
import numpy as np
from pytest_ireval import metric

def solved(judged):
    return np.linalg.inv(np.zeros((2, 2)))

@metric(name="Bad")
def bad(judged):
    '''Fails inside of numpy.'''
    return judged.remember("solved", lambda: solved(judged))
"""


@pytest.mark.parametrize("home", ["site-packages", "src"])
def test_the_place_is_in_the_plugin_not_in_what_it_calls(tmp_path, monkeypatch, home):
    (tmp_path / home / "acme_bad").mkdir(parents=True)
    (tmp_path / home / "acme_bad/maths.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / home)
    monkeypatch.delitem(sys.modules, "acme_bad", raising=False)
    monkeypatch.delitem(sys.modules, "acme_bad.maths", raising=False)
    monkeypatch.chdir(tmp_path)

    shown = message(import_module("acme_bad.maths").bad)

    assert f"\n  at {'src/' if home == 'src' else ''}acme_bad/maths.py:5, in solved\n" in shown


def test_nan():
    @metric(name="Bad")
    def bad(judged):
        """Zero divided by zero, for one query."""
        return np.array([1.0, np.nan])

    assert message(bad) == "Bad\n  returned NaN for query 'q2'\n  the metric comes from acme-metrics 2.1"


@pytest.mark.parametrize(("value", "shown"), [(1.5, "1.5"), (-0.1, "-0.1"), (np.inf, "inf")])
def test_a_value_outside_the_declared_range(value, shown):
    @metric(name="Bad", range=(0, 1))
    def bad(judged):
        """Too much, or too little."""
        return np.array([0.5, value])

    assert message(bad) == (
        f"Bad\n  returned {shown}, outside its range 0 to 1 for query 'q2'\n  the metric comes from acme-metrics 2.1"
    )


def test_a_value_outside_by_rounding_is_pulled_back():
    @metric(name="Rounded", range=(0, 1))
    def rounded(judged):
        """One, and a little."""
        return np.array([1 + 1e-12, -1e-12])

    registry = build_registry(GivenHooks(ireval_metrics=[(Origin("acme"), [rounded])]))
    (result,) = evaluate(JUDGMENTS, RANKINGS, ["Rounded"], registry=registry).metrics

    assert list(result.values.values()) == [1.0, 0.0]


def test_what_is_no_number():
    @per_query_metric(name="Bad")
    def bad(ranking):
        """Text."""
        return "much"

    assert message(bad) == (
        "Bad\n  returned 'much' for query 'q1', which is not a number\n  the metric comes from acme-metrics 2.1"
    )


def test_a_function_of_one_ranking_without_a_return():
    @per_query_metric(name="Bad")
    def bad(ranking):
        """Forgets to return."""

    assert message(bad) == (
        "Bad\n  returned None for query 'q1': a return statement is missing\n  the metric comes from acme-metrics 2.1"
    )


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (None, "returned None: a return statement is missing"),
        (0.5, "returned a single number, 0.5, for 2 queries: it must be an array with one number for each"),
        ([1, 0, 1], "returned 3 values for 2 queries: it must be an array with one number for each"),
    ],
)
def test_a_batch_metric_that_returns_something_else(returned, complaint):
    @metric(name="Bad")
    def bad(judged):
        """Not one number for each query."""
        return returned

    assert message(bad) == f"Bad\n  {complaint}\n  the metric comes from acme-metrics 2.1"


def test_a_grade_above_max_grade_is_refused():
    with pytest.raises(MetricError, match=r"grade 5 is above max_grade=4"):
        evaluate({"q": {"a": 5}}, {"q": ["a"]}, ["ERR(max_grade=4)"])


def test_lower_is_better_has_to_say_what_nothing_scores():
    with pytest.raises(MetricError, match="lower is better, so empty= and no_relevant= must be given"):
        per_query_metric(name="Effort", direction="lower")


def test_a_metric_cannot_change_what_the_others_see():
    @metric(name="Bad")
    def bad(judged):
        """Writes where it should read."""
        judged.hits.grade[:] = 0
        return np.zeros(judged.count)

    assert "raised ValueError: assignment destination is read-only" in message(bad)


def test_a_function_without_decorator_is_no_metric():
    def plain(ranking):
        return 0.0

    with pytest.raises(
        MetricError, match=r"is neither a metric nor the name of one: decorate the function with @per_query"
    ):
        evaluate(JUDGMENTS, RANKINGS, [plain])


def test_asking_for_nothing_is_an_error():
    with pytest.raises(IrevalError, match="no metric was requested"):
        evaluate(JUDGMENTS, RANKINGS, [])


def make_metric(name, value):
    @per_query_metric(name=name)
    def toy(ranking):
        """A toy."""
        return value

    return toy


@pytest.mark.parametrize("others", [["AP"], ["map"], []])
def test_a_metric_that_is_handed_over_cannot_take_the_name_of_an_installed_one(others):
    with pytest.raises(PluginError, match=r"metric name 'AP' is claimed twice: by AP of pytest-ireval .* and by AP of"):
        evaluate(JUDGMENTS, RANKINGS, [*others, make_metric("AP", 0.5)])


def test_a_metric_that_is_not_registered_is_named_by_its_module():
    with pytest.raises(MetricError, match=r"the metric comes from test_broken_metrics \(not registered\)"):
        evaluate(JUDGMENTS, RANKINGS, [make_metric("Mine", 7)])


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        ({"needs": ("docs",)}, r"unknown needs \['docs'\]; allowed: scores"),
        ({"needs": "documents"}, r"needs must be a tuple, as needs=\('documents',\)"),
        ({"range": (1, 0)}, r"range \(1, 0\) is not a pair"),
        (
            {"not_promised": {"reads_only": ""}},
            r"not_promised \{'reads_only': ''\} must give a reason for each promise",
        ),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(about, complaint):
    with pytest.raises(MetricError, match=complaint):
        per_query_metric(name="Bad", **about)(lambda ranking: 0.0)


@pytest.mark.parametrize("function", [lambda: 0.0, lambda ranking, cutoff=3: 0.0, lambda *rankings: 0.0])
def test_parameters_have_to_be_keywords(function):
    with pytest.raises(MetricError, match=r"a metric takes one argument, and its parameters by keyword"):
        per_query_metric(name="Bad")(function)


@pytest.mark.parametrize("values", [["0.5", "1"], np.ma.array([0.5, 0.9], mask=[False, True])])
def test_what_are_no_numbers_at_all(values):
    @metric(name="Bad")
    def bad(judged):
        """Something else."""
        return values

    assert "not numbers" in message(bad)


def test_infinity_is_no_value_even_without_bounds():
    @metric(name="Bad", range=(0, np.inf))
    def bad(judged):
        """Without end."""
        return np.array([1.0, np.inf])

    assert "returned inf for query 'q2'" in message(bad)


def test_values_too_large_to_be_added_up():
    @metric(name="Bad", range=(0, np.inf))
    def bad(judged):
        """Huge."""
        return np.full(judged.count, 1.7e308)

    assert "the sum of the values is too large" in message(bad)


def test_a_range_that_fails_is_the_metrics_fault():
    @metric(name="Bad", range=lambda settings: (0, settings["nothing"]))
    def bad(judged):
        """Zero."""
        return np.zeros(judged.count)

    assert "its range failed for these arguments: KeyError: 'nothing'" in message(bad)


@pytest.mark.parametrize("name", ["first", "first_ideal"])
def test_derived_arrays_cannot_be_changed_either(name):
    @metric(name="Bad")
    def bad(judged):
        """Writes where it should read."""
        getattr(judged, name)[:] = 0
        return np.zeros(judged.count)

    assert "assignment destination is read-only" in message(bad)


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        ({"directon": "lower"}, "unknown keyword 'directon'; did you mean 'direction'?"),
        ({"spellings": {"foo": {"bar": 1}}}, "spelling 'foo': unknown parameter 'bar'"),
        ({"spellings": {"foo_{k}_bar": {}}}, r"spelling 'foo_\{k\}_bar' does not end in one of its parameters"),
    ],
)
def test_a_declaration_that_would_never_work_is_refused_at_once(about, complaint):
    def function(ranking, *, k: int = 1):
        return 0.0

    with pytest.raises(MetricError, match=complaint):
        per_query_metric(name="Bad", **about)(function)


def test_a_default_that_is_not_allowed_is_refused_at_once():
    def function(ranking, *, k: int = 1.5):
        return 0.0

    with pytest.raises(MetricError, match=r"the default k=1\.5 is not a whole number"):
        per_query_metric(name="Bad")(function)


@pytest.mark.parametrize("rel", ["Rel(rel=2)", "Rel(rel=0)"])
def test_no_relevant_documents_is_decided_by_rel_of_any_kind(rel):
    @per_query_metric(name="Rel")
    def rel_metric(ranking, *, rel: int = 1):
        """Share of documents with that grade."""
        return float((ranking.grades >= rel).mean())

    registry = build_registry(GivenHooks(ireval_metrics=[(Origin("acme"), [rel_metric])]))
    (result,) = evaluate({"q": {"a": 1}, "r": {"a": 0}}, {"q": ["a"], "r": ["a"]}, [rel], registry=registry).metrics

    assert result.values == ({"q": 0, "r": 0} if "2" in rel else {"q": 1, "r": 1})
    assert result.no_relevant == (2 if "2" in rel else 0)
