"""A suite put to the test: chance alarms, damage, and harmless changes."""

from dataclasses import asdict

import numpy as np
import pytest
from suite_files import write_rankings

from pytest_ireval_lab.self_test.damage import first_reversed
from pytest_ireval_lab.self_test.false_alarms import count_false_alarms
from pytest_ireval_lab.self_test.rehearsal import draw_numbers, mix_scores
from pytest_ireval_lab.self_test.run import self_test

pytestmark = pytest.mark.ci


def report(shop, **more):
    return self_test(shop.suite(), shop.registry, **{"trials": 40, **more})


def by_name(found):
    return {each.name: each for each in found.mutants}


def test_variants_of_one_intent_change_places_together(shop):
    shop.accept()
    shop.change()
    shop.columns["intent"] = [1 + number // 5 for number in range(60)]
    shop.keys["cluster"] = "intent"
    shop.rules = ["no_regression: {metric: nDCG@5, tolerance: {absolute: 0.002}, decide_by: observed}"]
    rehearsal = shop.rehearse()
    scores = rehearsal.scores
    now, before = (side.scored["nDCG@5"].values for side in (scores.current, scores.baseline_side))
    firsts = np.array([scores.population.queries.columns["intent"].index(str(1 + n // 5)) for n in range(60)])
    coins = [(draw_numbers(rehearsal.urn, "swap", trial) < 0.5)[firsts] for trial in range(100)]
    drops = [float(np.where(coin, now - before, before - now).mean()) for coin in coins]

    whole, _ = count_false_alarms(rehearsal, scores, 100)

    assert whole.alarms == sum(drop > 0.002 for drop in drops)
    assert len({tuple(coin[:5]) for coin in coins}) == 2


def test_a_coin_turns_a_tight_tolerance_red_as_often_as_the_sign_of_the_mean_says(shop):
    shop.accept()
    shop.change()
    shop.rules = ["no_regression: {metric: nDCG@5, tolerance: {absolute: 0.002}, decide_by: observed}"]
    rehearsal = shop.rehearse()
    scores = rehearsal.scores
    now, before = (side.scored["nDCG@5"].values for side in (scores.current, scores.baseline_side))
    coins = [draw_numbers(rehearsal.urn, "swap", trial) < 0.5 for trial in range(100)]
    drops = [float(np.where(coin, now - before, before - now).mean()) for coin in coins]

    whole, rule = count_false_alarms(rehearsal, scores, 100)

    assert rule.rule == "no_regression::nDCG_5.all"
    assert rule.alarms == whole.alarms == sum(drop > 0.002 for drop in drops)
    assert 20 < rule.alarms < 60
    assert rule.low < rule.share < rule.high
    assert rule.promised is None


def test_values_change_places_for_all_metrics_of_a_query_together(shop):
    shop.accept()
    shop.change()
    scores = shop.rehearse().scores
    heads = np.arange(60) % 2 == 0
    swapped = scores.swap(heads).baseline.comparison

    for name in ("nDCG@5", "RR@5"):
        now, before = scores.current.scored[name].values, scores.baseline_side.scored[name].values
        assert swapped.current.scored[name].values.tolist() == np.where(heads, before, now).tolist()
        assert swapped.baseline.scored[name].values.tolist() == np.where(heads, now, before).tolist()
    assert swapped.current.documents("q000") == scores.baseline_side.documents("q000")
    assert swapped.baseline.documents("q000") == scores.current.documents("q000")
    assert swapped.current.documents("q001") == scores.current.documents("q001")


def test_another_file_gives_the_coin_something_to_toss(shop):
    shop.accept()
    other = {query: [*ids[1:], ids[0]] for query, ids in shop.lists.items()}
    write_rankings(shop.folder / "other.trec", other)
    found = report(shop, against=shop.folder / "other.trec")

    assert found.differing == 60
    assert [each.rule for each in found.alarms] == ["", "no_regression::nDCG_5.all"]
    assert found.alarms[0].alarms > 0


def test_without_a_baseline_damage_is_held_against_the_rankings_of_now(shop):
    found = report(shop)

    assert found.nothing_to_swap == "no baseline has been accepted yet"
    assert by_name(found)["the first 5 documents reversed"].noticed_from == 0.2
    assert found.notes == (
        "no baseline has been accepted yet: the current rankings are damaged and compared with themselves",
    )


def test_damage_to_a_share_of_queries_is_what_ranking_them_so_would_score(shop):
    shop.accept()
    rehearsal = shop.rehearse()
    worse = {query: list(reversed(ids)) if int(query[1:]) < 20 else ids for query, ids in shop.lists.items()}
    shop.lists = worse
    wanted = shop.collect_and_score()[1].current.scored["nDCG@5"].values
    marked = np.array([int(query[1:]) < 20 for query in shop.queries])
    accepted = rehearsal.accepted
    other = rehearsal.score([first_reversed(each, 8) for each in accepted.rankings])
    healthy, damaged = (rehearsal.scores.replace_current(side) for side in (accepted, other))
    found = mix_scores(healthy, damaged, marked)

    assert found.current.scored["nDCG@5"].values.tolist() == wanted.tolist()
    assert found.current.documents("q000") == worse["q000"]
    assert found.current.documents("q040") == worse["q040"]


def test_the_share_from_which_damage_is_noticed_follows_the_tolerance(shop):
    shop.accept()
    name = "the first 5 documents reversed"
    shop.rules = ["no_regression: {metric: nDCG@5, tolerance: 1%, decide_by: observed, name: loose}"]
    loose = by_name(report(shop))[name]
    shop.rules = ["no_regression: {metric: nDCG@5, tolerance: 0.1%, decide_by: observed, name: tight}"]
    tight = by_name(report(shop))[name]

    assert (tight.noticed_from, tight.rules) == (0.05, ("no_regression::nDCG_5.all.tight",))
    assert loose.noticed_from > 0.05
    assert [level.share for level in loose.levels] == [s for s in (0.05, 0.1, 0.2, 0.5, 1.0) if s <= loose.noticed_from]
    assert all(level.red < 16 for level in loose.levels[:-1])


def test_changed_lists_are_noticed_by_churn_without_judgments_of_them(shop):
    shop.accept()
    shop.rules = ["churn: {overlap: Overlap@5, below: 0.9, at_most: 30%}"]
    found = report(shop)

    assert by_name(found)["documents with other ids"].noticed_from == 0.5
    assert by_name(found)["the first 5 documents reversed"].noticed_from is None  # the same five documents
    assert found.nothing_to_swap == "no rule of this suite compares values"


def test_a_rule_that_is_red_without_any_change_fails_the_test_and_notices_nothing(shop):
    shop.accept()
    shop.rules = ["threshold: {nDCG@5: '>= 0.99'}"]
    found = report(shop)

    assert found.harmless[0].red == ("threshold::nDCG_5",)
    assert not found.holds
    assert {each.noticed_from for each in found.mutants} == {None}


def test_nothing_minds_the_order_of_equal_scores_or_what_stands_below_every_cutoff(shop):
    shop.accept()
    shop.write()
    found = report(shop)

    assert [(each.name, each.tried, each.red) for each in found.harmless] == [
        ("the same rankings", True, ()),
        ("equal scores written in another order", False, ()),
        ("documents below rank 5 reordered", True, ()),
    ]
    assert found.harmless[1].why == "no query has documents with equal scores"


def test_the_report_is_the_same_whatever_order_the_queries_stand_in(shop):
    shop.accept()
    shop.change()
    shop.rules += ["no_regression: {metric: nDCG@5, per: segment, tolerance: 3%}"]
    shop.rules += ["churn: {overlap: RBO(p=0.9), below: 0.8, at_most: 10%}"]
    one = report(shop)
    shop.queries.reverse()
    shop.lists = {query: shop.lists[query] for query in reversed(shop.queries)}

    assert asdict(report(shop)) == asdict(one) == asdict(report(shop))


def test_a_rule_that_warns_is_counted_and_turns_nothing_red(shop):
    shop.accept()
    shop.change()
    shop.rules = ["no_regression: {metric: nDCG@5, tolerance: {absolute: 0.001}, on_fail: warn}"]
    whole, rule = report(shop).alarms

    assert rule.alarms > 0
    assert whole.alarms == 0


def test_a_waived_query_is_not_damaged(shop):
    shop.accept()
    shop.keys["waive"] = "[{query: q001, until: 2027-01-01, reason: no}]"

    assert by_name(report(shop))["an unrelated document on top"].queries == 59


EVIDENCE = "no_regression: {metric: nDCG@5, tolerance: 0.5%, hard_limit: 90%}"


def test_evidence_keeps_its_promise_where_a_change_is_chance(shop):
    shop.accept()
    shop.change(share=0.9)
    shop.rules = [EVIDENCE]
    whole, rule = report(shop, trials=200).alarms

    assert (rule.decided_by, rule.promised, rule.broken) == ("evidence", 0.05, False)
    assert rule.by_evidence == rule.alarms == whole.alarms
    assert 0 < rule.share <= 0.09


def test_what_fails_where_queries_cannot_tell_is_no_broken_promise(shop):
    shop.accept()
    shop.change(share=0.9)
    shop.rules = [EVIDENCE.replace("}", ", on_inconclusive: fail}")]
    _, rule = report(shop, trials=200).alarms

    assert rule.alarms > 2 * rule.by_evidence
    assert not rule.broken


def test_a_fall_that_unjudged_documents_may_explain_is_no_red_of_evidence(shop):
    shop.accept()
    shop.rules = [EVIDENCE.replace("0.5%", "2%")]
    mutant = by_name(report(shop))["an unrelated document on top"]

    assert mutant.noticed_from is None
    assert mutant.levels[-1].inconclusive == 1
