"""Wheel, source distribution and editable install find templates and plugins in a fresh environment."""

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THIRD_PARTY = ROOT / "examples" / "third_party_metrics"
DATA = [ROOT / "examples" / "data" / name for name in ("judgments.txt", "rankings.txt")]
CORE = {"pytest_ireval", "pytest_ireval_metrics"}
PACKAGES = CORE | {"pytest_ireval_judgments", "pytest_ireval_lab", "pytest_ireval_more_metrics"}

pytestmark = [
    pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs a checkout of the project"),
    pytest.mark.ci,
]


def run(*command):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return {path.name.rpartition(".")[2]: path for path in folder.iterdir()}


class Environment:
    """A fresh virtual environment; the dependencies are those of the environment that runs the tests."""

    def __init__(self, folder):
        venv.create(folder, symlinks=True)
        self.bin = folder / "bin"
        self.site_packages = Path(
            run(self.bin / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        )
        # A path in a .pth file is searched last, and .pth files found there (editable installs) are not obeyed.
        (self.site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))

    def install(self, *what):
        options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--force-reinstall"]
        self.pip("install", *options, *what)

    def pip(self, *arguments):
        run(sys.executable, "-m", "pip", "--python", self.bin / "python", *arguments)


@pytest.fixture(scope="module", params=["wheel", "sdist", "editable"])
def environment(request, built, tmp_path_factory):
    """An environment in which pytest-ireval is installed one way or another."""
    made = Environment(tmp_path_factory.mktemp(request.param) / "environment")
    source = {"wheel": [built["whl"]], "sdist": [built["gz"]], "editable": ["--editable", ROOT]}[request.param]
    made.install(*source)
    return made


def test_templates_and_plugins_are_found(environment):
    where = run(environment.bin / "python", "-c", "import pytest_ireval; print(pytest_ireval.__file__)").strip()
    page = run(environment.bin / "ireval", "evaluate", *DATA, "--format", "html")
    plugins = run(environment.bin / "ireval", "plugins")

    assert Path(where).is_relative_to(environment.bin.parent) or Path(where).is_relative_to(ROOT)
    assert page.startswith("<!doctype html>")
    assert plugins.startswith("pytest-ireval 0.1.0 (builtin, formats, judgments, kinds, lab, more)\n  metrics: P, R, ")


def test_the_example_is_green_under_the_gate(environment, tmp_path):
    suites = shutil.copytree(ROOT / "examples" / "suites", tmp_path / "suites")

    out = run(environment.bin / "python", "-m", "pytest", "-p", "no:cacheprovider", "--ireval", suites)

    assert "ireval: pass: all 14 checks of product-search passed" in out


@pytest.fixture(scope="module")
def core(built, tmp_path_factory):
    """A fresh installation from the wheel, out of which the packages beside the core were taken."""
    made = Environment(tmp_path_factory.mktemp("core") / "environment")
    made.install(built["whl"])
    for package in PACKAGES - CORE:
        shutil.rmtree(made.site_packages / package)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)  # it may lead to the sources, which have them
        yield made


def test_the_core_alone_runs_the_gate(core, tmp_path):
    suites = shutil.copytree(ROOT / "examples" / "suites", tmp_path / "suites")
    gate = [core.bin / "python", "-m", "pytest", "-p", "no:cacheprovider", "--ireval", suites]

    green = run(*gate)
    assert "ireval: pass: all 14 checks of product-search passed" in green


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["evaluate", *DATA, "-m", "StRecall@5"],
            "the package pytest_ireval_more_metrics, which may have it, is not installed",
        ),
        (["metrics", "--for", "ranx"], "the package pytest_ireval_more_metrics is not installed"),
        (
            ["judge", DATA[0]],
            "the command 'judge' belongs to the package pytest_ireval_judgments, which is not installed",
        ),
        (
            ["stress", *DATA, DATA[1]],
            "the command 'stress' belongs to the package pytest_ireval_lab, which is not installed",
        ),
    ],
)
def test_the_core_alone_says_which_package_is_missing(core, words, said):
    done = subprocess.run([core.bin / "ireval", *words], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_the_help_of_the_core_alone_lists_its_own_commands(core):
    done = subprocess.run([core.bin / "ireval", "--help"], capture_output=True, text=True, check=True)

    assert "\nRankings:\n" in done.stdout
    assert "Judgments:" not in done.stdout
    assert "Lab:" not in done.stdout
    assert done.stderr == ""


@pytest.fixture
def with_third_party(environment):
    """The same environment, and another distribution beside ours for as long as a test takes."""
    environment.install(THIRD_PARTY)
    yield environment
    environment.pip("uninstall", "--yes", "--quiet", "acme-ireval-metrics")


def test_a_third_party_distribution_is_used_by_name(with_third_party):
    environment = with_third_party

    out = run(environment.bin / "ireval", "evaluate", *DATA, "-m", "TopGrade@10", "-m", "firstbad@5", "-m", "AP")
    plugins = run(environment.bin / "ireval", "plugins")
    header = subprocess.run(
        [environment.bin / "python", "-m", "pytest", "--ireval"],
        cwd=environment.bin,
        capture_output=True,
        text=True,
        check=False,
    ).stdout

    assert [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]] == ["TopGrade@10", "FirstBad@5", "AP"]
    assert plugins.startswith(
        "acme-ireval-metrics 2.1.0 (acme)\n  metrics: TopGrade, FirstBad\n  rules: none_bad_first\n"
        "  sections of the report: acme_traffic\n"
    )
    assert "ireval plugins: acme-ireval-metrics 2.1.0, pytest-ireval" in header


