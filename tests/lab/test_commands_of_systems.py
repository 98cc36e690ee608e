"""``ireval stress`` and ``ireval reliability``: figures of several systems on the command line."""

import csv
import io
import json

import numpy as np
import pytest
from suite_files import write_judgments, write_rankings, write_suite


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three queries with five judged documents each; ``one`` is better than ``two``, ``twin`` is a copy of ``one``."""
    monkeypatch.chdir(tmp_path)
    grades = {"a": 2, "b": 1, "c": 0, "d": -1, "e": 0}
    write_judgments(tmp_path / "judgments.txt", dict.fromkeys("qrs", grades))
    for name, order in {"one": "abxcde", "two": "xcadbe", "three": "cxbaed", "twin": "abxcde"}.items():
        write_rankings(tmp_path / f"{name}.txt", dict.fromkeys("qrs", order))
    return tmp_path


@pytest.mark.usefixtures("files")
def test_figures_under_fewer_judgments_are_tables_with_plain_and_condensed_metrics_side_by_side(ireval):
    lines = ireval(
        "stress", "judgments.txt", "one.txt", "two.txt", "three.txt", "-m", "AP", "-m", "Bpref"
    ).out.splitlines()

    assert lines[0] == "Kendall's tau with the order of systems under all judgments, by percent of judgments left:"
    assert lines[1].split() == ["metric", *map(str, range(90, 0, -10))]
    assert [line.split()[0] for line in lines[2:5]] == ["AP", "AP'", "Bpref"]
    assert "': without unjudged documents (condensed lists, judged_only=True)" in lines
    assert "15 judgments of 3 queries, 6 relevant (grade 1 or more); 5 draws, seed 7" in lines
    assert (
        "left at 10%: 3 judgments (20%), because numbers of each query are rounded, and one relevant document stays"
        in lines
    )


@pytest.mark.usefixtures("files")
def test_programs_get_means_spreads_and_kinds_of_changed_decisions(ireval):
    options = ("-m", "AP", "--levels", "50", "--repeats", "3", "--no-condensed")
    found = json.loads(ireval("stress", "judgments.txt", "one.txt", "two.txt", *options, "--format", "json").out)

    assert [(each["metric"], each["level"], each["judgments"]) for each in found["tau"]] == [
        ("AP", 100, 15),
        ("AP", 50, 9),
    ]
    assert found["tau"][0] == {
        "metric": "AP",
        "level": 100,
        "judgments": 15,
        "tau": 1.0,
        "tau_sd": 0.0,
        "tau_ap": 1.0,
        "tau_ap_sd": 0.0,
    }
    assert list(found["flips"][1]) == [
        "metric",
        "level",
        "judgments",
        "flips",
        "flips_sd",
        "lost",
        "gained",
        "reversed",
    ]
    rows = list(
        csv.DictReader(
            io.StringIO(ireval("stress", "judgments.txt", "one.txt", "two.txt", *options, "--format", "csv").out)
        )
    )
    assert [row["table"] for row in rows] == ["tau", "tau", "power", "power", "flips", "flips"]
    same = ireval("stress", "judgments.txt", "one.txt", "two.txt", *options, "--format", "json").out
    assert json.loads(same) == found


@pytest.mark.usefixtures("files")
def test_verdicts_that_change_with_fewer_judgments_are_counted(ireval, files):
    """One relevant document of two is left at 50%: half of the first two documents, below the threshold."""
    write_suite(files, "threshold: {P@2: '>= 0.9'}", source="{run: one.txt}")
    options = ("--suite", "shop.ireval.yaml", "--levels", "80,50", "--repeats", "2", "--format", "json")

    found = json.loads(ireval("stress", "judgments.txt", *options).out)
    assert [(each["level"], each["draws"], each["flips"], each["verdicts"]) for each in found["verdicts"]] == [
        (100, 1, 0.0, "pass 1"),
        (80, 2, 0.0, "pass 2"),
        (50, 2, 1.0, "fail 2"),
    ]
    write_suite(files, "threshold: {Empty: '>= 0.9'}", source="{run: one.txt}", judgments=None)
    assert "has no judgments" in ireval("stress", "judgments.txt", *options).err


@pytest.fixture
def many(tmp_path, monkeypatch):
    """Six systems on 24 queries: one relevant document each, which better systems rank higher."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4)
    write_judgments(tmp_path / "judgments.txt", {f"q{query}": {"d0": 1, "d1": 0} for query in range(24)})
    for system in range(6):
        rankings = {f"q{query}": [f"d{i}" for i in range(1, 10)] for query in range(24)}
        for documents in rankings.values():
            documents.insert(min(9, int(draw.exponential(1 + 5 - system))), "d0")
        write_rankings(tmp_path / f"s{system}.txt", rankings)
    return [f"s{system}.txt" for system in range(6)]


