"""The comment on a pull request, written by gh: one, of the run of its newest commit, and never somebody else's."""

import shutil

import pytest
from steps import load
from test_recipes import RECIPES

MARK = "<!-- pytest-ireval summary -->"
RED = f"{MARK}\n**Not safe to land**: nDCG@10 fell.\n"
QUIET = f"{MARK}\n<!-- quiet -->\n**Safe to land**: all 7 checks passed.\n"
HEAD = "5d1c0a7be"
PULLS = "repos/shop/search/pulls"
COMMENTS = "repos/shop/search/issues/12/comments"
pytestmark = pytest.mark.usefixtures("gh")


@pytest.fixture
def gh(tool):
    return tool("gh")


def comment(repository, *, summary=RED, newest=HEAD, comments=()):
    """Run the workflow after a run on ``HEAD``; what was written, as (method and path, text)."""
    github = repository.github
    github.answers[PULLS] = [{"number": 11, "head": {"sha": "other"}}, {"number": 12, "head": {"sha": newest}}]
    github.answers.setdefault(COMMENTS, list(comments))
    before = len(github.calls)
    run_workflow(repository, summary)
    return [(call["call"], call["body"]) for call in github.calls[before:] if "body" in call]


def run_workflow(repository, summary=RED):
    """All steps; returns the last that ran."""
    workflow = load(RECIPES / "github-comment.yml")
    values = {
        "github.token": "token",
        "github.event.workflow_run.id": "9",
        "github.event.workflow_run.run_attempt": "2",
        "github.event.workflow_run.html_url": RUN,
        "github.event.workflow_run.head_repository.owner.login": "eve",
        "github.event.workflow_run.head_branch": "syn$(touch seen)onyms",
        "github.event.workflow_run.head_sha": HEAD,
        "steps.pull.outputs.number": "",
    }
    if summary is not None:
        texts = {1: "of the attempt before", 2: summary}
        repository.github.artifacts = {
            f"ireval-report-{attempt}": {"comment.md": text} for attempt, text in texts.items()
        }
    shutil.rmtree(repository.folder / "report", ignore_errors=True)  # each run of a workflow has a new machine
    machine = repository.machine(GITHUB_REPOSITORY="shop/search")
    for step in workflow["jobs"]["comment"]["steps"]:
        assert step.get("if", "steps.pull.outputs.number") == "steps.pull.outputs.number"
        if "if" in step and not values["steps.pull.outputs.number"]:
            continue
        ran = machine.step(step, values, workflow["jobs"]["comment"], workflow)
        assert ran.code == 0, ran.text
        values |= {f"steps.pull.outputs.{name}": text for name, text in ran.outputs.items()}
    assert not (repository.folder / "seen").exists()
    return ran


def make_comment(number, login, body=f"{MARK}\n**Not safe to land**: RR fell.\n"):
    return {"id": number, "user": {"login": login}, "body": body}


RUN = "https://github.com/shop/search/actions/runs/9"
LINK = f"\nThe whole report: {RUN} (index.html in the artifact ireval-report-2)\n"


def test_the_first_run_writes_a_comment(repository):
    assert comment(repository) == [(f"POST {COMMENTS}", RED + LINK)]


def test_the_next_run_writes_it_anew(repository):
    others = [
        make_comment(1, "ann", "Nice."),
        make_comment(2, "github-actions[bot]", "Accepted."),
        make_comment(3, "github-actions[bot]"),
    ]

    ((call, text),) = comment(repository, comments=others)

    assert call == "PATCH repos/shop/search/issues/comments/3"
    assert text == RED + LINK


def test_a_red_push_a_second_one_and_the_fixed_one_are_one_comment(repository):
    later = RED.replace("nDCG@10", "RR@10")
    calls = [call for summary in (RED, later, QUIET) for call, _ in comment(repository, summary=summary)]

    assert [call.partition(" ")[0] for call in calls] == ["POST", "PATCH", "PATCH"]
    assert [each["body"] for each in repository.github.answers[COMMENTS]] == [QUIET + LINK]


def test_it_is_found_behind_a_hundred_others(repository):
    others = [make_comment(number, "ann", "Nice.") for number in range(1, 131)]

    ((call, _),) = comment(repository, comments=[*others, make_comment(131, "github-actions[bot]")])

    assert call == "PATCH repos/shop/search/issues/comments/131"


@pytest.mark.parametrize("comments", [[], [make_comment(3, "github-actions[bot]")]], ids=["first", "next"])
def test_with_a_token_that_may_only_read_it_is_on_the_page_of_the_run(repository, comments):
    repository.github.is_read_only = True
    comment(repository, comments=comments)

    (summary,) = repository.folder.parent.glob("temporary/summary")
    assert summary.read_text() == RED + LINK


def test_a_comment_of_somebody_else_with_the_mark_is_left_alone(repository):
    ((call, _),) = comment(repository, comments=[make_comment(1, "eve")])

    assert call == f"POST {COMMENTS}"


def test_a_run_of_a_commit_that_is_no_longer_the_newest_says_nothing(repository):
    assert comment(repository, newest="c27e4f1d9") == []


def test_a_run_in_which_nothing_happened_makes_no_comment(repository):
    assert comment(repository, summary=QUIET) == []


def test_it_only_updates_a_comment_that_is_no_longer_true(repository):
    ((call, text),) = comment(repository, summary=QUIET, comments=[make_comment(3, "github-actions[bot]")])

    assert call == "PATCH repos/shop/search/issues/comments/3"
    assert text == QUIET + LINK


@pytest.mark.parametrize("summary", [None, ""])
def test_a_run_without_a_report_is_not_passed_over(repository, summary):
    ((call, text),) = comment(repository, summary=summary, comments=[make_comment(3, "github-actions[bot]")])

    assert call == "PATCH repos/shop/search/issues/comments/3"
    assert text == f"{MARK}\nThe search gate left no report on {HEAD}: {RUN}\n"


def test_the_pull_request_is_found_by_what_github_says(repository):
    comment(repository)

    assert repository.github.calls[0] == {"call": f"GET {PULLS}", "state": "open", "head": "eve:syn$(touch seen)onyms"}
