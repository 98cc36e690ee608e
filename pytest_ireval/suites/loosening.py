"""Whether one rule lets more pass than another: each option says in which direction it does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel


class Looser(NamedTuple):
    """Stands in the annotation of an option: ``alpha: Annotated[Number, LESS]``. Without it, any change is told.

    A value that can itself be compared, such as a tolerance, is a limit unless a direction is given.
    """

    direction: str
    """more: greater numbers and longer lists let more pass; less: the opposite; parts: its parts are compared."""
    order: tuple[str, ...] = ()
    """Words, the strictest first."""
    without: str = "loosest"
    """What it is not to be given: the loosest, or the strictest."""


MORE, LESS, IN_PARTS = Looser("more"), Looser("less"), Looser("parts")


def words(*order: str) -> Looser:
    """For an option whose values are words, the strictest first."""
    return Looser("words", order)


@runtime_checkable
class Comparable(Protocol):
    """A value that knows whether it lets more pass than another."""

    def looser_than(self, other: Any) -> bool:
        """Also where nobody can tell, as for 2 queries and 5% of them."""


@runtime_checkable
class Sliced(Protocol):
    """A value that says something for each slice of a rule."""

    def on_slice(self, value: str) -> Any:
        """What holds on the slice with that value of ``per``."""


class Changed(NamedTuple):
    """An option that is not what it was."""

    name: str
    before: str
    now: str
    looser: bool
    """Whether it lets more pass; False: nobody says in which direction, so it is only told."""


def changed_options(before: BaseModel, now: BaseModel, values: tuple[str, str] = ("", "")) -> Iterator[Changed]:
    """The options of a rule that let more pass than before, and those of which nobody can say.

    ``values`` are those of the slices that are looked at: an option may say something else of each.
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
            yield Changed(name, told(one), told(other), known)


def _on_slice(option: Any, value: str) -> Any:
    return option.on_slice(value) if isinstance(option, Sliced) else option


def looser_part(before: Any, now: Any) -> Iterator[Changed]:
    """The same of what a part of a rule asks for."""
    if before == now:
        return
    if isinstance(now, Comparable) and isinstance(before, type(now)):
        if now.looser_than(before):
            yield Changed("", told(before), told(now), looser=True)
    elif isinstance(now, BaseModel) and isinstance(before, BaseModel):
        yield from changed_options(before, now)
    else:
        yield Changed("", told(before), told(now), looser=False)


def told(value: Any) -> str:
    """A value as a line shows it."""
    if value is None or value in ((), ""):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, tuple) and type(value) is tuple:
        return ", ".join(map(str, value))
    return str(value)


def _is_looser(way: Looser, before: Any, now: Any) -> bool:
    if before is None or now is None:
        return (now is None) == (way.without == "loosest")
    if isinstance(now, Comparable):
        return bool(before.looser_than(now) if way.direction == "less" else now.looser_than(before))
    if way.order:
        return way.order.index(now) > way.order.index(before)
    if isinstance(now, tuple):
        gained, lost = set(now) - set(before), set(before) - set(now)
        return bool(gained if way.direction == "more" else lost)
    return (now > before) == (way.direction == "more") and not math.isclose(now, before, rel_tol=1e-12, abs_tol=0.0)
