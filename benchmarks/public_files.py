"""Which queries and judgments of a folder, such as one of public collections, are read, and why the others are refused.

    git clone https://github.com/castorini/anserini-tools
    python benchmarks/public_files.py anserini-tools

A file is read as judgments if its path contains `qrels` or `prels`, as queries if it contains `topics` or `queries`, by
its content, as a user reads it first. What was read is counted once more by plain splitting: lines or opening tags of
queries; pairs and sum of grades of judgments. A file that asks for its format is read with it, too. The exit code is
1 if a count differs.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_ireval import IrevalError, load_registry, read_judgments, read_queries
from pytest_ireval.data.formats.input_file import open_input
from pytest_ireval.data.formats.reader import Content
from pytest_ireval.data.formats.recognition import choose_reader
from pytest_ireval.text_table import format_table

READERS = load_registry().readers
HOLDS: dict[Content, re.Pattern[str]] = {
    "judgments": re.compile("qrels|prels"),
    "queries": re.compile("topics|queries"),
}
TO_NAME = {
    "trec-diversity reads": "trec-diversity",
    "trec or trec-diversity": "trec-diversity",
    "name format prels": "prels",
    "name the format trec-topics": "trec-topics",
    "name the format pairs": "pairs",
}
"""Words of a message that asks for a format, and this format."""
TAGS = (re.compile("<top[ >]|<topic "), re.compile("<query>"), re.compile("<DOC>"))
"""Opening tags; the first that occurs counts."""


def main() -> int:
    """Everything read and printed; 0 if all counts agree."""
    parser = argparse.ArgumentParser(description="Read the queries and judgments of a folder.")
    parser.add_argument("folder", type=Path, help="the folder, with all folders inside")
    parser.add_argument("--files", action="store_true", help="print all names of files, not one of each kind")
    options = parser.parse_args()
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    wrong: list[str] = []
    for path in sorted(path for path in options.folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(options.folder))
        if ".git" in path.parts or (content := next((c for c in HOLDS if HOLDS[c].search(name)), None)) is None:
            continue
        if path.suffix == ".json" and path.parent == options.folder:
            continue  # lists of files
        outcome, detail, complaint = read(path, content)
        groups[content, outcome, detail].append(name)
        wrong += [f"{name}: {complaint}"] * bool(complaint)
    report(groups, wrong, every=options.files)
    return int(bool(wrong))


def report(groups: dict[tuple[str, str, str], list[str]], wrong: Sequence[str], *, every: bool) -> None:
    """Print a line for each kind of outcome, the sums, and all counts that differ."""
    rows = [(*kind[:2], str(len(names)), kind[2], names[0]) for kind, names in sorted(groups.items())]
    print(format_table(("content", "outcome", "files", "format or reason", "one of them"), rows, right=[2]))
    if every:
        print(*("\n  ".join([" / ".join(kind), *names]) for kind, names in sorted(groups.items())), sep="\n")
    sums = {outcome: sum(len(n) for kind, n in groups.items() if kind[1] == outcome) for _, outcome, _ in groups}
    print(f"{sum(sums.values())} files: {', '.join(f'{sums[each]} {each}' for each in sorted(sums))}")
    print(*wrong, f"{len(wrong)} counts differ", sep="\n")


def read(path: Path, content: Content) -> tuple[str, str, str]:
    """The outcome, the format or the reason, and how a plain count differs."""
    take: Any = read_judgments if content == "judgments" else read_queries
    try:
        with open_input(path) as file:
            name = choose_reader(file, content, READERS).name
        return "read", name, differs(path, content, name, take(path))
    except IrevalError as error:
        message = str(error)
    if named := next((TO_NAME[words] for words in TO_NAME if words in message), None):
        return "read with a named format", named, differs(path, content, named, take(path, format=named))
    lines = [line.strip() for line in message.splitlines() if line.startswith("  ")]
    reason = lines[1] if "in a known format" in lines[0] else lines[0]
    return "refused", re.sub(r"[0-9]+|'.*?'", "…", reason), ""


def differs(path: Path, content: Content, name: str, found: Any) -> str:
    """The result beside that of plain splitting; empty if both agree."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    lines = [line for line in text.split("\n") if line.strip()]
    if content == "judgments":
        document, grade = (1, 2) if name == "prels" else (2, 3)
        grades: dict[tuple[str, str], float] = {}
        for words in map(str.split, lines):
            pair = words[0], words[document]
            grades[pair] = max(float(words[grade]), grades.get(pair, float("-inf")))
        ours, plain = (len(found), float(found.grade.sum())), (len(grades), sum(grades.values()))
        return "" if ours == plain else f"{ours} judgments and grades, not {plain}"
    count = len(lines)
    if name == "trec-topics":
        unmarked = re.sub("<!--.*?-->|<!DOCTYPE.*?]>", "", text, flags=re.DOTALL)
        count = next(n for tag in TAGS if (n := len(tag.findall(unmarked))))
    elif name == "json":
        count = len(found)  # no lines to count
    return "" if len(found) == count else f"{len(found)} queries, not {count}"


if __name__ == "__main__":
    raise SystemExit(main())
