"""The components of a suite: patches of its source, and of the environment, that switch a part of the search off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import ValidationError

from pytest_ireval.errors import Problem, did_you_mean, find_closest, quote
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.suite import editor_types
from pytest_ireval.suite.option_types import read_with
from pytest_ireval.suite.options import Options
from pytest_ireval.suite.scalars import KEY, Items, Keys, Scalar, UnfitError, find_place, problem_at, put_value
from pytest_ireval.suite.sources_and_rules import validate_source
from pytest_ireval.suite.suite import Component, SourceSpec
from pytest_ireval.suite.validation_errors import translate_errors

SIMILAR = 0.8
"""A new key that is as similar to one that is there is taken for a misspelt one."""


class _Patched(Options):
    source: Annotated[SourceSpec, read_with(validate_source, editor_types.SOURCE)]


def read_components(
    tree: Keys, registry: Registry, context: Mapping[str, Any], problems: list[Problem]
) -> Iterator[Component]:
    """The components of a suite whose keys are valid; what is wrong with their patches is added to ``problems``."""
    for name, written in tree.get("components", {}).items():
        before = len(problems)
        source = tree["source"]
        for path, value in written.get("set", {}).items():
            try:
                source = _patch(source, path, path, value)
            except UnfitError as error:
                meant = error.suggestion or did_you_mean(path, _list_paths(tree["source"]), SIMILAR)
                spot = ("components", name, "set", path, KEY)
                problems.append(problem_at(tree, spot, error.complaint, meant, error.allowed))
        if len(problems) > before:
            continue
        key = put_value(Scalar("source"), name.file, name.line, name.column)
        patched = put_value(Keys({key: source}), tree.file, tree.line, tree.column)
        try:
            made = _Patched.model_validate(patched, context=context).source
        except ValidationError as error:
            found = translate_errors(error, patched, _Patched, registry)
            problems += [replace(each, path=("components", str(name), *each.path)) for each in found]
            continue
        known = set(_list_paths(tree["source"]))
        yield Component(
            name=str(name),
            place=find_place(tree, ("components", name)).place,
            source=made,
            environment={str(variable): str(value) for variable, value in written.get("env", {}).items()},
            new_keys=tuple(str(path) for path in written.get("set", ()) if path not in known),
        )


def _patch(tree: Any, path: Scalar, rest: str, value: Any) -> Any:
    """A copy with the value at the path, or without the key if the value is null; ``rest`` is what is left of the path.

    The last key may be new, as engines have defaults for what a request does not say. UnfitError for other paths.
    """
    keys = range(len(tree)) if isinstance(tree, Items) else tree if isinstance(tree, Keys) else ()
    fitting = [key for key in keys if f"{rest}.".startswith(f"{key}.")]
    key = max(fitting, key=lambda each: len(str(each)), default=None)  # names of fields may have dots themselves
    below = "" if key is None else rest[len(str(key)) + 1 :]
    removes = not below and isinstance(value, Scalar) and value == "null" and not value.quoted
    if key is None:
        _refuse_unknown(tree, path, rest, removes=removes)
    made = value if not below else _patch(tree[key], path, below, value)
    if isinstance(tree, Items):
        items = [made if at == key else each for at, each in enumerate(tree) if not (removes and at == key)]
        return put_value(Items(items), tree.file, tree.line, tree.column)
    # what is wrong with the value is told at the line of the patch
    own = key if below else put_value(Scalar(rest), path.file, path.line, path.column)
    entries = {own if each == key else each: made if each == key else other for each, other in tree.items()}
    if key is None:
        entries[own] = made
    elif removes:
        del entries[own]
    return put_value(Keys(entries), tree.file, tree.line, tree.column)


def _refuse_unknown(tree: Any, path: str, rest: str, *, removes: bool) -> None:
    """Raise UnfitError unless the rest of a path may be a new key here."""
    above = path.removesuffix(rest).removesuffix(".")
    complaint = f"the source has no {path}"
    if isinstance(tree, Items):
        raise UnfitError(complaint, allowed=f"{above} is a list with the indexes 0 to {len(tree) - 1}")
    if not isinstance(tree, Keys):
        raise UnfitError(complaint, allowed=f"{above} is {quote(str(tree))}, with nothing below it")
    similar = find_closest(rest, tree, SIMILAR)
    if similar or removes or "." in rest:
        meant = ".".join(filter(None, (above, similar))) if similar else ""
        suggestion = f"did you mean {meant!r}?" if meant else ""
        raise UnfitError(complaint, suggestion, f"{above or 'the source'} has {', '.join(tree)}")


def _list_paths(tree: Any, above: str = "") -> Iterator[str]:
    """All paths of a tree."""
    entries = enumerate(tree) if isinstance(tree, Items) else tree.items() if isinstance(tree, Keys) else ()
    for key, value in entries:
        yield f"{above}{key}"
        yield from _list_paths(value, f"{above}{key}.")
