"""Tags of suites and rules as marks that pytest knows, so that -m asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_ireval.errors import Problem, SuiteError
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.suites.suite import Place


def mark(config: pytest.Config, run: SuiteRun) -> None:
    """Register the tags; a mark of a plugin that takes arguments does something to tests, and is no tag."""
    tags = dict(_tags(run))
    acting = _acting(config)
    wrong = [(tag, place) for tag, place in tags.items() if tag in acting]
    if wrong:
        raise SuiteError(*(_refusal(tag, acting[tag], place) for tag, place in wrong))
    for tag in tags:
        config.addinivalue_line("markers", f"{tag}: a tag of suite {run.suite.name}")


def _tags(run: SuiteRun) -> Iterator[tuple[str, Place]]:
    yield from ((tag, run.suite.place) for tag in run.suite.tags)
    yield from ((tag, check.place) for check in run.checks for tag in check.tags)


def _acting(config: pytest.Config) -> dict[str, str]:
    """Marks that take arguments, as they were registered."""
    heads = [line.partition(":")[0].strip() for line in config.getini("markers")]
    return {head.partition("(")[0]: head for head in heads if "(" in head}


def _refusal(tag: str, head: str, place: Place) -> Problem:
    complaint = f"{tag!r} is no tag: a plugin of pytest acts on marks of that name"
    return Problem(complaint, str(place), suggestion=f"it is registered as {head}; choose another word")
