"""Names of the files of a baseline, and fingerprints of its inputs."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pytest_ireval.baselines.stored import MOST_PAIRS, StoredGrades, grades_of_judgments, ranking_lines
from pytest_ireval.errors import BaselineError, Problem, shown
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.judgments import Judgments, Subtopics
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings

FOLDER = "baselines"
RECORD = "json"
JUDGMENTS, FIELDS, TIMINGS = "judgments.tsv", "fields.jsonl", "timings.jsonl"
COMPRESSED = ".zst"
ENDING = re.compile(r"json|(?:fields|timings)\.jsonl|(?:judgments|rankings(?:\.[0-9]+)?)\.tsv(?:\.zst)?")
ANCHOR = ".anchor"
"""Follows the name of the suite in the files of an anchor."""
LONGEST = 200


def rankings_ending(asking: int) -> str:
    """Of the rankings that one asking returned, counted from 1."""
    return "rankings.tsv" if asking == 1 else f"rankings.{asking}.tsv"


def path_of(folder: Path, name: str, ending: str) -> Path:
    """One of the files."""
    return folder / f"{name}.{ending}"


def near(path: Path) -> Path:
    """The path as people write it: relative to the current folder, if it is below it."""
    try:
        return path.relative_to(os.getcwd())
    except (ValueError, OSError):
        return path


def checked_name(name: str) -> str:
    """``name``, if files can have it."""
    marks = set('/\\:*?"<>|\0')
    if not name or name.startswith(".") or marks & set(name) or len(name.encode("utf-8", "replace")) > LONGEST:
        complaint = f"the suite {shown(name)} cannot have a baseline: a file cannot have this name"
        allowed = (
            f'a name has up to {LONGEST} bytes, does not begin with a dot, and contains none of / \\ : * ? " < > |'
        )
        raise BaselineError(Problem(complaint, allowed=allowed))
    return name


def baseline_files(folder: Path, name: str) -> tuple[Path, ...]:
    """The files there are of one baseline, the .json file first."""
    found = [path_of(folder, name, RECORD), *_plain_or_compressed(folder, name, JUDGMENTS)]
    found += [path_of(folder, name, ending) for ending in (FIELDS, TIMINGS)]
    asking = 1
    while paths := [path for path in _plain_or_compressed(folder, name, rankings_ending(asking)) if path.exists()]:
        found += paths
        asking += 1
    return tuple(path for path in found if path.is_file())


def is_file_of(file: str, name: str) -> bool:
    """Tell whether a file belongs to the baseline of a suite; ``shop.de.json`` does not belong to ``shop``."""
    return file.startswith(f"{name}.") and ENDING.fullmatch(file[len(name) + 1 :]) is not None


def of_anchor(file: str) -> bool:
    """Tell whether a path or a name is that of a file of an anchor; ``shop.anchor.v2.json`` is not."""
    _, mark, ending = file.rpartition(f"{ANCHOR}.")
    return bool(mark) and ENDING.fullmatch(ending) is not None


def _plain_or_compressed(folder: Path, name: str, ending: str) -> tuple[Path, Path]:
    return path_of(folder, name, ending), path_of(folder, name, ending + COMPRESSED)


def names_in(folder: Path) -> list[str]:
    """The names of the baselines in a folder, sorted."""
    return sorted(path.name[: -len(RECORD) - 1] for path in folder.glob(f"*.{RECORD}") if not path.name.startswith("."))


Grades = Mapping[str, Mapping[str, float]]
"""By query and document."""


class JudgmentPrints(NamedTuple):
    """Judgments as a baseline keeps them."""

    whole: str
    grades_of: Mapping[str, str]
    """By query."""
    grades: Grades | None
    """The grades themselves; None where there are too many to keep."""
    judges: Mapping[str, int] = MappingProxyType({})
    """The number of judgments of each judge, such as a model with its prompt; empty where the file names none."""


def fingerprint(content: bytes | memoryview) -> str:
    """The first 16 digits of its SHA-256."""
    return sha256(content).hexdigest()[:16]


def fingerprint_of_text(text: str) -> str:
    """Of a description, as that of a source."""
    return fingerprint(text.encode("utf-8", "surrogatepass"))


def fingerprint_of_queries(queries: Queries) -> str:
    """Of ids, texts and columns; neither rows nor columns need to be in order."""
    columns = sorted(queries.columns)
    rows = zip(queries.ids, queries.text, *(queries.columns[name] for name in columns), strict=True)
    encode = json.JSONEncoder().encode
    return fingerprint_of_text("\n".join([encode(columns), *sorted(map(encode, rows))]))


def fingerprint_of_policies(policies: Policies) -> str:
    """Of all policies that are set; one that later versions add changes nothing until it is used."""
    return fingerprint_of_text(json.dumps({k: v for k, v in asdict(policies).items() if v is not None}, sort_keys=True))


def fingerprint_of_rankings(rankings: Rankings, depth: int | None = None) -> str:
    """Of the first ``depth`` documents of every query, in order; scores do not count."""
    return fingerprint(ranking_lines(rankings, depth))


def fingerprints_of_judgments(judgments: Judgments) -> JudgmentPrints:
    """Of the judgments as a whole and of those of each query; and the grades, as a baseline keeps them."""
    grades = grades_of_judgments(judgments)
    lines = grades.lines if judgments.subtopics is None else _with_subtopics(judgments, judgments.subtopics, grades)
    grades_of = {query: fingerprint(line) for query, line in lines.items()}
    whole = fingerprint_of_text("\n".join(f"{print_of} {query}" for query, print_of in sorted(grades_of.items())))
    return JudgmentPrints(whole, grades_of, grades if len(judgments) <= MOST_PAIRS else None, _judges(judgments))


MOST_JUDGES = 20
"""Names of judges that a baseline keeps; the others are counted together."""


def _judges(judgments: Judgments) -> dict[str, int]:
    """The most frequent judges by name; a model by its name and the hash of its prompt."""
    names = ("judge", "model", "prompt")
    if judgments.columns.keys().isdisjoint(names):
        return {}
    columns = [judgments.columns.get(name) or [""] * len(judgments) for name in names]
    counts = Counter(map(_judge, *columns))
    del counts[""]
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    others = sum(number for _, number in ordered[MOST_JUDGES:])
    return dict(sorted([*ordered[:MOST_JUDGES], *([("others", others)] if others else [])]))


def _judge(judge: str, model: str, prompt: str) -> str:
    return f"{model or judge}, prompt {prompt}" if prompt else model or judge


def _with_subtopics(judgments: Judgments, subtopics: Subtopics, grades: StoredGrades) -> dict[str, bytes]:
    """The lines, each followed by the judgments of single subtopics."""
    documents = judgments.documents.texts(subtopics.row)
    said: dict[str, list[str]] = {query: [] for query in grades.lines}
    for row, document, subtopic, grade in zip(
        subtopics.row.tolist(), documents, subtopics.subtopic.tolist(), subtopics.grade.tolist(), strict=True
    ):
        said[judgments.queries[judgments.query[row]]].append(json.dumps([document, subtopics.names[subtopic], grade]))
    return {query: b"\n".join([line, *map(str.encode, sorted(said[query]))]) for query, line in grades.lines.items()}
