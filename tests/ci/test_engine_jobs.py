"""The workflows and scripts of the page about live engines are valid by their schemas, and by shellcheck."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[2] / "docs" / "live_engines.md"
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
WORKFLOW, GITLAB, FORKS = ".github/workflows/search-gate.yml", ".gitlab-ci.yml", "a step for forks"
PARTS = [f"services: {name}" for name in ("elasticsearch", "postgresql", "vespa")] + [
    "steps: solr",
    "steps: vespa",
    FORKS,
]
SCRIPTS = ["load-opensearch", "load-solr", "load-postgresql"]


def blocks():
    return {title: text for _, title, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))}


def valid(tool, schema, path, *more):
    command = [tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", path, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("part", [WORKFLOW, *PARTS])
def test_a_workflow_with_each_part_is_valid(tool, tmp_path, part):
    workflow = yaml.safe_load(blocks()[WORKFLOW].replace("on: pull_request", '"on": pull_request'))
    given = yaml.safe_load(blocks()[part])
    if part.startswith("services"):
        workflow["jobs"]["gate"]["services"] = given
    elif part != WORKFLOW:
        workflow["jobs"]["gate"]["steps"] += given
    path = tmp_path / "workflow.yml"
    path.write_text(yaml.safe_dump(workflow))

    valid(tool, "github-workflows", path)


def test_the_job_of_gitlab_is_valid(tool, tmp_path):
    path = tmp_path / "gitlab-ci.yml"
    path.write_text(blocks()[GITLAB])

    valid(tool, "gitlab-ci", path, "--data-transform", "gitlab-ci")


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_clean(tool, tmp_path, name):
    path = tmp_path / "script.sh"
    path.write_text(blocks()[f"engine/{name}.sh"])
    done = subprocess.run([tool("shellcheck"), "--shell=bash", path], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
