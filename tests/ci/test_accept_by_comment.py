"""A comment accepts: only of somebody who may, only what they saw, only baselines; its words are never code."""

import json

import pytest
from accepting import AFTER, Acceptance

BASELINE = "suites/baselines/product-search.baseline"
pytestmark = pytest.mark.usefixtures("gh")


@pytest.fixture
def gh(tool):
    return tool("gh")


def reason_at(repository, ref):
    """Of the newest acceptance in the baseline that the remote has."""
    repository.git("fetch", "--quiet", "origin")
    lines = map(json.loads, repository.git("show", f"{ref}:{BASELINE}").splitlines())
    return [line for line in lines if "acceptance" in line][-1]


def whole(acceptance):
    """All jobs, each of which has to succeed."""
    for job in (acceptance.check, acceptance.measure, acceptance.push):
        ran = job()
        assert ran.code == 0, ran.text
    return ran


def test_the_baselines_are_committed_and_pushed_and_nothing_else(repository):
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept synonyms v2\r\nand more text", head)

    ran = whole(acceptance)
    newest = reason_at(repository, "origin/synonyms")

    assert ran.outputs["commit"] == repository.git("rev-parse", "origin/synonyms")
    assert repository.git("rev-parse", "origin/synonyms^") == head
    assert repository.git("diff", "--name-only", head, "origin/synonyms").splitlines() == [
        "suites/baselines/product-search.baseline"
    ]
    assert newest["reason"] == "synonyms v2 (@ann, #12)"
    assert (newest["branch"], newest["commit"], "dirty" in newest) == ("synonyms", head, False)
    assert repository.git("log", "-1", "--format=%an: %B", "origin/synonyms") == (
        "github-actions[bot]: Accept what the suites measure\n\n"
        "Asked for by @ann: https://github.com/shop/search/pull/12#issuecomment-77"
    )


def test_the_gate_is_green_on_what_was_accepted(repository):
    head = repository.branch("synonyms")
    whole(Acceptance(repository, "/ireval accept synonyms v2", head))
    repository.git("fetch", "--quiet", "origin")
    clone = repository.clone("after", repository.git("rev-parse", "origin/synonyms"))

    ran = repository.machine(clone).bash("python -m pytest -q --ireval suites/")

    assert ran.code == 0, ran.text


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("", " No check has started for this commit. To start the gate, close and reopen the pull request."),
        ("a key", ""),
    ],
)
def test_the_answer_says_whether_the_gate_begins_by_itself(repository, key, answer):
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept synonyms v2", head, key=key)

    commit = whole(acceptance).outputs["commit"]

    assert acceptance.list_comments() == [f"Accepted in {commit}.{answer}"]


REASONS = [
    'quotes " and \' and "$(touch seen)"',
    "$(touch seen) `touch seen` ${IFS} $HOME",
    "[skip ci] ::error::no %0A ::set-output name=sha::x",
    "${{ github.token }} sha=0000",
    "\\n\\t\\ a backslash at the end\\",
]


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_handed_on_as_it_was_written(repository, reason):
    acceptance = Acceptance(repository, f"/ireval accept {reason}\nbranch=main\nsha=0000", "5d1c0a7")

    ran = acceptance.check()

    assert ran.outputs == {"sha": "5d1c0a7", "branch": "synonyms", "reason": reason}
    assert not (repository.folder / "seen").exists()


@pytest.mark.parametrize("reason", ["--ireval-force", " ".join(REASONS)])
def test_a_reason_is_text_in_every_job_whatever_it_says(repository, reason):
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, f"/ireval accept {reason}", head)

    whole(acceptance)
    newest = reason_at(repository, "origin/synonyms")

    assert (newest["reason"], "forced" in newest) == (f"{reason} (@ann, #12)", False)
    assert "[skip ci]" not in repository.git("log", "-1", "--format=%B", "origin/synonyms")
    for folder in (repository.folder, acceptance.measured, acceptance.measured.parents[1] / "pushing" / "work"):
        assert not (folder / "seen").exists()
        assert (folder / "suites").is_dir()


