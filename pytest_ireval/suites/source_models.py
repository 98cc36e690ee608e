"""A source as a suite writes it: a mapping of which one key names the kind, its other options beside it."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_ireval.errors import Problem, did_you_mean
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suites.mistakes import Spot, problems_of
from pytest_ireval.suites.scalars import UnfitError, place_of
from pytest_ireval.suites.suite import SourceAsked

RELATIVE = "a path is relative to the file it is written in"
"""What helps most where a file is not there."""


def source_asked(value: Any, registry: Registry) -> SourceAsked:
    """The source with its options; raises UnfitError or a ValidationError."""
    key = kind_key(value, registry)
    kind = registry.sources[key]
    options = kind.options.model_validate(value, context={"registry": registry})
    return SourceAsked(kind, options, place_of(key))


def kind_key(value: Any, registry: Registry) -> Any:
    """The key that names the kind; raises UnfitError if there is not exactly one."""
    kinds = registry.sources
    allowed = "available: " + ", ".join(kinds)
    if not isinstance(value, dict):
        raise UnfitError("a source is a mapping with the key of its kind, such as {run: file}", allowed=allowed)
    named = [key for key in value if key in kinds]
    if len(named) > 1:
        raise UnfitError(f"a source is of one kind, and here are {' and '.join(map(str, named))}", allowed=allowed)
    if not named:
        suggestion = next(filter(None, (did_you_mean(key, kinds) for key in value)), "")
        keys = ", ".join(map(repr, map(str, value))) or "no key"
        raise UnfitError(f"no key of it is a kind of source: {keys}", suggestion, allowed)
    return named[0]


def read_source(value: Any, registry: Registry, start: Spot, problems: list[Problem]) -> SourceAsked | None:
    """The source; None if it is wrong, which ``problems`` tell then."""
    try:
        asked = source_asked(value, registry)
    except UnfitError as error:
        problems.append(Problem(error.complaint, str(start.place), start.path, error.suggestion, error.allowed))
    except ValidationError as error:
        problems += problems_of(error, value, start, registry.sources[kind_key(value, registry)].options)
    except Exception as error:  # noqa: BLE001 - a plugin's options may raise anything
        kind = registry.sources[kind_key(value, registry)]
        complaint = f"source {kind.name} of {kind.source} raised {type(error).__name__}: {error}"
        problems.append(Problem(complaint, str(start.place), start.path))
    else:
        problems += _absent(asked, value, start)
        return asked
    return None


def _absent(asked: SourceAsked, value: Any, start: Spot) -> list[Problem]:
    """Files behind the key of the kind that are not there; a pattern may stand for none as yet."""
    paths = getattr(asked.options, asked.kind.name)
    paths = paths if isinstance(paths, tuple) else (paths,)
    written = value[asked.kind.name]
    return [
        Problem(f"there is no such file: {text}", str(place_of(text)), (*start.path, asked.kind.name), RELATIVE)
        for path, text in zip(paths, written if isinstance(written, list) else [written], strict=False)
        if isinstance(path, Path) and not glob.has_magic(str(text)) and not os.path.exists(path)
    ]
