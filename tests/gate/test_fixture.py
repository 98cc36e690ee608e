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


def run_tests(shop, *bodies, flags=()):
    """Python tests in the folder ``tests``, one for each body."""
    tests = "".join(f"def test_{number}(ireval):\n    {body}\n" for number, body in enumerate(bodies))
    (shop.path / "tests/test_it.py").write_text(tests)
    return shop.pytester.runpytest("-p", "no:cacheprovider", *flags, "tests/test_it.py")


@pytest.mark.parametrize("flags", [(), ("--ireval",)])
def test_a_conftest_beside_the_suite_serves_it_and_a_matrix_has_a_result_for_each_suite(below, flags):
    (below.folder / "conftest.py").write_text(METRIC)
    text = (below.folder / "shop.ireval.yaml").read_text().replace("P@3]", "P@3, Ours]")
    (below.folder / "shop.ireval.yaml").write_text(text)
    matrix = text.replace("suite: shop\n", "suite: two\nmatrix: {locale: [de, fr]}\n").replace("@search", "@{locale}")
    (below.folder / "two.ireval.yaml").write_text(matrix)

    result = run_tests(
        below,
        'assert ireval.gate("../suites/shop.ireval.yaml").verdict == "pass"',
        '(only,) = ireval.check("../suites/shop.ireval.yaml"); assert len(only.outcomes) == 7',
        'assert [each.name for each in ireval.gates("../suites/two.ireval.yaml")] == ["two.de", "two.fr"]',
        flags=flags,
    )

    result.assert_outcomes(passed=3)


def test_checking_fails_with_what_the_gate_says(below):
    rankings = below.folder / "rankings.txt"
    rankings.write_text(rankings.read_text().replace("q10-d", "q10-n"))

    result = run_tests(below, 'ireval.check("../suites/shop.ireval.yaml")')

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


def test_broken_inputs_and_files_that_are_not_there_fail_the_test_in_words(below):
    (below.folder / "judgments.txt").write_text("q01 0 q01-d0 x\n")

    result = run_tests(
        below,
        'ireval.check("../suites/shop.ireval.yaml")',
        'ireval.gate("nothing.yaml")',
        'ireval.gates("nowhere.yaml")',
        'ireval.check("none.yaml")',
        'ireval.evaluate("nothing.txt", "nothing.trec", ["P@3"])',
    )

    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(
        [
            "shop: *judgments.txt:1: grade 'x' is not a number",
            *("*nothing.yaml*", "*nowhere.yaml*", "*none.yaml*", "*nothing.txt*"),
        ]
    )
    text = result.stdout.str()
    assert not [name for name in ("Traceback", "fixture.py", "loading.py") if name in text]
