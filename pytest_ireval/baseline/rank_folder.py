"""The folder of ``ireval rank``: a file for each suite with the rankings that its source returned, and an index.

A file has the format of a baseline, without figures and judgments: those are of whoever compares with it. The index
names the suites, with a digest or the reason why there are no rankings; it says last of all that the folder is whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_ireval.baseline.files import check_name, display_path
from pytest_ireval.baseline.fingerprints import fingerprint
from pytest_ireval.baseline.record import Baseline
from pytest_ireval.baseline.text import Damage, decode_baseline, encode_baseline
from pytest_ireval.baseline.writing import replace_file
from pytest_ireval.errors import BaselineError, IrevalError, Problem, quote

INDEX = "rank.json"
SUFFIX = ".rankings"
FORMAT = 1
ASK_AGAIN = "ask again: ireval rank SUITES -o FOLDER"


@dataclass
class RankedSuite:
    """The entry of a suite in the index."""

    path: str
    """Its file, from where ireval rank was called."""
    digest: str = ""
    """Of its file."""
    error: str = ""
    """The reason why there is no file."""


@dataclass
class RankFolder:
    """A folder while it is written, or as it was read."""

    path: Path
    date: str
    """The moment when asking began: ISO 8601, in UTC."""
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    suites: dict[str, RankedSuite] = field(default_factory=dict)
    """By name."""
    is_whole: bool = False

    @property
    def moment(self) -> datetime:
        """That moment; ValueError for text that is none."""
        return datetime.fromisoformat(self.date.replace("Z", "+00:00"))

    def begin(self) -> None:
        """Take the folder for these suites: one that holds something else is refused, earlier rankings go."""
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            place, hint = str(display_path(self.path)), "choose another folder with -o"
            if not (self.path / INDEX).is_file():
                raise IrevalError(Problem("is not empty, and holds no rankings of ireval rank", place, suggestion=hint))
            for old in self.path.glob(f"*{SUFFIX}"):
                old.unlink()
        self._write_index()

    def add(self, path: str, ranked: Baseline) -> None:
        """Write the rankings of the suite with that file."""
        text = encode_baseline(ranked)
        replace_file(self._file(ranked.suite), text)
        self.suites[ranked.suite] = RankedSuite(path, digest=fingerprint(text))
        self._write_index()

    def add_error(self, path: str, suite: str, error: IrevalError) -> None:
        """Note that a suite has no rankings."""
        self.suites[suite] = RankedSuite(path, error=str(error))
        self._write_index()

    def end(self) -> None:
        """Say that all suites were asked."""
        self.is_whole = True
        self._write_index()

    def read_suite(self, name: str) -> Baseline | None:
        """The rankings of a suite; None if the folder does not have the suite, BaselineError if it has no rankings."""
        entry = self.suites.get(name)
        if entry is None:
            return None
        path = self._file(name)
        place = str(display_path(path))
        if entry.error:
            complaint = f"ireval rank has no rankings of {quote(name)}: {entry.error}"
            raise BaselineError(Problem(complaint, str(display_path(self.path))))
        try:
            text = path.read_bytes()
            if fingerprint(text) != entry.digest:
                raise BaselineError(Problem("is not what ireval rank wrote", place, suggestion=ASK_AGAIN))
            ranked = decode_baseline(text, place)
        except OSError as error:
            complaint = f"cannot be read: {error.strerror or error}"
            raise BaselineError(Problem(complaint, place, suggestion=ASK_AGAIN)) from error
        except Damage as damage:
            raise BaselineError(Problem(damage.complaint, place, suggestion=ASK_AGAIN)) from None
        if ranked.suite != name:
            complaint = f"holds rankings of suite {quote(ranked.suite)}"
            raise BaselineError(Problem(complaint, place, suggestion=ASK_AGAIN))
        return ranked

    def _file(self, suite: str) -> Path:
        return self.path / f"{check_name(suite)}{SUFFIX}"

    def _write_index(self) -> None:
        index = {
            "format": FORMAT,
            "whole": self.is_whole,
            "date": self.date,
            "commit": self.commit,
            "branch": self.branch,
            "dirty": self.dirty,
            "suites": {
                name: {"path": each.path} | ({"error": each.error} if each.error else {"digest": each.digest})
                for name, each in sorted(self.suites.items())
            },
        }
        replace_file(self.path / INDEX, (json.dumps(index, indent=1) + "\n").encode())


def read_rank_folder(path: Path) -> RankFolder:
    """Read the index of a folder; BaselineError if it is no folder of ``ireval rank``, or not a whole one."""
    place = str(display_path(path))
    try:
        index: Mapping[str, Any] = json.loads((path / INDEX).read_bytes())
        if index["format"] != FORMAT:
            complaint = f"has format {index['format']!r}; this version of pytest-ireval reads format {FORMAT}"
            raise BaselineError(Problem(complaint, place, suggestion=ASK_AGAIN))
        suites = {str(name): RankedSuite(**entry) for name, entry in index["suites"].items()}
        date, commit, branch = (str(index[name]) for name in ("date", "commit", "branch"))
        folder = RankFolder(path, date, commit, branch, bool(index["dirty"]), suites, index["whole"] is True)
        _ = folder.moment  # text that is no date is found now
    except FileNotFoundError:
        complaint = f"holds no rankings of ireval rank: it has no {INDEX}"
        raise BaselineError(Problem(complaint, place, suggestion=ASK_AGAIN)) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        complaint = f"{INDEX} is damaged: {type(error).__name__}: {error}"
        raise BaselineError(Problem(complaint, place, suggestion=ASK_AGAIN)) from error
    if not folder.is_whole:
        raise BaselineError(Problem("is not whole: ireval rank was stopped", place, suggestion=ASK_AGAIN))
    return folder
