"""Changes of options that let more pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel

from pytest_ireval.suite.options import IN_PARTS, MORE, Looser, has_text
from pytest_ireval.suite.suite import Reference


@runtime_checkable
class Comparable(Protocol):
    """A value that can be compared with another by how much it lets pass."""

    def is_looser_than(self, other: Any) -> bool:
        """Tell whether it may let more pass; also true if that is unknown, as for 2 queries and 5% of them."""


@runtime_checkable
class Sliced(Protocol):
    """A value with a part for each slice of a rule."""

    def on_slice(self, value: str) -> Any:
        """The part for the slice with that value of ``per``."""


class ChangedOption(NamedTuple):
    """An option whose value has changed."""

    name: str
    before: str
    now: str
    looser: bool
    """True if it lets more pass; False if its direction is unknown, so that it is only reported."""


def find_changed_options(
    before: BaseModel, now: BaseModel, values: tuple[str, str] = ("", "")
) -> Iterator[ChangedOption]:
    """The options of a rule that let more pass than before, and changed options of unknown direction.

    ``values`` are those of the slices that are looked at: an option may differ between slices.
    """
    for name, field in type(now).model_fields.items():
        if not hasattr(before, name):
            continue
        one, other = _on_slice(getattr(before, name), values[0]), _on_slice(getattr(now, name), values[1])
        if one == other:
            continue
        way = next((each for each in field.metadata if isinstance(each, Looser)), None)
        if way == IN_PARTS:
            continue
        known = way is not None or isinstance(other if other is not None else one, Comparable)
        if not known or _is_looser(way or MORE, one, other):
            yield ChangedOption(name, format_changed_value(one), format_changed_value(other), known)


def _on_slice(option: Any, value: str) -> Any:
    return option.on_slice(value) if isinstance(option, Sliced) else option


def looser_part(before: Any, now: Any) -> Iterator[ChangedOption]:
    """The same for the value of one part of a rule."""
    if before == now:
        return
    if isinstance(now, Comparable) and isinstance(before, type(now)):
        if now.is_looser_than(before):
            yield ChangedOption("", format_changed_value(before), format_changed_value(now), looser=True)
    elif isinstance(now, BaseModel) and isinstance(before, BaseModel):
        yield from find_changed_options(before, now)
    else:
        yield ChangedOption("", format_changed_value(before), format_changed_value(now), looser=False)


def format_changed_value(value: Any) -> str:
    """A value as one line of a report shows it."""
    if value is None or value in ((), "", {}):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Path):
        return value.relative_to(Path.cwd()).as_posix() if value.is_relative_to(Path.cwd()) else value.name
    if isinstance(value, Reference) and value.source is not None:
        kind = value.source.kind.name
        return f"{kind}: {format_changed_value(value.source.public_texts.get(kind))}"
    if isinstance(value, Reference):
        return "anchor" if value.anchored else "baseline"
    if isinstance(value, BaseModel) and not has_text(value):
        value = {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {format_changed_value(each)}" for key, each in value.items()) + "}"
    if type(value) in (tuple, list):
        return ", ".join(map(format_changed_value, value))
    return str(value) if has_text(value) else "another value"


def _is_looser(way: Looser, before: Any, now: Any) -> bool:
    if before is None or now is None:
        return (now is None) == (way.without == "loosest")
    if isinstance(now, Comparable):
        return bool(before.is_looser_than(now) if way.direction == "less" else now.is_looser_than(before))
    if way.order:
        return way.order.index(now) > way.order.index(before)
    if isinstance(now, tuple):
        gained, lost = set(now) - set(before), set(before) - set(now)
        return bool(gained if way.direction == "more" else lost)
    return (now > before) == (way.direction == "more") and not math.isclose(now, before, rel_tol=1e-12, abs_tol=0.0)
