"""Slices that no rule is about are looked at as well, with p that are corrected for how many there are."""

import shutil

import pytest
from suite_files import accept_suites, write_suite
from town import Town

from pytest_ireval import RunResult, load_suite, run_gate
from pytest_ireval.report.terminal_summary import format_summary

RULE = "no_regression: {metric: RR@10, tolerance: 50%, where: {segment: head}}"


@pytest.fixture
def make_changed_town(pytester):
    """Writes the suite of a town whose ranks before are the accepted ones."""

    def make(ranks, rules=(RULE,), metrics="[RR@10, P@1]", segments=None):
        town = Town(pytester.path / "town", ranks, segments=segments)
        keys = {"source": "{run: now.txt}", "depth": 10, "queries": "queries.tsv", "metrics": metrics}
        suite = write_suite(town.folder, *rules, suite="town", **keys)
        kept = (town.folder / "now.txt").read_text()
        shutil.copy(town.folder / "before.txt", town.folder / "now.txt")
        accept_suites(suite)
        (town.folder / "now.txt").write_text(kept)
        return suite

    return make


def look_at(suite):
    """The slices that a run asks to look at, and its verdict."""
    result = run_gate(load_suite(suite))
    lines = format_summary(RunResult("0.1.0", "2026-11-18T00:00:00Z", result.verdict, (result,)), limit=100)
    return [line.split(":")[0] for line in lines if line.startswith("look at segment=")], result.verdict


def in_turn(head, tail, count):
    return [pair for _ in range(count) for pair in (head, tail)]


def test_a_slice_that_no_rule_names_and_that_got_worse_is_named(make_changed_town, pytester):
    make_changed_town(in_turn((2, 2), (2, 2), 20) + in_turn((2, 2), (1, 3), 10))

    result = pytester.runpytest("--ireval", "town", "-v")

    result.stdout.fnmatch_lines(["suite  metric *90% interval * can show  verdict", "town   RR@10 * 0.0[0-9]* *"])
    result.stdout.fnmatch_lines(["look at segment=tail: RR@10 -0.2222 (-33.3%), significant among 4 figures"])
    assert result.ret == 0  # a reader may look; nothing decides


SIX = [f"s{number}" for number in range(6)]
MANY = "[RR@10, P@1, nDCG@10, AP]"


def rule_for(segment, tolerance="1%"):
    return f"no_regression: {{metric: RR@10, tolerance: {tolerance}, where: {{segment: {segment}}}}}"


@pytest.mark.parametrize(
    "ranks",
    [
        pytest.param(in_turn((2, 2), (1, 3), 19), id="fewer than twenty queries"),
        pytest.param(
            in_turn((2, 2), (2, 2), 40) + in_turn((1, 2), (2, 1), 3) + in_turn((2, 1), (1, 2), 3), id="chance"
        ),
        pytest.param(in_turn((8, 9), (2, 2), 40), id="a slice whose rule finds it within its tolerance"),
    ],
)
def test_what_is_no_loss_worth_a_look_is_not_named(make_changed_town, ranks):
    assert look_at(make_changed_town(ranks)) == ([], "pass")


def test_of_many_slices_that_got_worse_three_are_named(make_changed_town):
    ranks = [(1, 3) if number % 6 else (2, 2) for number in range(180)]
    rules = rule_for("s0", "50%"), "no_regression: {metric: AP, tolerance: 1%}"
    suite = make_changed_town(ranks, rules=rules, metrics=MANY, segments=SIX * 30)

    assert look_at(suite) == (["look at segment=s1", "look at segment=s2", "look at segment=s3"], "fail")


def test_a_slice_that_a_red_rule_names_is_not_named_for_other_metrics(make_changed_town):
    ranks = [(1, 3) if number % 6 in (1, 2) else (2, 2) for number in range(180)]
    suite = make_changed_town(ranks, rules=[rule_for("s1")], metrics=MANY, segments=SIX * 30)

    assert look_at(suite) == (["look at segment=s2"], "fail")


def test_where_the_loss_is_reads_as_a_sentence(make_changed_town, pytester):
    ranks = [(1, 6) if number % 6 == 2 else (2, 2) for number in range(180)]
    make_changed_town(ranks, rules=[rule_for("s2")], segments=SIX * 30)

    said = " ".join(pytester.runpytest("--ireval", "town").stdout.str().split())
    assert " mostly in: 30 of 180 queries with segment=s2; all of the loss of RR@10 comes from these queries " in said


def test_values_that_differ_only_by_case_or_blanks_are_noted(shop):
    def find_notes(*values):
        path = shop.path / "queries.tsv"
        shop.write()
        head, *lines = path.read_text().splitlines()
        lines = [line.replace("tail", values[i % len(values)]) for i, line in enumerate(lines)]
        path.write_text("\n".join([head, *lines]) + "\n")
        shop.gate()
        return [note for note in shop.results()["suites"][0]["notes"] if "differ only" in note]

    assert find_notes("tail", "Tail", "tail ") == [
        "segment has values that differ only by case or blanks, and count as different: 'tail', 'Tail', 'tail '"
    ]
    assert find_notes("tail", "tall") == []
