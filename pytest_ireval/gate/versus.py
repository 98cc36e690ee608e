"""What ``--ireval-versus`` compares with: the rankings of another commit, asked a moment ago, not a stored baseline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pytest_ireval.baseline.files import display_path
from pytest_ireval.baseline.rank_folder import RankFolder, read_rank_folder
from pytest_ireval.errors import BaselineError, IrevalError, NothingToCompareError, Problem, quote
from pytest_ireval.gate.collect import StoredReference
from pytest_ireval.words import format_age

SIDE = "IREVAL_SIDE"
"""The variable by which a source knows which side is asked, so that each can have an index of its own."""
NEW_HERE = "new here, nothing to compare with"
"""What rules say where the other commit lacks what the branch brings."""
BASE_SIDE = "base"
HEAD_SIDE = "head"


@dataclass
class Versus:
    """The rankings of the other commit. Plain data: workers get it."""

    folder: RankFolder | None
    commit: str
    words: str
    """``3f2a1c9, asked 4 minutes ago``."""
    problem: str = ""
    """The reason why there are none; every comparison is an error then."""
    ref: str = ""
    """The git ref whose merge base was asked; empty where a folder was read."""
    took: str = ""
    """The seconds that this took, in words."""
    warnings: tuple[str, ...] = ()
    """What a reader has to know of the two sides."""

    def __str__(self) -> str:
        if self.folder is None:
            return "the other commit could not be asked: every comparison with it is an error"
        return f"compared with {self.words} ({self.took})" if self.took else f"compared with {self.words}"

    def find(self, suite: str) -> StoredReference:
        """What the comparing rules of a suite compare with."""
        if self.folder is None:
            return StoredReference(problem=BaselineError(self.problem), versus=self.words)
        try:
            ranked = self.folder.read_suite(suite)
        except BaselineError as error:
            return StoredReference(problem=error, versus=self.words)
        if ranked is None:
            complaint = f"{NEW_HERE}: {self.words}, without a suite {quote(suite)}"
            return StoredReference(problem=NothingToCompareError(complaint), versus=self.words)
        return StoredReference(ranked, versus=self.words)


def read_versus(path: Path, now: datetime, max_age: timedelta, commit: str = "") -> Versus:
    """Read a folder of ``ireval rank``; ``commit`` is that of a folder without git.

    A folder that cannot be compared with has a problem, which is the verdict of every comparison.
    """
    place = str(display_path(path))
    try:
        folder = read_rank_folder(path)
    except BaselineError as error:
        return report_unusable_base(error)
    age = now - folder.moment
    if age > max_age:
        complaint = f"its rankings were asked {format_age(age)} ago; the limit is {format_age(max_age)}"
        suggestion = "ask again: ireval rank SUITES -o FOLDER; or set ireval_versus_max_age"
        return report_unusable_base(BaselineError(Problem(complaint, place, suggestion=suggestion)))
    commit, changes = folder.commit or commit, " with uncommitted changes" if folder.dirty else ""
    name = f"{commit[:7]}{changes}" if commit else place
    return Versus(folder, commit, f"{name}, asked {format_age(max(age, timedelta(0)))} ago")


def report_unusable_base(error: IrevalError) -> Versus:
    """The other commit has no rankings: every comparison with it is this error."""
    return Versus(None, "", "the other commit", str(error))