def test_control_characters_of_a_reason_are_left_out(repository):
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept  a\x1b[31m red\tthing\x00 \r\n".replace("\x00", ""), head)

    ran = acceptance.check()

    assert ran.outputs == {"sha": head, "branch": "synonyms", "reason": "a[31m redthing"}


def test_the_name_of_a_branch_is_text_too(repository):
    name = "a$(touch${IFS}seen);touch${IFS}seen`touch${IFS}seen`"
    head = repository.branch(name)
    acceptance = Acceptance(repository, "/ireval accept synonyms v2", head, branch=name)

    whole(acceptance)

    assert reason_at(repository, f"origin/{name}")["branch"] == name
    assert not (acceptance.measured / "seen").exists()


SAY_WHY = "give a reason, in one line: `/ireval accept REASON`."
FORK = "the branch is in a fork, and this workflow may not push there. Accept the change on your own machine."


@pytest.mark.parametrize(
    ("comment", "told", "answer"),
    [
        ("/ireval accept", {}, SAY_WHY),
        ("/ireval accepting is what I would do", {}, SAY_WHY),
        ("/ireval accept x", {"permission": "read"}, "@ann has no write permission in this repository."),
        ("/ireval accept x", {"pull": {"state": "closed"}}, "the pull request is not open."),
        (
            "/ireval accept x",
            {"pull": {"head": {"ref": "synonyms", "sha": "5d1c", "repo": {"full_name": "eve/search"}}}},
            FORK,
        ),
    ],
)
def test_what_is_not_accepted_is_answered(repository, comment, told, answer):
    acceptance = Acceptance(repository, comment, "5d1c0a7", **told)

    ran = acceptance.check()

    assert (ran.code, ran.outputs) == (1, {})
    assert acceptance.list_comments() == [f"Nothing was accepted: {answer}"]


@pytest.mark.parametrize("began", [AFTER, ""])
def test_a_commit_that_was_pushed_after_the_comment_is_not_accepted(repository, began):
    acceptance = Acceptance(repository, "/ireval accept x", "5d1c0a7", began=began)

    ran = acceptance.check()

    assert (ran.code, ran.outputs) == (1, {})
    assert acceptance.list_comments() == [
        "Nothing was accepted: the checks of 5d1c0a7, the newest commit, started after this comment. "
        "Look at them first."
    ]


def test_a_commit_that_is_pushed_while_it_is_measured_stops_the_push(repository):
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept synonyms v2", head)
    assert acceptance.check().code == 0
    assert acceptance.measure().code == 0
    (repository.folder / "more.txt").write_text("more\n")
    newer = repository.commit("more")
    repository.git("push", "--quiet", "origin", "HEAD:refs/heads/synonyms")

    ran = acceptance.push()
    acceptance.failed()

    assert ran.code == 1
    assert "stale info" in ran.text
    assert repository.git("ls-remote", "origin", "refs/heads/synonyms").split()[0] == newer
    assert acceptance.list_comments() == [
        "The acceptance failed. This run shows the cause: https://github.com/shop/search/actions/runs/9"
    ]


def test_what_accepting_does_not_settle_stays_red_and_nothing_is_pushed(repository):
    suite = repository.folder / "suites" / "product-search.ireval.yaml"
    suite.write_text(suite.read_text().replace(">= 0.85", ">= 0.99"))
    repository.commit("a threshold that nobody reaches")
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept synonyms v2", head)
    assert acceptance.check().code == 0

    ran = acceptance.measure()

    assert ran.code == 1
    assert not (acceptance.measured / "acceptance.patch").exists()


def test_where_all_is_as_in_the_baselines_nothing_is_pushed(repository):
    head = repository.branch("synonyms", rankings="accepted")
    acceptance = Acceptance(repository, "/ireval accept synonyms v2", head)

    whole(acceptance)

    assert acceptance.list_comments() == ["Nothing to accept: the results equal the baselines."]
    assert repository.git("ls-remote", "origin", "refs/heads/synonyms").split()[0] == head


def test_a_patch_of_anything_but_baselines_is_not_pushed(repository):
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept synonyms v2", head)
    assert acceptance.check().code == 0
    assert acceptance.measure().code == 0
    (acceptance.measured / "suites" / "conftest.py").write_text("import os\n")
    machine = repository.machine(acceptance.measured)
    assert machine.bash("git add --all && git diff --cached --binary > acceptance.patch").code == 0

    ran = acceptance.push()

    assert ran.code == 1
    assert "the patch changes files other than baselines, so it is not pushed" in ran.text
    assert repository.git("ls-remote", "origin", "refs/heads/synonyms").split()[0] == head


def test_a_first_baseline_comes_alone(repository):
    repository.git("rm", "-r", "--quiet", "suites/baselines")
    repository.commit("a shop without a baseline")
    head = repository.branch("synonyms")
    acceptance = Acceptance(repository, "/ireval accept the first", head)

    whole(acceptance)
    repository.git("fetch", "--quiet", "origin")

    assert repository.git("diff", "--name-only", head, "origin/synonyms").splitlines() == [
        "suites/baselines/product-search.baseline"
    ]