SHELVES = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "acme-shelves"
version = "2.1.0"
dependencies = ["pytest-ireval"]

[project.entry-points.pytest_ireval_commands]
shelves = "acme_shelves.commands"
""",
    "acme_shelves/__init__.py": "",
    "acme_shelves/commands.py": """\
from pytest_ireval import CommandSpec, hookimpl


@hookimpl
def ireval_commands():
    return [CommandSpec("shelves", "Show what is on sale.", "acme_shelves.shelves:shelves")]
""",
    "acme_shelves/shelves.py": """\
import click
import numpy


@click.command()
@click.argument("shop")
def shelves(shop):
    click.echo(f"{numpy.arange(3).sum()} mugs in {shop}")
""",
}
"""A toy distribution with a command."""


def test_a_command_of_a_third_party_works_from_its_wheel(environment, tmp_path):
    for name, text in SHELVES.items():
        path = tmp_path / "shelves" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path / "shelves", check=True, capture_output=True)
    environment.install(*tmp_path.glob("*.whl"))

    help_text = run(environment.bin / "ireval", "--help")
    called = run(environment.bin / "ireval", "shelves", "Kyoto")
    environment.pip("uninstall", "--yes", "--quiet", "acme-shelves")

    assert "\nacme-shelves:\n  shelves  Show what is on sale.\n" in help_text
    assert called == "3 mugs in Kyoto\n"
    assert "acme-shelves" not in run(environment.bin / "ireval", "--help")


def test_a_section_of_a_third_party_is_in_the_report_of_a_run_and_drawn_anew(environment, tmp_path):
    environment.install(THIRD_PARTY)
    suites = shutil.copytree(ROOT / "examples" / "suites", tmp_path / "suites")
    text = (suites / "conftest.py").read_text(encoding="utf-8").replace("TopGrade", "ShopsTopGrade")
    (suites / "conftest.py").write_text(text, encoding="utf-8")
    suite = suites / "product-search.ireval.yaml"
    text = suite.read_text(encoding="utf-8").replace("TopGrade@10", "FirstBad")
    suite.write_text(text.replace("rules:\n", "rules:\n  - none_bad_first: {at_most: 50}\n"), encoding="utf-8")
    report = tmp_path / "report"

    run(
        environment.bin / "python",
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--ireval",
        suites,
        "--ireval-report",
        report,
    )
    run(environment.bin / "ireval", "report", report, "--to", tmp_path / "anew")

    page = (report / "index.html").read_text(encoding="utf-8")
    assert '<table class="acme-traffic">' in page
    assert "queries of all show a bad document first (at most 50)" in page
    assert ".acme-traffic td {" in page
    assert (tmp_path / "anew" / "index.html").read_text(encoding="utf-8") == page


def test_the_wheel_holds_the_packages_the_templates_and_nothing_else(built):
    names = zipfile.ZipFile(built["whl"]).namelist()

    assert {name.split("/")[0].split("-")[0] for name in names} == PACKAGES
    templates = {name.rpartition("/")[2] for name in names if name.startswith("pytest_ireval/templates/")}
    assert templates == {path.name for path in (ROOT / "templates").iterdir() if path.is_file()}
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


def test_the_wheel_has_every_file_of_the_sources(built):
    names = {name for name in zipfile.ZipFile(built["whl"]).namelist() if ".dist-info/" not in name}
    roots = {"pytest_ireval": "pytest_ireval"}
    roots |= {f"metrics_plugins/{name}": name for name in ("pytest_ireval_metrics", "pytest_ireval_more_metrics")}
    roots |= {f"plugins/{name}": name for name in ("pytest_ireval_judgments", "pytest_ireval_lab")}
    roots["templates"] = "pytest_ireval/templates"
    roots["examples/third_party_metrics"] = "pytest_ireval/plugin_template"
    files = [(path, root) for root in roots for path in (ROOT / root).rglob("*") if path.is_file()]

    assert names == {
        f"{roots[root]}/{path.relative_to(ROOT / root).as_posix()}"
        for path, root in files
        if "__pycache__" not in path.parts
    }
