"""Parameters of metrics: read off a signature, checked, printed in one way, and read from names of other packages."""

from __future__ import annotations

import inspect
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from operator import methodcaller
from typing import Annotated, Any, Literal

from pytest_ireval.errors import MetricError, did_you_mean

__tracebackhide__ = methodcaller("errisinstance", MetricError)
"""pytest then shows the line of a user's file that makes a metric, and none of the frames behind it."""

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that has none."""

Kind = Literal["int", "float", "bool", "text", "map"]
KINDS: dict[Any, Kind] = {int: "int", float: "float", bool: "bool", str: "text", dict: "map"}
WORDS: dict[Kind, str] = {
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "text": "text in quotes",
    "map": "a map of numbers, like {1: 1, 2: 3}",
}


@dataclass(frozen=True, eq=False)
class Param:
    """Facts of a parameter beyond its type.

    >>> from typing import Annotated
    >>> from pytest_ireval import Param, per_query_metric
    >>> @per_query_metric(name="Patience")
    ... def patience(ranking, *, p: Annotated[float, Param("the probability to go on", low=0, below=1)] = 0.8):
    ...     '''The probability that a reader gets past the first document.'''
    ...     return 1 - p if ranking.grades[0] > 0 else p
    >>> patience(p=2)
    Traceback (most recent call last):
    pytest_ireval.errors.MetricError: Patience: p=2 is out of range (at least 0, below 1)
    """

    meaning: str
    low: float | None = None
    """The least value allowed."""
    high: float | None = None
    """The greatest value allowed."""
    below: float | None = None
    """Values must be less than this."""
    above: float | None = None
    """Values must be greater than this."""
    why: str = ""
    """The reason why a value out of these bounds makes no sense."""
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Other names of the parameter, each with the names of its values in other packages."""


LARGEST = 10**15 - 1
"""Greater whole numbers are mistakes, and results computed with them would not be exact."""
CUTOFF = Param("number of documents from the top that count", low=1, high=10**9)
"""The meaning of ``cutoff`` in every metric."""


@dataclass
class Parameter:
    """One keyword of a metric."""

    name: str
    kind: Kind
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()
    optional: bool = False
    """True if None is a value."""
    about: Param = Param("")

    @property
    def required(self) -> bool:
        """True if it has no default."""
        return self.default is REQUIRED

    def check(self, value: Any) -> Any:
        """``value`` in the type this parameter has; raises ValueError with the reason if it cannot be."""
        if self.optional and (value is None or (self.kind == "map" and value == {})):
            return None
        value = self._convert(value)
        if self.choices and value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            raise ValueError(f"{self.name}={value!r} is unknown; allowed: {known}")
        if self.kind in ("int", "float"):
            self._check_bounds(value)
        return value

    def _convert(self, value: Any) -> Any:
        if self.kind == "map" and isinstance(value, Mapping):
            if all(map(_is_number, [*value, *value.values()])):
                return types.MappingProxyType(dict(sorted((float(k), float(v)) for k, v in value.items())))
        elif self.kind == "float" and _is_number(value):
            return float(value)
        elif self.kind == "text" and isinstance(value, str) and repr(value)[1:-1] != value:
            raise ValueError(f"{self.name}={value!r} contains a character that a metric's name cannot show")
        elif self.kind == "int" and isinstance(value, Integral) and not isinstance(value, bool):
            if abs(int(value)) > LARGEST:
                raise ValueError(f"{self.name} has more than 15 digits")
            return int(value)
        elif type(value) is {"bool": bool, "text": str}.get(self.kind):
            return value
        raise ValueError(f"{self.name}={value!r} is not {WORDS[self.kind]}")

    def _check_bounds(self, value: float) -> None:
        about = self.about
        wrong = (
            (about.low is not None and value < about.low)
            or (about.high is not None and value > about.high)
            or (about.below is not None and value >= about.below)
            or (about.above is not None and value <= about.above)
        )
        if wrong:
            reason = f"; {about.why}" if about.why else ""
            raise ValueError(f"{self.name}={format_value(value)} is out of range ({self.bounds}){reason}")

    @property
    def bounds(self) -> str:
        """The allowed range in words."""
        about = self.about
        limits = (("at least", about.low), ("above", about.above), ("at most", about.high), ("below", about.below))
        return ", ".join(f"{word} {format_value(limit)}" for word, limit in limits if limit is not None)


