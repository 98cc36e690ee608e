"""Which files are suites, and which files fit a pattern such as ``src/**``."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path, PurePosixPath

from pytest_ireval.errors import shown
from pytest_ireval.repositories.changed_files import Files
from pytest_ireval.repositories.git import places_of, root_of
from pytest_ireval.suites.scalars import Scalar, UnfitError, place_of, plain_value
from pytest_ireval.suites.suite import Pattern, Watch

MARK = re.compile(rb"^(?:\xef\xbb\xbf)?(?:\{\s*)?[\"']?ireval[\"']?\s*:", re.MULTILINE)
JUDGMENTS = re.compile(rb"^judgments\s*:", re.MULTILINE)
DECIDES = re.compile(rb"^(?:rules|metrics)\s*:", re.MULTILINE)
LOOKED_AT = 1 << 20
"""The mark must stand in the first MiB."""
NOT_ENTERED = (".*", "build", "dist", "node_modules", "venv", "*.egg", "__pycache__")
"""Folders that nobody keeps suites in; pytest does not enter them either."""


def is_suite(path: Path, *, named: bool = False) -> bool:
    """Tell whether a file is to be read as a suite, be it without mistakes or not; raises OSError if it cannot be read.

    ``*.ireval.yaml`` is one, and any YAML file with a line that begins with ``ireval:``. One without it is to be read,
    which says what line it lacks, if somebody ``named`` it or if it has judgments and rules or metrics. A file whose
    name begins with ``_`` is only there for others that extend it.
    """
    if path.suffix not in (".yaml", ".yml"):
        return False
    return named or says_suite(path.stem, _head_of(path))


def says_suite(stem: str, head: bytes) -> bool:
    """The same of a YAML file of which the name and the beginning are known."""
    if is_shared(stem):
        return False
    if stem.endswith(".ireval"):
        return True
    return bool(MARK.search(head) or (JUDGMENTS.search(head) and DECIDES.search(head)))


def is_shared(name: str) -> bool:
    """Tell whether a file of that name is only there for others that extend it."""
    return name.startswith("_")


def lost_suites(folder: Path) -> list[Path]:
    """Links in a folder that are called as suites are and lead nowhere, or to themselves."""
    with suppress(OSError):  # whoever looks into the folder is told
        return sorted(
            path for path in folder.iterdir() if _is_called_suite(path) and path.is_symlink() and _leads_nowhere(path)
        )
    return []


def _is_called_suite(path: Path) -> bool:
    return path.name.endswith((".ireval.yaml", ".ireval.yml")) and not is_shared(path.name)


def _leads_nowhere(path: Path) -> bool:
    try:
        path.stat()
    except OSError:
        return True
    return False


def suites_at(paths: Iterable[Path]) -> list[Path]:
    """The suites among files, and in folders and those below; each once, in order."""
    found = [path for each in paths for path in (files_below(each) if each.is_dir() else [each])]
    return list(dict.fromkeys(path for path in found if is_suite(path, named=path in paths)))


def files_below(folder: Path) -> Iterator[Path]:
    """List all files of a folder, without those of folders that pytest does not enter."""
    for home, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not any(fnmatch(name, each) for each in NOT_ENTERED))
        yield from (Path(home, name) for name in sorted(files))


def _head_of(path: Path) -> bytes:
    """As much of a file as is looked at."""
    with open(path, "rb") as file:
        return file.read(LOOKED_AT)


MATRIX = re.compile(rb"^matrix\s*:", re.MULTILINE)


def twin_of(path: Path, name: str) -> Path | None:
    """Another suite file beside one that says the same name; one that inherits its name is not found."""
    says = re.compile(rb"^suite\s*:\s*[\"']?" + re.escape(name.encode()) + rb"[\"']?\s*(?:#.*)?$", re.MULTILINE)
    for other in sorted(path.parent.iterdir()):
        with suppress(OSError):  # one that cannot be read is an error of whatever run collects it
            if (
                other != path
                and is_suite(other)
                and says.search(_head_of(other))
                and not MATRIX.search(_head_of(other))
            ):
                return other
    return None


WILD = re.compile(r"[*?\[]")
ANY = "**"
"""Any number of folders, none too."""
DRIVE = re.compile(r"[A-Za-z]:[/\\]")
BRACES = re.compile(r"\{[^}]*,[^}]*\}")
A_GLOB = "glob"
EXAMPLES = "write search/**, ../search/*.py, or /libs/analysis/** from the top of the repository"


def watch(value: object) -> Watch:
    """What a glob stands for; relative to the folder of the file it is written in, or with ``/`` to the repository."""
    if isinstance(value, Watch):
        return value
    text = plain_value(value, A_GLOB)
    glob = text.removeprefix("!").strip()
    _refuse_unreadable(text, glob)
    folder = Path(os.path.abspath(value.folder if isinstance(value, Scalar) else ""))
    root = root_of(folder)
    _refuse_machine_path(glob, root)
    pattern = pattern_of(glob, (root or folder) if glob.startswith("/") else folder)
    if root is not None and not places_of(pattern.base, root):
        raise UnfitError(f"{shown(text)} is outside of the repository: git knows nothing about {pattern.base}")
    return Watch(text, place_of(value), pattern, text.startswith("!"))


def pattern_of(glob: str, folder: Path) -> Pattern:
    """The pattern that a glob is, seen from a folder. One that ends in a name means everything below it, too."""
    parts = [part for part in glob.split("/") if part not in ("", ".")]
    fixed = next((number for number, part in enumerate(parts) if WILD.search(part)), len(parts))
    wild = parts[fixed:]
    if not wild or not WILD.search(wild[-1]):
        wild.append(ANY)
    return Pattern(Path(os.path.normpath(os.path.join(folder, *parts[:fixed]))), tuple(wild))


def _refuse_unreadable(text: str, glob: str) -> None:
    complaint, suggestion = next(_mistakes(glob), ("", ""))
    if complaint:
        raise UnfitError(f"{shown(text)} {complaint}", suggestion)


def _mistakes(glob: str) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to write instead."""
    parts = glob.split("/")
    wild = next((number for number, part in enumerate(parts) if WILD.search(part)), len(parts))
    if not glob.strip("/") or "\0" in glob:
        yield "is not a glob", EXAMPLES
    if DRIVE.match(glob) or glob.startswith("~"):
        yield "is an absolute path of one machine", EXAMPLES
    if "\\" in glob:
        yield "has a backslash: folders are separated by /", "write " + glob.replace("\\", "/")
    if BRACES.search(glob):
        yield "has braces, which are not wildcards here", "write a glob for each alternative"
    if any(ANY in part and part != ANY for part in parts):
        yield "has ** inside of a name, but ** means whole folders", "write search/**/*.py, or * within a name"
    if ".." in parts[wild:]:
        yield "has .. after a wildcard", EXAMPLES


