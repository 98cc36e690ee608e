"""What git says of the files at hand, and what files were at a ref; without git there is simply less to say."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import BaselineError, Problem, shown

PATIENCE = 20.0
"""Seconds that git may take."""
OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Git sets them for hooks, relative to another folder; the repository is the one that holds the files."""
AT_ONCE = 500
"""The most files that are named in one call: a command line has an end."""
FOLDERS = ("refs/", "refs/tags/", "refs/heads/", "refs/remotes/", "")
"""Where git looks for a name, in its order; a full name is its own."""
SUFFIX = r"[~^:]|@\{"
"""Begins what says which commit before a ref is meant."""
DIGITS = 7
"""Messages show this many digits of a commit."""
WITHOUT_BASELINES = (":(top)", ":(top,exclude,glob)**/baselines/**")


class CommitState(NamedTuple):
    """Where the work stands; empty where git does not say."""

    commit: str = ""
    branch: str = ""
    dirty: bool = False
    """Whether files are not as the commit has them: tracked ones that differ, and those that took part and are neither
    tracked nor ignored. Baselines do not count, they are what is being written."""


def commit_state(folder: Path, took_part: Iterable[Path] = ()) -> CommitState:
    """Of the repository that holds ``folder``; never an error."""
    said = git(folder, "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", *WITHOUT_BASELINES)
    if said is None:
        return CommitState()
    lines = said.decode("utf-8", "replace").splitlines()
    heads = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# ") and " " in line[2:])
    commit, branch = heads.get("branch.oid", ""), heads.get("branch.head", "")
    return CommitState(
        "" if commit == "(initial)" else commit,
        "" if branch == "(detached)" else branch,
        any(not line.startswith("#") for line in lines) or _any_untracked(folder, took_part),
    )


def _any_untracked(folder: Path, files: Iterable[Path]) -> bool:
    """Tell whether git neither has one of the files in its repository nor was told to ignore it."""
    root = root_of(folder)
    real = {Path(os.path.realpath(file.parent), file.name) for file in files}
    below = sorted(
        f":(literal){file.relative_to(root).as_posix()}" for file in real if root and file.is_relative_to(root)
    )
    for first in range(0, len(below), AT_ONCE):
        said = git(
            root or folder, "ls-files", "-z", "--others", "--exclude-standard", "--", *below[first : first + AT_ONCE]
        )
        if said is None or said:  # where git does not say, nobody can call the tree clean
            return True
    return False


def full_name(ref: str, folder: Path) -> str:
    """``refs/remotes/origin/main~2`` for ``origin/main~2``; the same for what names no ref, as the id of a commit.

    If a tag and a branch have the same name, git takes the tag: anybody who may push tags could choose the base. So
    several refs of one name are an error, unless they are the same commit.
    """
    name = re.split(SUFFIX, ref, maxsplit=1)[0]
    rest = ref[len(name) :]
    if not name or name.startswith("-") or name in ("HEAD", "@"):
        return ref
    said = git(
        folder,
        "for-each-ref",
        "--format=%(objectname) %(*objectname) %(refname)",
        *(f"{each}{name}" for each in FOLDERS),
    )
    found = {}
    for line in os.fsdecode(said or b"").splitlines():
        of_tag, commit, full = line.split(" ")
        if full.endswith(name) and full.removesuffix(name) in FOLDERS:  # git also lists what lies below such a name
            found[full] = commit or of_tag
    if len(set(found.values())) > 1:
        several = ", ".join(f"{full} ({commit[:DIGITS]})" for full, commit in sorted(found.items()))
        best = max(found, key=lambda full: FOLDERS.index(full.removesuffix(name)))
        raise BaselineError(
            Problem(
                f"{len(found)} refs are named {shown(name)}, and they are different commits: {several}",
                suggestion=f"write {best}{rest} if you mean the branch",
            )
        )
    return f"{min(found)}{rest}" if found and not rest.startswith("@{") else ref  # main@{u} is asked of a short name


def short_name(ref: str) -> str:
    """As people write it."""
    return re.sub("^refs/(heads|remotes|tags)/", "", ref)


def content_at(ref: str, path: Path) -> bytes | None:
    """What was in a file at a ref; None where there was no such file. An error if there is no such ref."""
    folder = standing(path.absolute().parent)
    ref = full_name(ref, folder)
    _checked_commit(ref, folder)
    return blob(f"{ref}:./{_path_below(path, folder)}", folder)


def blob(name: str, folder: Path) -> bytes | None:
    """The content that git knows by a name as ``REF:./path`` or ``:2:./path``; None where there is none."""
    return git(folder, "cat-file", "blob", name)


class _Answer(NamedTuple):
    """What came of asking git."""

    status: int | None
    """0: it did what it was asked; None: there is no git, or it did not end in time."""
    out: bytes
    said: str
    """What it complained of."""


def git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; None if there is no git, no repository, no success or no end."""
    answer = asked(folder, *arguments)
    return answer.out if answer.status == 0 else None


def asked(folder: Path, *arguments: str, given: bytes = b"", patience: float = 0.0) -> _Answer:
    """What git answers to ``given``, for those who have to know why it fails; ``patience`` is in seconds."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_HOOKS}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - the program is git, and arguments are no shell's
            ["git", "-C", str(standing(folder.absolute())), *arguments],  # noqa: S607 - the git that the user has
            check=False,
            capture_output=True,
            input=given,
            timeout=patience or PATIENCE,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        return _Answer(None, b"", f"git did not answer within {error.timeout:g} seconds")
    except (OSError, ValueError):
        return _Answer(None, b"", "git is not installed; install it where the gate runs")
    return _Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip())


def standing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists: what is asked of git may be gone from the disk."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _path_below(path: Path, folder: Path) -> str:
    return path.absolute().relative_to(folder).as_posix()


def _checked_commit(ref: str, folder: Path) -> None:
    if ref and not ref.startswith("-") and git(folder, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"):
        return
    if git(folder, "rev-parse", "--git-dir") is None:
        raise BaselineError(Problem("is not in a git repository, or git is not installed", place=str(folder)))
    complaint = f"git does not know the commit {shown(ref)} here"
    raise BaselineError(Problem(complaint, suggestion="a shallow clone may not have it: run git fetch --unshallow"))


def root_of(folder: Path) -> Path | None:
    """The top of the repository that really holds a folder; found without asking git, None where there is none."""
    real = Path(os.path.realpath(folder))
    return next((each for each in (real, *real.parents) if (each / ".git").exists()), None)


def places_of(path: Path, root: Path) -> tuple[str, ...]:
    """The places of an absolute path below a repository, seen from its ``root``; none if it lies elsewhere.

    There are several where links lead to it: its own name, and what the links stand for. Git names the former when a
    link is changed, the latter when the file is. The root itself is ``""``.
    """
    written, real = str(path), os.path.realpath(path)
    if written == real:
        return _below(path, root)
    ways = (path, Path(os.path.realpath(path.parent), path.name), Path(real))
    return tuple(dict.fromkeys(place for way in ways for place in _below(way, root)))


def _below(path: Path, root: Path) -> tuple[str, ...]:
    if path.is_relative_to(root):
        return (_named(path.relative_to(root)),)
    above = next((each for each in (path, *path.parents) if os.path.realpath(each) == str(root)), None)
    return () if above is None else (_named(path.relative_to(above)),)


def _named(path: Path) -> str:
    return "" if path == Path() else path.as_posix()


POINTER = b"version https://git-lfs.github.com/spec/"


def is_pointer(data: bytes) -> bool:
    """Tell whether this is no content, but says where one is."""
    return data.startswith(POINTER)
