"""How many documents there are to find: asked for by some metrics, and checked."""

import pytest
from suite_files import write_judgments, write_rankings

from pytest_ireval import InputError, IrevalError, MetricError, SideData, evaluate

JUDGMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RANKINGS = {"q1": ["b", "x", "a"], "q2": ["c"]}


@pytest.mark.more_metrics
def test_a_metric_that_needs_the_size_says_where_to_give_it():
    with pytest.raises(MetricError) as caught:
        evaluate(JUDGMENTS, RANKINGS, ["FallOut@2"])

    assert str(caught.value) == (
        "FallOut@2\n  needs collection\n  `judged.collection`: the number of documents in the collection; "
        "`SideData(collection=N)` (command line: `--collection N`)"
    )


@pytest.mark.more_metrics
@pytest.mark.parametrize(
    "arguments", [("compare", "-m", "FallOut@2", "J", "R", "S"), ("why", "FallOut@2", "J", "R", "-q", "q1")]
)
def test_each_command_names_its_own_option_for_the_size(ireval, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    write_judgments(tmp_path / "J", {"q1": {"a": 1}})
    for name in ("R", "S"):
        write_rankings(tmp_path / name, {"q1": ["a"]})

    err = ireval(*arguments).err

    assert "`SideData(collection=N)` (command line: `--collection N`)\n" in err
    assert "ireval evaluate" not in err


def test_utility_needs_the_size_only_if_documents_left_out_are_worth_something():
    assert evaluate(JUDGMENTS, RANKINGS, ["Utility"])["Utility"].values == {"q1": -1, "q2": 1}
    with pytest.raises(MetricError) as caught:
        evaluate(JUDGMENTS, RANKINGS, ["Utility(rest=0.5)"])
    assert str(caught.value) == (
        "Utility(rest=0.5)\n  with rest=0.5 it needs SideData(collection=N) (command line: --collection N), "
        "the number of documents there are to find"
    )


@pytest.mark.more_metrics
def test_fewer_documents_than_are_judged_are_refused():
    with pytest.raises(InputError) as caught:
        evaluate(JUDGMENTS, RANKINGS, ["FallOut@2"], side_data=SideData(collection=2))

    assert str(caught.value) == "judgments\n  3 documents are judged, but the collection has only 2"


@pytest.mark.more_metrics
def test_fewer_documents_than_a_query_knows_are_refused():
    with pytest.raises(InputError) as caught:
        evaluate(JUDGMENTS, {"q1": ["b", "x", "y"], "q2": []}, ["FallOut@2"], side_data=SideData(collection=3))

    assert str(caught.value) == ("collection\n  3 documents are too few: 4 are judged or retrieved for query 'q1'")


@pytest.mark.parametrize("size", [0, True])
def test_what_is_no_number_of_documents_is_refused(size):
    with pytest.raises(IrevalError) as caught:
        evaluate(JUDGMENTS, RANKINGS, ["AP"], side_data=SideData(collection=size))

    assert str(caught.value) == f"collection={size!r} is not a whole number of documents"
