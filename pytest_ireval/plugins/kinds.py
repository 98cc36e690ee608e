"""Kinds of sources, rules and diagnoses: a YAML key, its options, and a function."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pytest_ireval.errors import PluginError, Problem, raised

if TYPE_CHECKING:
    from pytest_ireval.metrics.metric import Metric

KIND_NAME = re.compile(r"[a-z][a-z0-9_]*")


Thing = TypeVar("Thing")


class KindsByName(Mapping[str, Thing]):
    """Things by name. ``acme:fresh``, with the distribution before the colon, is understood for each of them.

    A name that two distributions bring is in it only with their names before it.
    """

    def __init__(self, listed: Mapping[str, Thing], qualified: Mapping[str, Callable[[], Thing]]) -> None:
        self.listed, self.qualified = listed, qualified

    def __getitem__(self, key: str) -> Thing:
        if key not in self.listed and key in self.qualified:
            return self.qualified[key]()
        return self.listed[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)


class Part(NamedTuple):
    """A part of a rule that has a verdict of its own, such as one line of ``threshold`` or one expectation."""

    label: str = ""
    """Its place in the ids of tests; made of ``metric`` where there is one."""
    metric: Metric | None = None
    """The metric it is about, as it was asked for."""
    asked: Any = None
    """Whatever of the options the rule's function needs to know it by."""
    place: tuple[str | int, ...] = ()
    """Keys below the rule's own that lead to it, so that messages name its line."""


class MeanTest(NamedTuple):
    """The p of a fall of a mean, and the values of that mean, to correct for other metrics on the same queries."""

    p: float
    gains: Any
    """An array with one value for each unit; a loss is below 0."""
    units: Any
    """Their places: p-values about the same units are corrected together, by how much they move together."""


@dataclass(frozen=True)
class RuleKind:
    """A kind of rule; made by :func:`rule`."""

    name: str
    """The key in YAML."""
    options: type[Any]
    """A subclass of ``RuleOptions``: the allowed options under the key."""
    judge: Callable[..., Any]
    """``judge(options, seen) -> Ruling``; see :class:`pytest_ireval.rules.context.Seen`."""
    summary: str
    """One sentence, for documentation and editors."""
    parts: Callable[[Any], Iterable[Part]] | None = None
    """The parts of one rule; None: it has one, about ``options.metric`` if there is such an option."""
    compares: bool = False
    """It looks at the baseline; such a rule fails if there is none, and an update accepts it."""
    judged: bool = True
    """It needs judgments."""
    slices: bool = True
    """``where`` and ``per`` make sense."""
    lists: bool = False
    """It compares lists, not values. Its metrics, if any, need a ``reference``; those of others score one."""
    names_whole: bool = False
    """The id of a verdict on all queries ends in ``all``."""
    tested: Callable[[Any, Any], float | MeanTest | None] | None = None
    """``tested(options, seen)``: the p under which it would fail by evidence, or None if evidence does not decide.

    A :class:`MeanTest` has the values as well, so that metrics that move together are corrected less. The gate asks it
    for every verdict of the suite, and hands the corrected p to ``judge`` as ``seen.adjusted``.
    """
    chances: Callable[[Any, Any], Any] | None = None
    """``chances(options, tries) -> Chances``: its verdicts on drawn changes, or None if these cannot tell. Without
    it, a run says that its rate of false alarms does not count this rule."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.judge.__module__} (not registered)"

    def parts_of(self, options: Any) -> list[Part]:
        """The parts that have verdicts of their own under these options."""
        return list(self.parts(options)) if self.parts is not None else [Part(metric=getattr(options, "metric", None))]


@dataclass(frozen=True)
class SourceKind:
    """A kind of source; made by :func:`source`."""

    name: str
    """The key in YAML."""
    options: type[Any]
    """A subclass of ``SourceOptions`` with a field of the kind's name."""
    fetch: Callable[..., Any]
    """``fetch(options, request) -> rankings``; see :class:`pytest_ireval.sources.request.Request`."""
    summary: str
    """One sentence, for documentation and editors."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.fetch.__module__} (not registered)"


@dataclass(frozen=True)
class DiagnosisKind:
    """A cause that may explain a change; made by :func:`diagnosis`."""

    name: str
    diagnose: Callable[[Any], Any]
    """``diagnose(change) -> Symptom | None``; see :class:`pytest_ireval.rules.diagnosis.RankingChange`."""
    certain: bool = False
    """It is named even if no metric lost anything."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.diagnose.__module__} (not registered)"


