"""Whatever happens on the way, a run in which a verdict is missing or against the change is not green."""

import pytest

OK = pytest.ExitCode.OK
RED = pytest.ExitCode.TESTS_FAILED
RAISES = {
    "skip": "Skipped: not today",
    "xfail": "XFailed: known",
    "exit": "SystemExit: gone",
    "base": "BaseException: odd",
    "end": "Exit: over",
}
ODD = """
import sys
import pytest
from pydantic import model_validator
from pytest_ireval import RuleResult, hookimpl, metric, rule
from pytest_ireval.options import RuleOptions

def act(way):
    if way == "skip":
        pytest.skip("not today")
    if way == "xfail":
        pytest.xfail("known")
    if way == "exit":
        sys.exit("gone")
    if way == "base":
        raise BaseException("odd")
    if way == "end":
        pytest.exit("over", returncode=0)
    return RuleResult("skipped", "fine")

@rule(name="odd", options=RuleOptions)
def odd(options, context):
    '''Raises.'''
    return act(options.name)

class Skipping(RuleOptions):
    @model_validator(mode="after")
    def skip(self):
        act("skip")

@rule(name="skips_its_parts", options=RuleOptions, parts=lambda options: act("skip"))
def skips_its_parts(options, context):
    '''Never asked.'''

@rule(name="skips_its_options", options=Skipping)
def skips_its_options(options, context):
    '''Never asked.'''

@metric(name="Odd")
def odd_metric(judged, *, way: str):
    '''Raises.'''
    act(way)

@hookimpl
def ireval_rules():
    return [odd, skips_its_parts, skips_its_options]

@hookimpl
def ireval_metrics():
    return [odd_metric]
"""


def test_a_tag_that_pytest_acts_on_is_a_mistake_of_the_suite(accepted_shop):
    accepted_shop.change(
        ("tags: [products]", "tags: [products, skip, parametrize, _x, two words, not]"),
        ("at_most: 2}", "at_most: 2, tags: [nightly, xfail]}"),
    )

    result = accepted_shop.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:4:18: tags > 2",
            "  'skip' is not a tag: pytest acts on a mark of that name",
            "  a tag is a word of letters, digits, _ . and -, and begins with a letter",
            *("*", "  'parametrize' is not a tag: pytest acts on a mark of that name", "*"),
            *("*", "  '_x' is not a tag", "*"),
            *("*", "  'two words' is not a tag", "*"),
            *("*", "  'not' is not a tag: it is an operator of pytest -m", "*"),
            "shop.ireval.yaml:15:*: rules > 4 > worsened > tags > 2",
            "  'xfail' is not a tag: pytest acts on a mark of that name",
        ]
    )


def test_a_mark_of_a_plugin_that_takes_arguments_is_no_tag(accepted_shop):
    accepted_shop.path.joinpath("conftest.py").write_text(
        """
def pytest_configure(config):
    config.addinivalue_line("markers", "flaky(reruns=1): run again until it passes")
    config.addinivalue_line("markers", "products: a word")
"""
    )
    accepted_shop.change(("at_most: 2}", "at_most: 2, tags: [flaky]}"))

    result = accepted_shop.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "shop.ireval.yaml:15:5",
            "  'flaky' is not a tag: a pytest plugin uses marks of that name",
            "  it is registered as flaky(reruns=1); choose another word",
        ]
    )


@pytest.mark.parametrize("mark", ["skip", "xfail"])
def test_a_mark_that_somebody_else_puts_on_items_makes_no_green(accepted_shop, mark):
    hook = "def pytest_collection_modifyitems(items):\n    [item.add_marker({!r}) for item in items]\n"
    accepted_shop.path.joinpath("conftest.py").write_text(hook.format(mark))
    accepted_shop.rankings["q10"] = ["q10-n1"]
    accepted_shop.write()

    result = accepted_shop.run()

    assert result.ret == RED
    assert accepted_shop.results()["verdict"] in ("fail", "error")


