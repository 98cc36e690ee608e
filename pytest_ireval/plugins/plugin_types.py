"""Kinds of sources, rules and diagnoses: a YAML key, its options, and a function."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from operator import methodcaller
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from pytest_ireval.errors import PluginError, Problem, make_exception_problem

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from pytest_ireval.causes.ranking_change import RankingChange, Symptom
    from pytest_ireval.metrics.metric import Metric
    from pytest_ireval.rules.context import RuleContext
    from pytest_ireval.rules.result import RuleResult
    from pytest_ireval.sources.request import Request
    from pytest_ireval.suite.options import RuleOptions, SourceOptions

    OfRule = TypeVar("OfRule", bound=RuleOptions, default=Any)
    OfSource = TypeVar("OfSource", bound=SourceOptions, default=Any)
else:
    from typing import TypeVar

    OfRule, OfSource = TypeVar("OfRule"), TypeVar("OfSource")

__tracebackhide__ = methodcaller("errisinstance", PluginError)
"""pytest then shows the line of a user's file that makes a rule or a source, and none of the frames behind it."""

KIND_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Part(NamedTuple):
    """A part of a rule that has a verdict of its own, such as one line of ``threshold`` or one expectation."""

    label: str = ""
    """Its place in the ids of tests; made of ``metric`` where there is one."""
    metric: Metric | None = None
    """The metric it is about, as it was asked for."""
    item: Any = None
    """The entry of the options that it checks, such as one expectation."""
    keys: tuple[str | int, ...] = ()
    """Keys below the rule's own that lead to it, so that messages name its line."""
    where: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Only queries whose columns have these values, in place of those of the rule."""

    @property
    def time_metric(self) -> Metric | None:
        """Its metric, if that measures time."""
        return self.metric if self.metric is not None and "timings" in self.metric.needs else None


@dataclass(frozen=True)
class RuleKind(Generic[OfRule]):
    """A kind of rule; made by :func:`rule`."""

    name: str
    """The key in YAML."""
    options: type[OfRule]
    """A subclass of ``RuleOptions``: the allowed options under the key."""
    check: Callable[[OfRule, RuleContext], RuleResult]
    """``check(options, context) -> RuleResult``; see :class:`pytest_ireval.rules.context.RuleContext`."""
    summary: str
    """One sentence, for documentation and editors."""
    parts: Callable[[OfRule], Iterable[Part]] | None = None
    """The parts of one rule; None: it has one, about ``options.metric`` if there is such an option."""
    p_value: Callable[[OfRule, RuleContext], float | None] | None = None
    """``p_value(options, context)``: the p under which it would fail by evidence; None if evidence does not decide.

    The gate asks it for every check of the suite, and corrects all p together: ``context.adjust_p(p)``.
    """
    origin: str = ""

    @property
    def is_built_in(self) -> bool:
        """True if it is a rule of this package, whose results need not be looked at before they are used."""
        return self.check.__module__.startswith("pytest_ireval.")

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.check.__module__} (not registered)"

    def list_parts(self, options: OfRule) -> list[Part]:
        """The parts that have verdicts of their own under these options."""
        if self.parts is None:
            return list(options.complete_parts([Part(metric=getattr(options, "metric", None))]))
        return list(options.complete_parts(self.parts(options)))


@dataclass(frozen=True)
class SourceKind(Generic[OfSource]):
    """A kind of source; made by :func:`source`."""

    name: str
    """The key in YAML."""
    options: type[OfSource]
    """A subclass of ``SourceOptions`` with a field of the kind's name."""
    fetch: Callable[[OfSource, Request], object]
    """``fetch(options, request) -> rankings``; see :class:`pytest_ireval.sources.request.Request`."""
    summary: str
    """One sentence, for documentation and editors."""
    explain: Callable[[OfSource, Request, str, str], Sequence[str]] | None = None
    """``explain(options, request, query, document) -> lines``: why the system gives the document its score.

    It is asked for a few documents of queries behind red rules. Without lines, the report shows nothing.
    """
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.fetch.__module__} (not registered)"


