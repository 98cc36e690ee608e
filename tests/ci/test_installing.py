"""What the recipes install: the address that the page shows, with a wheel of this checkout in its place."""

import os
import subprocess
import sys
import sysconfig
import venv

import pytest
from steps import load
from test_action import act
from test_recipes import PAGE, RECIPES, ROOT, blocks, gitlab, jenkins

ADDRESS = "git+https://github.com/OWNER/pytest-ireval@COMMIT"
TEMPLATE = ROOT / "examples" / "third_party_metrics"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.iterdir()).as_uri()


@pytest.fixture
def bare_python(tmp_path):
    """The environment of a machine whose Python has pip; what pytest-ireval needs is found where the tests find it."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path.append({sysconfig.get_path('purelib')!r})\n")
    venv.create(tmp_path / "python", with_pip=True, symlinks=True)
    return {
        "PATH": f"{tmp_path / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which turns isolation off: a build would ask an index for hatchling
    }


def github(repository, **environment):
    """The gate of the workflow, by the action of this checkout."""
    step = next(step for step in load(RECIPES / "github.yml")["jobs"]["gate"]["steps"] if step.get("id") == "gate")
    return act(repository, {"install": step["with"]["install"]}, **environment)


@pytest.mark.parametrize("job", [github, gitlab, jenkins])
def test_a_recipe_installs_what_it_runs(repository, wheel, bare_python, tmp_path, job):
    requirements = blocks(PAGE)["requirements.txt"]
    (repository.folder / "requirements.txt").write_text(requirements.replace(ADDRESS, wheel))

    code, text, _ = job(repository, **bare_python)

    assert code == 0, text
    assert len([*tmp_path.rglob("site-packages/pytest_ireval/__init__.py")]) == 1
    assert (repository.folder / "ireval-report" / "results.json").exists()


def test_the_job_of_a_plugin_installs_what_it_tests(repository, wheel, bare_python, tmp_path):
    machine = repository.machine(tmp_path / "search-metrics", **bare_python)
    new = repository.machine(tmp_path).bash("python -m pytest_ireval plugins --new search-metrics")
    install, test = [step["run"] for step in load(machine.folder / "ci.yml")["jobs"]["test"]["steps"] if "run" in step]
    assert new.code == 0, new.text
    assert (ADDRESS in install, test) == (True, "pytest")

    for script in (install.replace(ADDRESS, wheel), "python -m pytest -p no:cacheprovider"):
        ran = machine.bash(script)
        assert ran.code == 0, ran.text


def test_nothing_is_named_that_cannot_be_installed():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *RECIPES.iterdir(), TEMPLATE / "ci.yml"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages}

    for name, text in texts.items():
        assert text.count("OWNER/pytest-ireval@") == text.count("OWNER/pytest-ireval@COMMIT"), name
        assert "--with pytest-ireval " not in text, name
        assert "rev: v" not in text, name
    assert texts["ci.md"].count("in place of\n`OWNER/pytest-ireval@COMMIT`") == 1
