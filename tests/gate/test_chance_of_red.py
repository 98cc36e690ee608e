"""Every run says how often a harmless change of the usual spread would turn the suite red, with all of its rules."""

from types import SimpleNamespace

import numpy as np
import pytest

from pytest_ireval import Queries, load_registry, load_suite
from pytest_ireval.baselines.record import StoredMetric
from pytest_ireval.gate.chance_of_red import chance_of_red
from pytest_ireval.gate.sensitivity import Known
from pytest_ireval.rules.planning import planned
from pytest_ireval.statistics.student import false_alarm

HEAD = """\
ireval: 1
suite: many
source: {run: now.txt}
queries: queries.tsv
weight: searches
judgments: judgments.txt
rules:
"""
EVIDENCE = "no_regression: {metric: nDCG@10, tolerance: 1%, decide_by: evidence}"


@pytest.fixture
def chance(tmp_path):
    """What is said of a suite with these rules, on so many queries whose values have the mean 0.5."""

    def ask(*rules, queries=400, spread=0.1, runs=None, weights=None, lacks=0, since_anchor=None):
        path = tmp_path / "many.ireval.yaml"
        for name in ("now.txt", "queries.tsv", "judgments.txt"):
            (tmp_path / name).touch()  # they are not read
        path.write_text(HEAD + "".join(f"  - {each}\n" for each in rules))
        suite = load_suite(path, load_registry())
        ids = tuple(f"q{i}" for i in range(queries))
        columns = {"part": tuple(f"p{i % 10}" for i in range(queries)), "searches": ("1",) * queries}
        asked = Queries(ids, ids, columns=columns)
        values = np.random.default_rng(1).beta(1.2, 1.2, queries)
        metrics = {
            name: StoredMetric(1, "pytest-ireval", None, dict(zip(ids, (values + shift).tolist(), strict=True)))
            for name, shift in (("nDCG@10", 0.0), ("RR@10", 0.001))
        }
        for query in ids[:lacks]:
            del metrics["RR@10"].values[query]
        known = {(name, "all"): [spread] for name in metrics} if runs is None else runs
        stored = SimpleNamespace(metrics=metrics, acceptances=())
        weights = None if weights is None else np.array(weights, np.float64)
        checks = planned(suite, asked)
        return chance_of_red(
            Known(suite, checks, asked, weights, frozenset(), stored, known, since_anchor=since_anchor)
        )

    return ask


def test_where_no_change_was_seen_yet_it_is_unknown(chance):
    assert chance(EVIDENCE, runs={}).share is None


@pytest.mark.parametrize("tolerance", [0.5, 1, 2, 4])
def test_an_observed_tolerance_is_broken_as_often_as_the_normal_distribution_says(chance, tolerance):
    found = chance(
        f"no_regression: {{metric: nDCG@10, tolerance: {{absolute: {tolerance / 200}}}, decide_by: observed}}"
    )

    assert found.share == pytest.approx(false_alarm(tolerance / 200, 0.1, 400), abs=0.03)


def test_one_rule_by_evidence_is_red_in_five_per_cent(chance):
    assert 0.03 <= chance(EVIDENCE).share <= 0.065


def test_what_follows_where_queries_cannot_tell_is_counted(chance):
    assert 0.1 < chance(EVIDENCE.replace("}", ", on_inconclusive: fail}")).share < 0.2


def test_many_rules_by_evidence_share_one_level(chance):
    sliced = EVIDENCE.replace("}", ", per: part}")
    alone = chance(EVIDENCE, queries=1000).share
    many = chance(EVIDENCE, sliced, sliced.replace("nDCG", "RR"), queries=1000).share

    assert alone <= 0.065
    assert many <= 0.07


def test_many_observed_tolerances_are_broken_far_more_often_than_one(chance):
    one, many = (
        chance(f"no_regression: {{metric: nDCG@10, tolerance: 3%, decide_by: observed{more}}}").share
        for more in ("", ", per: part")
    )

    assert one < 0.01
    assert many > 0.5


def test_a_budget_of_queries_is_counted(chance):
    rule = "worsened: {{metric: nDCG@10, by_more_than: 0.2, at_most: {}, decide_by: observed}}"
    tight, loose = (chance(rule.format(n)).share for n in (10, 40))

    assert tight > 0.5
    assert loose < 0.05


