"""A folder with a shop's data, and suites over it."""

from textwrap import dedent

import pytest

from pytest_ireval import SuiteError, load_suites


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """The folder, which is the working folder; files are written by name."""
    monkeypatch.chdir(tmp_path)
    for name in ("c.trec", "judgments.txt", "queries.tsv"):
        (tmp_path / name).write_text("", encoding="utf-8")

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def suites(shop, registry):
    """Loads what is written as shop.yaml, or another file."""

    def load(text, name="shop.yaml", registry=registry, **more):
        return load_suites(shop(name, text), registry, **more)

    return load


@pytest.fixture
def mistakes(suites):
    """What is said of a wrong suite."""

    def complaints(text, **more):
        with pytest.raises(SuiteError) as caught:
            suites(text, **more)
        return str(caught.value)

    return complaints
