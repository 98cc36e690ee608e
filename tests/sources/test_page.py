"""The page about sources is true: every source it shows answers when it is asked."""

import re
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[2] / "docs" / "sources.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else []
SOURCES = [code for language, code in BLOCKS if language == "yaml" and "search.example" not in code]
"""Sources of live systems are asked in test_http.py; that of a database where there is one; the example by its page."""
SOURCES = [code for code in SOURCES if not any(each in code for each in ("database:", 'python: "with_', "hybrid:"))]


@pytest.fixture
def files_of_the_page(shop):
    """Those that it shows, and the rankings that it only names."""
    for language, code in BLOCKS:
        if language in ("python", "sh"):
            shop.write(code.splitlines()[0].removeprefix("# "), code)
    shop.write("runs/candidate.trec", "q1 Q0 m1 1 1 t\nq2 Q0 m2 1 1 t\n")
    shop.write("shards/1.trec", "q1 Q0 m1 1 1 t\n")
    shop.write("more/tail.json", '{"q2": []}')
    return shop


EXPECTED = [
    {"q1": ["m1"], "q2": ["m2"]},
    {"q1": ["m1"], "q2": []},
    {"q1": ["m1", "p1", "m2"], "q2": ["m2", "m1"]},
    {"q1": ["m1", "p1"], "q2": []},
    {"q1": ["red", "mug"], "q2": ["blue", "mug"]},
    {"q1": ["red"], "q2": ["blue"]},
    {"q1": ["m1"], "q2": ["m1"]},
    {"q1": ["m1", "p1", "m2"], "q2": ["m2", "m1"]},
]


@pytest.mark.skipif(not PAGE.exists(), reason="needs a checkout of the project")
@pytest.mark.parametrize(("code", "expected"), list(zip(SOURCES, EXPECTED, strict=bool(SOURCES))))
def test_every_source_of_the_page_answers(files_of_the_page, code, expected):
    assert files_of_the_page.lists(yaml.load(code, yaml.BaseLoader)["source"]) == expected