def test_a_rule_or_metric_that_raises_anything_or_has_a_verdict_of_its_own_is_an_error(accepted_shop):
    accepted_shop.path.joinpath("conftest.py").write_text(ODD)
    rules = [f"  - odd: {{name: {way}}}\n" for way in (*RAISES, "own")]
    rules += [f"  - threshold: {{\"Odd(way='{way}')\": '>= 0.5'}}\n" for way in RAISES]
    accepted_shop.change(("rules:\n", f"rules:\n{''.join(rules)}"))

    result = accepted_shop.run()

    assert result.ret == RED
    result.assert_outcomes(passed=7, errors=11)
    (suite,) = accepted_shop.results()["suites"]
    headlines = {each["id"]: each["headline"] for each in suite["outcomes"] if each["verdict"] == "error"}
    for way, raised in RAISES.items():
        assert headlines[f"odd::{way}"] == f"rule odd of conftest.py raised {raised}"
        assert any(each.startswith(f"Odd(way='{way}'): raised {raised}") for each in headlines.values())
    assert headlines["odd::own"].endswith(
        "of conftest.py returned 'skipped'; a verdict is one of pass, warn, known_failure, inconclusive, stale, fail"
    )


@pytest.mark.parametrize("rule", ["skips_its_parts", "skips_its_options"])
def test_a_skip_while_a_suite_is_read_is_an_error(accepted_shop, rule):
    accepted_shop.path.joinpath("conftest.py").write_text(ODD)
    accepted_shop.change(("rules:\n", f"rules:\n  - {rule}: {{name: one}}\n"))

    result = accepted_shop.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "Skipped: not today (conftest.py:" in result.stdout.str()
    assert accepted_shop.results()["verdict"] == "error"


def test_what_nobody_foresaw_is_an_error_that_happens_once_and_asks_to_be_reported(accepted_shop, monkeypatch):
    asked = []

    def broken(*arguments, **options):
        asked.append(arguments)
        raise TypeError("cannot be")

    monkeypatch.setattr("pytest_ireval.gate.run.make_result", broken)

    result = accepted_shop.run()

    assert result.ret == RED
    result.assert_outcomes(errors=7)
    assert len(asked) == 1
    (suite,) = accepted_shop.results()["suites"]
    first, second = suite["error"].splitlines()
    assert first.startswith("shop.ireval.yaml:1:1: TypeError: cannot be (test_no_false_green.py:")
    assert ", called from pytest_ireval/gate/run.py:" in first
    assert second == "  nothing in pytest-ireval expects this; please report it, with the plugins of the run"


@pytest.mark.parametrize(
    ("ends", "status"),
    [("raise KeyboardInterrupt", pytest.ExitCode.INTERRUPTED), ("pytest.exit('enough', returncode=0)", RED)],
    ids=["interrupted", "ended as if all were well"],
)
def test_a_run_that_is_cut_short_is_no_pass(accepted_shop, ends, status):
    hook = f"def pytest_runtest_setup(item):\n    if 'worsened' in item.nodeid:\n        {ends}\n"
    accepted_shop.path.joinpath("conftest.py").write_text(f"import pytest\n{hook}")

    result = accepted_shop.pytester.runpytest_inprocess("--ireval", no_reraise_ctrlc=True)

    assert result.ret == status
    assert accepted_shop.results()["verdict"] == "error"
    (suite,) = accepted_shop.results()["suites"]
    assert suite["verdict"] == "error"
    assert suite["notes"][-1] == "the run ended before 2 of its verdicts were reported"


def test_what_cannot_be_collected_is_no_pass_and_told_once(accepted_shop):
    accepted_shop.pytester.makepyfile(test_broken="import nothing_of_that_name")
    accepted_shop.path.joinpath("shoes.ireval.yaml").write_text(accepted_shop.suite.replace("depth: 10", "depht: 10"))

    result = accepted_shop.run("--continue-on-collection-errors")

    assert accepted_shop.results()["verdict"] == "error"
    assert result.stdout.str().count("unknown key 'depht'") == 1
    suite, module = accepted_shop.results()["problems"]
    assert "unknown key 'depht'" in suite
    assert "nothing_of_that_name" in module
    result.stdout.fnmatch_lines(["problem: test_broken.py could not be collected"])
    result.stdout.fnmatch_lines(["problem: shoes.ireval.yaml could not be collected"])


def test_a_run_that_cannot_even_start_leaves_no_green_results(accepted_shop):
    accepted_shop.run_before()
    assert accepted_shop.results()["verdict"] == "pass"

    result = accepted_shop.run("--ireval-update", "--ireval-update-new")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert accepted_shop.results()["verdict"] == "error"


