"""The files that a suite is made of, or names: if one of them changes, its verdicts may be others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.sources.named_files import exactly, named_by
from pytest_ireval.suites.suite import FileAsked, Pattern, Suite

CONFTEST = "conftest.py"


class Named(NamedTuple):
    """Files, and what they are to the suite."""

    what: str
    pattern: Pattern


def named_files(suite: Suite) -> Iterator[Named]:
    """Its YAML files, everything that a key of them names, and the conftest.py files that serve it."""
    own, *extended = suite.files or (suite.path,)
    yield Named("the suite itself", exactly(own))
    yield from (Named("a file that it extends", exactly(path)) for path in extended)
    for what, asked in _asked(suite):
        if asked is not None:
            yield Named(what, exactly(asked.path))
    folder = suite.path.parent
    if suite.source is not None:
        yield from (Named("its source", pattern) for pattern in named_by(suite.source, folder))
    for rule in suite.rules:
        reference = getattr(rule.options, "against", None)
        if reference is not None and reference.source is not None:
            yield from (Named("what it is compared with", pattern) for pattern in named_by(reference.source, folder))
    yield from (Named("a conftest.py that serves it", exactly(above / CONFTEST)) for above in suite.path.parents)


def _asked(suite: Suite) -> Iterator[tuple[str, FileAsked | None]]:
    yield "its queries", suite.queries
    yield "its judgments", suite.judgments.file if suite.judgments else None
    yield "its aliases", suite.documents.aliases
    yield "its groups of variants", suite.documents.collapse


def files_of(suite: Suite) -> tuple[Path, ...]:
    """Those of them that are single files, for whoever asks whether git knows them."""
    return tuple(dict.fromkeys(each.pattern.base for each in named_files(suite) if each.pattern.base.is_file()))