def _is_number(value: Any) -> bool:
    """True for a finite number that a float64 can hold."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    number: Any = value
    return bool(abs(number) <= sys.float_info.max)


def format_value(value: Any) -> str:
    """A parameter's value as a metric's name shows it; reading it back gives the value."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{format_value(k)}: {format_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def read_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The keyword-only arguments of a metric's function."""
    defaults = _read_keywords(function)
    hints = _read_hints(function, defaults)
    return tuple(_make_parameter(function, name, hints.get(name), default) for name, default in defaults.items())


def _read_keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only arguments with their defaults; there must be exactly one other argument."""
    if isinstance(function, types.FunctionType) and not {"__wrapped__", "__signature__"} & set(vars(function)):
        code = function.__code__  # inspect takes ten times as long
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        if code.co_argcount != 1 or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            raise _signature_error(function)
        given = function.__kwdefaults__ or {}
        return {name: given.get(name, REQUIRED) for name in names}
    parameters = inspect.signature(function).parameters.values()
    keywords = {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    positional = [p.kind for p in parameters if p.name not in keywords]
    if len(positional) != 1 or positional[0] in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise _signature_error(function)
    return keywords


def _signature_error(function: Callable[..., Any]) -> MetricError:
    return MetricError(
        f"{_name_function(function)}{inspect.signature(function)}: a metric takes one argument, and its parameters by "
        "keyword: write a * in front of them, as (ranking, *, cutoff: int)"
    )


def _name_function(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", repr(function)))


def _read_hints(function: Callable[..., Any], names: Iterable[str]) -> Mapping[str, Any]:
    """The types of these arguments; those written as text are looked up."""
    annotations: Mapping[str, Any] = getattr(function, "__annotations__", {})
    written = {name: annotations[name] for name in names if name in annotations}
    if not any(isinstance(hint, str) for hint in written.values()):
        return written
    # Those of the ranking and of the values may be imported for type checkers only, and looking them up takes longer.
    keywords = types.SimpleNamespace(__annotations__=written)
    try:
        return typing.get_type_hints(keywords, inspect.unwrap(function).__globals__, include_extras=True)
    except (NameError, AttributeError, TypeError) as error:
        raise MetricError(f"{_name_function(function)}: a type in its signature cannot be resolved: {error}") from error


def _make_parameter(function: Callable[..., Any], name: str, hint: Any, default: Any) -> Parameter:
    hint, about, optional = _unwrap(hint, CUTOFF if name == "cutoff" else Param(""))
    choices: tuple[str, ...] = ()
    if typing.get_origin(hint) is Literal:
        hint, choices = str, typing.get_args(hint)
        if not all(isinstance(choice, str) for choice in choices):
            raise MetricError(f"{_name_function(function)}: the choices of {name!r} must be text")
    kind = KINDS.get(typing.get_origin(hint) or hint)
    if kind is None:
        wrong = f"the type of {name!r} is {hint!r}" if hint is not None else f"{name!r} has no type"
        allowed = "int, float, bool, str, Literal[…] or dict[float, float], each of them optionally with None"
        raise MetricError(f"{_name_function(function)}: {wrong}: write {name}: int, or another of {allowed}")
    parameter = Parameter(name, kind, REQUIRED, choices, optional, about)
    try:
        return parameter if default is REQUIRED else replace(parameter, default=parameter.check(default))
    except ValueError as error:
        raise MetricError(f"{_name_function(function)}: the default {error}") from None


def _unwrap(hint: Any, about: Param) -> tuple[Any, Param, bool]:
    """A type without ``Annotated`` and ``| None``, its Param, and whether None is allowed."""
    optional = False
    while True:
        if typing.get_origin(hint) is Annotated:
            hint, *extras = typing.get_args(hint)
            about = next((extra for extra in extras if isinstance(extra, Param)), about)
        elif typing.get_origin(hint) in (typing.Union, types.UnionType):
            kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
            optional, hint = True, kinds[0] if len(kinds) == 1 else None
        else:
            return hint, about, optional


def bind_arguments(parameters: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` under the parameters' own names, checked; raises ValueError with the reason."""
    by_name = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    for name, said in given.items():
        own, value = _resolve_alias(parameters, name, said)
        if own not in by_name:
            known = ", ".join(by_name) or "none"
            hint = did_you_mean(own, by_name)
            raise ValueError(f"unknown parameter {own!r}; {hint + ' ' if hint else ''}known: {known}")
        if own in values:
            raise ValueError(f"{own} is given twice")
        values[own] = by_name[own].check(value)
    return values


