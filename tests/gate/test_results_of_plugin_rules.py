"""Whatever a plugin's rule returns, files can hold and other processes understand, or it is an error of the rule."""

import pytest

RULES = """\
import enum
from decimal import Decimal

import numpy as np
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.options import RuleOptions


class Told(str, enum.Enum):
    GREEN = "pass"


class Own(str):
    pass


class OddOptions(RuleOptions):
    pass


@rule(name="odd", options=OddOptions)
def odd(options, context):
    '''Says what is asked for.'''
    return {returned}


@hookimpl
def ireval_rules():
    return [odd]
"""


@pytest.fixture
def odd(shop):
    """Gates the suite with a rule that returns this; with arguments pytest does, whose workers see its conftest.py."""
    folder = shop.path / "below"
    folder.mkdir()
    shop.change(("rules:\n", "rules:\n  - odd: {name: one}\n"))
    for name in ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml"):
        (shop.path / name).rename(folder / name)

    def run(returned, *arguments):
        (folder / "conftest.py").write_text(RULES.replace("{returned}", returned))
        result = shop.run("--ireval-update-new", *arguments) if arguments else shop.gate(folder)
        (suite,) = shop.results()["suites"]
        return result, next(each for each in suite["outcomes"] if each["kind"] == "odd")

    return run


@pytest.mark.parametrize(
    "arguments", [("-n0",), pytest.param(("-n1",), marks=pytest.mark.ci)], ids=["alone", "parallel"]
)
def test_texts_and_numbers_of_any_class_are_texts_and_numbers(odd, arguments):
    if arguments == ("-n1",):
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")

    numbers = "{'a': Decimal('1.5'), 'b': np.float32(2), 3: 4}"
    result, outcome = odd(
        f"RuleResult(Told.GREEN, Own('fine'), facts=(each for each in [Own('a')]), numbers={numbers})", *arguments
    )

    assert (result.ret, outcome["verdict"], outcome["headline"]) == (0, "pass", "fine"), result.stdout.str()
    assert (outcome["facts"], outcome["numbers"]) == (["a"], {"a": 1.5, "b": 2.0, "3": 4.0})


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        ("RuleResult('pass', 'fine', numbers={'a': float('nan')})", "numbers > a: expected a number, found nan"),
        ("RuleResult('pass', 'fine', figures=('x',))", "'str' object has no attribute 'slice'"),
    ],
)
def test_what_no_file_can_hold_is_an_error_of_the_rule(odd, returned, complaint):
    outcome = odd(returned)[1]

    assert outcome["verdict"] == "error"
    assert (
        outcome["headline"]
        == f"rule odd of below/conftest.py returned a RuleResult that cannot be written to a file: {complaint}"
    )


TESTED = """\
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.options import EvidenceOptions, MetricText


class LossOptions(EvidenceOptions):
    metric: MetricText


def p(options, context):
    {body}


@rule(name="loss", options=LossOptions, p_value=p)
def loss(options, context):
    '''Shows its p.'''
    return RuleResult("pass", f"p {{context.adjust_p(p(options, context))}} of {{context.tested_checks}}")


@hookimpl
def ireval_rules():
    return [loss]
"""


def run_with_rule(shop, body):
    """What such a rule says beside three rules of ours that evidence decides."""
    shop.accept()
    (shop.path / "conftest.py").write_text(TESTED.format(body=body))
    ours = "  - no_regression: {metric: nDCG@10, tolerance: 5%, decide_by: evidence, min_queries: 5, name: nNUMBER}\n"
    own = "  - loss: {metric: nDCG@10, decide_by: evidence, min_queries: 5}\n"
    shop.change(("rules:\n", "rules:\n" + own + "".join(ours.replace("NUMBER", each) for each in "012")))
    shop.gate()
    (suite,) = shop.results()["suites"]
    return next(each for each in suite["outcomes"] if each["kind"] == "loss")


def test_the_p_of_a_plugins_rule_is_corrected_with_those_of_ours(shop):
    assert run_with_rule(shop, "return 0.01")["headline"] == "p 0.04 of 4"


def test_what_a_plugins_test_raises_is_an_error_of_its_rule(shop):
    outcome = run_with_rule(shop, "raise LookupError('no p today')")

    assert outcome["verdict"] == "error"
    assert outcome["headline"].endswith("conftest.py raised LookupError: no p today")
    assert outcome["facts"] == ["at conftest.py:10, in p"]


