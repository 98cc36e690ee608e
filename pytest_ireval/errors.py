"""The error family, and what foreign code raises in its words: the place, the problem, and what is allowed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from pytest_ireval.masking import mask_error, mask_text

LONGEST_QUOTE = 120
"""An id or a line longer than this is cut in messages; the place tells where to find all of it."""

LONGEST = 2000
"""Characters of one part of a message: an input may be one line of millions."""

SCREEN = 50
"""Lines of a message about several problems; further problems are counted."""

WIDTH = 100
"""Characters of a line of a terminal."""

MORE = re.compile("… and ([0-9,]+) more")


@dataclass(frozen=True)
class Problem:
    """One problem, in the order in which it is read: place, path, complaint, suggestion, allowed."""

    complaint: str
    place: str = ""
    """``file``, ``file:line`` or ``file:line:column``; for text that has no file, the text itself."""
    path: tuple[str, ...] = ()
    """Keys from the top of a document down to the wrong value."""
    suggestion: str = ""
    allowed: str = ""

    def __str__(self) -> str:
        head = ": ".join(_cut(part) for part in (self.place, " > ".join(self.path)) if part)
        tail = [_cut(line) for line in (self.complaint, self.suggestion, self.allowed) if line]
        return "\n  ".join([head, *tail] if head else tail)


def _cut(part: str) -> str:
    part = mask_error(part)
    return part if len(part) <= LONGEST else f"{part[:LONGEST]}…"


class IrevalError(Exception):
    """Base of everything pytest-ireval raises on purpose; the text is enough, no traceback is needed."""

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = _limit_to_screen([Problem(p) if isinstance(p, str) else p for p in problems])
        super().__init__("\n".join(map(str, self.problems)))


def _limit_to_screen(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first problems that fit on a screen, and the number of the others."""
    lines = 0
    for number, problem in enumerate(problems):
        lines += sum(1 + len(line) // WIDTH for line in str(problem).splitlines())
        if number and lines > SCREEN:
            return (*problems[:number], Problem(f"… and {len(problems) - number:,} more"))
    return tuple(problems)


def count_problems(problems: Iterable[Problem]) -> int:
    """Count problems, with those that the last line of an error only counts."""
    more = (MORE.fullmatch(each.complaint) for each in problems)
    return sum(int(match[1].replace(",", "")) if match else 1 for match in more)


def format_inline(error: IrevalError) -> str:
    """The text of an error as the end of a sentence: ``a.tsv is empty; name another file``."""
    texts = ((f"{p.place} {p.complaint}".strip(), p.suggestion, p.allowed) for p in error.problems)
    return " ".join("; ".join(_cut(part) for parts in texts for part in parts if part).split())


def format_error_lines(error: IrevalError) -> list[str]:
    """An error with place and complaint in one line, for pytest's summary shows but the first."""
    lines: list[str] = []
    for problem in error.problems:
        complaint, *more = problem.complaint.splitlines() or [""]
        lines.append(": ".join(filter(None, (problem.place, " > ".join(problem.path), complaint))))
        others = (*more, *problem.suggestion.splitlines(), *problem.allowed.splitlines())
        lines += [f"  {line.strip()}" for line in others]
    return list(map(mask_error, lines)) or [type(error).__name__]


class InputError(IrevalError):
    """Judgments, rankings or queries with wrong content."""


class MetricNameError(IrevalError):
    """The text that should name a metric does not."""


class PluginError(IrevalError):
    """A plugin cannot be loaded, clashes with another one, or implements a hook that does not exist."""


class MetricError(IrevalError):
    """A metric raised an error, returned something else than scores, or got data that it cannot use."""


class SuiteError(IrevalError):
    """A suite with wrong content."""


class BaselineError(IrevalError):
    """A baseline that cannot be read, compared with, or written."""


class BaselineMisfitError(BaselineError):
    """A baseline that no longer fits the evaluation; update the baseline to fix it."""


class NothingToCompareError(BaselineError):
    """The other commit has nothing that a rule could compare with; a warning, because the branch brings it anew."""


class MissingAnchorError(BaselineError):
    """No anchor is pinned yet, or it is gone."""


class SourceError(IrevalError):
    """A source that returned no rankings, or no usable ones."""


class Mistakes:
    """Collects the problems of an input for one error: it shows the first ones and counts the others."""

    SHOWN = 5

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.count = 0

    def add(self, problem: Problem) -> None:
        """Add one problem."""
        self.count += 1
        if self.count <= self.SHOWN:
            self.problems.append(problem)

    def more(self, count: int) -> None:
        """Count others that are wrong in the same way."""
        self.count += max(0, count)

    def refuse(self) -> None:
        """Raise InputError if there is anything wrong."""
        if self.count:
            left = self.count - len(self.problems)
            raise InputError(*self.problems, *([f"… and {left} more"] if left else []))


def find_closest(word: str, known: Iterable[str], closeness: float = 0.6) -> str:
    """The known word closest to ``word`` in any letter case, the first of several; nothing if none is close."""
    import difflib

    matcher = difflib.SequenceMatcher(b=word.lower())
    closest, best = "", closeness
    for candidate in known:
        matcher.set_seq1(candidate.lower())
        least = best if not closest else math.nextafter(best, 2)
        if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least and matcher.ratio() >= least:
            closest, best = candidate, matcher.ratio()
    return closest


def did_you_mean(word: str, known: Iterable[str], closeness: float = 0.6) -> str:
    """A suggestion line for the closest known word, or nothing."""
    meant = find_closest(word, known, closeness)
    return f"did you mean {meant!r}?" if meant else ""


def suggest_full_names(word: str, known: Iterable[str]) -> str:
    """A suggestion line for a name that several plugins bring, known only as ``acme:name``; or nothing."""
    ways = [each for each in known if each.partition(":")[2] == word]
    return f"write one of {', '.join(ways)}" if ways else ""


def quote(text: str) -> str:
    """``text`` quoted for a message, cut when it is very long."""
    text = mask_text(text)
    return repr(text) if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]!r}…"


