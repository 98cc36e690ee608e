"""Suites that say how their queries were drawn: variants of one intent, strata with known shares, so many queries."""

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
CLUSTER = "cluster: intent\n"


def made(folder, *kinds, **more):
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
    draw, runs, red = random.Random(11), 60, {"": 0, CLUSTER: 0}
    for _ in range(runs):
        town = Town(tmp_path / "town", harmless(draw, 24, 5), intents=groups_of(5, 120))
        for text in red:
            red[text] += town.only(BY_EVIDENCE, weight=text).verdict == "fail"

    assert red[CLUSTER] / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
    assert red[""] / runs >= 0.08


def test_each_query_as_its_own_cluster_is_no_cluster(tmp_path):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12)
    own = made(tmp_path / "own", *kinds, intents=[f"i{i}" for i in range(200)])
    empty = made(tmp_path / "empty", *kinds, intents=[""] * 200)
    rules = BY_EVIDENCE, EQUIVALENT, TAILS

    plain = own.gate(*rules)
    for town in (own, empty):
        clustered = town.gate(*rules, weight=CLUSTER)
        for name, outcome in plain.items():
            assert clustered[name].headline == outcome.headline
            assert clustered[name].numbers == outcome.numbers
            figures = [replace(each, share=None) for each in clustered[name].figures]
            assert figures == [replace(each, share=None) for each in outcome.figures]


def test_the_verdict_says_how_many_clusters_there_are_and_how_many_queries_could_tell(tmp_path):
    town = made(tmp_path, (SAME, 160), (LOSS, 22), (GAIN, 18), intents=groups_of(5, 200))

    rule = BY_EVIDENCE.replace("2%", "1%")
    shown = town.only(rule, weight=CLUSTER)

    (figures,) = shown.figures
    assert figures.clusters == 40
    assert "RR@10 fell 1.8% (tolerance 1%): 200 queries in 40 clusters cannot tell this from chance; " in shown.headline
    assert figures.needed > town.only(rule, weight="").figures[0].needed
    assert "200 queries in 40 clusters: variants of one intent count together" in shown.statistics


def test_few_clusters_of_many_queries_are_no_evidence(tmp_path):
    shown = made(tmp_path, (LOSS, 60), intents=groups_of(15, 60)).only(BY_EVIDENCE, weight=CLUSTER)

    assert shown.verdict == "inconclusive"
    assert "60 queries in 4 clusters: evidence needs 5 clusters" in shown.headline


def test_a_slice_of_few_clusters_is_inconclusive(tmp_path):
    town = made(tmp_path, (LOSS, 100), intents=groups_of(25, 100))

    found = town.gate(f"{BY_EVIDENCE[:-1]}, per: segment}}", weight=CLUSTER)

    shown = found["no_regression::RR_10.segment-head"]
    assert shown.verdict == "inconclusive"
    assert "50 queries in 4 clusters: evidence needs 5 clusters" in shown.headline


def test_few_clusters_that_changed_cannot_fail(tmp_path):
    town = made(tmp_path, (LOSS, 20), (SAME, 180), intents=groups_of(5, 200))

    found = town.gate(BY_EVIDENCE, TAILS, weight=CLUSTER)

    shown = found["no_regression::RR_10.all"]
    assert shown.verdict == "inconclusive"
    assert "200 queries in 40 clusters cannot tell this from chance, as only 4 of the 40 clusters" in shown.headline
    assert shown.figures[0].p == pytest.approx(1 / 16)
    assert found["worsened::RR_10"].verdict == "inconclusive"
    assert town.gate(TAILS, weight="")["worsened::RR_10"].verdict == "fail"


@pytest.mark.parametrize("change", [{"order": 3}, {"names": "x-{:04}"}])
def test_neither_the_order_of_rows_nor_names_of_clusters_change_a_digit(change, tmp_path):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12)
    plain = made(tmp_path / "a", *kinds, intents=groups_of(5, 200)).only(BY_EVIDENCE, weight=CLUSTER)
    intents = [f"other {200 - int(name[1:])}" for name in groups_of(5, 200)]
    other = made(tmp_path / "b", *kinds, intents=intents, **change).only(BY_EVIDENCE, weight=CLUSTER)

    assert other.headline.partition("; worst")[0] == plain.headline.partition("; worst")[0]
    assert dict(other.numbers) == pytest.approx(dict(plain.numbers), abs=1e-12)


def test_a_stratum_counts_as_much_as_its_share(tmp_path):
    segments = ["head"] * 50 + ["tail"] * 150
    town = made(tmp_path, (SAME, 30), (LOSS, 20), (SAME, 110), (GAIN, 40), segments=segments)
    strata = "population: {strata: segment, shares: {head: 90%, tail: 10%}}\n"

    plain, shared = (town.only(BY_EVIDENCE, weight=text) for text in ("", strata))

    assert plain.figures[0].change > 0 > shared.figures[0].change
    assert shared.figures[0].change == pytest.approx(-0.9 * 0.4 * 0.5 + 0.1 * 40 / 150 * 0.5)
    assert (plain.verdict, shared.verdict) == ("pass", "fail")
    assert "mean of the strata by their shares: segment=head 90%, segment=tail 10%" in shared.statistics
    assert (
        town.only("no_regression: {metric: RR@10, tolerance: 2%, decide_by: observed}", weight=strata).figures[0].change
        > 0
    )


