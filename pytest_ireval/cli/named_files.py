"""The files on a command line: names (``NAME=path``, or the shortest unique part of the path), and no file twice."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pytest_ireval.errors import InputError, IrevalError, Problem

STANDARD_INPUT = "-"
COMPRESSED = {".gz", ".zst"}


def refuse_one_file(inputs: Iterable[str | Path | None], targets: Mapping[str, str | Path | None]) -> None:
    """Refuse to write a file twice, or over a file that is read; targets are named by their options."""
    taken = {Path(file).resolve(): f"the input {file}" for file in inputs if file is not None}
    for option, target in targets.items():
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken:
            complaint = f"{option} {target} is the same file as {taken[path]}"
            raise IrevalError(Problem(complaint, suggestion="choose another name"))
        taken[path] = f"{option} {target}"


def named_files(
    arguments: Sequence[str], why_once: str = "a ranking is compared with others, not with itself"
) -> dict[str, str]:
    """The path of each file by its name; ``why_once`` is the reason that no file may be given twice."""
    split = [_name_and_path(argument) for argument in arguments]
    paths = [path for _, path in split]
    _refuse_repetitions(paths, why_once)
    given = [name for name, _ in split if name]
    names = _short_names([path for name, path in split if not name], taken=given)
    named = [(name or names[path], path) for name, path in split]
    repeated = [name for name, times in Counter(given).items() if times > 1]
    if repeated:
        places = ", ".join(path for name, path in split if name == repeated[0])
        raise InputError(Problem(f"duplicate name {repeated[0]!r}", place=places))
    return dict(named)


def _name_and_path(argument: str) -> tuple[str, str]:
    """A name, empty if none is given, and a path; a path that exists is a path even if it has a ``=``."""
    if argument == STANDARD_INPUT or "=" not in argument or os.path.exists(argument):
        return "", argument
    places = [i for i, character in enumerate(argument) if character == "="]
    there = [i for i in places if argument[i + 1 :] == STANDARD_INPUT or os.path.exists(argument[i + 1 :])]
    at = (there or places)[0]
    name, path = argument[:at].strip(), argument[at + 1 :]
    if not name or not path:
        missing = "name before" if not name else "path after"
        raise InputError(Problem(f"missing {missing} the =", place=argument, suggestion="write NAME=path"))
    return name, path


def _refuse_repetitions(paths: Sequence[str], why_once: str) -> None:
    """One file under two names would look like two rankings, or two judges, that agree on everything."""
    first: dict[object, str] = {}
    for path in paths:
        facts = os.stat(path) if os.path.isfile(path) else None
        key = (facts.st_dev, facts.st_ino) if facts else path
        if key in first:
            same = "is given twice" if first[key] == path else f"is the same file as {first[key]}"
            raise InputError(Problem(same, place=path, suggestion=why_once))
        first[key] = path


def _short_names(paths: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for paths, each the shortest form that none of the others has."""
    names: dict[str, str] = {}
    depth = max((len(Path(path).parts) for path in paths), default=0)
    # without and with its ending, then with ever more folders
    for form in (partial(_last_parts, parts=i + 1, ending=ending) for i in range(depth) for ending in (False, True)):
        left = [path for path in paths if path not in names]
        counts = Counter(form(path) for path in left) + Counter(taken) + Counter(names.values())
        names |= {path: form(path) for path in left if counts[form(path)] == 1}
    return names | {path: path for path in paths if path not in names}


def _last_parts(path: str, parts: int, *, ending: bool) -> str:
    if path == STANDARD_INPUT:
        return "stdin"
    whole = Path(path)
    folders = whole.parent.parts
    name = whole.name if ending else _without_ending(whole)
    return Path(*folders[max(0, len(folders) - parts + 1) :], name).as_posix()


def _without_ending(path: Path) -> str:
    """The name without the endings of its compression and its format; the 5 of ``model-1.5`` is not an ending."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return bare.stem if bare.suffix[1:2].isalpha() else bare.name
