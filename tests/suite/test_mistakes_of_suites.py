"""All mistakes of a suite are said at once, each once, in the order of their lines."""

import re
from datetime import date

import pytest
from pydantic import Field, model_validator
from toy_kinds import BEGINNING, with_kinds

from pytest_ireval.errors import PluginError
from pytest_ireval.options import (
    AmountText,
    DayText,
    DurationText,
    MetricText,
    PathTexts,
    RuleOptions,
    SecretText,
    SourceOptions,
)
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.plugin_types import diagnosis, rule, source

KEYS = (
    "ireval, suite, owner, tags, source, depth, queries, weight, cluster, judgments, documents, baseline, metrics, "
    "dialect, ties, missing_queries, no_relevant, rules, waive, components, watches, extends, matrix"
)
KNOWN = installed_registry().vocabulary.known


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
        f"  available: {', '.join(installed_registry().rules)}"
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
            "suite: shop\n",
            "shop.yaml\n"
            "  is not a suite\n"
            "  add the line 'ireval: 1', or rename it to _shop.yaml if it is only for other files to extend",
        ),
        (
            BEGINNING + "metrics: [AP]\n",
            "shop.yaml:4:1: metrics\n  metrics need judgments, but the suite names none: AP",
        ),
        (
            BEGINNING + "rules:\n  - new_document: {at_most: 2, per: x}\n",
            "shop.yaml:5:5: rules > 1 > new_document > per\n"
            "  per is about columns of the queries, but the suite names no queries",
        ),
        (
            BEGINNING + "rules:\n  - no_regression: {metric: AP, tolerance: 1%}\n  - threshold: {RR: '> 0'}\n",
            "shop.yaml:5:5: rules > 1 > no_regression\n"
            "  this rule needs judgments (the first of 2), but the suite names none",
        ),
        (
            BEGINNING + "judgment: judgments.txt\nmetrics: [AP]\n",  # so that none are missing
            f"shop.yaml:4:1\n  unknown key 'judgment'\n  did you mean 'judgments'?\n  allowed: {KEYS}",
        ),
        (
            BEGINNING + "depth: 0\nowner: a\nowner: b\n",
            "shop.yaml:4:8: depth\n  0 is out of range: write 1 or more\n"
            "shop.yaml:6:1\n  duplicate key 'owner'\n  the first is in line 5",
        ),
        (
            BEGINNING + "tags: [a]\ntags: [b]\n",
            "shop.yaml:5:1\n  duplicate key 'tags'\n  the first is in line 4: add to its list",
        ),
        (
            BEGINNING
            + "rules:\n  - churn: {overlap: RBO(p=0.9), below: 0.5, at_most: 10%, against: {source: {run: a.trec}}}\n",
            "shop.yaml:5:60: rules > 1 > churn > against\n  the key 'source' is not needed here\n"
            "  write the source itself: {run: FILE}\n  available: baseline, anchor, run, python, command, http, "
            "elasticsearch, opensearch, solr, vespa, sql",
        ),
        *(
            (
                f"{BEGINNING}waive:\n  - {{query: q1, until: 2027-04-01, reason: {reason}}}\n",
                f"shop.yaml:5:44: waive > 1 > reason\n  {reason} is no reason\n"
                "  name a ticket, or say what has to happen",
            )
            for reason in ("'...'", "'…'", "'TODO'", "'Reason.'", "' '")
        ),
        (
            BEGINNING + "rules:\n  - expect:\n      - {query: q1, document: d, known_failure: '...'}\n",
            "shop.yaml:6:49: rules > 1 > expect > 1 > known_failure\n  '...' is no reason\n"
            "  name a ticket, or say what has to happen",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: {run: c.trec, repeat: 1e9}\ndepth: 1e9\ndocuments: {size: 1e13}\n",
            "shop.yaml:3:31: source > repeat\n  1e+09 is out of range: write 1,000 or less\n"
            "shop.yaml:4:8: depth\n  1e+09 is out of range: write 10,000,000 or less\n"
            "shop.yaml:5:19: documents > size\n  '1e13' is out of range: write 1,000,000,000,000 or less",
        ),
        (
            "ireval: 1\nsuite: shop\nsource: {http: 'http://h/{text}', hits: h, timeout: 9999h, concurrency: 5000}\n",
            "shop.yaml:3:53: source > timeout\n  '9999h' is out of range: write 168h or less\n"
            "shop.yaml:3:73: source > concurrency\n  5000 is out of range: write 1,000 or less",
        ),
    ],
)
def test_a_mistake_of_several_parts_is_said_once(mistakes, text, says):
    assert mistakes(text) == says


