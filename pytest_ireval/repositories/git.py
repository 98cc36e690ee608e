"""Questions to git about the files at hand and about files at a ref; without git, fewer of them have an answer."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem, quote

TIMEOUT = 20.0
"""Seconds that git may take."""
LONG_TIMEOUT = 300.0
"""The same where a partial clone may fetch contents from far away, or git looks at all files of a large repository."""
OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Git sets them for hooks, relative to another folder; the repository is the one that holds the files."""
AT_ONCE = 500
"""The most files that are named in one call: a command line has an end."""
FOLDERS = ("refs/", "refs/tags/", "refs/heads/", "refs/remotes/", "")
"""Where git looks for a name, in its order; a full name is its own."""
SUFFIX = r"[~^:]|@\{"
"""The beginning of a suffix that leads from a ref to an earlier commit, as in ``main~2``."""
DIGITS = 7
"""Messages show this many digits of a commit."""
WITHOUT_BASELINES = (":(top)", ":(top,exclude,glob)**/baselines/**")


class CommitState(NamedTuple):
    """The commit and branch that are checked out; a field is empty where git does not report it."""

    commit: str = ""
    branch: str = ""
    dirty: bool = False
    """True if tracked files differ from the commit, or files that took part are neither tracked nor ignored. Baselines
    do not count: they are being written."""


def read_commit_state(folder: Path, took_part: Iterable[Path] = ()) -> CommitState:
    """The state of the repository that holds ``folder``; never an error."""
    if find_root(folder) is None:
        return CommitState()
    output = git_output(
        folder, "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", *WITHOUT_BASELINES
    )
    if output is None:
        return CommitState()
    lines = output.decode("utf-8", "replace").splitlines()
    heads = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# ") and " " in line[2:])
    commit, branch = heads.get("branch.oid", ""), heads.get("branch.head", "")
    return CommitState(
        "" if commit == "(initial)" else commit,
        "" if branch == "(detached)" else branch,
        any(not line.startswith("#") for line in lines) or has_untracked(folder, took_part),
    )


def has_untracked(folder: Path, files: Iterable[Path]) -> bool:
    """Tell whether git neither tracks nor ignores one of the files."""
    root = find_root(folder)
    real = {Path(os.path.realpath(file.parent), file.name) for file in files}
    inside = sorted(file.relative_to(root).as_posix() for file in real if root and file.is_relative_to(root))
    below = [f":(literal){name}" for name in inside]
    how = ("ls-files", "-z", "--others", "--exclude-standard", "--")
    for first in range(0, len(below), AT_ONCE):
        if (
            git_output(root or folder, *how, *below[first : first + AT_ONCE]) != b""
        ):  # without an answer it may be dirty
            return True
    return False


