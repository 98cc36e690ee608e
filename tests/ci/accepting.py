"""The workflow that accepts on a comment, job by job, on machines that share nothing but what the jobs hand on."""

from pathlib import Path

from steps import load

WORKFLOW = Path(__file__).parents[2] / "examples" / "ci" / "github-accept.yml"
REPOSITORY = "shop/search"
COMMENTED = "2026-10-12T14:30:00Z"
BEFORE, AFTER = "2026-10-12T14:00:00Z", "2026-10-12T14:30:05Z"


class Acceptance:
    """One comment on pull request 12, and what follows."""

    def __init__(
        self, repository, comment, head, *, branch="synonyms", permission="write", began=BEFORE, key="", pull=()
    ):
        self.repository, self.workflow, self.branch, self.head = repository, load(WORKFLOW), branch, head
        self.values = {
            "github.event.issue.number": "12",
            "github.event.comment.user.login": "ann",
            "github.event.comment.id": "77",
            "github.event.comment.html_url": "https://github.com/shop/search/pull/12#issuecomment-77",
            "github.event.comment.body": comment,
            "github.event.comment.created_at": COMMENTED,
            "github.token": "token",
            "github.server_url": "https://github.com",
            "github.repository": REPOSITORY,
            "github.run_id": "9",
            "secrets.IREVAL_DEPLOY_KEY": key,
            "secrets.IREVAL_DEPLOY_KEY != ''": "true" if key else "false",
        }
        origin = {"ref": branch, "sha": head, "repo": {"full_name": REPOSITORY}}
        repository.github.answers.update(
            {
                f"repos/{REPOSITORY}/collaborators/ann/permission": {"permission": permission},
                f"repos/{REPOSITORY}/pulls/12": {"state": "open", "head": origin} | dict(pull),
                f"repos/{REPOSITORY}/actions/runs": {"workflow_runs": [{"created_at": began}] if began else []},
            }
        )

    def check(self):
        """Who asks; the outputs are what the next jobs get."""
        ran = self._run(self.repository.folder, "check", "steps.check")
        for name in ("sha", "branch", "reason"):
            self.values[f"needs.check.outputs.{name}"] = ran.outputs.get(name, "")
        return ran

    def measure(self, **environment):
        """The code of the pull request; the patch is what it leaves."""
        self.measured = self.repository.clone("measuring", self.head)
        return self._run(self.measured, "measure", **environment)

    def push(self):
        """The patch, committed and pushed."""
        folder = self.repository.clone("pushing", self.head)
        temporary = folder.parent / "temporary"
        temporary.mkdir()
        (temporary / "acceptance.patch").write_bytes((self.measured / "acceptance.patch").read_bytes())
        return self._run(folder, "push", "steps.push")

    def failed(self):
        """What is said when a job failed."""
        return self._run(self.repository.folder, "failed")

    def _run(self, folder, job, step_id="", **environment):
        """The steps of a job with ``run``, until one fails; the last that ran, with the outputs of all."""
        machine = self.repository.machine(folder, GITHUB_REPOSITORY=REPOSITORY, GITHUB_ACTIONS="true", **environment)
        outputs = {}
        self.values["steps.push.outputs.commit"] = ""
        for step in self.workflow["jobs"][job]["steps"]:
            if "run" not in step:
                continue
            ran = machine.step(step, self.values, self.workflow["jobs"][job], self.workflow)
            outputs |= ran.outputs
            self.values |= {f"{step_id}.outputs.{name}": text for name, text in ran.outputs.items()}
            if ran.code:
                break
        return ran._replace(outputs=outputs)

    def list_comments(self):
        """The comments that were written."""
        path = f"POST repos/{REPOSITORY}/issues/12/comments"
        return [call["body"] for call in self.repository.github.calls if call.get("call") == path]