def test_the_needed_queries_follow_from_the_components_of_variance(ireval, many):
    found = json.loads(ireval("reliability", "judgments.txt", *many, "-m", "RR", "--format", "json").out)

    (parts,) = found["variance"]
    order, values, tau = found["needed"]
    assert (order["criterion"], values["criterion"], tau["criterion"]) == ("Erho2 0.95", "Phi 0.95", "tau 0.9")
    assert order["value"] == pytest.approx(parts["system"] / (parts["system"] + parts["rest"] / 24))
    assert order["needed"] == np.ceil(19 * parts["rest"] / parts["system"])
    assert values["needed"] == np.ceil(19 * (parts["rest"] + parts["query"]) / parts["system"])
    assert order["needed_low"] < order["needed"] < order["needed_high"]
    assert [each["queries"] for each in found["orders"]] == [5, 10, 12]
    assert found["orders"][0]["tau"] < found["orders"][-1]["tau"]
    of_five = [each for each in found["bins"] if each["queries"] == 5]
    assert sum(each["pairs"] for each in of_five) == 100 * 15
    swaps = sum(each["swapped"] for each in of_five) / 1500
    assert found["orders"][0]["swaps"] == pytest.approx(swaps)
    assert "fewer than 25 queries: all numbers of needed queries are rough" in found["notes"]


def test_curves_are_drawn(ireval, many, tmp_path):
    outcome = ireval("reliability", "judgments.txt", *many, "-m", "RR", "--svg", "tau.svg", "--draws", "10")
    assert "wrote tau.svg" in outcome.out
    picture = (tmp_path / "tau.svg").read_text()
    assert "solid: observed; dashes: extrapolated" in picture
    assert (picture.count('class="curve now"'), picture.count('class="curve baseline"')) == (1, 1)

    assert "wrote s.svg" in ireval("stress", "judgments.txt", *many, "--svg", "s.svg", "-m", "RR", "--repeats", "1").out
    picture = (tmp_path / "s.svg").read_text()
    assert "RR: other decisions" in picture


@pytest.mark.usefixtures("files")
def test_doubtful_figures_are_named(ireval, files):
    write_judgments(files / "relevant.txt", {"q": {"a": 1}, "r": {"b": 1}})
    write_judgments(files / "none.txt", {"q": {"a": 0}, "r": {"b": -1}})

    def stress(judgments):
        return ireval("stress", judgments, "one.txt", "two.txt", "--repeats", "1").out

    assert "no judged document is not relevant" in stress("relevant.txt")
    assert "no document is relevant: nothing is known" in stress("none.txt")
    alone = ireval("stress", "judgments.txt", "one.txt", "two.txt", "-m", "NumRet")
    assert alone.err.startswith("error: no metric is left\nNumRet is left out: ")
    out = ireval("reliability", "judgments.txt", "one.txt", "twin.txt", "-m", "AP", "--svg", "tau.svg").out
    assert "all systems have the same mean, so there is nothing to order: AP" in out
    assert "nothing to draw: tau.svg not written" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("stress", "judgments.txt"), "give at least two RANKINGS, or --suite"),
        (("stress", "judgments.txt", "one.txt", "two.txt", "--levels", "50,0"), "whole numbers from 1 to 100"),
        (("stress", "judgments.txt", "one.txt", "two.txt", "--levels", "1/2"), "'1/2' is not a list of whole numbers"),
        (("reliability", "judgments.txt", "one.txt", "two.txt", "--sizes", ""), "'' is not a list of whole numbers"),
    ],
)
@pytest.mark.usefixtures("files")
def test_mistakes_are_named(ireval, arguments, message):
    outcome = ireval(*arguments)

    assert (outcome.code, outcome.out) == (2, "")
    assert message in " ".join(outcome.err.split())