def test_shares_follow_from_the_sizes_of_strata(tmp_path):
    town = made(tmp_path, (SAME, 90), (LOSS, 10), (SAME, 90), (GAIN, 10), segments=["head"] * 100 + ["tail"] * 100)
    shares = town.only(BY_EVIDENCE, weight="population: {strata: segment, shares: {head: 20%, tail: 80%}}\n")
    sizes = town.only(BY_EVIDENCE, weight="population: {strata: segment, size: {head: 200, tail: 800}}\n")

    assert sizes.figures[0].change == shares.figures[0].change
    assert sizes.figures[0].high - sizes.figures[0].low < shares.figures[0].high - shares.figures[0].low


@pytest.mark.parametrize("where", ["where: {segment: head}", "per: segment"])
def test_a_slice_that_is_a_stratum_is_judged_as_if_there_were_no_other(where, tmp_path):
    town = made(tmp_path, (SAME, 90), (LOSS, 10), (SAME, 90), (GAIN, 10), segments=["head"] * 100 + ["tail"] * 100)
    rule = f"{BY_EVIDENCE[:-1]}, {where}}}"

    plain = town.gate(rule, weight="")
    shared = town.gate(rule, weight="population: {strata: segment, shares: {head: 60%, tail: 40%}}\n")

    name = "no_regression::RR_10.segment-head"
    assert dict(shared[name].numbers) == pytest.approx(dict(plain[name].numbers))


def test_a_slice_across_strata_keeps_their_shares(tmp_path):
    segments, intents = ["head"] * 60 + ["tail"] * 60, ["a", "b"] * 60
    town = made(tmp_path, (SAME, 40), (LOSS, 20), (SAME, 40), (GAIN, 20), segments=segments, intents=intents)
    strata = "population: {strata: segment, shares: {head: 90%, tail: 10%}}\n"

    shown = town.only(f"{BY_EVIDENCE[:-1]}, where: {{intent: a}}}}", weight=strata)

    assert shown.figures[0].queries == 60
    assert shown.figures[0].change == pytest.approx((-0.9 + 0.1) / 3 * 0.5)


def test_a_large_part_of_a_population_shows_more(tmp_path):
    town = made(tmp_path, (SAME, 170), (LOSS, 16), (GAIN, 14))
    endless, large = (town.only(BY_EVIDENCE, weight=text).figures[0] for text in ("", "population: {size: 250}\n"))

    assert large.high - large.low == pytest.approx((endless.high - endless.low) * 0.2**0.5)
    assert large.resolution == pytest.approx(endless.resolution * 0.2**0.5)
    assert large.needed < 250 < endless.needed
    assert any(
        "a large part of a population of 250: the interval is 55% shorter" in fact
        for fact in town.only(BY_EVIDENCE, weight="population: {size: 250}\n").statistics
    )


@pytest.mark.parametrize(
    ("kinds", "verdict", "words"),
    [
        (((SAME, 8), (SMALL_LOSS, 2)), "fail", "fell 3.6% (tolerance 2%, exact: these queries are the population)"),
        (((SAME, 400), (SMALL_LOSS, 2)), "pass", "fell 0.1% (tolerance 2%)"),
        (((SAME, 8), (GAIN, 2)), "pass", "rose 20.0% (tolerance 2%)"),
        (((SAME, 8), (GAIN, 2), (LOSS, 2)), "pass", "did not change (tolerance 2%)"),
        (((LOSS, 1),), "fail", "fell 50.0% (tolerance 2%, exact: these queries are the population)"),
    ],
)
def test_of_a_whole_population_the_change_is_exact(kinds, verdict, words, tmp_path):
    town = made(tmp_path, *kinds)
    size = sum(count for _, count in kinds)

    shown = town.only(BY_EVIDENCE, weight=f"population: {{size: {size}}}\n")

    assert (shown.verdict, shown.warning) == (verdict, False)
    assert shown.headline == f"RR@10 {words}"
    assert shown.figures[0].low is None


def test_clusters_of_a_finite_population_and_weights_go_together(tmp_path):
    kinds = (SAME, 170), (LOSS, 18), (GAIN, 12)
    town = made(tmp_path, *kinds, intents=groups_of(5, 200), weights=[1 + i % 3 for i in range(200)])
    rule = f"{BY_EVIDENCE[:-1]}, weighted: true}}"
    alone = town.only(rule, weight=f"weight: searches\n{CLUSTER}").figures[0]

    both = town.only(rule, weight=f"weight: searches\n{CLUSTER}population: {{size: 800}}\n").figures[0]

    assert both.clusters == 40
    assert both.high - both.low == pytest.approx((alone.high - alone.low) * 0.75**0.5)


