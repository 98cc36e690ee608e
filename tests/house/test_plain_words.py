"""Every sentence that a user sees is plain English: these words and phrases are not used.

``python tests/house/test_plain_words.py [PATH …]`` lists what is to be rewritten, docstrings too.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BANNED = {
    r"\b(nobody|somebody|anybody|whoever)\b": "name the actor",
    r"\banew\b": "again",
    r"\bbesides\b": "also",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bof now\b": "current",
    r"\b(held|hold|holds) against\b": "compared with",
    r"\bbehind the colon\b": "after the colon",
    r"\bas \w+ as can be\b": "the most, the worst",
    r"\bso many\b": "this many, or the number",
    r"(?<!there )\b(is|are|was|were) no (?!longer\b|more\b)": "say it positively, or: is not a",
    r"\b(stands?|stood) (in|at|on|below|above|beside|here|there|first|second|last)\b": "is",
    r"\b(is|are|was|were|be|been) (said|told)\b": "is reported, is shown",
    r"\b(lies|lie) (in|below|beside|there|here|at)\b": "is in",
    r"\btorn\b": "split",
    r"\bspeaks? (for|against)\b": "say what is significant, or what failed",
}
EXCEPTIONS = {"CHANGELOG.md": "it quotes messages of earlier versions"}
MOST = {"pages": 2, "messages": 1, "docstrings": 0, "first words of docstrings": 0}
"""These only fall."""
FIRST_WORDS = re.compile(r"(What|Whether|Which|How|That)\b")
PAGES = ("README.md", "CONTRIBUTING.md", "docs", "examples", "templates", "action.yml")
CODE = ("pytest_ireval", "metrics_plugins")


def files(*paths):
    found = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in found.splitlines() if (ROOT / line).is_file()]


def docstrings_of(tree):
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else []:
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                yield each.value


def sentences(path):
    """Every text in a file with its line, and whether it is a docstring."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from ((number, line, False) for number, line in enumerate(text.splitlines(), 1))
        return
    tree = ast.parse(text)
    docstrings = {id(each) for each in docstrings_of(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, " ".join(node.value.split()), id(node) in docstrings


def violations(path):
    for line, text, docstring in sentences(path):
        for pattern, instead in BANNED.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                yield (
                    line,
                    f"{match[0]!r} ({instead}): {text[max(0, match.start() - 40) : match.end() + 40]}",
                    docstring,
                )


def is_excepted(path):
    return path.relative_to(ROOT).as_posix() in EXCEPTIONS or path.suffix in (".json", ".svg", ".png", ".trec", ".tsv")


def told(paths, *, docstrings):
    return [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in paths
        if not is_excepted(path)
        for line, what, docstring in violations(path)
        if docstring == docstrings
    ]


pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the checkout")


def test_pages_and_templates():
    assert len(told(files(*PAGES), docstrings=False)) <= MOST["pages"]


def test_messages():
    assert len(told(files(*CODE), docstrings=False)) <= MOST["messages"]


def test_docstrings_become_plainer():
    paths = [path for path in files(*CODE) if path.suffix == ".py"]
    first = sum(
        bool(FIRST_WORDS.match(each.value))
        for path in paths
        for each in docstrings_of(ast.parse(path.read_text(encoding="utf-8")))
    )
    print(len(told(paths, docstrings=True)), first)

    assert len(told(paths, docstrings=True)) <= MOST["docstrings"]
    assert first <= MOST["first words of docstrings"]


if __name__ == "__main__":
    given = files(*(sys.argv[1:] or (*PAGES, *CODE)))
    print(*told(given, docstrings=False), *told(given, docstrings=True), sep="\n")
