"""Options of rules that contradict each other are refused where the suite is read, with what to write instead."""

import pytest

from pytest_ireval import load_registry
from pytest_ireval.errors import PluginError
from pytest_ireval.options import RuleOptions, SourceOptions
from pytest_ireval.plugins.kinds import diagnosis, rule, source

REGISTRY = load_registry()
SHOP = "ireval: 1\nsuite: shop\nsource: {run: c.trec}\njudgments: judgments.txt\n"
KINDS = "available: " + ", ".join(REGISTRY.rules)


def said(complaint):
    """The complaint without its place, which other tests check."""
    return complaint.split("\n  ", 1)[1]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("threshold: {metric: nDCG@10}", "sets no limit for nDCG@10: write min, max or both"),
        ('threshold: {nDCG@10: ">= 0.5", min: 0.2}', "of, min and max belong to the long form, which has a key metric"),
        ("threshold: {where: {segment: tail}}", 'names no metric: write nDCG@10: ">= 0.85", or metric, min and max'),
        ('threshold: {nDCG@10: ">= 0.5", nDCG@010: ">= 0.6"}', "names one metric twice: nDCG@10, nDCG@010"),
        (
            "threshold: {metric: nDCG@10, of: p101, min: 0.5}",
            "of: 'p101' is not a figure; allowed: mean, min, max, median, p1 to p99",
        ),
        ("threshold: 5", "a mapping is expected here, such as {key: value}"),
        (
            "churn: {overlap: nDCG@10, below: 0.8, at_most: 10%}",
            "nDCG@10 does not measure how similar two lists are: use RBO(p=0.9), Overlap@10, or a similar metric",
        ),
        (
            'churn: {overlap: "RBO(p=0.9)", below: 1.2, at_most: 10%}',
            "below: 1.2 is outside of the range of RBO: above 0, up to 1",
        ),
        ('churn: {overlap: "RBO(p=0.9)", below: 0.5, at_most: 100%}', "at_most: 100% lets everything pass"),
        ("expect: [{query: q1}]", "expects nothing: an expectation has one of document, never, order"),
        (
            "expect: [{query: q1, document: d1, never: [d2]}]",
            "has document and never: an expectation has one of document, never, order",
        ),
        ("expect: [{query: q1, order: [d1]}]", "an order takes two or more different documents"),
        ("expect: [{query: q1, order: [d1, d1]}]", "an order takes two or more different documents"),
        ("expect: {query: q1}", "is a list of expectations: - {query: q001, document: d7, top: 3}"),
        ("expect: []", "is a list of expectations: - {query: q001, document: d7, top: 3}"),
        (
            "no_regression: {metric: nDCG@10, tolerance: {head: 1%}}",
            "a tolerance for each value needs per: the column that has the values",
        ),
        (
            "no_regression: {metric: nDCG@10, tolerance: {absolut: 0.017}}",
            "unknown key 'absolut'\n  did you mean 'absolute'?",
        ),
        (
            "no_regression: {metric: nDCG@10, tolerance: {}}",
            "'' is not a valid tolerance: write 1% (of the baseline) or {absolute: 0.01}",
        ),
        (
            "no_regression: {metric: nDCG@10, tolerance: 1%, hard_limit: 5%, decide_by: observed}",
            "hard_limit is for rules that decide by evidence: remove decide_by: observed",
        ),
        (
            "no_regression: {metric: nDCG@10, tolerance: 10%, hard_limit: 5%, decide_by: evidence}",
            "hard_limit: 5% is less than the tolerance of 10%: write a hard_limit of 10% or more",
        ),
        ("[]", f"a rule is a mapping with one key, its kind\n  {KINDS}"),
        ("{}", f"a rule is a mapping with one key, its kind\n  {KINDS}"),
        ("[threshold]", f"a rule is a mapping with one key, its kind\n  {KINDS}"),
        ("threshold", f"a rule is a mapping with one key, its kind\n  write threshold: {{…}}\n  {KINDS}"),
    ],
)
def test_a_rule_that_contradicts_itself_is_refused(mistakes, rule, says):
    assert said(mistakes(f"{SHOP}rules:\n  - {rule}\n", registry=REGISTRY)) == says


class Own(RuleOptions):
    """Options without a key."""


class OwnSource(SourceOptions):
    """Options without a key."""


def undocumented(*_):
    return None


def documented(*_):
    """Do nothing."""


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: rule(name="Fresh Rule", options=Own)(documented),
            "'Fresh Rule' cannot be a key of a suite: use lower-case letters, digits and _",
        ),
        (
            lambda: rule(name="fresh", options=dict)(documented),
            "fresh: options=<class 'dict'> is not a subclass of RuleOptions",
        ),
        (
            lambda: rule(name="fresh", options=Own)(undocumented),
            "fresh: its function needs a docstring; editors and documentation show it",
        ),
        (
            lambda: source(name="shop", options=OwnSource)(documented),
            "source 'shop': its options need a field 'shop' for the value of the key",
        ),
        (
            lambda: diagnosis(name="Fresh-cause")(documented),
            "'Fresh-cause' cannot be the name of a diagnosis: use lower-case letters, digits and _",
        ),
    ],
)
def test_a_kind_that_no_suite_could_name_is_refused_where_it_is_declared(make, says):
    with pytest.raises(PluginError) as caught:
        make()

    assert str(caught.value) == says
