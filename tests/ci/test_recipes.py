"""The recipes for CI systems: valid, without text of others in a shell, and doing what they are for when run."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from jenkinsfile import shell_steps
from steps import EXPRESSION, NO_PASSES, load

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "ci"
PAGE = ROOT / "docs" / "ci.md"
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
GITHUB = ["github.yml", "github-comment.yml", "github-accept.yml"]
SHOWN = ["github.yml", "gitlab-ci.yml"]
LINKED = ["github-comment.yml", "github-accept.yml", "Jenkinsfile"]
ON_THE_PAGE = [*SHOWN, *LINKED]

each_workflow = pytest.mark.parametrize("name", GITHUB)


def jobs(name):
    return load(RECIPES / name)["jobs"]


def blocks(page):
    return {title: text for _, title, text in BLOCK.findall(page.read_text(encoding="utf-8")) if title}


def runs(name):
    """Every script of a file, with a name."""
    if name == "Jenkinsfile":
        return dict(enumerate(shell_steps((RECIPES / name).read_text())))
    if name == "gitlab-ci.yml":
        return {"script": "\n".join(load(RECIPES / name)["search gate"]["script"])}
    if name == "action.yml":
        return {step["name"]: step["run"] for step in load(ROOT / name)["runs"]["steps"]}
    steps = [(job, number, step) for job in jobs(name) for number, step in enumerate(jobs(name)[job]["steps"])]
    return {f"{job} {number}": step["run"] for job, number, step in steps if "run" in step}


def test_every_recipe_is_on_the_page_as_it_is_or_by_a_link():
    shown = blocks(PAGE)
    page = PAGE.read_text(encoding="utf-8")

    assert sorted(path.name for path in RECIPES.iterdir()) == sorted(ON_THE_PAGE)
    assert [name for name in LINKED if f"](../examples/ci/{name})" not in page] == []
    different = [name for name in SHOWN if shown.get(f"examples/ci/{name}") != (RECIPES / name).read_text("utf-8")]
    assert different == [], "run docs/ci_page.py"


@pytest.mark.parametrize(
    ("schema", "name"),
    [("github-workflows", name) for name in GITHUB]
    + [("github-actions", "action.yml"), ("gitlab-ci", "gitlab-ci.yml")],
)
def test_a_file_is_valid_by_its_schema(tool, schema, name):
    path = ROOT / name if name == "action.yml" else RECIPES / name
    command = [tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", path]
    transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []

    done = subprocess.run([*command, *transform], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["action.yml", *(name for name in ON_THE_PAGE if name != "github.yml")])
def test_shellcheck_finds_nothing_in_any_script(tool, name):
    shell = "sh" if name in ("gitlab-ci.yml", "Jenkinsfile") else "bash"
    scripts = runs(name)
    assert scripts

    for script in scripts.values():
        command = [tool("shellcheck"), f"--shell={shell}", "-"]
        done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        assert done.stdout == ""


@each_workflow
def test_no_expression_is_in_the_text_of_a_step(name):
    assert [script for script in runs(name).values() if EXPRESSION.search(script)] == []


@each_workflow
def test_only_actions_of_github_and_this_one_are_used(name):
    used = [step["uses"] for job in jobs(name).values() for step in job["steps"] if "uses" in step]

    assert [each for each in used if not each.startswith(("actions/", "OWNER/pytest-ireval@"))] == []


@each_workflow
def test_a_workflow_may_do_nothing_that_it_does_not_say(name):
    allowed = load(RECIPES / name)["permissions"]

    assert allowed in ({}, {"contents": "read"})
    assert all("timeout-minutes" in job for job in jobs(name).values())


@each_workflow
def test_a_job_that_may_write_or_has_a_secret_runs_no_code_of_a_pull_request(name):
    for job in jobs(name).values():
        text = json.dumps(job)
        writes = "write" in job.get("permissions", {}).values() or "secrets." in text
        assert not (writes and re.search(r"pytest --ireval|pip install|OWNER/pytest-ireval", text))
        if "OWNER/" in text or "pip install" in text:
            checkout = next(step for step in job["steps"] if step["uses"].startswith("actions/checkout@"))
            assert checkout["with"]["persist-credentials"] == "false"
            assert checkout["with"]["fetch-depth"] == "0"


def test_no_recipe_runs_on_pull_request_target():
    assert [name for name in GITHUB if "pull_request_target" in load(RECIPES / name)["on"]] == []


def test_what_the_recipes_name_of_each_other_exists():
    comment = load(RECIPES / "github-comment.yml")
    upload = jobs("github.yml")["gate"]["steps"][-1]

    assert comment["on"]["workflow_run"]["workflows"] == [load(RECIPES / "github.yml")["name"]]
    assert upload["with"]["name"] == "ireval-report-${{ github.run_attempt }}"
    artifact = jobs("github-comment.yml")["comment"]["env"]["ARTIFACT"]
    assert artifact == "ireval-report-${{ github.event.workflow_run.run_attempt }}"


def gitlab(repository, **environment):
    """The script of the job; each line is a command of one shell that stops at the first failure."""
    job = load(RECIPES / "gitlab-ci.yml")["search gate"]
    machine = repository.machine(CI_PROJECT_DIR=str(repository.folder), **environment)
    return machine.bash("\n".join(job["script"]), shell=["sh", "-e"])


def jenkins_job(repository):
    """In a workspace that is wiped first."""
    shutil.rmtree(repository.folder / "ireval-report")
    return jenkins(repository)


def gitlab_job(repository):
    return gitlab(repository)


def test_gitlab_gates_a_merge_request_against_its_target(repository):
    repository.branch("synonyms", "accepted")

    ran = gitlab(repository, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    report = repository.folder / "ireval-report"

    assert ran.code == 0, ran.text
    assert json.loads((report / "results.json").read_bytes())["base"] == "origin/main"
    assert "<testsuite " in (report / "junit.xml").read_text()
    assert (report / "metrics.txt").read_text().endswith("# EOF\n")


def test_gitlab_gates_the_main_branch_and_a_red_rule_is_red(repository):
    ran = gitlab(repository, SHOP_RANKINGS="runs/hidden_tail.trec")
    report = repository.folder / "ireval-report"

    assert ran.code == 1
    assert json.loads((report / "results.json").read_bytes())["base"] == ""
    assert 'failures="1"' in (report / "junit.xml").read_text()


@pytest.mark.parametrize("job", [gitlab_job, jenkins_job], ids=["gitlab", "jenkins"])
@pytest.mark.parametrize("way", NO_PASSES, ids=lambda way: way.__name__)
def test_a_run_that_judges_nothing_is_no_pass(repository, job, way):
    report = repository.folder / "ireval-report"
    report.mkdir()
    (report / "results.json").write_text('{"verdict": "pass"}')
    way(repository.folder)

    assert job(repository).code == 2


STRICT = ["-o", "ireval_baseline_lowering=fail"]


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        (
            {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "a$(touch${IFS}seen)"},
            ["--ireval-base=refs/remotes/origin/a$(touch${IFS}seen)"],
        ),
        ({}, []),
    ],
)
def test_gitlab_calls_pytest_once_with(repository, environment, options):
    ran = gitlab(repository, PYTEST_ENDS_WITH="0", **environment)

    assert ran.code == 2, ran.text  # it ended with 0, and there is no verdict
    assert repository.python_calls() == [
        ["-m", "pip", "install", "-r", "requirements.txt"],
        ["-m", "pytest", "--ireval", "suites/", "--junit-xml=ireval-report/junit.xml", *options, *STRICT],
        ["-m", "pytest_ireval", "verdict"],
    ]
    assert not (repository.folder / "seen").exists()


def jenkins(repository, **environment):
    """The ``sh`` steps, as Jenkins calls them, until one fails."""
    machine = repository.machine(WORKSPACE_TMP=str(repository.folder.parent / "workspace tmp"), **environment)
    for script in shell_steps((RECIPES / "Jenkinsfile").read_text()):
        ran = machine.bash(script, shell=["sh", "-xe"])
        if ran.code:
            break
    return ran


def test_jenkins_gates_a_pull_request_against_its_target(repository):
    repository.branch("synonyms", "accepted")

    ran = jenkins(repository, CHANGE_TARGET="main")
    report = repository.folder / "ireval-report"

    assert ran.code == 0, ran.text
    assert json.loads((report / "results.json").read_bytes())["base"] == "origin/main"
    assert "<testsuite " in (report / "junit.xml").read_text()


def test_jenkins_installs_into_an_environment_of_its_own(repository):
    ran = jenkins(repository, PYTEST_ENDS_WITH="0", CHANGE_TARGET="a$(touch${IFS}seen)")

    assert ran.code == 2, ran.text  # it ended with 0, and there is no verdict
    assert repository.python_calls() == [
        ["-m", "venv", "--clear", str(repository.folder.parent / "workspace tmp" / "venv")],
        ["-m", "pip", "install", "-r", "requirements.txt"],
        [
            *("-m", "pytest", "--ireval", "suites/", "--junit-xml=ireval-report/junit.xml"),
            "--ireval-base=refs/remotes/origin/a$(touch${IFS}seen)",
            *STRICT,
        ],
        ["-m", "pytest_ireval", "verdict"],
    ]
    assert not (repository.folder / "seen").exists()