class Kinds(NamedTuple):
    """Kinds of sources and of rules, each by the key that names it in a suite; and diagnoses by name."""

    sources: Mapping[str, SourceKind] = MappingProxyType({})
    rules: Mapping[str, RuleKind] = MappingProxyType({})
    diagnoses: Mapping[str, DiagnosisKind] = MappingProxyType({})


def diagnosis(*, name: str, certain: bool = False) -> Callable[[Callable[[Any], Any]], DiagnosisKind]:
    """Make a diagnosis of ``function(change) -> Symptom | None``.

    A ``certain`` one is always a defect, such as queries without any answer. Others are named only if they explain a
    good part of a loss.
    """

    def make(function: Callable[[Any], Any]) -> DiagnosisKind:
        if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
            raise PluginError(f"{name!r} cannot be the name of a diagnosis: use lower-case letters, digits and _")
        return DiagnosisKind(name, function, certain)

    return make


def rule(
    *,
    name: str,
    options: type[Any],
    parts: Callable[[Any], Iterable[Part]] | None = None,
    compares: bool = False,
    judged: bool = True,
    slices: bool = True,
    lists: bool = False,
    names_whole: bool = False,
    tested: Callable[[Any, Any], float | MeanTest | None] | None = None,
    chances: Callable[[Any, Any], Any] | None = None,
) -> Callable[[Callable[..., Any]], RuleKind]:
    """Make a kind of rule of ``function(options, seen) -> Ruling``; the docstring's first paragraph is its summary."""

    def make(function: Callable[..., Any]) -> RuleKind:
        summary = _checked(name, options, function, "RuleOptions")
        return RuleKind(
            name, options, function, summary, parts, compares, judged, slices, lists, names_whole, tested, chances
        )

    return make


def source(*, name: str, options: type[Any]) -> Callable[[Callable[..., Any]], SourceKind]:
    """Make a kind of source of ``function(options, request) -> rankings``, in any form that ``evaluate`` takes."""

    def make(function: Callable[..., Any]) -> SourceKind:
        summary = _checked(name, options, function, "SourceOptions")
        if name not in options.model_fields:
            raise PluginError(f"source {name!r}: its options need a field {name!r} for the value of the key")
        return SourceKind(name, options, function, summary)

    return make


def _checked(name: str, options: type[Any], function: Callable[..., Any], wanted: str) -> str:
    """The summary, if name and options can be used."""
    if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
        raise PluginError(f"{name!r} cannot be a key of a suite: use lower-case letters, digits and _")
    if not isinstance(options, type) or wanted not in {each.__name__ for each in options.__mro__}:
        raise PluginError(f"{name}: options={options!r} is not a subclass of {wanted}")
    summary = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    if not summary and sys.flags.optimize < 2:  # python -OO and PYTHONOPTIMIZE=2 drop docstrings
        raise PluginError(f"{name}: its function needs a docstring; editors and documentation show it")
    return summary


def from_origin(kind: Any, origin: str) -> Any:
    """The kind, with the plugin that brought it."""
    return replace(kind, origin=origin)


def refuse_wrong_defaults(kinds: Kinds, registry: Any) -> None:
    """Refuse options of plugins with a default that their own type refuses; tests do it for ours."""
    problems, every = [], list[Any]([*kinds.sources.values(), *kinds.rules.values()])
    for kind in every:
        if kind.options.__module__.startswith("pytest_ireval."):
            continue
        named, source = f"the options of {kind.name}", f"it comes from {kind.source}"
        try:
            wrong = kind.options.wrong_defaults(registry)
        except Exception as error:  # a plugin's types may raise anything
            raise PluginError(raised(f"{named}: reading their defaults", error, source)) from error
        problems += [
            Problem(f"{named} have a wrong default for {option!r}: {why}", allowed=source)
            for option, why in wrong.items()
        ]
    if problems:
        raise PluginError(*problems)