def test_what_a_plugins_rule_raises_is_shown_with_its_line(odd):
    result, outcome = odd("np.array([[1.0]]) @ np.ones(3)", "-v")

    assert outcome["headline"].startswith("rule odd of below/conftest.py raised ValueError: matmul")
    assert outcome["facts"] == ["at below/conftest.py:24, in odd"]
    assert "at below/conftest.py:24, in odd" in result.stdout.str()


@pytest.mark.parametrize(
    ("returned", "headline"),
    [
        ("RuleResult('pass', b'fine')", "returned the headline b'fine'; it is a sentence"),
        ("RuleResult('pass', ' ')", "returned the headline ' '; it is a sentence"),
        (
            "RuleResult('red', 'fine')",
            "returned 'red'; a verdict is one of pass, warn, known_failure, inconclusive, stale, fail",
        ),
    ],
)
def test_a_result_without_a_headline_or_with_another_verdict_is_an_error_of_the_rule(odd, returned, headline):
    outcome = odd(returned)[1]

    assert outcome["verdict"] == "error"
    assert outcome["headline"] == f"rule odd of below/conftest.py {headline}"


SLACK = """\
from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.options import ComparingOptions, MetricText, ToleranceText
from pytest_ireval.plugin_api import compute_slice_figures


class SlackOptions(ComparingOptions):
    metric: MetricText
    tolerance: ToleranceText


@rule(name="slack", options=SlackOptions)
def slack(options, context):
    '''Returns figures alone.'''
    return RuleResult("pass", "fine", figures=(compute_slice_figures(options, context),))


@hookimpl
def ireval_rules():
    return [slack]
"""


def test_what_follows_from_figures_alone_is_told_of_a_plugins_rule_as_of_ours(shop):
    shop.accept()
    (shop.path / "conftest.py").write_text(SLACK)
    ours = "  - no_regression: {metric: nDCG@10, tolerance: 5%, decide_by: observed, name: ours}\n"
    shop.change(("rules:\n", "rules:\n  - slack: {metric: nDCG@10, tolerance: 5%}\n" + ours))
    shop.gate()
    (suite,) = shop.results()["suites"]
    by_kind = {each["kind"]: each for each in suite["outcomes"] if each["kind"] == "slack" or each["name"] == "ours"}

    assert by_kind["slack"]["numbers"] == by_kind["no_regression"]["numbers"]
    assert set(by_kind["slack"]["numbers"]) == {"value", "baseline", "change", "tolerance"}
    assert by_kind["slack"]["statistics"] == by_kind["no_regression"]["statistics"]


RAISING = """\
    tolerance: ToleranceText

    @property
    def {option}(self):
        raise LookupError("none today")
"""


@pytest.fixture
def raise_at(shop):
    """Gives the suite a rule of which asking for this option raises; a slice is too small for it."""

    def change(option):
        shop.accept()
        (shop.path / "conftest.py").write_text(
            SLACK.replace("    tolerance: ToleranceText\n", RAISING.format(option=option))
        )
        shop.change(("rules:\n", "rules:\n  - slack: {metric: nDCG@10, tolerance: 5%, min_queries: 99}\n"))
        return shop

    return change


@pytest.mark.parametrize("option", ["query_minimum", "below_min_queries"])
def test_what_the_options_of_a_plugins_rule_raise_is_an_error_of_that_rule_alone(raise_at, shop, option):
    raise_at(option).gate()
    (suite,) = shop.results()["suites"]
    verdicts = {each["kind"]: each["verdict"] for each in suite["outcomes"]}
    (outcome,) = (each for each in suite["outcomes"] if each["kind"] == "slack")

    assert (outcome["verdict"], outcome["headline"]) == (
        "error",
        "rule slack of conftest.py raised LookupError: none today",
    )
    assert outcome["facts"] == [f"at conftest.py:12, in {option}"]
    assert {kind for kind, verdict in verdicts.items() if verdict == "error"} == {"slack"}


def test_what_its_traits_raise_is_a_mistake_with_the_line_of_the_rule(raise_at):
    shown = raise_at("traits").run().stdout.str()

    assert "rule slack of conftest.py raised LookupError: none today" in shown
    assert "nothing in pytest-ireval expects this" not in shown
