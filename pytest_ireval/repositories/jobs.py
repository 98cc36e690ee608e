"""The job that runs this process: its repository, its pull request and its page, on GitHub, GitLab or Jenkins."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.repositories.git import git

_SERVER = re.compile(r"(?:[a-z+]+://)?(?:.*@)?(?:\[[^]/]*\]|[^/:]+)(?::[0-9]+(?=/))?[:/]", re.IGNORECASE | re.DOTALL)
"""The beginning of the address of a remote, as in ``https://host/`` or ``git@host:``; a login may hold anything."""
_OF_GITHUB = re.compile(r"refs/pull/([0-9]+)/")


class Job(NamedTuple):
    """A field is empty where neither the CI system nor git reports it."""

    repository: str = ""
    """The name on its code host, as ``acme/search``."""
    pull_request: str = ""
    link: str = ""


NO_JOB = Job()


def job_at(folder: Path) -> Job:
    """The job, from the variables of its CI system; without one, the repository of ``folder`` by its remote."""
    say = os.environ.get
    if say("GITHUB_ACTIONS") == "true":
        request = _OF_GITHUB.match(say("GITHUB_REF", ""))
        page = f"{say('GITHUB_SERVER_URL')}/{say('GITHUB_REPOSITORY')}/actions/runs/{say('GITHUB_RUN_ID')}"
        return Job(say("GITHUB_REPOSITORY", ""), request[1] if request else "", _page(page))
    if say("GITLAB_CI"):
        return Job(say("CI_PROJECT_PATH", ""), say("CI_MERGE_REQUEST_IID", ""), _page(say("CI_JOB_URL", "")))
    remote = say("GIT_URL", "") if say("JENKINS_URL") else ""
    if not remote:
        remote = os.fsdecode(git(folder, "remote", "get-url", "origin") or b"").strip()
    jenkins = (say("CHANGE_ID", ""), _page(say("BUILD_URL", ""))) if say("JENKINS_URL") else ("", "")
    return Job(_name_in(remote), *jenkins)


def _page(address: str) -> str:
    """An address that a page may link to."""
    return address if address.startswith(("https://", "http://")) else ""


def _name_in(remote: str) -> str:
    """``acme/search`` of any address of it; empty for a folder, whose name differs from machine to machine."""
    server = _SERVER.match(remote)
    if server is None or "@" in remote[server.end() :] or remote.lower().startswith(("/", ".", "file:")):
        return ""
    return re.split("[?#]", remote[server.end() :])[0].strip("/").removesuffix(".git")
