"""Asks a source as a suite does that has it on line 5."""

from pathlib import Path

import pytest

from pytest_ireval import Queries, Request, SourceError
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.sources.answers import fetch_answers
from pytest_ireval.suite.scalars import File, Items, Keys, Scalar, put_value
from pytest_ireval.suite.sources_and_rules import read_source


class Asking:
    """A folder with a suite, and its queries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.registry = installed_registry()
        self.queries = Queries(("q1", "q2"), ("red mug", "blue mug"), {"segment": ("head", "tail")}, "queries.tsv")

    def write(self, name, text):
        """A file in the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def source(self, value, registry=None):
        """What the suite says, as it is read from YAML."""
        return read_source(self._scalars(value), registry or self.registry)

    def request(self, **given):
        """What the source is told."""
        given = {"depth": 10, "readers": self.registry.readers, **given}
        return Request(queries=self.queries, folder=self.folder, suite="shop", **given)

    def ask(self, value, registry=None, **given):
        """The rankings of the first asking."""
        return fetch_answers(self.source(value, registry), self.request(**given))[0].rankings

    def lists(self, value, **given):
        """The same as ids by query."""
        rankings = self.ask(value, **given)
        return {query: rankings.ranking(query) for query in rankings.queries}

    def answers(self, value, **given):
        """All askings with what was answered besides."""
        return fetch_answers(self.source(value), self.request(**given))

    def refused(self, value, **given):
        """The text of the error."""
        with pytest.raises(SourceError) as caught:
            self.ask(value, **given)
        return str(caught.value)

    def _scalars(self, value):
        if isinstance(value, dict):
            made = Keys({self._scalars(key): self._scalars(each) for key, each in value.items()})
        elif isinstance(value, list):
            made = Items([self._scalars(each) for each in value])
        else:
            made = Scalar(value)
        return put_value(made, File("shop.ireval.yaml", str(self.folder)), 5, 11)