@dataclass(frozen=True)
class DiagnosisKind:
    """A cause that may explain a change; made by :func:`diagnosis`."""

    name: str
    diagnose: Callable[[RankingChange], Symptom | None]
    """``diagnose(change) -> Symptom | None``; see :class:`pytest_ireval.causes.ranking_change.RankingChange`."""
    certain: bool = False
    """It is named even if no metric lost anything."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.diagnose.__module__} (not registered)"


class Kinds(NamedTuple):
    """Kinds of sources and of rules, each by the key that names it in a suite; diagnoses by name."""

    sources: Mapping[str, SourceKind] = MappingProxyType({})
    rules: Mapping[str, RuleKind] = MappingProxyType({})
    diagnoses: Mapping[str, DiagnosisKind] = MappingProxyType({})


@dataclass(frozen=True)
class LateSource:
    """A source that is imported when it is looked up: options take time to load, and most suites name one source."""

    name: str
    module: str
    """The module in which it has its name."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or self.module

    def load(self) -> SourceKind:
        """Import it."""
        kind: SourceKind = getattr(import_module(self.module), self.name)
        return replace(kind, origin=self.origin)


def diagnosis(
    *, name: str, certain: bool = False
) -> Callable[[Callable[[RankingChange], Symptom | None]], DiagnosisKind]:
    """Make a diagnosis of ``function(change) -> Symptom | None``.

    A ``certain`` one is always a defect, such as queries without any answer. Others are named only if they explain a
    good part of a loss.
    """

    def make(function: Callable[[RankingChange], Symptom | None]) -> DiagnosisKind:
        if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
            raise PluginError(f"{name!r} cannot be the name of a diagnosis: use lower-case letters, digits and _")
        return DiagnosisKind(name, function, certain)

    return make


def rule(
    *,
    name: str,
    options: type[OfRule],
    parts: Callable[[OfRule], Iterable[Part]] | None = None,
    p_value: Callable[[OfRule, RuleContext], float | None] | None = None,
) -> Callable[[Callable[[OfRule, RuleContext], RuleResult]], RuleKind[OfRule]]:
    """Make a kind of rule of ``check(options, context) -> RuleResult``; its docstring begins with its summary.

    The options say what the rule looks at: it compares if they are ``ComparingOptions``.
    """

    def make(check: Callable[[OfRule, RuleContext], RuleResult]) -> RuleKind[OfRule]:
        return RuleKind(name, options, check, _read_summary(name, options, check, "RuleOptions"), parts, p_value)

    return make


def source(
    *, name: str, options: type[OfSource], explain: Callable[[OfSource, Request, str, str], Sequence[str]] | None = None
) -> Callable[[Callable[[OfSource, Request], object]], SourceKind[OfSource]]:
    """Make a kind of source of ``function(options, request) -> rankings``, in any form that ``evaluate`` takes."""

    def make(function: Callable[[OfSource, Request], object]) -> SourceKind[OfSource]:
        summary = _read_summary(name, options, function, "SourceOptions")
        if name not in options.model_fields:
            raise PluginError(f"source {name!r}: its options need a field {name!r} for the value of the key")
        return SourceKind(name, options, function, summary, explain)

    return make


def _read_summary(name: str, options: type[object], function: Callable[..., object], wanted: str) -> str:
    """The first sentence of the docstring; refuses a name and options that no suite could use."""
    if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
        raise PluginError(f"{name!r} cannot be a key of a suite: use lower-case letters, digits and _")
    if not isinstance(options, type) or wanted not in {base.__name__ for base in options.__mro__}:
        raise PluginError(f"{name}: options={options!r} is not a subclass of {wanted}")
    summary = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    if not summary and sys.flags.optimize < 2:  # python -OO and PYTHONOPTIMIZE=2 drop docstrings
        raise PluginError(f"{name}: its function needs a docstring; editors and documentation show it")
    return summary


def refuse_wrong_defaults(kinds: Iterable[SourceKind | RuleKind], registry: Any) -> None:
    """Refuse options of plugins with a default that their own type refuses; tests do it for ours."""
    problems = []
    for kind in kinds:
        if kind.options.__module__.startswith("pytest_ireval."):
            continue
        named, source = f"the options of {kind.name}", f"it comes from {kind.source}"
        try:
            wrong = kind.options.find_wrong_defaults(registry)
        except Exception as error:  # a plugin's types may raise anything
            raise PluginError(make_exception_problem(f"{named}: reading their defaults", error, source)) from error
        problems += [
            Problem(f"{named} have a wrong default for {option!r}: {why}", allowed=source)
            for option, why in wrong.items()
        ]
    if problems:
        raise PluginError(*problems)