@pytest.mark.ci
def test_looking_leaves_the_results_as_they_are(accepted_shop):
    accepted_shop.run()
    before = accepted_shop.results()

    for looking in ("--help", "--markers", "--fixtures", "--collect-only"):
        accepted_shop.pytester.runpytest_subprocess("--ireval", looking)
        assert accepted_shop.results() == before, looking


def test_a_run_without_a_verdict_of_a_suite_is_no_pass(accepted_shop):
    accepted_shop.pytester.makepyfile(test_one="def test_alone(): pass")

    result = accepted_shop.run("-k", "test_alone")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["--ireval: no verdict of a suite was selected; this does not count as a pass"])


def test_what_pytest_lost_while_collecting_is_missed(accepted_shop):
    accepted_shop.path.joinpath("conftest.py").write_text(
        "def pytest_collection_modifyitems(items):\n    del items[1:]\n"
    )

    result = accepted_shop.run()

    assert result.ret == RED
    result.stdout.fnmatch_lines(
        ["problem: shop: 6 verdicts neither run nor deselected, although the command line names all of it"]
    )
    assert accepted_shop.results()["verdict"] == "error"
    assert accepted_shop.run("shop.ireval.yaml::inputs").ret == OK


MATRIX = ("suite: shop\n", 'suite: shop\nmatrix: {a: ["x.y", x], b: [z, "y.z"]}\n')


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "shop",
            "shop.ireval.yaml:1:1: the matrix makes two suites called 'shop.x.y.z': a: x, b: y.z and a: x.y, b: z; "
            "give each its own name",
        ),
        (
            "shop-{a}-{b}",
            "shop.ireval.yaml:1:1: the matrix makes two nodes called 'x.y.z': a: x, b: y.z and a: x.y, b: z; "
            "choose other values",
        ),
    ],
)
def test_two_suites_of_one_file_with_one_name_are_refused(shop, name, complaint):
    shop.change(MATRIX, ("@search-team", "@{a}.{b}"))
    shop.change(("suite: shop\n", f"suite: {name}\n"))

    result = shop.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert complaint in result.stdout.str()


def test_a_suite_that_is_named_twice_is_evaluated_once(accepted_shop):
    result = accepted_shop.run("--keep-duplicates", "shop.ireval.yaml", "shop.ireval.yaml")

    assert result.ret == OK
    assert len(accepted_shop.results()["suites"]) == 1


def test_a_folder_that_the_run_creates_is_ignored_by_git(accepted_shop):
    accepted_shop.run()
    (accepted_shop.path / "mine").mkdir()
    accepted_shop.run("--ireval-report", "mine")

    assert (accepted_shop.path / "ireval-report/.gitignore").read_text().splitlines()[-1] == "*"
    assert not (accepted_shop.path / "mine/.gitignore").exists()


def test_results_that_cannot_be_written_are_red_and_said_even_with_q(accepted_shop):
    (accepted_shop.path / "taken").write_text("a file")

    result = accepted_shop.run("--ireval-report", "taken", "-q")

    assert result.ret == RED
    result.stdout.fnmatch_lines(
        [f"problem: {accepted_shop.path}/taken/results.json: cannot be written: Not a directory; *"]
    )


def test_a_run_that_only_sets_up_judges_nothing(accepted_shop):
    for option in ("--setup-only", "--setup-plan"):
        assert accepted_shop.run(option).ret == RED
        assert accepted_shop.results()["verdict"] == "error"


def test_the_results_of_a_suite_that_nobody_looked_at_name_its_matrix(shop):
    shop.change(("suite: shop\n", "suite: shop\nmatrix: {locale: [de, fr]}\n"), ("@search-team", "@{locale}"))
    shop.path.joinpath("conftest.py").write_text(
        "import pytest\ndef pytest_runtest_setup(item):\n    pytest.exit('enough', returncode=0)\n"
    )

    result = shop.run()

    assert result.ret == RED
    assert [(suite["verdict"], suite["matrix"]) for suite in shop.results()["suites"]] == [
        ("error", {"locale": "de"}),
        ("error", {"locale": "fr"}),
    ]
