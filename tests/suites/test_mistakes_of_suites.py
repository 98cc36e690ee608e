"""All mistakes of a suite are said at once, each once, with its place and what would be right."""

import re
from datetime import date

import pytest
from pydantic import Field, model_validator
from toy_kinds import BEGINNING, with_kinds

from pytest_ireval import load_registry
from pytest_ireval.errors import PluginError
from pytest_ireval.options import AmountText, DayText, DurationText, MetricText, PathTexts, RuleOptions, SecretText
from pytest_ireval.plugins.kinds import rule

KEYS = (
    "ireval, suite, owner, tags, source, depth, queries, weight, cluster, judgments, documents, metrics, "
    "dialect, ties, missing_queries, no_relevant, rules, waive, watches, extends, matrix"
)
KNOWN = load_registry().vocabulary.known
JUDGED = BEGINNING + "judgments: judgments.txt\n"


def test_four_mistakes_are_said_at_once_in_the_order_of_their_lines(mistakes):
    text = """\
ireval: 1
suite: shop
source: {run: c.trec}
judgments: judgments.txt
metricz: [nDCG@10]
rules:
  - threshold: {nDCG@10: "0.85"}
  - no_regression: {metric: ndgc@10, tolerance: 1%}
  - no_regresion: {metric: nDCG@10, tolerance: 1%}
"""

    assert mistakes(text) == (
        "shop.yaml:5:1\n"
        "  unknown key 'metricz'\n"
        "  did you mean 'metrics'?\n"
        f"  allowed: {KEYS}\n"
        "shop.yaml:7:26: rules > 1 > threshold > nDCG@10\n"
        "  '0.85' is not a valid bound: write '>= 0.85' (or <=, >, <)\n"
        "shop.yaml:8:29: rules > 2 > no_regression > metric\n"
        "  unknown metric 'ndgc'\n"
        "  did you mean 'nDCG@10'?\n"
        f"  {KNOWN}\n"
        "shop.yaml:9:5: rules > 3\n"
        "  unknown rule 'no_regresion'\n"
        "  did you mean 'no_regression'?\n"
        "  available: threshold, no_regression, churn, expect"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "ireval: 1\nsource: {run: c.trec}\n",
            "shop.yaml:1:1\n"
            "  the key 'suite' is missing\n"
            "  suite: The name of the suite: letters, digits, `_`, `.` and `-`; unique in a run.",
        ),
        (
            "ireval: 1\nsuite: shop\n",
            "shop.yaml:1:1\n  the key 'source' is missing\n  source: The source of the rankings, of exactly one kind.",
        ),
        (
            "suite: shop\n",
            "shop.yaml\n"
            "  is not a suite\n"
            "  add the line 'ireval: 1', or rename it to _shop.yaml if it is only for other files to extend",
        ),
        ("ireval: 2\nfuture: yes\n", "shop.yaml:1:9: ireval\n  unknown suite format '2'; this version reads 1"),
        (BEGINNING + "partial: true\n", f"shop.yaml:4:1\n  unknown key 'partial'\n  allowed: {KEYS}"),
        (
            BEGINNING.replace("shop", "Käse & Co"),
            "shop.yaml:2:8: suite\n  'Käse & Co' is not a name for a suite\n  allowed: letters, digits, _ . and -",
        ),
        (
            BEGINNING + "rules:\n  - churn: {at_most:1}\n",
            "shop.yaml:5:13: rules > 1 > churn\n"
            "  unknown key 'at_most:1'\n"
            "  missing space after the colon: at_most: 1\n"
            "  allowed: name, where, per, tags, on_fail, min_queries, against, at_most",
        ),
        (BEGINNING + "depth: 0\n", "shop.yaml:4:8: depth\n  '0' is not a valid whole number from 1"),
        (BEGINNING + "depth: [1]\n", "shop.yaml:4:1: depth\n  a list is not a valid whole number from 1"),
        (
            BEGINNING + "ties: tre\n",
            "shop.yaml:4:7: ties\n  'tre' is unknown\n  did you mean 'trec'?\n  allowed: trec, input",
        ),
        (
            BEGINNING + "queries: no.tsv\n",
            "shop.yaml:4:10: queries\n  no such file: no.tsv\n  a path is relative to the file it is written in",
        ),
        (
            BEGINNING + "judgments: {file: judgments.txt, format: trc}\n",
            "shop.yaml:4:42: judgments > format\n"
            "  unknown format 'trc' of judgments\n"
            "  did you mean 'trec'?\n"
            "  available: arrow, beir, csv, elasticsearch, feather, json, jsonl, letor, opensearch-workbench, parquet, "
            "prels, quepid-book, quepid-case, rre, smart, srw, svmlight, table, trec, trec-diversity, tsv",
        ),
        (
            BEGINNING + "judgments: {file: judgments.txt, locked: true}\n",
            "shop.yaml:4:34: judgments\n"
            "  unknown key 'locked'\n"
            "  did you mean 'lock'?\n"
            "  allowed: file, format, relevant_from, scale, unjudged, lock, grades, preferences",
        ),
        (
            BEGINNING + "judgments: {format: trec}\n",
            "shop.yaml:4:1: judgments\n"
            "  the key 'file' is missing\n"
            "  file: The path, relative to the file it is written in.",
        ),
        (
            BEGINNING + "judgments: {file: judgments.txt, scale: {low: x}}\n",
            "shop.yaml:4:42: judgments > scale > low\n  'low' is not a valid number",
        ),
        (
            BEGINNING + "documents: none\n",
            "shop.yaml:4:12: documents\n  a mapping is expected here, such as {key: value}",
        ),
        (BEGINNING + "waive: {query: q}\n", "shop.yaml:4:1: waive\n  a list is expected here, such as [one, two]"),
        (
            BEGINNING + "waive: [{query: q, until: soon, reason: x}]\n",
            "shop.yaml:4:27: waive > 1 > until\n  'soon' is not a valid day: write 2027-04-01",
        ),
        (
            BEGINNING
            + "waive:\n  - {query: q, until: 2027-04-01, reason: x}\n  - {query: q, until: 2027-05-01, reason: y}\n",
            "shop.yaml:6:13: waive > 2 > query\n  query 'q' is waived twice\n  the first is in line 5",
        ),
        (
            BEGINNING + "weight: hits\n",
            "shop.yaml:4:1: weight\n  weight is a column of the queries, but the suite names no queries",
        ),
        (
            BEGINNING + "cluster: intent\n",
            "shop.yaml:4:1: cluster\n  cluster is a column of the queries, but the suite names no queries",
        ),
        (
            BEGINNING + "metrics: [AP]\n",
            "shop.yaml:4:1: metrics\n  metrics need judgments, but the suite names none: AP",
        ),
        (
            JUDGED + "depth: 5\nmetrics: [AP, nDCG@10, P@5]\n",
            "shop.yaml:6:15: metrics > 2\n"
            "  nDCG@10 looks at 10 documents of a ranking, but depth is 5\n"
            "  write depth: 10, or more",
        ),
        (
            JUDGED + "metrics: [P@1000000]\n",
            "shop.yaml:5:11: metrics > 1\n"
            "  P@1000000 looks at 1000000 documents of a ranking, but depth is 100\n"
            "  write depth: 1000000, or more",
        ),
        (
            JUDGED + "depth: 5\nrules:\n  - threshold: {nDCG@10: '> 0'}\n",
            "shop.yaml:7:17: rules > 1 > threshold\n"
            "  nDCG@10 looks at 10 documents of a ranking, but depth is 5\n"
            "  write depth: 10, or more",
        ),
        (
            BEGINNING + "rules: churn\n",
            "shop.yaml:4:1: rules\n  is not a list: each rule begins with a hyphen, - threshold: {nDCG@10: '>= 0.85'}",
        ),
        (
            BEGINNING + "rules: [churn]\n",
            "shop.yaml:4:9: rules > 1\n"
            "  a rule is a mapping with one key, its kind\n"
            "  write churn: {…}\n"
            "  available: threshold, no_regression, churn, expect",
        ),
        (
            BEGINNING + "rules:\n  - churn:\n    at_most: 1\n",
            "shop.yaml:5:5: rules > 1\n"
            "  a rule is a mapping with one key, its kind, but here are churn, at_most\n"
            "  indent at_most deeper than churn\n"
            "  available: threshold, no_regression, churn, expect",
        ),
        (
            BEGINNING + "rules:\n  - churn:\n",
            "shop.yaml:5:5: rules > 1 > churn\n  the key 'at_most' is missing\n  at_most: How many.",
        ),
        (
            BEGINNING + "rules:\n  - churn: {at_mots: 2}\n",
            "shop.yaml:5:13: rules > 1 > churn\n"
            "  unknown key 'at_mots'\n"
            "  did you mean 'at_most'?\n"
            "  allowed: name, where, per, tags, on_fail, min_queries, against, at_most",
        ),
        (
            BEGINNING + "rules:\n  - churn: {at_most: 2, on_fail: warm}\n",
            "shop.yaml:5:34: rules > 1 > churn > on_fail\n"
            "  'warm' is unknown\n"
            "  did you mean 'warn'?\n"
            "  allowed: fail, warn",
        ),
        (
            BEGINNING + "rules:\n  - churn: {at_most: 2, per: x}\n",
            "shop.yaml:5:5: rules > 1 > churn > per\n"
            "  per is about columns of the queries, but the suite names no queries",
        ),
        (
            BEGINNING + "rules:\n  - churn: {at_most: 2, against: yesterday}\n",
            "shop.yaml:5:34: rules > 1 > churn > against\n"
            "  'yesterday' is not a reference\n"
            "  allowed: baseline, anchor, {run: …}, {python: …}",
        ),
        (
            BEGINNING + "rules:\n  - churn: {at_most: 2, against: {source: {run: []}}}\n",
            "shop.yaml:5:44: rules > 1 > churn > against > source > run\n"
            "  an empty list has no effect: name at least one",
        ),
        (
            BEGINNING + "rules:\n  - expect: [{query: a}, {query: b, tpo: 1}]\n",
            "shop.yaml:5:37: rules > 1 > expect > 2\n"
            "  unknown key 'tpo'\n"
            "  did you mean 'top'?\n"
            "  allowed: query, never, top",
        ),
        (
            BEGINNING + "rules:\n  - no_regression: {metric: AP, tolerance: 1%}\n",
            "shop.yaml:5:5: rules > 1 > no_regression\n  this rule needs judgments, but the suite names none",
        ),
        (
            JUDGED + "rules:\n  - no_regression: {metric: AP, tolerance: {head: 1%}}\n",
            "shop.yaml:6:5: rules > 1 > no_regression\n  a tolerance for each value needs per",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: c.trec\n",
            "shop.yaml:3:1: source\n"
            "  a source is a mapping with the key of its kind, such as {run: file}\n"
            "  available: run, python",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: {rum: c.trec}\n",
            "shop.yaml:3:1: source\n"
            "  none of its keys is a kind of source: 'rum'\n"
            "  did you mean 'run'?\n"
            "  available: run, python",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: {run: c.trec, python: a:b}\n",
            "shop.yaml:3:1: source\n  a source is of one kind, but here are run and python\n  available: run, python",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: {python: a:b, timeuot: 3}\n",
            "shop.yaml:3:23: source\n"
            "  unknown key 'timeuot'\n"
            "  did you mean 'timeout'?\n"
            "  allowed: repeat, python, timeout",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: {run: [c.trec, d.trec]}\n",
            "shop.yaml:3:24: source > run\n  no such file: d.trec\n  a path is relative to the file it is written in",
        ),
    ],
)
def test_a_mistake_says_where_what_and_what_would_be_right(mistakes, text, says):
    assert mistakes(text) == says


