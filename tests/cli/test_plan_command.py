"""``ireval plan``, and what ``ireval check`` says of tolerances that nobody can see the breaking of."""

import json

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval.baseline.record import Acceptance, Baseline, StoredMetric, round_spreads
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.data.from_objects import convert_rankings
from pytest_ireval.power import chance_of_red

RULE = "no_regression: {metric: nDCG@10, tolerance: 2%}"
VALUES = {f"q{n:02}": 0.6 if n % 2 else 0.4 for n in range(50)}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chance_of_red, "DRAWS", 50)
    write_suite(tmp_path, RULE, depth=10)
    write_rankings(tmp_path / "rankings.txt", {"q01": ["d"]})
    write_judgments(tmp_path / "judgments.txt", {"q01": {"d": 1}})
    return tmp_path


def accept(folder, values=VALUES, moved=(("nDCG@10", 0.1),)):
    acceptances = (Acceptance("2026-01-01T00:00:00Z"), Acceptance("2026-02-01T00:00:00Z", spreads=round_spreads(moved)))
    stored = StoredMetric(1, "pytest-ireval", sum(values.values()) / len(values), values)
    lists = convert_rankings({query: ["d"] for query in values})
    write_baseline(
        folder / "baselines", Baseline("shop", 10, (lists,), metrics={"nDCG@10": stored}, acceptances=acceptances)
    )


def test_a_table_says_what_the_queries_can_show_and_what_that_means(shop, ireval):
    accept(shop)

    printed = ireval("plan", "shop.ireval.yaml")

    assert printed.code == 0
    assert printed.out == (
        "shop: shop.ireval.yaml, baseline of 2026-02-01\n"
        "\n"
        "  metric   slice  queries  spread  from          can show   tolerance  needs  false alarms\n"
        "  nDCG@10  all         50    0.10  1 acceptance     0.036  0.010 (2%)    620           24%  "
        "<- too small for these queries\n"
        "\n"
        "  spread: the standard deviation of what single queries gain or lose from one version to the next.\n"
        "  can show: the smallest true drop that a one-sided t test at 5% finds in 80% of cases. needs: the\n"
        "  number of queries that would show the drop in the column before. false alarms: how often a\n"
        "  harmless change of this spread exceeds that drop, which warns, or fails with decide_by: observed.\n"
        "  Harmless changes as large as earlier changes would turn this suite red in 8% of cases, and only\n"
        "  warn in 18%.\n"
    )


def test_a_plain_and_a_weighted_rule_of_one_tolerance_have_a_line_each(shop, ireval):
    weighted = "no_regression: {metric: nDCG@10, tolerance: 2%, weighted: true, name: traffic}"
    write_suite(shop, RULE, weighted, depth=10, queries="queries.tsv", weight="searches")
    write_queries(shop / "queries.tsv", VALUES, searches=[10] * 5 + [1] * 45)
    accept(shop)

    lines = ireval("plan", ".").out.splitlines()

    assert [line.split("  all")[0].strip() for line in lines[3:5]] == ["nDCG@10", "nDCG@10, weighted"]
    assert lines[3].split()[6] != lines[4].split()[7]


def test_another_drop_and_another_number_of_queries(shop, ireval):
    accept(shop)

    def row(*options):
        return ireval("plan", ".", *options).out.splitlines()[3].split()

    assert row("--drop", "10%")[-4:] == ["0.050", "(10%)", "27", "0%"]
    assert row("--drop", "0.05")[-3:] == ["0.050", "27", "0%"]
    assert row("--queries", "620")[2:9] == ["620", "0.10", "1", "acceptance", "0.010", "0.010", "(2%)"]


@pytest.mark.parametrize("drop", ["0%", "-1%", "nan%"])
def test_what_is_no_drop_is_refused(shop, ireval, drop):
    printed = ireval("plan", ".", f"--drop={drop}")

    assert printed.code == 2
    assert f"'{drop}' is not a drop: write 1% (of the baseline) or 0.01 (an amount)" in printed.err