def _refuse_machine_path(glob: str, root: Path | None) -> None:
    """A path from the top of the machine, where the top of the repository is meant."""
    if not glob.startswith("/") or root is None:
        return
    below = f"{glob}/".startswith(f"{root.as_posix().rstrip('/')}/")
    first = glob.strip("/").partition("/")[0]
    if not below and (WILD.search(first) or (root / first).exists() or not Path("/", first).exists()):
        return
    inside = "/" + glob.removeprefix(root.as_posix()).lstrip("/") if below else ""
    suggestion = f"write {inside}" if inside else EXAMPLES
    complaint = f"{shown(glob)} is a path of this machine; / is the top of the repository here"
    raise UnfitError(complaint, suggestion)


def watched(watches: Sequence[Watch], files: Files, root: Path) -> tuple[str, Watch] | None:
    """The first file that one of the globs fits, and no exception does; None if there is none."""
    exceptions = [
        (place, watch.pattern.wild)
        for watch in watches
        if watch.excludes
        for place in places_of(watch.pattern.base, root)
    ]
    for watch in (each for each in watches if not each.excludes):
        for file in fitting(watch.pattern, files, root):
            if not any(_lies_at(file, place) and _fits(wild, _parts(file, place)) for place, wild in exceptions):
                return file, watch
    return None


def fitting(pattern: Pattern, files: Files, root: Path) -> Iterator[str]:
    """The files that a pattern fits; of a submodule or link, those in which it may fit something."""
    for place in places_of(pattern.base, root):
        yield from _above(files.names, place)
        for file in _at(files.names, place):
            if _fits(pattern.wild, _parts(file, place), file in files.folders):
                yield file


def _lies_at(file: str, place: str) -> bool:
    return not place or file == place or file.startswith(f"{place}/")


def _parts(file: str, place: str) -> tuple[str, ...]:
    """The way from a place down to a file."""
    below = file[len(place) :].strip("/")
    return tuple(below.split("/")) if below else ()


def _above(names: Sequence[str], place: str) -> Iterator[str]:
    """Names that stand where the way to a place goes: what was or became a submodule or a link."""
    for parent in PurePosixPath(place).parents if place else ():
        name = str(parent)
        at = bisect_left(names, name)
        if name != "." and at < len(names) and names[at] == name:
            yield name


def _at(names: Sequence[str], place: str) -> Sequence[str]:
    """Those that are the place, or lie below it."""
    if not place:
        return names
    at = bisect_left(names, place)
    itself = names[at : at + 1] if at < len(names) and names[at] == place else ()
    below = names[bisect_left(names, f"{place}/") : bisect_left(names, f"{place}0")]  # 0 follows / in order
    return (*itself, *below)


def _fits(wild: Sequence[str], parts: Sequence[str], folder: bool = False) -> bool:
    """Tell whether parts of a path are as the pattern wants; of a folder, whether something below it may be."""
    if not parts:
        return folder or all(each == ANY for each in wild)
    if not wild:
        return False
    if wild[0] == ANY:
        return len(wild) == 1 or any(_fits(wild[1:], parts[at:], folder) for at in range(len(parts) + 1))
    return fnmatchcase(parts[0], wild[0]) and _fits(wild[1:], parts[1:], folder)
