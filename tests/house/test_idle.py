"""A pytest run without the flag imports nothing heavy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from suite_files import write_judgments, write_rankings, write_suite

pytestmark = pytest.mark.ci

EXAMPLE = Path(__file__).parents[2] / "examples" / "suites"
HEAVY = (
    *("numpy", "scipy", "jinja2", "yaml", "pydantic", "click", "rich", "pandas", "zstandard", "urllib3"),
    "pytest_ireval_judgments.click_policies",  # of what packages beside the core bring, only `ireval clicks` needs it
)


def list_imports(code, *arguments):
    """The heavy modules that are there after ``code`` ran in a fresh interpreter."""
    script = f"{code}\nimport sys; print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])"
    command = [sys.executable, "-c", script, *arguments]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return out.splitlines()[-1]


def test_the_plugin_alone_imports_nothing_heavy():
    assert list_imports("import pytest_ireval.pytest_plugin.plugin") == "heavy: []"


def test_a_whole_run_without_the_flag_imports_nothing_heavy(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    (tmp_path / "shop.ireval.yaml").write_text("ireval: 1\n")
    code = f"import pytest; assert pytest.main(['-q', '-p', 'no:cacheprovider', {str(tmp_path)!r}]) == 0"

    assert list_imports(code) == "heavy: []"


def test_defining_a_metric_in_a_conftest_imports_nothing_heavy():
    code = (
        "from pytest_ireval import hookimpl, per_query_metric\n"
        "@per_query_metric(name='Toy')\n"
        "def toy(ranking, *, cutoff: int):\n"
        "    '''A toy.'''\n"
        "    return 0.0\n"
    )

    assert list_imports(code) == "heavy: []"


def test_evaluating_imports_numpy_alone(tmp_path):
    code = (
        "from pytest_ireval import evaluate\nassert evaluate({'q': {'a': 1}}, {'q': ['a']}, ['AP'])['AP'].value == 1\n"
    )

    assert list_imports(code) == "heavy: ['numpy']"


@pytest.fixture
def files(tmp_path, monkeypatch):
    write_judgments(tmp_path / "judgments.txt", {"q": {"a": 1}})
    write_rankings(tmp_path / "rankings.txt", {"q": ["a"]})
    write_suite(tmp_path, metrics="[AP]")
    monkeypatch.chdir(tmp_path)


def list_imports_of_gate(folder, metric):
    """The modules of the long tail of metrics that a gate on the example imports, with one more metric."""
    suites = shutil.copytree(EXAMPLE, folder / "suites")
    path = suites / "product-search.ireval.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("metrics: [", f"metrics: [{metric}, "), encoding="utf-8")
    code = (
        "import pytest, sys\n"
        f"pytest.main(['-q', '-p', 'no:cacheprovider', '--ireval', '--ireval-report', 'none', {str(suites)!r}])\n"
        "print(*sorted(name for name in sys.modules if name.startswith('pytest_ireval_more_metrics.')))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return {name.rpartition(".")[2] for name in out.splitlines()[-1].split()}


@pytest.mark.parametrize(("metric", "modules"), [("P@3", set()), ("AverageOverlap@3", {"agreement"})])
def test_a_gate_imports_a_metric_of_the_long_tail_where_a_suite_names_it(tmp_path, metric, modules):
    assert list_imports_of_gate(tmp_path, metric) - {"commands"} == modules  # the list of commands may have other hooks


def test_a_gate_that_asks_no_live_system_imports_nothing_for_it(tmp_path):
    suites = shutil.copytree(EXAMPLE, tmp_path / "suites")
    code = (
        "import pytest, sys\n"
        f"pytest.main(['-q', '-p', 'no:cacheprovider', '--ireval', '--ireval-report', 'none', {str(suites)!r}])\n"
        "assert 'pytest_ireval.gate.run' in sys.modules\n"
        "assert not {'urllib3', 'ssl', 'asyncio'} & set(sys.modules)"
    )

    assert "urllib3" not in list_imports(code)


SUITES = "numpy, yaml, pydantic"


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        ("--help", ""),
        ("evaluate judgments.txt rankings.txt", "numpy"),
        ("lint judgments.txt", "numpy"),
        ("metrics nDCG", "numpy"),
        ("history .", "numpy"),
        ("check shop.ireval.yaml", SUITES),
        ("self-test shop.ireval.yaml --trials 20", SUITES),
        ("plugins", "numpy, pydantic"),
        ("report", "numpy, jinja2, pydantic"),
    ],
)
def test_a_command_imports_what_it_needs(files, command, heavy):
    code = (
        "import sys\n"
        "from pytest_ireval.cli import main\n"
        "sys.stdout, out = sys.stderr, sys.stdout\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stdout = out"
    )

    assert list_imports(code, *command.split()) == f"heavy: {[*filter(None, heavy.split(', ')), 'click']}"


RULES = """\
import pydantic
from pytest_ireval import hookimpl

@hookimpl
def ireval_rules():
    return []
"""


@pytest.mark.parametrize(
    ("group", "command", "heavy"),
    [
        ("pytest_ireval_suites", "evaluate judgments.txt rankings.txt", "numpy"),
        ("pytest_ireval_suites", "check shop.ireval.yaml", SUITES),
        ("pytest_ireval", "evaluate judgments.txt rankings.txt", "numpy, pydantic"),
    ],
)
def test_rules_of_a_plugin_are_imported_by_what_reads_suites(files, tmp_path, monkeypatch, group, command, heavy):
    metadata = tmp_path / "acme_rules-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(f"[{group}]\nacme = acme_rules\n")
    (tmp_path / "acme_rules.py").write_text(RULES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    test_a_command_imports_what_it_needs(files, command, heavy)


@pytest.mark.parametrize("before", [None, "3"])
def test_the_limit_of_threads_ends_when_a_command_is_loaded(before, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if before:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", before)
    code = (
        "import os, click\nfrom pytest_ireval.cli import commands\n"
        "commands.get_command(click.Context(commands), 'evaluate')\n"
        "print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    )

    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.splitlines() == [str(before)]
