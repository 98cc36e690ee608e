"""Each claim of docs/claims.md is on its page, and its command exists."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_ireval.cli import COMMANDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "claims.md"
ROW = re.compile(r"^\| (.+?) \| \[\w+\]\(([\w./]+)\) \| `(.+)` \|$", re.MULTILINE)
CLAIMS = ROW.findall(PAGE.read_text(encoding="utf-8"))
WORDS = {command: shlex.split(command) for _, _, command in CLAIMS}
SCRIPTS = sorted({words[1] for words in WORDS.values() if words[0] == "python"})


def test_every_row_of_the_table_is_read():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]

    assert len(CLAIMS) == len(rows) - 2


@pytest.mark.parametrize(("claim", "page"), [(claim, page) for claim, page, _ in CLAIMS])
def test_the_page_has_the_words_of_the_claim(claim, page):
    text = " ".join((PAGE.parent / page).read_text(encoding="utf-8").split())

    assert claim in text


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_command_exists(words):
    program, first = words[:2]

    assert program in ("ireval", "python", "pytest")
    assert first in COMMANDS if program == "ireval" else (ROOT / first).is_file()


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_script_starts_and_has_the_options_of_its_commands(script):
    shown = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True, check=True).stdout

    options = {word for words in WORDS.values() if words[1] == script for word in words if word.startswith("--")}
    assert {option for option in options if option not in shown} == set()


def test_pages_name_no_other_script_of_benchmarks():
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    named = {name for page in pages for name in re.findall(r"benchmarks/\w+\.py", page.read_text(encoding="utf-8"))}

    assert named == set(SCRIPTS)
