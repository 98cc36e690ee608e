"""Where the history lies: below the folder that pytest calls its rootdir, in a folder that git is told to ignore."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_ireval.baselines.files import near
from pytest_ireval.errors import HistoryError, Problem
from pytest_ireval.repositories.repository import root_of

FOLDER = ".ireval"
FILE = "history.sqlite"
USUAL = f"{FOLDER}/{FILE}"
IGNORED = """\
# The history of pytest-ireval grows with every run, and is no part of the repository.
/{name}*
/.gitignore
"""


def with_folder(path: Path) -> None:
    """The folder is there; one that is ours to fill tells git to leave the history alone."""
    made = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    told = path.parent / ".gitignore"
    if (made or path.parent.name == FOLDER) and not told.exists():
        told.write_text(IGNORED.format(name=path.name), encoding="utf-8")


def history_near(folder: Path) -> Path:
    """The history of a folder, or of one above it in its repository; HistoryError where there is none."""
    home = next((each for each in _homes(folder) if (each / USUAL).is_file()), None)
    if home is not None:
        return near(home / USUAL)
    below = sorted(near(path).as_posix() for path in folder.glob(f"*/{USUAL}"))
    raise HistoryError(
        Problem(
            f"there is no {USUAL}, here or above",
            suggestion=f"--history {below[0]} names the one below" if below else "",
            allowed="each pytest --ireval adds to the one in pytest's rootdir; ireval history rebuild makes one",
        )
    )


def history_for(folder: Path) -> Path:
    """The same; where there is none, the one that would be made in ``folder``."""
    home = next((each for each in _homes(folder) if (each / USUAL).is_file()), folder)
    return near(home / USUAL)


def _homes(folder: Path) -> tuple[Path, ...]:
    """The folder, and those above it up to the top of its repository; no further: that is none of ours."""
    root = root_of(folder)
    here = Path(os.path.realpath(folder))
    if root is None:
        return (here,)
    return tuple(each for each in (here, *here.parents) if each.is_relative_to(root))


def shown_path(path: Path) -> str:
    """As messages show it."""
    return near(path).as_posix()
