"""The fixture ``ireval``: the gate inside Python tests."""

import pytest

METRIC = """
from pytest_ireval import hookimpl, metric

@metric(name="Ours")
def ours(judged):
    '''One for each.'''
    return [1.0] * len(judged.queries)

@hookimpl
def ireval_metrics():
    return [ours]
"""


@pytest.fixture
def below(shop):
    """The shop in a folder of its own, with a conftest.py that pytest has no reason to import, and tests elsewhere."""
    shop.accept()
    folder = shop.path / "suites"
    folder.mkdir()
    for name in ("queries.tsv", "judgments.txt", "rankings.txt", "shop.ireval.yaml", "baselines"):
        (shop.path / name).rename(folder / name)
    (shop.path / "tests").mkdir()
    shop.folder = folder
    return shop


def run_test(shop, body, *arguments):
    """A Python test in the folder ``tests``."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (shop.path / "tests/test_it.py").write_text(f"def test_it(ireval):\n{lines}")
    return shop.pytester.runpytest("-p", "no:cacheprovider", *arguments, "tests/test_it.py")


@pytest.mark.parametrize("flags", [(), ("--ireval",)])
def test_a_conftest_beside_the_suite_serves_it(below, flags):
    (below.folder / "conftest.py").write_text(METRIC)
    suite = below.folder / "shop.ireval.yaml"
    suite.write_text(suite.read_text().replace("P@3]", "P@3, Ours]"))

    result = run_test(below, 'assert ireval.gate("../suites/shop.ireval.yaml").verdict == "pass"', *flags)

    result.assert_outcomes(passed=1)


def test_all_suites_of_a_matrix(below):
    suite = below.folder / "shop.ireval.yaml"
    suite.write_text(
        suite.read_text()
        .replace("suite: shop\n", "suite: shop\nmatrix: {locale: [de, fr]}\n")
        .replace("@search-team", "@{locale}")
    )

    result = run_test(
        below, 'assert [each.name for each in ireval.gates("../suites/shop.ireval.yaml")] == ["shop.de", "shop.fr"]'
    )

    result.assert_outcomes(passed=1)


def test_checking_a_suite_that_passes_gives_its_results(below):
    result = run_test(below, '(only,) = ireval.check("../suites/shop.ireval.yaml")\nassert len(only.outcomes) == 7')

    result.assert_outcomes(passed=1)


def test_checking_fails_with_what_the_gate_says(below):
    rankings = below.folder / "rankings.txt"
    rankings.write_text(rankings.read_text().replace("q10-d", "q10-n"))

    result = run_test(below, 'ireval.check("../suites/shop.ireval.yaml")')

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "suites/shop.ireval.yaml:13: nDCG@10 fell 10.0% (tolerance 5%)",
            "  why:      ireval why nDCG@10 --suite suites/shop.ireval.yaml --query q10",
            "suites/shop.ireval.yaml:14: nDCG@10 fell 25.0% on segment=tail (tolerance 5%)",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "fixture.py" not in result.stdout.str()


def test_checking_a_suite_with_broken_inputs_fails_with_the_error(below):
    (below.folder / "judgments.txt").write_text("q01 0 q01-d0 x\n")

    result = run_test(below, 'ireval.check("../suites/shop.ireval.yaml")')

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["shop: *judgments.txt:1: grade 'x' is not a number"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('gate("nothing.yaml")', "*nothing.yaml*"),
        ('gates("nothing.yaml")', "*nothing.yaml*"),
        ('check("nothing.yaml")', "*nothing.yaml*"),
        ('evaluate("nothing.txt", "nothing.trec", ["P@3"])', "*nothing.txt*"),
    ],
)
def test_a_file_that_is_not_there_fails_the_test_in_words(below, call, message):
    result = run_test(below, f"ireval.{call}")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])
    text = result.stdout.str()
    assert "Traceback" not in text
    assert "fixture.py" not in text
    assert "loading.py" not in text