def test_without_any_acceptance_that_moved_something_it_is_a_guess_and_says_so(shop, ireval):
    accept(shop, moved=())

    printed = ireval("plan", ".").out

    assert printed.splitlines()[3].split()[3:6] == ["0.032", "assumed", "0.011"]
    assert "values of two versions\n  are assumed to correlate by 0.95" in printed


def test_values_that_are_alike_say_nothing(shop, ireval):
    accept(shop, dict.fromkeys(VALUES, 0.5), moved=())

    printed = ireval("plan", ".").out

    assert "unknown: nDCG@10 on all: all values are equal, or the baseline has none." in printed


def test_too_few_queries_can_show_no_drop_at_all(shop, ireval):
    accept(shop, {"q01": 0.5, "q02": 0.7, "q03": 0.6}, moved=(("nDCG@10", 0.5),))

    assert "no drop" in ireval("plan", ".").out.splitlines()[3]
    assert "3 queries cannot show any drop; the tolerance is 0.012 (2%): about" in ireval("check", ".").out


def test_without_a_baseline_it_says_how_one_is_accepted(shop, ireval):
    printed = ireval("plan", ".")

    assert printed.code == 0
    assert "no baseline yet" in printed.out
    assert "pytest --ireval shop.ireval.yaml --ireval-update-new" in printed.out.replace("\n  ", " ")


def test_programs_are_given_numbers(shop, ireval):
    accept(shop)

    (suite,) = json.loads(ireval("plan", ".", "--format", "json").out)["suites"]

    assert (suite["suite"], suite["baseline"]) == ("shop", "2026-02-01T00:00:00Z")
    (rule,) = suite["rules"]
    assert (rule["id"], rule["queries"], rule["spread"], rule["spread_from"]) == (
        "no_regression::nDCG_10.all",
        50,
        0.1,
        "1 acceptance",
    )
    assert rule["resolution"] == pytest.approx(0.0356, abs=1e-4)
    assert (rule["needed"], rule["blind"], rule["shows_any"]) == (pytest.approx(620, abs=1), True, True)
    assert (suite["chance_of_red"], suite["chance_of_warning"]) == (0.08, 0.18)
    assert (suite["drawn_from"], suite["not_counted"]) == ("earlier changes", [])


def test_that_refused_changes_do_not_count_is_said_where_the_observed_fall_decides(shop, ireval):
    accept(shop)

    by_evidence = ireval("plan", ".").out
    suite = shop / "shop.ireval.yaml"
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("tolerance: 2%", "tolerance: 2%, decide_by: observed"), encoding="utf-8")
    by_observation = " ".join(ireval("plan", ".").out.split())

    assert "Refused changes do not count. With decide_by: observed these are the larger ones" in by_observation
    assert "Refused changes" not in by_evidence


def test_check_warns_of_a_tolerance_below_what_can_be_shown_and_stays_green(shop, ireval):
    accept(shop)

    printed = ireval("check", ".")

    assert printed.code == 0
    assert printed.out == (
        "shop.ireval.yaml: shop: 1 metric, 1 rule\n"
        "warning: shop.ireval.yaml:7: no_regression nDCG@10: 50 queries can show a drop of 0.036; the tolerance is "
        "0.010 (2%): about 620 queries would be needed\n"
    )


def test_check_warns_of_a_share_of_nearly_nothing(shop, ireval):
    accept(shop, {query: value / 20 for query, value in VALUES.items()})

    printed = ireval("check", ".")

    assert printed.code == 0  # the gate accepts such a baseline, so the suite is no mistake
    assert "the baseline of nDCG@10 is 0.0250: a share of such a small value is noise" in printed.out
    assert "write an amount: tolerance: {absolute: 0.036}" in printed.out

    (shop / "baselines" / "shop.baseline").write_text("{")
    printed = ireval("check", ".")
    assert printed.code == 1
    assert "baselines/shop.baseline" in printed.out
