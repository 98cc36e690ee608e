"""A pytest run without the flag imports nothing heavy."""

import subprocess
import sys

HEAVY = ("numpy", "scipy", "jinja2", "yaml", "pydantic", "click", "rich", "pandas", "zstandard")


def imported_by(code, *arguments):
    """The heavy modules that are there after ``code`` ran in a fresh interpreter."""
    script = f"{code}\nimport sys; print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])"
    command = [sys.executable, "-c", script, *arguments]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return out.splitlines()[-1]


def test_the_plugin_alone_imports_nothing_heavy():
    assert imported_by("import pytest_ireval.pytest_adapter.plugin") == "heavy: []"


def test_a_whole_run_without_the_flag_imports_nothing_heavy(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    (tmp_path / "shop.ireval.yaml").write_text("ireval: 1\n")
    code = f"import pytest; assert pytest.main(['-q', '-p', 'no:cacheprovider', {str(tmp_path)!r}]) == 0"

    assert imported_by(code) == "heavy: []"


def test_defining_a_metric_in_a_conftest_imports_nothing_heavy():
    code = (
        "from pytest_ireval import hookimpl, per_query_metric\n"
        "@per_query_metric(name='Toy')\n"
        "def toy(ranking, *, cutoff: int):\n"
        "    '''A toy.'''\n"
        "    return 0.0\n"
    )

    assert imported_by(code) == "heavy: []"


def test_evaluating_imports_numpy_alone(tmp_path):
    code = (
        "from pytest_ireval import evaluate\nassert evaluate({'q': {'a': 1}}, {'q': ['a']}, ['AP'])['AP'].value == 1\n"
    )

    assert imported_by(code) == "heavy: ['numpy']"


def test_comparing_imports_numpy_and_scipy_alone():
    code = (
        "from pytest_ireval import compare\n"
        "judgments = {'q': {'a': 1}, 'r': {'a': 1}}\n"
        "one, two = {'q': ['a'], 'r': ['b', 'a']}, {'q': ['a'], 'r': ['a']}\n"
        "assert compare(judgments, {'one': one, 'two': two}, ['AP'])['AP'].best == ('two',)\n"
        "import sys; assert 'scipy.stats' not in sys.modules\n"
    )

    assert imported_by(code) == "heavy: ['numpy', 'scipy']"


def test_statistics_are_imported_without_scipy():
    assert imported_by("import pytest_ireval.comparing.comparison") == "heavy: ['numpy']"