def _resolve_alias(parameters: tuple[Parameter, ...], name: str, value: Any) -> tuple[str, Any]:
    for parameter in parameters:
        meanings = parameter.about.aliases.get(name)
        if meanings is not None:
            return parameter.name, meanings.get(value, value) if isinstance(value, str) else value
    return name, value


HOLE = re.compile(r"\{(?P<parameter>\w+)(?P<squared>\^2)?\}")
"""The place of a number in a spelling: ``ndcg_cut_{cutoff}``, ``set_F_{beta^2}`` for one that is given squared.

Several holes make one metric (``utility_{hit},{noise},{miss},{rest}``). A hole for a map of numbers takes pairs
(``ndcg_{gains}`` reads ``ndcg.1=3.5,2=9``).
"""

NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?"
ENTRY = rf"(?:{NUMBER}=)?{NUMBER}"
SPELLED = re.compile(
    rf"(?P<stem>[^\W\d]\w*?(?:\.[a-z]\w*?)?)(?P<mark>[_.=])(?P<entries>{ENTRY}(?:,{ENTRY})*)", re.IGNORECASE
)
"""``_``, ``.`` or ``=`` comes before the numbers."""


def find_stem(name: str) -> str:
    """The part before the first hole of ``ndcg_cut_{cutoff}``; empty without a hole."""
    hole = HOLE.search(name)
    return normalize_stem(name[: hole.start()].rstrip("_=")) if hole else ""


def normalize_stem(text: str) -> str:
    """A name without its numbers in the form in which stems are compared."""
    return text.lower().replace(".", "_")


def find_holes(name: str) -> list[re.Match[str]]:
    """The holes, if they are all that follows the stem; otherwise none."""
    first = HOLE.search(name)
    holes = list(HOLE.finditer(name))
    whole = first is not None and name[first.start() :] == ",".join(hole.group() for hole in holes)
    return holes if whole else []


def read_arguments(spelling: str, entries: str, maps: bool) -> list[dict[str, Any]]:
    """The arguments given by the numbers after a stem, one for each metric; none if they do not fit.

    ``maps``: the hole is a map of numbers.
    """
    holes, words = find_holes(spelling), entries.split(",")
    if maps:
        pairs = [word.split("=") for word in words]
        fit = all(len(pair) == 2 for pair in pairs) and len({parse_number(pair[0]) for pair in pairs}) == len(pairs)
        if not fit:
            return []
        return [{holes[0]["parameter"]: {parse_number(key): parse_number(value) for key, value in pairs}}]
    if "=" in entries or len(holes) not in (1, len(words)):
        return []
    if len(holes) == 1:
        return [_read_argument(holes[0], word) for word in words]
    whole: dict[str, Any] = {}
    for hole, word in zip(holes, words, strict=True):
        whole |= _read_argument(hole, word)
    return [whole]


def _read_argument(hole: re.Match[str], word: str) -> dict[str, Any]:
    value = parse_number(word)
    return {hole["parameter"]: math.sqrt(value) if hole["squared"] and value >= 0 else value}


def parse_number(text: str) -> int | float:
    """A number as it is written: whole, or with a fraction."""
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
