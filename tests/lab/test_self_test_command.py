"""``ireval self-test`` and ``ireval self-test --repeat 2``: what they print, and how they end."""

import json

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval_lab.commands.self_test_command import format_asked_again, format_self_test
from pytest_ireval_lab.self_test.results import (
    FalseAlarms,
    HarmlessChange,
    Level,
    MetricNoise,
    NoticedDamage,
    RepeatedAnswers,
    RepeatVerdict,
    SelfTest,
    ToleranceNoise,
)

RULE = "no_regression: {metric: RR@3, tolerance: 10%, decide_by: observed}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_suite(tmp_path, RULE)
    write_judgments(tmp_path / "judgments.txt", {f"q{i}": {f"a{i}": 1} for i in range(30)})
    write_rankings(tmp_path / "rankings.txt", {f"q{i}": [f"{d}{i}" for d in "abcd"] for i in range(30)})
    write_rankings(tmp_path / "other.txt", {f"q{i}": [f"{d}{i}" for d in "bacd"[i % 2 :]] for i in range(30)})
    return tmp_path


def test_a_suite_without_a_baseline_is_tested_on_the_rankings_of_now(ireval, folder):
    printed = ireval("self-test", "shop.ireval.yaml")

    assert printed.code == 0
    assert printed.out == (
        "shop (shop.ireval.yaml)\n\n"
        "False alarms: unknown, because no baseline has been accepted yet; --against RANKINGS names other\n"
        "rankings of these queries to compare with.\n\n"
        "Would this gate notice? Damage to the accepted rankings, for more and more queries:\n\n"
        "damage                            queries  noticed from  by\n"
        "the first two documents swapped        30           all  no_regression::RR_3.all\n"
        "the first relevant document gone       30       20% (6)  no_regression::RR_3.all\n"
        "the first 3 documents reversed         30       20% (6)  no_regression::RR_3.all\n"
        "an unrelated document on top           30      50% (15)  no_regression::RR_3.all\n"
        "documents with other ids               30       20% (6)  no_regression::RR_3.all\n\n"
        "Damage that no rule notices:\n"
        "  only 5 documents left: never red (30 queries)\n\n"
        "Harmless changes, which must not turn a rule red:\n\n"
        "change                                 verdict\n"
        "the same rankings                      pass\n"
        "equal scores written in another order  not tried: no query has documents with equal scores\n"
        "documents below rank 3 reordered       not tried: no ranking is longer than that\n\n"
        "note: documents with other ids turn it red, although they have no judgments: if ids of documents\n"
        "change some day, name the old and new ids in documents: {aliases: FILE}\n"
        "note: no baseline has been accepted yet: the current rankings are damaged and compared with\n"
        "themselves\n\n"
        "self-test: pass\n"
    )


def test_other_rankings_give_false_alarms_and_json_has_all_of_it(ireval, folder):
    printed = ireval("self-test", "shop.ireval.yaml", "--against", "other.txt", "--trials", "20", "--format", "json")
    (suite,) = json.loads(printed.out)["suites"]

    assert printed.code == 0
    assert suite["holds"] is True
    assert suite["compared"] == "other.txt and the current rankings"
    assert [(each["rule"], each["runs"]) for each in suite["alarms"]] == [("", 20), ("no_regression::RR_3.all", 20)]


def write_times(shop, seconds):
    lines = (f"{query}\t{seconds + i % 7 / 100:.3f}\n" for i, query in enumerate(shop.queries))
    (shop.folder / "times.tsv").write_text("query\tseconds\n" + "".join(lines), encoding="utf-8")


def test_where_only_times_differ_no_share_of_alarms_is_claimed(ireval, shop):
    shop.rules.append("no_regression: {metric: Latency, tolerance: 20%}")
    shop.keys = {"source": "{run: now.trec, timings: times.tsv}", "metrics": "[nDCG@5, Latency]"}
    write_times(shop, 0.2)
    shop.accept()
    write_times(shop, 0.21)

    printed = ireval("self-test", "shop.ireval.yaml", "--trials", "20")

    assert "they differ on 60 of 60 queries" in printed.out
    rows = {line.split()[0]: line for line in printed.out.splitlines() if line.startswith("no_regression::")}
    assert rows["no_regression::nDCG_5.all"].endswith("-  <- not tested: equal values")
    assert rows["no_regression::Latency.all"].endswith("only warns")
    assert "the whole suite" not in printed.out
    assert "False alarms of this suite are unknown: no rule that can turn it red has different values;" in printed.out


