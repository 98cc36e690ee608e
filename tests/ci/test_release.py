"""The project's own workflows, forms and container are valid; a tag is released only with its version and changes."""

import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from steps import load

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
SCHEMAS = {
    "workflows/*.yml": "github-workflows",
    "ISSUE_TEMPLATE/[!c]*.yml": "github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "github-issue-config",
}
FILES = [(schema, path) for pattern, schema in SCHEMAS.items() for path in sorted(GITHUB.glob(pattern))]


@pytest.mark.parametrize(("schema", "path"), FILES, ids=[path.name for _, path in FILES])
def test_workflows_and_forms_are_valid(tool, schema, path):
    command = [tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted((GITHUB / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_a_job_has_a_time_limit_and_no_more_permissions_than_it_needs(path):
    workflow = load(path)

    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    assert [name for name, job in workflow["jobs"].items() if "permissions" in job] in ([], ["publish"])


def test_every_script_is_clean(tool):
    for path in sorted((ROOT / ".ci").iterdir()):
        done = subprocess.run([tool("shellcheck"), path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.fixture
def release(tmp_path):
    """Runs the script for a tag, with a version and a changelog."""

    def run(tag, heading, version="1.2.0"):
        for folder in (".ci", "pytest_ireval"):
            (tmp_path / folder).mkdir(exist_ok=True)
        shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")
        (tmp_path / "pytest_ireval" / "__init__.py").write_text(f'__version__ = "{version}"\n')
        (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n{heading}\n\n* New.\n\n## 1.1.0\n\n* Old.\n")
        return subprocess.run(["bash", tmp_path / ".ci/release", tag], capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("heading", ["## 1.2.0", "## 1.2.0 (2027-01-31)"])
def test_the_notes_of_a_release_are_its_changes(release, heading):
    done = release("v1.2.0", heading)

    assert (done.returncode, done.stdout, done.stderr) == (0, "\n* New.\n\n", "")


@pytest.mark.parametrize(
    ("tag", "heading", "message"),
    [
        (
            "v1.3.0",
            "## 1.2.0",
            "the tag is v1.3.0, and pytest_ireval/__init__.py has version 1.2.0: the tag must be v1.2.0",
        ),
        (
            "v1.2.0",
            "## 1.2.0 (unreleased)",
            "CHANGELOG.md: the heading of this version is '## 1.2.0 (unreleased)': "
            "write '## 1.2.0' or '## 1.2.0 (YYYY-MM-DD)'",
        ),
        (
            "v1.2.0",
            "## 1.2",
            "CHANGELOG.md: the heading of this version is 'missing': write '## 1.2.0' or '## 1.2.0 (YYYY-MM-DD)'",
        ),
    ],
)
def test_a_tag_without_its_version_or_changes_is_refused(release, tag, heading, message):
    done = release(tag, heading)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{message}\n")


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8") if (ROOT / "Dockerfile").exists() else ""


def test_the_container_asks_for_extras_that_exist():
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]")[2]
    asked = {name for names in re.findall(r"\[([a-z,]+)\]\"", DOCKERFILE) for name in names.split(",")}

    assert asked == {"live", "sql", "parquet", "fast", "remote"}
    assert asked <= set(re.findall(r"^(\w+) = \[", extras, re.MULTILINE))


def test_the_container_is_built_from_all_files_that_the_wheel_needs(tmp_path):
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    kept = [line[1:] for line in lines if line.startswith("!")]
    source = tmp_path / "source"
    for name in kept:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(
                place, source / name, ignore=lambda _, names: [n for n in names if fnmatch(n, "__pycache__")]
            )
        else:
            source.mkdir(exist_ok=True)
            shutil.copy(place, source / name)

    def files(folder):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / folder.name]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        (wheel,) = (tmp_path / folder.name).glob("*.whl")
        listed = subprocess.run(
            [sys.executable, "-m", "zipfile", "-l", wheel], capture_output=True, text=True, check=True
        ).stdout
        return [line.split()[0] for line in listed.splitlines()[1:]]

    assert files(source) == files(ROOT)