def test_few_queries_with_most_of_the_traffic_are_few(chance):
    rule = "no_regression: {metric: nDCG@10, tolerance: 2%, weighted: true, decide_by: observed}"
    flat, steep = (chance(rule, weights=each).share for each in ([1] * 400, [100] * 10 + [1] * 390))

    assert flat < 0.06 < steep


def test_a_floor_counts_and_rules_about_lists_are_named(chance):
    found = chance(
        'threshold: {nDCG@10: ">= 0.4"}',
        "churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%}",
        "expect: [{query: q1, document: d, top: 3}]",
    )

    assert found.share == 0.0
    assert found.left_out == ("churn RBO", "expect")


def test_a_rule_that_only_warns_turns_nothing_red(chance):
    assert (
        chance("no_regression: {metric: nDCG@10, tolerance: 0.01%, on_fail: warn, name: loud}", EVIDENCE).share <= 0.065
    )


def test_the_same_suite_has_the_same_rate_every_time(chance):
    assert chance(EVIDENCE) == chance(EVIDENCE)


def test_a_run_says_it_on_every_face(shop):
    shop.change(
        ("{decide_by: observed, metric: nDCG@10, tolerance: 5%}", "{metric: nDCG@10, tolerance: 5%, min_queries: 5}")
    )
    shop.accept()
    assert "red by chance" not in shop.run().stdout.str()
    assert shop.run("-v").stdout.str().count("unknown") == 1
    for query in ("q01", "q03", "q07"):
        shop.rankings[query].reverse()
    shop.write()
    shop.run("--ireval-update", "--ireval-force", "--ireval-reason", "other weights")

    result = shop.run("-v")

    (suite,) = shop.results()["suites"]
    assert suite["chance_of_red"]["left_out"] == ["expect"]
    share = f"{100 * suite['chance_of_red']['share']:.0f}%"
    result.stdout.fnmatch_lines(["suite  queries  judged  red by chance", f"shop        10      10  *{share}"])
    page = (shop.path / "ireval-report/index.html").read_text()
    assert (
        f"A harmless change of the usual size would turn this suite red in {share} of cases (not counted: expect)."
        in page
    )


def test_metrics_that_lack_values_of_different_queries_are_corrected_apart(chance):
    assert 0.03 <= chance(EVIDENCE, EVIDENCE.replace("nDCG", "RR"), lacks=3).share <= 0.07


def test_slices_that_are_never_judged_turn_nothing_red(chance):
    few = "no_regression: {metric: nDCG@10, tolerance: 1%, per: part, min_queries: 50, decide_by: observed}"
    tiny = EVIDENCE.replace("}", ", per: part, hard_limit: 90%, min_queries: 50}")

    assert chance(few).share == 0.0
    assert chance(tiny).share == 0.0
    assert 0.03 <= chance(EVIDENCE, tiny.replace("}", ", name: parts}")).share <= 0.065


def test_a_metric_whose_spread_is_unknown_is_not_counted_and_named(chance):
    found = chance(EVIDENCE, 'threshold: {RR@10: ">= 0.4"}', runs={("nDCG@10", "all"): [0.1]})

    assert found.left_out == ("threshold RR@10",)
    assert 0.03 <= found.share <= 0.065


def test_an_anchor_that_is_not_pinned_is_not_counted(chance):
    found = chance(EVIDENCE, "no_regression: {metric: nDCG@10, tolerance: 1%, against: anchor, name: far}")

    assert found.left_out == ("no_regression nDCG@10",)


def test_a_slice_without_traffic_is_not_counted_where_rules_are_weighted(chance):
    weights = [0 if i % 10 == 0 else 1 for i in range(400)]
    found = chance("no_regression: {metric: nDCG@10, tolerance: 20%, weighted: true, per: part}", weights=weights)

    assert found.left_out == ("no_regression nDCG@10",)
    assert found.share < 0.05


def test_each_change_that_was_accepted_since_the_anchor_was_pinned_adds_to_the_chance(chance):
    anchored = "no_regression: {metric: nDCG@10, tolerance: 1%, decide_by: observed, against: anchor, name: far}"
    first, fifth = (chance(anchored, since_anchor=count).share for count in (0, 4))

    assert first == chance(anchored.replace(", against: anchor", "")).share
    assert fifth == pytest.approx(false_alarm(0.005, 0.1 * 5**0.5, 400), abs=0.04)
    assert first < fifth


