"""A source as a suite writes it: a mapping of which one key names the kind, its other options beside it."""

from __future__ import annotations

from typing import Any

from pytest_ireval.errors import did_you_mean
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suites.scalars import Scalar, UnfitError
from pytest_ireval.suites.suite import Place, SourceAsked


def source_asked(value: Any, registry: Registry) -> SourceAsked:
    """The source with its options; raises UnfitError or a ValidationError."""
    kinds = registry.sources
    allowed = "allowed: " + ", ".join(kinds)
    if not isinstance(value, dict):
        raise UnfitError("a source is a mapping with the key of its kind: {run: file}", allowed=allowed)
    named = [key for key in value if key in kinds]
    if len(named) > 1:
        raise UnfitError(f"a source is of one kind, and here are {' and '.join(map(str, named))}", allowed=allowed)
    if not named:
        suggestion = next(filter(None, (did_you_mean(key, kinds) for key in value)), "")
        keys = ", ".join(map(repr, map(str, value))) or "no key"
        raise UnfitError(f"no kind of source: {keys}", suggestion, allowed)
    options = kinds[named[0]].options.model_validate(value, context={"registry": registry})
    return SourceAsked(kinds[named[0]], options, place_of(named[0]))


def place_of(key: Any) -> Place:
    """Where a key stands; nowhere, if it was not read from a file."""
    return Place(key.file, key.line, key.column) if isinstance(key, Scalar) else Place("", 0, 0)