def test_a_plugin_whose_options_raise_is_named(mistakes, registry):
    class BrokenOptions(RuleOptions):
        limit: int = Field(1)

        @model_validator(mode="before")
        @classmethod
        def _break(cls, data):
            raise KeyError("oops")

    @rule(name="broken", options=BrokenOptions)
    def broken(options, seen):
        """Never right."""

    registry = with_kinds(registry, [broken], registry.sources.values())

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
    @rule(name="waits", options=options)
    def waits(options, seen):
        """Waits."""

    return waits


def test_a_default_is_read_like_a_value_of_a_suite(registry):
    registry = with_kinds(registry, [rule_with(DefaultOptions)], ())
    options = registry.rules["waits"].options.model_validate({}, context={"registry": registry})

    assert (str(options.metric), options.wait, options.since) == ("nDCG@10", 30.0, date(2027, 4, 1))
    assert (options.most, options.files, options.name_of) == (None, (), "")


def test_a_default_that_its_own_type_refuses_names_the_option_and_the_plugin(mistakes, registry):
    class WrongOptions(RuleOptions):
        wait: DurationText = "soon"
        most: AmountText = None
        at_least: int = Field(1, ge=2)
        metric: MetricText = "nDGC@10"

    registry = with_kinds(registry, [rule_with(WrongOptions)], ())
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
    registry = installed_registry()
    kinds = (*registry.rules.values(), *registry.sources.values())

    assert len(kinds) >= 10
    assert {kind.name: wrong for kind in kinds if (wrong := kind.options.find_wrong_defaults(registry))} == {}


def test_types_of_other_people_are_explained_too(mistakes, registry):
    class PlainOptions(RuleOptions):
        limit: int
        names: list[str] = []

    @rule(name="plain", options=PlainOptions)
    def plain(options, seen):
        """Plain types."""

    registry = with_kinds(registry, [plain], registry.sources.values())

    assert mistakes(BEGINNING + "rules: [{plain: {limit: many, names: {a: b}}}]\n", registry=registry) == (
        "shop.yaml:4:25: rules > 1 > plain > limit\n"
        "  'many': input should be a valid integer, unable to parse string as an integer\n"
        "shop.yaml:4:31: rules > 1 > plain > names\n"
        "  a list is expected here, such as [one, two]"
    )


class Own(RuleOptions):
    """Options without a key."""


class OwnSource(SourceOptions):
    """Options without a key."""


def documented(*_):
    """Do nothing."""


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: rule(name="Fresh Rule", options=Own)(documented), "'Fresh Rule' cannot be a key of a suite"),
        (lambda: rule(name="fresh", options=dict)(documented), "fresh: options=<class 'dict'> is not a subclass of"),
        (lambda: rule(name="fresh", options=Own)(lambda *_: None), "fresh: its function needs a docstring"),
        (lambda: source(name="shop", options=OwnSource)(documented), "source 'shop': its options need a field 'shop'"),
        (lambda: diagnosis(name="Fresh-cause")(documented), "'Fresh-cause' cannot be the name of a diagnosis"),
    ],
)
def test_a_kind_that_no_suite_could_name_is_refused_where_it_is_declared(make, says):
    with pytest.raises(PluginError, match=re.escape(says)):
        make()
