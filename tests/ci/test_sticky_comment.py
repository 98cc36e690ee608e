"""The comment on a pull request: one, of the run of its newest commit, and never somebody else's."""

import pytest
from steps import load
from test_recipes import RECIPES

MARK = "<!-- pytest-ireval summary -->"
HEAD = "5d1c0a7be"
PULLS = "repos/shop/search/pulls"
COMMENTS = "repos/shop/search/issues/12/comments"
pytestmark = pytest.mark.usefixtures("jq")


@pytest.fixture
def jq(tool):
    """With it the stand-in for gh filters its answers."""
    return tool("jq")


def comment(repository, *, summary=f"{MARK}\n**Not safe to land**: nDCG@10 fell.\n", newest=HEAD, comments=()):
    """Run the workflow after a run on ``HEAD``; what was written, as (method and path, text)."""
    workflow = load(RECIPES / "github-comment.yml")
    values = {
        "github.token": "token",
        "github.event.workflow_run.id": "9",
        "github.event.workflow_run.run_attempt": "2",
        "github.event.workflow_run.html_url": "https://github.com/shop/search/actions/runs/9",
        "github.event.workflow_run.head_repository.owner.login": "eve",
        "github.event.workflow_run.head_branch": "syn$(touch seen)onyms",
        "github.event.workflow_run.head_sha": HEAD,
        "steps.pull.outputs.number": "",
    }
    pulls = [{"number": 11, "head": {"sha": "other"}}, {"number": 12, "head": {"sha": newest}}]
    repository.answers({PULLS: pulls, COMMENTS: list(comments)})
    if summary is not None:
        for attempt, text in ((1, "of the attempt before"), (2, summary)):
            artifact = repository.gh / f"ireval-report-{attempt}"
            artifact.mkdir()
            (artifact / "comment.md").write_text(text, encoding="utf-8")
    machine = repository.machine(GITHUB_REPOSITORY="shop/search")
    for step in workflow["jobs"]["comment"]["steps"]:
        assert step.get("if", "steps.pull.outputs.number") == "steps.pull.outputs.number"
        if "if" in step and not values["steps.pull.outputs.number"]:
            continue
        ran = machine.step(step, values, workflow["jobs"]["comment"], workflow)
        assert ran.code == 0, ran.text
        values |= {f"steps.pull.outputs.{name}": text for name, text in ran.outputs.items()}
    assert not (repository.folder / "seen").exists()
    return [(call["call"], call["body"]) for call in repository.gh_calls() if "body" in call]


def make_comment(number, login, body=f"{MARK}\n**Not safe to land**: RR fell.\n"):
    return {"id": number, "user": {"login": login}, "body": body}


LINK = "\nThe whole report: https://github.com/shop/search/actions/runs/9\n"


def test_the_first_run_writes_a_comment(repository):
    assert comment(repository) == [(f"POST {COMMENTS}", f"{MARK}\n**Not safe to land**: nDCG@10 fell.\n{LINK}")]


def test_the_next_run_writes_it_anew(repository):
    others = [
        make_comment(1, "ann", "Nice."),
        make_comment(2, "github-actions[bot]", "Accepted."),
        make_comment(3, "github-actions[bot]"),
    ]

    ((call, text),) = comment(repository, comments=others)

    assert call == "PATCH repos/shop/search/issues/comments/3"
    assert text.startswith(f"{MARK}\n**Not safe to land**: nDCG@10 fell.\n")


def test_a_comment_of_somebody_else_with_the_mark_is_left_alone(repository):
    ((call, _),) = comment(repository, comments=[make_comment(1, "eve")])

    assert call == f"POST {COMMENTS}"


def test_a_run_of_a_commit_that_is_no_longer_the_newest_says_nothing(repository):
    assert comment(repository, newest="c27e4f1d9") == []


QUIET = f"{MARK}\n<!-- quiet -->\n**Safe to land**: all 7 checks passed.\n"


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
    assert text == f"{MARK}\nThe search gate left no report on {HEAD}.\n{LINK}"


def test_the_pull_request_is_found_by_what_github_says(repository):
    comment(repository)

    assert repository.gh_calls()[0] == {"call": f"GET {PULLS}", "state": "open", "head": "eve:syn$(touch seen)onyms"}
