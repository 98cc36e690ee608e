"""Real editable installs of the branch: the base's code is asked all the same, or it is an error."""

import json
import os
import subprocess
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest
from git_repository import run_git
from search_repository import BASE, SearchRepository, read_documents
from suite_files import write_judgments, write_queries, write_suite

pytestmark = pytest.mark.ci

PROJECT = (
    "[project]\nname = 'shop'\nversion = '1'\n[build-system]\nrequires = ['{backend}']\nbuild-backend = '{module}'\n"
)
HATCHLING = PROJECT.format(backend="hatchling", module="hatchling.build")
SETUPTOOLS = PROJECT.format(backend="setuptools", module="setuptools.build_meta")
WHOLE_FOLDER = "[tool.hatch.build.targets.wheel]\npackages = ['{}']\n"
LAYOUTS = {
    "hatchling, src": ("src/shop", HATCHLING + WHOLE_FOLDER.format("src/shop")),
    "hatchling, flat": ("shop", HATCHLING + WHOLE_FOLDER.format("shop")),
    "setuptools, src": ("src/shop", SETUPTOOLS),
    "setuptools, import hook": ("lib/the shop", SETUPTOOLS + "[tool.setuptools.package-dir]\nshop = 'lib/the shop'\n"),
    "setuptools, namespace": ("lib/things", SETUPTOOLS + "[tool.setuptools.package-dir]\n'shop' = 'lib/things'\n"),
    "setuptools, strict": ("src/shop", SETUPTOOLS),
}
ASK = """\
from pathlib import Path
from pytest_ireval.versus import ask_merge_base
import shop.names
print(shop.names.NAME)
ask_merge_base("main", suites=[Path("suites")], folder=Path("../rankings"), start=Path(), setup="", depth=None)
"""


class Environment:
    """An environment in the clone, in which the branch is installed."""

    def __init__(self, top):
        self.top, self.python = top, top / ".venv" / "bin" / "python"
        venv.create(top / ".venv", with_pip=True, symlinks=True)
        tool = {str(Path(find_spec(name).origin).parents[1]) for name in ("pytest_ireval", "pytest_ireval_metrics")}
        self.write_pth("tool.pth", "\n".join([*tool, sysconfig.get_path("purelib")]))

    def write_pth(self, name, text):
        (packages,) = (self.top / ".venv").glob("lib/python*/site-packages")
        (packages / name).write_text(f"{text}\n")

    def install(self, *options):
        self.run("-m", "pip", "install", "--quiet", "--no-deps", "--editable", ".", *options, check=True)

    def run(self, *arguments, check=False):
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_NO_INDEX")}
        command = [str(self.python), *arguments]
        how = {"cwd": self.top, "env": inherited, "capture_output": True, "text": True}
        done = subprocess.run(command, check=False, **how)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done


@pytest.fixture
def clone(tmp_path, temporary):
    return lambda package: SearchRepository(tmp_path / "clone", tmp_path / "rankings", package)


def ask(repository):
    """Run a program that imports the branch, and asks the base."""
    program = repository.top.with_name("ask.py")
    program.write_text(ASK)
    return repository.environment.run(str(program))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_base_runs_its_own_code_and_the_branch_that_of_the_branch(clone, layout):
    package, project = LAYOUTS[layout]
    repository = clone(package)
    if "namespace" in layout:
        (repository.package / "__init__.py").unlink()
    (repository.top / "pyproject.toml").write_text(project)
    repository.begin_branch()
    repository.environment = Environment(repository.top)
    repository.environment.install(*(("--config-settings", "editable_mode=strict") if "strict" in layout else ()))

    asked = ask(repository)

    assert asked.stdout == "branch\n", asked.stderr
    if "strict" in layout:  # it is made of links in a folder that git ignores
        assert "module 'shop' not found" in asked.stderr
    else:
        assert asked.returncode == 0, asked.stderr
        assert read_documents(repository.rankings) == BASE


def test_a_package_that_is_imported_at_the_start_of_python_is_an_error(clone):
    repository = clone("src/shop")
    repository.begin_branch()
    repository.environment = Environment(repository.top)
    repository.environment.write_pth(
        "shop.pth", f"import sys; sys.path.append({str(repository.top / 'src')!r}); import shop.names"
    )

    asked = ask(repository)

    assert asked.returncode == 1
    assert "both sides would be the same code: at " in asked.stderr
    assert f"was loaded from {repository.package}" in asked.stderr


RANKED = """\
from shop.names import SIGN

def search(text):
    documents = [f"d{number}" for number in range(10)]
    return documents[::SIGN if text.startswith("rare") else 1]
"""
QUERIES = {f"q{number:02}": f"{'rare' if number > 30 else 'frequent'} words" for number in range(40)}


@pytest.fixture
def gated_shop(clone):
    """A project as a user would have it: a package in src, installed with pip, and a suite beside it."""
    repository = clone("src/shop")
    (repository.top / "pyproject.toml").write_text(HATCHLING + WHOLE_FOLDER.format("src/shop"))
    repository.write("search.py", RANKED)
    repository.write("names.py", "SIGN = 1\n")
    suites = repository.top / "suites"
    rule = "{no_regression: {metric: nDCG@10, per: segment, tolerance: 1%}}"
    write_suite(suites, rule, source="{python: 'shop.search:search'}", queries="queries.tsv")
    segments = ["tail" if "rare" in text else "head" for text in QUERIES.values()]
    write_queries(suites / "queries.tsv", QUERIES, text=QUERIES.values(), segment=segments)
    write_judgments(suites / "judgments.txt", {query: {"d0": 2, "d1": 1} for query in QUERIES})
    repository.commit_base()
    repository.environment = Environment(repository.top)
    repository.environment.install()
    return repository


def gate(repository):
    arguments = ("-m", "pytest", "--ireval", "suites", "--ireval-versus", "main", "-p", "no:cacheprovider")
    ran = repository.environment.run(*arguments)
    results = json.loads((repository.top / "ireval-report" / "results.json").read_text())
    assert results["suites"], ran.stdout + ran.stderr
    (suite,) = results["suites"]
    return ran, {outcome["id"]: outcome["verdict"] for outcome in suite["outcomes"]}


def test_a_harmless_refactoring_passes_and_a_broken_tail_fails(gated_shop):
    gated_shop.write("search.py", RANKED.replace("documents", "found"))
    gated_shop.write("signs.py", "SIGN = 1\n")
    gated_shop.write("names.py", "from shop.signs import SIGN\n")
    ran, verdicts = gate(gated_shop)
    assert (ran.returncode, {*verdicts.values()}) == (0, {"pass"}), ran.stdout

    gated_shop.write("signs.py", "SIGN = -1\n")
    ran, verdicts = gate(gated_shop)
    assert ran.returncode == 1, ran.stdout
    assert [check for check, verdict in verdicts.items() if verdict == "fail"] == [
        "no_regression::nDCG_10.segment-tail"
    ]
    assert run_git(gated_shop.top, "stash", "list") == ""