def test_judgments_that_are_missing_are_one_mistake(mistakes):
    rules = "rules:\n  - threshold: {AP: '> 0'}\n  - threshold: {RR: '> 0'}\n"

    assert mistakes(BEGINNING + rules) == (
        "shop.yaml:5:5: rules > 1 > threshold\n  this rule needs judgments (the first of 2), but the suite names none"
    )
    assert mistakes(BEGINNING + "judgment: judgments.txt\nmetrics: [AP]\n" + rules).startswith(
        "shop.yaml:4:1\n  unknown key 'judgment'\n  did you mean 'judgments'?"
    )
    assert mistakes(BEGINNING + "judgment: judgments.txt\nmetrics: [AP]\n" + rules).count("\n") == 3


def test_one_mistake_does_not_hide_another_that_rests_on_the_same_key(mistakes):
    text = JUDGED + "depth: 5\nmetrics: [ndgc@10, nDCG@10]\n"

    assert mistakes(text) == (
        f"shop.yaml:6:11: metrics > 1\n  unknown metric 'ndgc'\n  did you mean 'nDCG@10'?\n  {KNOWN}\n"
        "shop.yaml:6:20: metrics > 2\n  nDCG@10 looks at 10 documents of a ranking, but depth is 5\n"
        "  write depth: 10, or more"
    )