def test_a_rule_of_a_slice_without_differences_is_not_tested_and_the_others_are(ireval, folder):
    slices = "no_regression: {metric: RR@3, tolerance: 10%, decide_by: observed, where: {half: odd}}"
    write_queries(folder / "queries.tsv", [f"q{i}" for i in range(30)], half=["even", "odd"] * 15)
    write_suite(folder, RULE, slices, queries="queries.tsv")
    other = {f"q{i}": [f"{d}{i}" for d in ("abcd" if i % 2 else "bacd")] for i in range(30)}
    write_rankings(folder / "other.txt", other)

    printed = ireval("self-test", "shop.ireval.yaml", "--trials", "20", "--against", "other.txt")

    words = " ".join(printed.out.split())
    assert "This suite turns" in words
    assert "Not tested, because their values are equal on both sides: no_regression::RR_3.half-odd." in words


def test_a_suite_that_is_red_without_any_change_ends_with_1(ireval, folder):
    write_suite(folder, RULE, "threshold: {P@3: '>= 0.9'}")
    printed = ireval("self-test", "shop.ireval.yaml", "--trials", "20")

    assert printed.code == 1
    assert printed.out.endswith("self-test: FAIL: the same rankings: threshold::P_3\n")


def test_a_steady_source_is_told_to_be_one(ireval, folder):
    printed = ireval("self-test", "shop.ireval.yaml", "--repeat", "2")
    (suite,) = json.loads(ireval("self-test", "shop.ireval.yaml", "--repeat", "2", "--format", "json").out)["suites"]

    assert printed.code == 0
    assert "was asked 2 times: both answers are the same." in printed.out
    assert (suite["holds"], suite["lists"], suite["answers"]) == (True, 0, 2)


def test_promises_that_are_broken_are_marked():
    evidence = FalseAlarms("worsened::AP", "evidence", 200, 50, 0.25, 0.19, 0.32, 40, 0.05, broken=True)
    whole = FalseAlarms("", "", 200, 60, 0.3, 0.237, 0.369, 40, 0.05, broken=True)
    harmless = (HarmlessChange("the same rankings", tried=True),)
    levels = (Level(0.05, 3, 20, 4, 0), Level(1.0, 60, 1, 0, 1))
    missed = NoticedDamage("documents with other ids", 60, levels, unnoticed_is_right=True)
    found = SelfTest(
        "shop", "shop.ireval.yaml", 60, 200, "now and before", 12, "", (whole, evidence), (missed,), harmless
    )
    text = format_self_test(found)

    assert not found.holds
    assert "worsened::AP     evidence    25%      19% .. 32%          20%        5%  <- broken\n" in text
    assert "This suite turns 30% of harmless changes of this kind red (95% limits: 23.7% to 36.9%)." in text
    assert "red in 4 of 20 trials at 5%" in text
    assert text.endswith("self-test: FAIL: more alarms than 5% by chance: the whole suite, worsened::AP\n")


def test_noise_is_a_table_and_what_lies_below_it_is_named():
    found = RepeatedAnswers(
        "shop",
        "shop.ireval.yaml",
        "python: shop:search",
        answers=2,
        repeat=1,
        queries=60,
        lists=15,
        metrics=(MetricNoise("AP", 60, 9, 0.03, 0.0107, 0.4, 7), MetricNoise("RR", 60, 0, 0.0, 0.0)),
        tolerances=(ToleranceNoise("no_regression::AP.all", 0.01, 0.0107, below=True),),
        rules=(RepeatVerdict("no_regression::AP.all", "fail", "AP fell 2%"),),
    )

    assert format_asked_again(found) == (
        "shop (shop.ireval.yaml)\n\n"
        "python: shop:search was asked 2 times: the list of 15 of 60 queries (25%) changed.\n\n"
        "metric  queries  moved  sd of an answer  noise floor  share of variance  repeat for 10%\n"
        "AP           60      9           0.0300       0.0107                40%               7\n"
        "RR           60      0           0.0000       0.0000                  -               -\n\n"
        "rule                   tolerance  noise floor\n"
        "no_regression::AP.all     0.0100       0.0107  below the noise: it will be red by chance\n\n"
        "Comparing one answer with the next is red, though nothing changed:\n"
        "  no_regression::AP.all: AP fell 2%\n\n"
        "self-test: FAIL\n"
    )


def test_the_source_is_asked_again_without_any_swaps(ireval, folder):
    printed = ireval("self-test", "shop.ireval.yaml", "--repeat", "3", "--trials", "50")

    assert (printed.code, printed.out) == (2, "")
    assert "--repeat cannot be combined with --trials" in printed.err