LONGEST_LINE = 300
LAST_LINES = 10
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[^\S \n]|[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Colours and cursor movements of terminals, tabs, and every other control character except line ends."""
HOUSE = str(Path(__file__).parent) + os.sep
HOMES = ("site-packages", "dist-packages")
"""Folders of installed packages."""
CALLED_BETWEEN = {"pluggy", "pydantic", "jinja2", "numpy", "click", "_pytest"}
"""Packages by which we call the code of a plugin."""


def clean_lines(text: str) -> list[str]:
    """Its lines that are not blank, each cut when it is very long."""
    lines = CONTROL.sub(" ", mask_text(text).replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return [line.rstrip()[:LONGEST_LINE] for line in lines if line.strip()]


def last_lines(text: str) -> str:
    """The end of what a program wrote, as lines of a message."""
    return "\n  ".join(clean_lines(text)[-LAST_LINES:])


def describe_exception(error: BaseException) -> str:
    """The class and the text of an exception; of an error of ours the text alone, which is written for users."""
    try:
        lines = clean_lines(str(error))
    except Exception:  # noqa: BLE001 - the text of a foreign exception may fail
        lines = ["(its text cannot be shown)"]
    if isinstance(error, IrevalError) and lines:
        return "\n  ".join(lines[:LAST_LINES])
    name = type(error).__name__
    return f"{name}: " + "\n  ".join(lines[:LAST_LINES]) if lines else name


def make_exception_problem(what: str, error: BaseException, source: str = "", folder: Path | None = None) -> Problem:
    """Make the problem of foreign code that raised an exception: the text, the place in that code, the plugin."""
    raised = "raised an error:" if isinstance(error, IrevalError) else "raised"
    return Problem(
        f"{what} {raised} {describe_exception(error)}".lstrip(),
        suggestion=find_raise_place(error, folder),
        allowed=source,
    )


def find_raise_place(error: BaseException, folder: Path | None = None) -> str:
    """The last place in the user's own code that led to an exception, or else in the installed plugin.

    Paths are relative to ``folder``; unless given, to the working folder if they are inside.
    """
    import traceback

    if isinstance(error, SyntaxError) and error.filename:
        return f"at {_shorten_file(error.filename, folder)}:{error.lineno}"
    places = [
        (frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    foreign = [(_parts_in_package(place[0])[:1], place) for place in places if _is_foreign(place[0])]
    packages = [package for package, _ in foreign if not {*package} & CALLED_BETWEEN]
    if not packages:
        return ""
    whose = () if () in packages else packages[0]
    file, line, name = next(place for package, place in reversed(foreign) if package == whose)
    where = f"at {_shorten_file(file, folder)}:{line}"
    return where if name.startswith("<") else f"{where}, in {name}"


def _parts_in_package(file: str) -> tuple[str, ...]:
    """The parts of the path of an installed package, from its name on; none for a user's own file."""
    parts = PurePath(file).parts
    home = max((place for place, part in enumerate(parts) if part in HOMES), default=len(parts))
    return parts[home + 1 :]


def _is_foreign(file: str) -> bool:
    """True for a file that belongs neither to this package nor to Python."""
    import sysconfig

    standard = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))
    return not file.startswith((HOUSE, "<")) and (bool(_parts_in_package(file)) or not file.startswith(standard))


def _shorten_file(file: str, folder: Path | None) -> str:
    """The path relative to the folder; for installed packages relative to their home."""
    if _parts_in_package(file):
        return PurePath(*_parts_in_package(file)).as_posix()
    path = relative_path(file, folder or Path.cwd())
    return file if folder is None and path.startswith("..") else path


def relative_path(file: str | os.PathLike[str], folder: Path) -> str:
    """A path relative to a folder; unchanged if there is no relative path."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # another drive
        return os.fspath(file)