def test_what_is_wrong_as_yaml_and_what_is_wrong_as_a_suite_are_said_together(mistakes):
    assert mistakes(BEGINNING + "depth: 0\nowner: a\nowner: b\n") == (
        "shop.yaml:4:8: depth\n  '0' is not a valid whole number from 1\n"
        "shop.yaml:6:1\n  duplicate key 'owner'\n  the first is in line 5"
    )


def test_a_plugin_whose_options_raise_is_named(mistakes, toys):
    class BrokenOptions(RuleOptions):
        limit: int = Field(1)

        @model_validator(mode="before")
        @classmethod
        def _break(cls, data):
            raise KeyError("oops")

    @rule(name="broken", options=BrokenOptions)
    def broken(options, seen):
        """Never right."""

    registry = with_kinds(toys, [broken], toys.sources.values())

    shown = mistakes(BEGINNING + "rules: [{broken: {}}]\n", registry=registry)

    assert shown.startswith("shop.yaml:4:10: rules > 1 > broken\n  rule broken of toys 1.0 raised KeyError: 'oops'\n")
    assert re.search(r"\n  at \S+test_mistakes_of_suites\.py:\d+, in _break$", shown)


class DefaultOptions(RuleOptions):
    metric: MetricText = "nDCG@10"
    wait: DurationText = "30s"
    since: DayText = Field("2027-04-01")
    most: AmountText | None = None
    files: PathTexts = ()
    name_of: SecretText = ""