def full_ref(ref: str, folder: Path) -> str:
    """``refs/remotes/origin/main~2`` for ``origin/main~2``; the same for what names no ref, as the id of a commit.

    If a tag and a branch have the same name, git takes the tag: the right to push tags would be enough to choose the
    base. So several refs of one name are an error, unless they are the same commit.
    """
    name = re.split(SUFFIX, ref, maxsplit=1)[0]
    rest = ref[len(name) :]
    if not name or name.startswith("-") or name in ("HEAD", "@"):
        return ref
    names = (f"{folder_of_refs}{name}" for folder_of_refs in FOLDERS)
    output = git_output(folder, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", *names)
    commits = {}
    for line in os.fsdecode(output or b"").splitlines():
        of_tag, commit, full = line.split(" ")
        if full.endswith(name) and full.removesuffix(name) in FOLDERS:  # git also lists what lies below such a name
            commits[full] = commit or of_tag
    if len(set(commits.values())) > 1:
        several = ", ".join(f"{full} ({commit[:DIGITS]})" for full, commit in sorted(commits.items()))
        best = max(commits, key=lambda full: FOLDERS.index(full.removesuffix(name)))
        complaint = f"{len(commits)} refs are named {quote(name)}, and they are different commits: {several}"
        raise BaselineError(Problem(complaint, suggestion=f"write {best}{rest} if you mean the branch"))
    return (
        f"{min(commits)}{rest}" if commits and not rest.startswith("@{") else ref
    )  # main@{u} is asked of a short name


def short_ref(ref: str) -> str:
    """The name as people write it: ``origin/main``."""
    return re.sub("^refs/(heads|remotes|tags)/", "", ref)


def read_at_ref(ref: str, path: Path) -> bytes | None:
    """The content of a file at a ref; None if there was no such file. A ref that git does not know is an error."""
    folder = find_existing_folder(path.absolute().parent)
    ref = full_ref(ref, folder)
    _require_commit(ref, folder)
    return git_output(folder, "cat-file", "blob", f"{ref}:./{path.absolute().relative_to(folder).as_posix()}")


class GitAnswer(NamedTuple):
    """What git wrote, and whether it succeeded."""

    status: int | None
    """0: it did what it was asked; None: there is no git, or it did not end in time."""
    out: bytes
    complaint: str


def git_output(folder: Path, *arguments: str) -> bytes | None:
    """The output of git; None if git or the repository is missing, or git fails or does not end in time."""
    answer = run_git(folder, *arguments)
    return answer.out if answer.status == 0 else None


def run_git(
    folder: Path,
    *arguments: str,
    given: bytes = b"",
    timeout: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> GitAnswer:
    """Run git with the input ``given``; the answer says why git failed. ``timeout`` is in seconds, 20 unless given."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_HOOKS}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(variables or {})}
    try:
        done = subprocess.run(  # noqa: S603 - the program is git, and arguments are no shell's
            ["git", "-C", str(find_existing_folder(folder.absolute())), *arguments],  # noqa: S607 - the git that the user has
            check=False,
            capture_output=True,
            input=given,
            timeout=timeout or TIMEOUT,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        return GitAnswer(None, b"", f"git did not answer within {error.timeout:g} seconds")
    except (OSError, ValueError):
        return GitAnswer(None, b"", "git is not installed; install it where the gate runs")
    return GitAnswer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip())


def find_existing_folder(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists: git is also asked about removed folders."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _require_commit(ref: str, folder: Path) -> None:
    if ref and not ref.startswith("-") and git_output(folder, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"):
        return
    if git_output(folder, "rev-parse", "--git-dir") is None:
        raise BaselineError(Problem("is not in a git repository, or git is not installed", place=str(folder)))
    complaint = f"git does not know the commit {quote(ref)} here"
    raise BaselineError(Problem(complaint, suggestion="a shallow clone may not have it: run git fetch --unshallow"))


def find_root(folder: Path) -> Path | None:
    """The top of the repository that really holds a folder; found without asking git, None where there is none."""
    real = Path(os.path.realpath(folder))
    return next((each for each in (real, *real.parents) if (each / ".git").exists()), None)


def find_places(path: Path, root: Path) -> tuple[str, ...]:
    """The places of an absolute path below a repository, seen from its ``root``; none if it lies elsewhere.

    A path through links has several: its own name, and the targets of the links. Git names the former when a link
    changes, the latter when the file changes. The root itself is ``""``.
    """
    written, real = str(path), os.path.realpath(path)
    if written == real:
        return _find_below(path, root)
    ways = (path, Path(os.path.realpath(path.parent), path.name), Path(real))
    return tuple(dict.fromkeys(place for way in ways for place in _find_below(way, root)))


def _find_below(path: Path, root: Path) -> tuple[str, ...]:
    parents = (each for each in (path, *path.parents) if os.path.realpath(each) == str(root))
    above = root if path.is_relative_to(root) else next(parents, None)
    if above is None:
        return ()
    below = path.relative_to(above)
    return ("" if below == Path() else below.as_posix(),)


def is_pointer(data: bytes) -> bool:
    """Tell whether this is a pointer of Git LFS, not the content itself."""
    return data.startswith(b"version https://git-lfs.github.com/spec/")