BROKEN = [
    ("cluster: intnt\n", "queries.tsv has no column 'intnt'", "did you mean 'intent'?"),
    (
        "population: {strata: segmnt, shares: {head: 50%, tail: 50%}}\n",
        "has no column 'segmnt'",
        "did you mean 'segment'?",
    ),
    ("population: {strata: segment, shares: {head: 100%}}\n", "segment=tail has no share", "known: head"),
    (
        "population: {strata: segment, shares: {heda: 50%, tail: 50%}}\n",
        "no query has segment='heda'",
        "did you mean 'head'?",
    ),
    ("population: {strata: segment, shares: {head: 50%, tail: 40%}}\n", "the shares sum to 90%", "allowed: 100%"),
    ("population: {strata: segment, shares: {head: 1.5, tail: 40%}}\n", "'1.5' is not a valid share", "write 60%"),
    ("population: {strata: segment}\n", "the share of each stratum is missing", "one for each value of segment"),
    ("population: {shares: {head: 100%}}\n", "shares needs strata", "add strata: COLUMN"),
    ("population: {strata: segment, size: 500}\n", "one size for all strata", "one for each stratum"),
    ("population: {size: 199}\n", "the population has 199 queries, but queries.tsv has 200", "size: 200 or more"),
    ("population: {size: some}\n", "'some' is not a valid whole number from 1", ""),
    ("population: {sizes: 500}\n", "unknown key 'sizes'", "did you mean 'size'?"),
    ("population: {strata: segment, size: {head: 9, tail: 900}}\n", "has 9 queries with segment=head", "100 or more"),
    ("cluster: every\n", "has no column 'every'", ""),
    (
        f"{CLUSTER}population: {{strata: segment, shares: {{head: 50%, tail: 50%}}}}\n",
        "intent=i0 has queries of",
        "one stratum",
    ),
]


@pytest.mark.parametrize(("text", "complaint", "more"), BROKEN)
def test_what_queries_contradict_is_a_mistake_with_its_place(text, complaint, more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    town = made(tmp_path, (SAME, 200), intents=groups_of(5, 200))

    with pytest.raises(SuiteError) as error:
        town.gate(BY_EVIDENCE, weight=text)

    said = str(error.value)
    assert complaint in said
    assert more in said
    assert "town.ireval.yaml:6:" in said


def test_strata_and_clusters_of_one_are_a_mistake(tmp_path):
    town = made(tmp_path, (SAME, 40), segments=["head"] * 39 + ["tail"], intents=["i"] * 40)

    with pytest.raises(SuiteError, match="segment=tail has 1 query: one alone does not show how much they differ"):
        town.gate(BY_EVIDENCE, weight="population: {strata: segment, shares: {head: 50%, tail: 50%}}\n")
    with pytest.raises(SuiteError, match="all queries have intent=i: evidence needs more than one cluster"):
        town.gate(BY_EVIDENCE, weight=CLUSTER)


def test_a_stratum_that_waivers_leave_one_query_is_inconclusive(tmp_path):
    town = made(tmp_path, (LOSS, 40), segments=["head"] * 38 + ["tail"] * 2)
    waived = "waive: [{query: q0039, until: 2099-01-01, reason: x}]\n"

    found = town.gate(
        BY_EVIDENCE, weight="population: {strata: segment, shares: {head: 50%, tail: 50%}}\n", more=waived
    )

    shown = found["no_regression::RR_10.all"]
    assert shown.verdict == "inconclusive"
    assert "segment=tail has 1 query with a value: evidence needs two of each stratum" in shown.headline


HARMLESS = [
    "",
    CLUSTER,
    "population: {size: 200}\n",
    "population: {size: 100000}\n",
    "population: {strata: segment, shares: {head: 50%, tail: 50%}}\n",
    "population: {strata: segment, shares: {head: 33.3%, tail: 66.6%}}\n",
    "population: {strata: segment, size: {head: 100, tail: 5000}}\n",
    "population: {strata: segment, shares: {head: 60%, tail: 40%}, size: {head: 100}}\n",
    f"{CLUSTER}population: {{size: 300}}\n",
    f"weight: searches\n{CLUSTER}",
    "weight: searches\npopulation: {strata: segment, shares: {head: 50%, tail: 50%}}\n",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_change_that_harms_nothing_stays_green(text, tmp_path):
    town = made(tmp_path, (SAME, 90), (GAIN, 20), (SAME, 90), intents=groups_of(5, 200))

    found = town.gate(BY_EVIDENCE, TAILS, f"{BY_EVIDENCE[:-1]}, per: segment}}", weight=text)

    assert {outcome.verdict for outcome in found.values()} == {"pass"}
