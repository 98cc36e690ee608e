"""``pytest --ireval``: plugins are named, conftest metrics stay at home, silence is no pass."""

import pytest
from suite_files import write_judgments, write_rankings, write_suite

pytestmark = pytest.mark.ci

METRIC = """
from pytest_ireval import hookimpl, per_query_metric

@per_query_metric(name="{name}")
def toy(ranking):
    '''A toy.'''
    return 0.0

@hookimpl
def ireval_metrics():
    return [toy]
"""


def test_without_the_flag_a_suite_is_left_alone(pytester):
    pytester.path.joinpath("shop.ireval.yaml").write_text("ireval: 1\n")

    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_no_suite_is_no_pass_even_if_python_tests_passed(pytester):
    pytester.makepyfile("def test_one(): pass")

    result = pytester.runpytest("--ireval")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["--ireval: no suite was collected ([*].ireval.yaml, or a line ireval: 1); this does not count as a pass"]
    )
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("shop.ireval.yaml", "x: 1", "*is not a suite"),
        ("shop.yaml", "# a comment\nireval: 1\n", "*the key 'suite' is missing"),
        ("shop.yaml", "judgments: a.txt\nmetrics: [AP]\n", "*ireval: 1*"),
    ],
)
def test_a_file_that_is_meant_as_a_suite_and_is_none_is_an_error(pytester, file, text, complaint):
    pytester.path.joinpath(file).write_text(text)

    result = pytester.runpytest("--ireval")

    result.stdout.fnmatch_lines([complaint])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_other_yaml_files_are_left_alone_unless_the_command_line_names_them(pytester):
    pytester.path.joinpath("other.yaml").write_text("  ireval: 1\nnot_ireval: 1\n")
    assert pytester.runpytest("--ireval").ret == pytest.ExitCode.NO_TESTS_COLLECTED

    pytester.path.joinpath("other.yaml").write_text("name: x\n")
    result = pytester.runpytest("--ireval", "other.yaml")
    result.stdout.fnmatch_lines(["*ireval: 1*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def write_shop(folder, rule, name="shop", documents=("a",)):
    """Write a suite of one query, whose document a is relevant."""
    write_suite(folder, rule, suite=name)
    write_judgments(folder / "judgments.txt", {"q": {"a": 1}})
    write_rankings(folder / "rankings.txt", {"q": documents})


def test_a_conftest_serves_its_folder_and_those_below(pytester):
    for folder in ("shop", "shop/mobile", "news"):
        write_shop(pytester.path / folder, "threshold: {ShopOnly: '>= 0'}", folder.replace("/", "-"))
    pytester.path.joinpath("shop/conftest.py").write_text(METRIC.format(name="ShopOnly"))

    result = pytester.runpytest("--ireval", "--continue-on-collection-errors")

    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["ireval plugins: pytest-ireval 0.1.0*"])
    result.stdout.fnmatch_lines(["*ERROR collecting news/news.ireval.yaml*", "*unknown metric 'ShopOnly'"])


def test_a_conftest_that_claims_a_taken_name_makes_the_suites_below_it_errors(pytester):
    pytester.makeconftest(METRIC.format(name="AP"))
    pytester.path.joinpath("suite.ireval.yaml").write_text("ireval: 1\n")

    result = pytester.runpytest("--ireval")

    result.stdout.fnmatch_lines(
        [
            "metric name 'AP' is claimed twice: by AP of pytest-ireval * and by AP of *conftest.py",
            "  rename the one in *conftest.py",
        ]
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_a_misspelt_hook_in_a_conftest_ends_the_run(pytester):
    pytester.makeconftest(METRIC.format(name="Toy").replace("def ireval_metrics", "def ireval_metricz"))

    result = pytester.runpytest("--ireval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unknown hook 'ireval_metricz'", "  did you mean 'ireval_metrics'?"])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("per_query_metric(name='Toy')\ndef toy(ranking, *, k): pass", "'k' has no type: write k: int, or another of"),
        ("per_query_metric(name='Toy')\ndef toy(ranking, grades): pass", "a metric takes one argument"),
        ("metric(name='To y')\ndef toy(judged): pass", "a name has only letters, digits and _"),
        ("source(name='My Shop', options=SourceOptions)\ndef shop(options, request): pass", "cannot be a key"),
    ],
)
def test_a_wrong_definition_in_a_conftest_is_named_by_its_own_line_alone(pytester, made, said):
    pytester.makeconftest(
        "from pytest_ireval import metric, per_query_metric, source\n"
        f"from pytest_ireval.suite.options import SourceOptions\n@{made}\n"
    )

    text = pytester.runpytest("--ireval").stderr.str()

    assert "conftest.py:3: in <module>" in text
    assert said in text
    assert "pytest_ireval/" not in text


def test_a_module_given_with_p_serves_the_whole_run(pytester):
    pytester.makepyfile(my_metrics=METRIC.format(name="Everywhere"))
    write_shop(pytester.path, "threshold: {Everywhere: '>= 0'}")
    pytester.syspathinsert()

    pytester.runpytest("--ireval", "-p", "my_metrics").assert_outcomes(passed=2)


def test_a_broken_conftest_below_is_an_error_of_its_suites_alone(pytester):
    for folder, hook in (("bad", "ireval_metricz"), ("good", "ireval_metrics")):
        write_shop(pytester.path / folder, f"threshold: {{{folder.title()}: '>= 0'}}", folder)
        text = METRIC.format(name=folder.title()).replace("ireval_metrics", hook)
        pytester.path.joinpath(folder, "conftest.py").write_text(text)

    result = pytester.runpytest("--ireval", "--continue-on-collection-errors")

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*ireval_metricz*"])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.fixture
def by_ini(pytester):
    pytester.makeini("[pytest]\nireval = true\n")
    pytester.makepyfile("def test_one(): pass")
    return pytester


def write_red_suite(pytester):
    write_shop(pytester.path, "threshold: {AP: '>= 0.9'}", documents=("b", "a"))


WORKERS = pytest.mark.parametrize("arguments", [(), ("-n2",)], ids=["one process", "workers"])


@WORKERS
def test_with_the_ini_option_suites_are_run_without_the_flag(by_ini, arguments):
    if arguments:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    write_red_suite(by_ini)
    result = by_ini.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == 1
    assert '"verdict": "fail"' in by_ini.path.joinpath("ireval-report/results.json").read_text()


@WORKERS
def test_and_a_run_without_suites_is_as_pytest_has_it(by_ini, arguments):
    if arguments:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    result = by_ini.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert "ireval:" not in result.stdout.str()
    assert not [each.name for each in by_ini.path.glob("ireval-report/[!.]*")]


def test_a_run_of_one_python_test_keeps_the_report_of_the_gate(by_ini):
    write_red_suite(by_ini)
    by_ini.runpytest("-p", "no:cacheprovider")
    before = by_ini.path.joinpath("ireval-report/results.json").read_bytes()
    name = next(by_ini.path.glob("test_*.py")).name

    assert by_ini.runpytest("-p", "no:cacheprovider", name).ret == 0
    assert by_ini.path.joinpath("ireval-report/results.json").read_bytes() == before


@pytest.mark.parametrize("part", ["", "::inputs"])
def test_a_suite_that_is_named_without_the_flag_says_what_to_add(pytester, part):
    write_red_suite(pytester)
    result = pytester.runpytest(f"shop.ireval.yaml{part}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    line = f"ERROR: shop.ireval.yaml{part} is a suite: add --ireval, or ireval = true to the ini file"
    result.stderr.fnmatch_lines([line])
