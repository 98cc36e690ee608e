"""A fault can only be seeded where its quote stands in the code."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ROOMS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ROOMS)
def test_each_quote_of_a_fault_stands_once_in_its_file(room):
    quotes = {fault["what"]: (ROOT / fault["file"], fault["old"]) for fault in ROOMS[room]["faults"]}

    assert {what for what, (file, old) in quotes.items() if file.read_text(encoding="utf-8").count(old) != 1} == set()