def rule_with(options):
    @rule(name="waits", options=options, judged=False)
    def waits(options, seen):
        """Waits."""

    return waits


def test_a_default_is_read_like_a_value_of_a_suite(toys):
    registry = with_kinds(toys, [rule_with(DefaultOptions)], ())
    options = registry.rules["waits"].options.model_validate({}, context={"registry": registry})

    assert (str(options.metric), options.wait, options.since) == ("nDCG@10", 30.0, date(2027, 4, 1))
    assert (options.most, options.files, options.name_of) == (None, (), "")


def test_a_default_that_its_own_type_refuses_names_the_option_and_the_plugin(mistakes, toys):
    class WrongOptions(RuleOptions):
        wait: DurationText = "soon"
        most: AmountText = None
        at_least: int = Field(1, ge=2)
        metric: MetricText = "nDGC@10"

    registry = with_kinds(toys, [rule_with(WrongOptions)], ())
    with pytest.raises(PluginError) as caught:
        dict(registry.rules)

    shown = [line for line in str(caught.value).splitlines() if not line.startswith("  ")]
    assert "  it comes from toys 1.0" in str(caught.value).splitlines()
    assert sorted(shown) == [
        "the options of waits have a wrong default for 'at_least': Input should be greater than or equal to 2",
        "the options of waits have a wrong default for 'metric': unknown metric 'nDGC'",
        "the options of waits have a wrong default for 'most': 'None' is not a valid amount: write 2 (a number) or "
        "5% (of all)",
        "the options of waits have a wrong default for 'wait': 'soon' is not a valid duration: write 30s, 500ms or 2m",
    ]


def test_the_defaults_of_built_in_kinds_fit_their_types():
    registry = load_registry()
    kinds = (*registry.rules.values(), *registry.sources.values())

    assert len(kinds) >= 10
    assert {kind.name: wrong for kind in kinds if (wrong := kind.options.wrong_defaults(registry))} == {}


def test_types_of_other_people_are_explained_too(mistakes, toys):
    class PlainOptions(RuleOptions):
        limit: int
        names: list[str] = []

    @rule(name="plain", options=PlainOptions, judged=False)
    def plain(options, seen):
        """Plain types."""

    registry = with_kinds(toys, [plain], toys.sources.values())

    assert mistakes(BEGINNING + "rules: [{plain: {limit: many, names: {a: b}}}]\n", registry=registry) == (
        "shop.yaml:4:25: rules > 1 > plain > limit\n"
        "  'many': input should be a valid integer, unable to parse string as an integer\n"
        "shop.yaml:4:31: rules > 1 > plain > names\n"
        "  a list is expected here, such as [one, two]"
    )
