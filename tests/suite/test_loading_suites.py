"""A suite file becomes suites whose parts are typed and know where they were written."""

from datetime import date

import pytest
from toy_kinds import BEGINNING

from pytest_ireval import SuiteError, load_suite, load_suites
from pytest_ireval.results.policies import Policies
from pytest_ireval.suite.quantities import Tolerance, Tolerances
from pytest_ireval.suite.suite import STORED, Place, Waiver

WHOLE = """\
ireval: 1
suite: product-search
owner: "@search-team"
tags: [products]
source: {run: c.trec}
depth: 20
queries: queries.tsv
weight: searches_per_day
judgments: {file: judgments.txt, relevant_from: 1, scale: {0: no, 3: perfect}, unjudged: removed, lock: true}
documents: {size: 120000}
metrics: [nDCG@10, "P@[5, 10]"]
ties: input
missing_queries: zero
no_relevant: ignore
rules:
  - threshold: {nDCG@10: ">= 0.85", Judged@10: ">= 0.70"}
  - no_regression: {metric: RR@10, per: segment, tolerance: {head: 1%, default: 3%}, name: first hit}
  - expect:
      - {query: 007, never: [banned-17], top: 5}
      - {query: q2, never: [banned-17]}
waive:
  - {query: q017, until: 2027-04-01, reason: "SEARCH-9: supplier feed broken"}
"""


def test_everything_a_suite_says_is_there(suites, tmp_path):
    (suite,) = suites(WHOLE)

    assert (suite.name, suite.owner, suite.tags, suite.weight) == (
        "product-search",
        "@search-team",
        ("products",),
        "searches_per_day",
    )
    assert (suite.path, suite.shown, suite.files) == (tmp_path / "shop.yaml", "shop.yaml", (tmp_path / "shop.yaml",))
    assert suite.source.kind.name == "run"
    assert suite.source.options.run == (tmp_path / "c.trec",)
    assert (suite.queries.file.path, suite.queries.file.place) == (tmp_path / "queries.tsv", Place("shop.yaml", 7, 10))
    assert suite.judgments.file.path == tmp_path / "judgments.txt"
    assert suite.judgments.file.place == Place("shop.yaml", 9, 19)
    assert (suite.judgments.relevant_from, suite.judgments.lock) == (1.0, True)
    assert suite.judgments.scale == {0.0: "no", 3.0: "perfect"}
    assert suite.documents.size == 120000
    assert suite.policies == Policies(
        ties="input", missing_queries="zero", no_relevant="ignore", unjudged="removed", depth=20, scale=3.0
    )
    assert suite.documents.size == 120000
    assert suite.waivers == (
        Waiver("q017", date(2027, 4, 1), "SEARCH-9: supplier feed broken", Place("shop.yaml", 22, 5)),
    )
    assert list(suite.columns()) == ["segment", "searches_per_day"]


def test_metrics_are_those_listed_and_then_those_of_rules(suites):
    (suite,) = suites(WHOLE)

    assert list(map(str, suite.metrics)) == ["nDCG@10", "P@5", "P@10", "Judged@10", "RR@10"]


def test_rules_know_their_lines_and_those_of_their_parts(suites):
    (suite,) = suites(WHOLE)
    threshold, regression, expect = suite.rules

    assert [rule.place.line for rule in suite.rules] == [16, 17, 18]
    assert threshold.places == (Place("shop.yaml", 16, 17), Place("shop.yaml", 16, 37))
    assert [str(part.metric) for part in threshold.parts] == ["nDCG@10", "Judged@10"]
    assert regression.options.tolerance == Tolerances(Tolerance(0.03), {"head": Tolerance(0.01)})
    assert (regression.options.name, regression.options.against) == ("first hit", STORED)
    assert regression.places == (Place("shop.yaml", 17, 5),)
    assert [part.label for part in expect.parts] == ["007.never", "q2.never"]
    assert expect.places == (Place("shop.yaml", 19, 9), Place("shop.yaml", 20, 9))


def test_a_small_suite_has_defaults(suites):
    (suite,) = suites(BEGINNING)

    assert suite.policies == Policies(depth=100)
    assert (suite.owner, suite.tags, suite.rules, suite.metrics, suite.judgments) == ("", (), (), (), None)


def test_a_rule_may_compare_with_what_another_source_returns(suites, tmp_path):
    text = BEGINNING + "rules:\n  - new_document: {at_most: 5%, against: {run: judgments.txt}}\n"
    text += "  - new_document: {at_most: 5%, against: {run: queries.tsv}}\n"
    (suite,) = suites(text)

    first, second = (rule.options.against.source for rule in suite.rules)
    assert (first.kind.name, first.options.run, first.place) == (
        "run",
        (tmp_path / "judgments.txt",),
        Place("shop.yaml", 5, 43),
    )
    assert second.options.run == (tmp_path / "queries.tsv",)


def test_a_suite_is_named_as_the_one_who_loads_it_wishes(suites):
    (suite,) = suites(BEGINNING, shown="../suites/shop.yaml")

    assert suite.place == Place("../suites/shop.yaml", 1, 1)


def test_a_pattern_of_files_may_fit_nothing_yet(suites, tmp_path):
    (suite,) = suites("ireval: 1\nsuite: shop\nsource: {run: 'runs/*.trec'}\n")

    assert suite.source.options.run == (tmp_path / "runs" / "*.trec",)


def test_a_file_with_one_suite_is_loaded_as_one(shop, registry):
    assert load_suite(shop("shop.yaml", BEGINNING), registry).name == "shop"


def test_a_file_with_several_suites_is_not_one(shop, registry):
    path = shop("shop.yaml", BEGINNING + "owner: '{locale}'\nmatrix: {locale: [de, fr]}\n")

    with pytest.raises(SuiteError) as caught:
        load_suite(path, registry)

    assert str(caught.value) == "shop.yaml\n  holds 2 suites: shop.de, shop.fr\n  use load_suites"


def test_installed_kinds_are_known_if_nobody_says_otherwise(shop):
    with pytest.raises(SuiteError, match="unknown rule 'thresholt'"):
        load_suites(shop("shop.yaml", BEGINNING + "rules: [{thresholt: {nDCG@10: '>= 0.8'}}]\n"))
