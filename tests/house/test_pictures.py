"""Pictures of the documentation are what their script draws, and safe to look at."""

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="needs a checkout of the project")


def drawn():
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pictures()


def test_each_picture_is_what_the_script_draws():
    assert {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "pictures").glob("*.svg")} == drawn()


def test_each_picture_has_a_name_and_is_shown_on_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    for name, text in drawn().items():
        assert ElementTree.fromstring(text)[0].tag.endswith("title")
        assert f"(pictures/{name})" in pages


def test_each_picture_of_the_report_is_taken_by_the_script_and_shown_on_a_page():
    spec = importlib.util.spec_from_file_location("screenshots", DOCS / "screenshots.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))

    taken = {f"{shot.name}.png" for shot in module.SHOTS}
    assert {path.name for path in (DOCS / "pictures").glob("*.png")} == taken
    assert [name for name in taken if f"(pictures/{name})" not in pages] == []
