"""The metrics that plugins bring, by name; those of a resolver are made when they are first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from pytest_ireval.errors import (
    IrevalError,
    MetricNameError,
    Problem,
    describe_exception,
    find_closest,
    format_inline,
    quote,
)
from pytest_ireval.metrics.metric import Metric, copy_metric


class CatalogEntry(NamedTuple):
    """A metric under its name, which is known before the metric is made."""

    name: str
    spellings: tuple[str, ...]
    """Its other names."""
    origin: str
    make: Callable[[], Metric]

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin

    def rename(self, name: str, spellings: Iterable[str]) -> CatalogEntry:
        """The same metric under another name, and with those of its spellings alone."""
        kept = tuple(spellings)

        def make() -> Metric:
            metric = self.make()
            spellings = {each: metric.info.spellings[each] for each in kept}
            return copy_metric(metric, name=name, info=replace(metric.info, spellings=spellings))

        return CatalogEntry(name, kept, self.origin, make)


def make_entry(metric: Metric, origin: str) -> CatalogEntry:
    """The entry of a metric that is there already."""
    return CatalogEntry(metric.name, tuple(metric.info.spellings), origin, partial(copy_metric, metric, origin=origin))


class MetricCatalog(Mapping[str, Metric]):
    """Metrics by name: their names can be listed without making, and so importing, any of them."""

    def __init__(self, entries: Iterable[CatalogEntry] = ()) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self._made: dict[str, Metric] = {}

    def __getitem__(self, name: str) -> Metric:
        if name not in self._made:
            self._made[name] = self.entries[name].make()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def list_names(self, origin: str) -> list[str]:
        """The names of the metrics that a distribution or a conftest.py brings."""
        return [entry.name for entry in self.entries.values() if entry.origin == origin]


@dataclass(kw_only=True)
class MetricResolver:
    """Metrics that a plugin makes when they are named: until then it need not import what computes them.

    With ``names`` they are metrics like listed ones: ``resolve`` is asked for one by its name, once, and returns it
    without arguments. With a ``prefix`` it reads names itself: of ``irm:Judged@10`` it is asked for ``Judged@10``.

    >>> from importlib import import_module
    >>> from pytest_ireval import MetricResolver
    >>> def resolve(name):
    ...     return import_module("acme_metrics.dates").fresh  # imported when Fresh is named
    >>> MetricResolver(names={"Fresh": ["freshness"]}, resolve=resolve).names
    {'Fresh': ['freshness']}
    """

    resolve: Callable[[str], Metric | None]
    """Takes a name, or the text after the prefix; returns the metric, or None if there is none of this name.

    An exception means the same, and its text is the reason. A resolver with a prefix returns the same metric for
    ``str(metric)``.
    """
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The name of each metric, with its spellings; empty with a prefix."""
    prefix: str = ""
    """The word before the colon: lower-case letters, digits and _."""
    summary: str = ""
    """A description of the metrics with the prefix, in a line."""
    known: Sequence[str] = ()
    """Of the metrics with the prefix, names without arguments, for suggestions and for shells that complete names."""
    origin: str = ""
    """The distribution, or the conftest.py, that registers it."""
    _made: dict[str, Metric] = field(default_factory=dict, init=False, repr=False, compare=False)

    def entries(self) -> list[CatalogEntry]:
        """The metrics of its ``names``."""
        return [
            CatalogEntry(name, tuple(also), self.origin, partial(self._make, name)) for name, also in self.names.items()
        ]

    def _make(self, name: str) -> Metric:
        metric = self._resolve(name)
        listed, own = [name, *sorted(self.names[name])], [metric.name, *sorted(metric.info.spellings)]
        if listed != own:
            complaint = f"{self.origin} lists the names {', '.join(listed)}; the metric has {', '.join(own)}"
            raise self._error(name, complaint)
        return copy_metric(metric, origin=self.origin)

    def parse(self, text: str) -> list[Metric]:
        """The metric of that name behind the prefix; raises MetricNameError with the reason.

        It is one value for all that is called so.
        """
        text = text.strip()
        if text not in self._made:
            found = self._resolve_whole(text)
            name = str(found)
            if name not in self._made:
                if (again := str(self._resolve_whole(name))) != name:
                    complaint = f"{self.origin} calls it {name!r}, but resolves that name to {again!r}"
                    raise self._error(text, complaint)
                self._made[name] = copy_metric(found, name=f"{self.prefix}:{found.name}", origin=self.origin)
            self._made[text] = self._made[name]
        return [self._made[text]]

    def family(self, text: str) -> Metric:
        """The same metric alone."""
        return self.parse(text)[0]

    def _resolve_whole(self, text: str) -> Metric:
        found = self._resolve(text)
        if found.missing:
            raise self._error(text, f"{self._title} returned {found}, which lacks {found.missing[0]}")
        return found

    def _resolve(self, text: str) -> Metric:
        unknown = f"{self._title} has no such metric" if self.prefix else f"{self._title} cannot make this metric"
        try:
            found = self.resolve(text)
        except IrevalError as error:
            raise self._error(text, f"{unknown}: {format_inline(error)}") from error
        except Exception as error:  # a plugin may raise anything
            raise self._error(text, f"{unknown}: {describe_exception(error)}") from error
        if found is None:
            raise self._error(text, unknown)
        if not isinstance(found, Metric):
            raise self._error(text, f"{self._title} returned {found!r}, which is not a metric")
        return found

    @property
    def _title(self) -> str:
        return f"{self.prefix} of {self.origin}" if self.prefix else self.origin

    def _error(self, text: str, complaint: str) -> MetricNameError:
        if not self.prefix:
            return MetricNameError(Problem(complaint, quote(text)))
        head = re.split(r"[(@]", text)[0]
        meant = find_closest(head, self.known)
        hint = f"did you mean {f'{self.prefix}:{meant}{text[len(head) :]}'!r}?" if meant not in ("", head) else ""
        allowed = f"{self.prefix}:… {self.summary}"
        return MetricNameError(Problem(complaint, quote(f"{self.prefix}:{text}"), suggestion=hint, allowed=allowed))
