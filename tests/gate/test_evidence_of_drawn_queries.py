"""Suites that say which queries are variants of one intent."""

import random
from dataclasses import replace

import pytest
from town import Town

from pytest_ireval.errors import SuiteError

pytestmark = pytest.mark.ci

BY_EVIDENCE = "no_regression: {metric: RR@10, tolerance: 2%, hard_limit: 90%}"
EQUIVALENT = "equivalent: {metric: RR@10, tolerance: 2%, on_inconclusive: warn}"
TAILS = "worsened: {metric: RR@10, by_more_than: 0.3}"
SAME, LOSS, GAIN, SMALL_LOSS = (2, 2), (1, 2), (2, 1), (3, 4)
CLUSTER = {"weight": None, "cluster": "intent"}


def make_town(folder, *kinds, **more):
    return Town(folder, [kind for kind, count in kinds for _ in range(count)], **more)


def groups_of(size, count):
    return [f"i{number // size}" for number in range(count)]


def harmless(draw, intents, size):
    """Ranks before and now of variants that move together, and as often down as up."""
    ranks = []
    for _ in range(intents):
        shared = draw.gauss(0, 1)
        for _ in range(size):
            own = (shared + draw.gauss(0, 1)) / 2**0.5
            ranks.append(LOSS if own < -0.7 else GAIN if own > 0.7 else SAME)
    return ranks


@pytest.mark.ci
def test_variants_that_move_together_make_no_more_harmless_changes_red_than_promised(tmp_path):
    draw, runs, red_plain, red_clustered = random.Random(11), 60, 0, 0
    for _ in range(runs):
        town = Town(tmp_path / "town", harmless(draw, 24, 5), intents=groups_of(5, 120))
        red_plain += town.only(BY_EVIDENCE, weight=None).verdict == "fail"
        red_clustered += town.only(BY_EVIDENCE, **CLUSTER).verdict == "fail"

    assert red_clustered / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
    assert red_plain / runs >= 0.08


def test_each_query_as_its_own_cluster_is_no_cluster(tmp_path):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12)
    own = make_town(tmp_path / "own", *kinds, intents=[f"i{i}" for i in range(200)])
    empty = make_town(tmp_path / "empty", *kinds, intents=[""] * 200)
    rules = BY_EVIDENCE, EQUIVALENT, TAILS

    plain = own.gate(*rules)
    for town in (own, empty):
        clustered = town.gate(*rules, **CLUSTER)
        for name, outcome in plain.items():
            assert clustered[name].headline == outcome.headline
            assert clustered[name].numbers == outcome.numbers
            figures = [replace(each, share=None) for each in clustered[name].figures]
            assert figures == [replace(each, share=None) for each in outcome.figures]


def test_the_verdict_says_how_many_clusters_there_are_and_how_many_queries_could_tell(tmp_path):
    town = make_town(tmp_path, (SAME, 160), (LOSS, 22), (GAIN, 18), intents=groups_of(5, 200))

    rule = BY_EVIDENCE.replace("2%", "1%")
    shown = town.only(rule, **CLUSTER)

    (figures,) = shown.figures
    assert figures.clusters == 40
    assert (
        "RR@10 fell 1.8% (tolerance 1%): 200 queries in 40 clusters are too few to rule out chance; " in shown.headline
    )
    assert figures.needed > town.only(rule, weight=None).figures[0].needed
    assert "200 queries in 40 clusters: variants of one intent count together" in shown.statistics


def test_few_clusters_of_many_queries_are_no_evidence(tmp_path):
    shown = make_town(tmp_path, (LOSS, 60), intents=groups_of(15, 60)).only(BY_EVIDENCE, **CLUSTER)

    assert shown.verdict == "inconclusive"
    assert "60 queries in 4 clusters are too few: evidence needs 5 clusters" in shown.headline


def test_clusters_of_unequal_size_are_as_many_for_every_rule(tmp_path):
    intents = [*groups_of(10, 40), *["small"] * 3]  # 4.5 clusters of equal size, which count as 5
    found = make_town(tmp_path, (LOSS, 43), intents=intents).gate(BY_EVIDENCE, TAILS, **CLUSTER)

    assert {outcome.verdict for name, outcome in found.items() if name != "inputs"} == {"inconclusive"}
    assert not any("too few: evidence needs" in outcome.headline for outcome in found.values())


def test_few_clusters_that_changed_cannot_fail(tmp_path):
    town = make_town(tmp_path, (LOSS, 20), (SAME, 180), intents=groups_of(5, 200))

    found = town.gate(BY_EVIDENCE, TAILS, **CLUSTER)

    shown = found["no_regression::RR_10.all"]
    assert shown.verdict == "inconclusive"
    assert "only 4 of 40 clusters changed, too few to rule out chance" in shown.headline
    assert shown.figures[0].p == pytest.approx(1 / 16)
    assert found["worsened::RR_10"].verdict == "inconclusive"
    assert town.gate(TAILS, weight=None)["worsened::RR_10"].verdict == "fail"


def test_how_many_queries_would_be_enough_is_not_said_of_losses_in_clusters(tmp_path):
    town = make_town(tmp_path, (SAME, 46), (LOSS, 4), intents=groups_of(2, 50))

    plain, clustered = (town.only(TAILS, **more).headline for more in ({"weight": None}, CLUSTER))
    assert plain.endswith("50 queries are too few to rule out chance; about 61 would be enough")
    assert clustered.endswith("50 queries in 25 clusters are too few to rule out chance")


def test_neither_the_order_of_rows_nor_names_of_clusters_change_a_digit(tmp_path):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12)
    plain = make_town(tmp_path / "a", *kinds, intents=groups_of(5, 200)).only(BY_EVIDENCE, **CLUSTER)
    intents = [f"other {200 - int(name[1:])}" for name in groups_of(5, 200)]
    other = make_town(tmp_path / "b", *kinds, intents=intents, order=3, names="x-{:04}").only(BY_EVIDENCE, **CLUSTER)

    assert other.headline.partition("; worst")[0] == plain.headline.partition("; worst")[0]
    assert dict(other.numbers) == pytest.approx(dict(plain.numbers), abs=1e-12)


def test_a_column_that_queries_lack_is_a_mistake_with_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    town = make_town(tmp_path, (SAME, 200), intents=groups_of(5, 200))

    with pytest.raises(SuiteError, match=r"town.ireval.yaml:8:10\n  queries.tsv has no column 'intnt'"):
        town.gate(BY_EVIDENCE, weight=None, cluster="intnt")


def test_one_cluster_is_a_mistake(tmp_path):
    town = make_town(tmp_path, (SAME, 40), intents=["i"] * 40)

    with pytest.raises(SuiteError, match="all queries have intent=i: evidence needs more than one cluster"):
        town.gate(BY_EVIDENCE, **CLUSTER)