def share_of(shop, again=("--ireval-report", "ireval-report")):
    shop.run(*again)
    (suite,) = shop.results()["suites"]
    return suite["chance_of_red"]


@pytest.fixture
def moving(shop):
    """A shop with one observed rule, whose baseline saw a change of three queries."""
    shop.suite = shop.suite[: shop.suite.index("rules:")]
    shop.suite += "rules:\n  - no_regression: {metric: nDCG@10, tolerance: 2%, decide_by: observed}\n"
    shop.write()
    shop.accept()
    for query in ("q01", "q03", "q07"):
        shop.rankings[query].reverse()
    shop.write()
    shop.run("--ireval-update", "--ireval-force", "--ireval-reason", "other weights")
    return shop


def test_a_run_counts_what_was_accepted_since_its_anchor(moving, ireval, monkeypatch):
    monkeypatch.chdir(moving.path)
    moving.change(("tolerance: 2%", "tolerance: 2%, against: anchor"))
    assert ireval("baseline", "anchor", "shop.ireval.yaml", "--reason", "release 4.2").code == 0
    none = share_of(moving)["share"]
    for query in ("q02", "q04"):
        moving.rankings[query].reverse()
        moving.write()
        moving.run("--ireval-update", "--ireval-force", "--ireval-reason", "more of them")

    assert share_of(moving)["share"] > none > 0


def test_the_values_of_the_baseline_are_those_that_the_judgments_of_now_give_it(moving):
    """A tolerance is a share of the mean: where all that it lists is good by now, it is larger, and rarely broken."""
    moving.change(("tolerance: 2%", "tolerance: 10%"))
    before = share_of(moving)["share"]
    for grades in moving.judgments.values():
        grades.update(dict.fromkeys(grades, 3))
    moving.write()

    assert share_of(moving)["share"] < before


BREAKS = """\
from pytest_ireval import Ruling, hookimpl, rule
from pytest_ireval.options import RuleOptions, MetricText


class Options(RuleOptions):
    metric: MetricText


def broken(options, tries):
    raise RuntimeError("no table of chances")


@rule(name="odd", options=Options, compares=True, chances=broken)
def odd(options, seen):
    '''Never fails.'''
    return Ruling("pass", "fine")


@hookimpl
def ireval_rules():
    return [odd]
"""


def test_a_rule_of_a_plugin_that_cannot_tell_its_chance_is_named_and_judged_as_ever(moving):
    moving.change(("rules:\n", "rules:\n  - odd: {metric: nDCG@10}\n"))
    (moving.path / "conftest.py").write_text(BREAKS)

    found = share_of(moving)

    broken = "its chances raised RuntimeError: no table of chances; at conftest.py:10, in broken"
    assert found["left_out"] == [f"odd nDCG@10 ({broken})"]
    assert 0 < found["share"] < 1
    assert set(moving.verdicts().values()) == {"pass"}
    assert any(each.startswith("odd") for each in moving.verdicts())


def test_chances_that_do_not_fit_the_tries_are_named(moving):
    moving.change(("rules:\n", "rules:\n  - odd: {metric: nDCG@10}\n"))
    one = BREAKS.replace('raise RuntimeError("no table of chances")', "return Chances([True])")
    (moving.path / "conftest.py").write_text(one.replace("import Ruling", "import Chances, Ruling"))

    assert share_of(moving)["left_out"] == ["odd nDCG@10 (its chances are not Chances with one entry for each try)"]


def test_a_rule_of_a_plugin_that_tells_its_chances_is_counted(moving):
    moving.change(("rules:\n", "rules:\n  - odd: {metric: nDCG@10}\n"))
    half = BREAKS.replace(
        'raise RuntimeError("no table of chances")', "return Chances(tries.means(weighted=False) < 0)"
    )
    (moving.path / "conftest.py").write_text(half.replace("import Ruling", "import Chances, Ruling"))

    found = share_of(moving)

    assert found["left_out"] == []
    assert 0.3 < found["share"] < 1


def test_of_changes_that_move_no_query_no_rule_fails(chance):
    found = chance(
        EVIDENCE, "worsened: {metric: nDCG@10, by_more_than: 0.1, at_most: 1%}", runs={("nDCG@10", "all"): [1e-12]}
    )

    assert found.share == 0.0
