"""All that plugins bring, by name: a distribution claims a name once, and those of two distributions stay apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import Any, TypeVar, cast

from pytest_ireval.data.formats.reader import CONTENTS, Reader
from pytest_ireval.entry_points import normalize_distribution
from pytest_ireval.errors import PluginError, Problem
from pytest_ireval.metrics.catalog import CatalogEntry, MetricCatalog, MetricResolver, make_entry
from pytest_ireval.metrics.elsewhere import Elsewhere, find_mistake
from pytest_ireval.metrics.metric import NAME, Metric
from pytest_ireval.metrics.names import Vocabulary, normalize_name
from pytest_ireval.metrics.parameters import HOLE, SPELLED, normalize_stem
from pytest_ireval.plugins.plugin_types import KIND_NAME, LateSource, SourceKind


@dataclass(frozen=True)
class Origin:
    """The origin of a plugin. ``name`` is its entry point, or the path of a conftest.py."""

    name: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip() or self.name

    @property
    def owner(self) -> str:
        """The plain name of the distribution; empty for a conftest.py."""
        return normalize_distribution(self.distribution)


HookResults = Iterable[tuple[Origin, Iterable[object]]]
"""The values that each plugin returned from one hook."""
Claims = dict[str, list[tuple[str, str, CatalogEntry]]]
"""By key: the distribution, the name, the metric."""
Thing = TypeVar("Thing")


def _cannot_share(owner: str, other: str) -> bool:
    """Tell whether two plugins cannot share a name; two distributions can."""
    return owner == other or not owner or not other


def build_vocabulary(
    metrics: HookResults, resolvers: HookResults = (), elsewhere: Callable[[], HookResults] = tuple
) -> Vocabulary:
    """The vocabulary of metrics and resolvers that plugins brought; ``elsewhere`` brings names of other packages."""
    families = [(origin.owner, _check_resolver(value, origin)) for origin, values in resolvers for value in values]
    found = [(origin.owner, _make_entry(value, origin)) for origin, values in metrics for value in values]
    found += [(owner, entry) for owner, resolver in families for entry in resolver.entries()]
    with_prefix = [(owner, resolver) for owner, resolver in families if resolver.prefix]
    claims: Claims = {}
    for owner, entry in found:
        _claim_names(owner, entry, claims)
    for owner, entry in found:
        _claim_spelled_names(owner, entry, claims)
    of_distributions = {
        owner: Vocabulary(_qualify_entries(owner, found), resolvers=_qualify_resolvers(owner, with_prefix))
        for owner in dict.fromkeys(owner for owner, _ in (*found, *with_prefix) if owner)
    }
    shared = {key: tuple(starmap(_qualify_name, several)) for key, several in claims.items() if len(several) > 1}
    catalog = MetricCatalog(
        entry if not shared else _leave_out_shared_names(owner, entry, shared) for owner, entry in found
    )
    prefixes = _group_by_prefix(with_prefix, {owner: entry.origin for owner, entry in found if owner})
    read_elsewhere = partial(_read_names_elsewhere, elsewhere, catalog)
    return Vocabulary(catalog, of_distributions, shared, prefixes, read_elsewhere=read_elsewhere)


def _read_names_elsewhere(elsewhere: Callable[[], HookResults], catalog: MetricCatalog) -> tuple[Elsewhere, ...]:
    found: list[Elsewhere] = []
    for origin, values in elsewhere():
        for value in values:
            mistake = find_mistake(value, catalog) if isinstance(value, Elsewhere) else f"{value!r} is not an Elsewhere"
            if mistake:
                raise PluginError(f"ireval_names_elsewhere of {origin}: {mistake}")
            found.append(value)  # type: ignore[arg-type]  # anything else is a mistake
    return tuple(found)


def _make_entry(value: object, origin: Origin) -> CatalogEntry:
    if not isinstance(value, Metric):
        complaint = f"plugin {origin} returned {value!r} from ireval_metrics, which is not a metric"
        raise PluginError(f"{complaint}: decorate the function with @per_query_metric or @metric")
    return make_entry(value, str(origin))


def _check_resolver(value: object, origin: Origin) -> MetricResolver:
    if not isinstance(value, MetricResolver):
        complaint = f"plugin {origin} returned {value!r} from ireval_resolve_metric, which is not a MetricResolver"
        raise PluginError(f"{complaint}: return [MetricResolver(names=…, resolve=…)]")
    if not callable(value.resolve):
        raise PluginError(f"plugin {origin}: resolve={value.resolve!r} of a MetricResolver is not a function")
    if value.names and not value.prefix:
        for name, spellings in value.names.items():
            if not NAME.fullmatch(name) or isinstance(spellings, str):
                raise PluginError(
                    f"plugin {origin}: names of a MetricResolver have lists of spellings, as {{'Fresh': ['fresh']}}; "
                    f"got {name!r}: {spellings!r}"
                )
    elif value.names or not isinstance(value.prefix, str) or not KIND_NAME.fullmatch(value.prefix):
        complaint = f"plugin {origin}: a MetricResolver needs names, or a prefix of lower-case letters, digits and _"
        raise PluginError(f"{complaint}; got prefix={value.prefix!r}, names={list(value.names)}")
    return replace(value, origin=str(origin))


def make_claim_error(complaint: str, *origins: str) -> PluginError:
    """The error of a name that two plugins claim; a user can change the one in a conftest.py."""
    own = next((origin for origin in origins if origin.endswith(".py")), "")
    return PluginError(Problem(complaint, suggestion=f"rename the one in {own}" if own else "rename one of them"))


def _claim_names(owner: str, metric: CatalogEntry, claims: Claims) -> None:
    """Take a metric's names; names of one key are one name."""
    for name in dict.fromkeys((metric.name, *metric.spellings)):
        others = claims.setdefault(normalize_name(name), [])
        mine = [each for each in others if _cannot_share(each[0], owner)]
        if not any(each[2] is metric for each in mine):
            others.append((owner, name, metric))
        for _, other_name, other in mine:
            if other is metric:
                continue
            if other_name.lower() != name.lower():
                raise _make_ambiguity_error(name, metric, other_name, other)
            case = "" if other_name == name else f" (the first spells it {other_name!r}; letter case is ignored)"
            by = f"by {other.name} of {other.origin} and by {metric.name} of {metric.origin}"
            complaint = f"metric name {name!r} is claimed twice{case}: {by}"
            raise make_claim_error(complaint, other.origin, metric.origin)


def _claim_spelled_names(owner: str, metric: CatalogEntry, claims: Claims) -> None:
    """Take a name such as ``P_5`` also for the other metric that has the spelling ``P_{cutoff}``."""
    for name in (metric.name, *metric.spellings):
        match = SPELLED.fullmatch(name)
        for other_owner, other_name, other in claims.get(f"{normalize_stem(match['stem'])}{{}}", ()) if match else ():
            if other is not metric:
                if _cannot_share(owner, other_owner):
                    raise _make_ambiguity_error(name, metric, other_name, other)
                claims[name.lower()].append((other_owner, name, other))


def _make_ambiguity_error(name: str, metric: CatalogEntry, other_name: str, other: CatalogEntry) -> PluginError:
    another = f"{other_name!r} of {other.name} of {other.source}"
    return PluginError(f"metric name {name!r} of {metric.name} of {metric.source} would be read as {another}")


def _qualify_name(owner: str, name: str, metric: CatalogEntry) -> str:
    """The name that tells the metric of a distribution from others; if numbers follow, only what comes before it."""
    if HOLE.search(name):
        return f"{owner}:"
    return f"{owner}:{metric.name if name in (metric.name, *metric.spellings) else name}"


def _leave_out_shared_names(owner: str, entry: CatalogEntry, shared: Container[str]) -> CatalogEntry:
    """The metric without the names that others bring as well."""
    spellings = (name for name in entry.spellings if normalize_name(name) not in shared)
    return entry.rename(f"{owner}:{entry.name}" if entry.name.lower() in shared else entry.name, spellings)


def _qualify_entries(owner: str, found: Iterable[tuple[str, CatalogEntry]]) -> MetricCatalog:
    own = (entry for other, entry in found if other == owner)
    return MetricCatalog(entry.rename(f"{owner}:{entry.name}", entry.spellings) for entry in own)


Families = Sequence[tuple[str, MetricResolver]]


def _qualify_resolvers(owner: str, families: Families) -> dict[str, tuple[MetricResolver, ...]]:
    return {
        normalize_distribution(each.prefix): (replace(each, prefix=f"{owner}:{each.prefix}"),)
        for other, each in families
        if other == owner
    }


def _group_by_prefix(families: Families, distributions: Mapping[str, str]) -> dict[str, tuple[MetricResolver, ...]]:
    """Resolvers by plain prefix; ``distributions`` have metrics, and the name of one is taken, too."""
    claims: dict[str, list[tuple[str, MetricResolver]]] = {}
    for owner, resolver in families:
        plain = normalize_distribution(resolver.prefix)
        others = claims.setdefault(plain, [])
        taken = [other.origin for other_owner, other in others if _cannot_share(owner, other_owner)]
        if plain in distributions and _cannot_share(owner, plain):
            taken.append(f"{distributions[plain]}, which has metrics and this name,")
        if taken:
            complaint = f"prefix {resolver.prefix!r} of metrics is claimed twice"
            raise PluginError(f"{complaint}: by {taken[0]} and by {resolver.origin}")
        others.append((owner, resolver))
    return {
        plain: tuple(
            replace(each, prefix=f"{owner}:{each.prefix}") if len(several) > 1 or plain in distributions else each
            for owner, each in several
        )
        for plain, several in claims.items()
    }


class KindsByName(Mapping[str, Thing]):
    """Things by name. ``acme:fresh``, with the distribution before the colon, is understood for each of them.

    A name that two distributions bring is in it only with their names before it.
    """

    def __init__(self, listed: Mapping[str, Any], qualified: Mapping[str, Callable[[], Any]]) -> None:
        self._listed, self._qualified = listed, qualified

    @property
    def brought(self) -> list[Thing]:
        """All but sources that were not imported yet, which are ours."""
        return [kind for kind in self._listed.values() if not isinstance(kind, LateSource)]

    def __getitem__(self, key: str) -> Thing:
        owner, colon, name = str(key).rpartition(":")
        whole = f"{normalize_distribution(owner)}{colon}{name}"
        is_qualified = whole not in self._listed and whole in self._qualified
        kind = self._qualified[whole]() if is_qualified else self._listed[whole]
        return cast("Thing", kind.load() if isinstance(kind, LateSource) else kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


def index_kinds(brought: HookResults, wanted: type[Thing], what: str, hook: str) -> KindsByName[Thing]:
    """Kinds of sources or rules, diagnoses, sections of the report, or what a package's own hook returned.

    ``what`` is the name of the decorator that makes them.
    """
    found: dict[str, list[tuple[str, Any]]] = {}
    called = what.replace("_", " ")
    accepted = (SourceKind, LateSource) if wanted is SourceKind else wanted
    for origin, values in brought:
        for value in values:
            if not isinstance(value, accepted):
                made = f"decorate the function with @{what}"
                raise PluginError(f"plugin {origin} returned {value!r} from {hook}, which is not a {called}: {made}")
            kind: Any = replace(value, origin=str(origin))  # type: ignore[type-var]  # each of them is a dataclass
            others = found.setdefault(kind.name, [])
            for whose, other in others:
                if other is not kind and _cannot_share(whose, origin.owner):
                    by = f"by {other.source} and by {kind.source}"
                    raise make_claim_error(f"{called} {kind.name!r} is claimed twice: {by}", other.origin, kind.origin)
            others.append((origin.owner, kind))
    listed: dict[str, Any] = {}
    qualified: dict[str, Callable[[], Any]] = {}
    for name, claims in found.items():
        for owner, kind in claims:
            whole = f"{owner}:{name}"  # the options of a source have a field of its bare name
            rename = partial(replace, kind, name=name if wanted is SourceKind else whole)
            if owner:
                qualified[whole] = rename
            if len(claims) > 1:
                listed[whole] = rename()
            else:
                listed[name] = kind
    return KindsByName(listed, qualified)


def index_readers(brought: HookResults) -> tuple[Reader, ...]:
    """Readers; each of a distribution is also called ``acme:arrows``, and only so if another has the same name."""
    claims: dict[tuple[str, str], list[tuple[str, Reader]]] = {}
    readers = [(origin.owner, _check_reader(value, origin)) for origin, values in brought for value in values]
    for owner, reader in readers:
        for name in dict.fromkeys((reader.name, *reader.also)):
            others = claims.setdefault((reader.holds, name), [])
            for whose, other in others:
                if _cannot_share(owner, whose):
                    by = f"by {other.name} of {other.origin} and by {reader.name} of {reader.origin}"
                    complaint = f"format {name!r} of {reader.holds} is claimed twice: {by}"
                    raise make_claim_error(complaint, other.origin, reader.origin)
            others.append((owner, reader))
    shared = {key for key, several in claims.items() if len(several) > 1}
    return tuple(_qualify_reader(owner, reader, shared) for owner, reader in readers)


def _qualify_reader(owner: str, reader: Reader, shared: Container[tuple[str, str]]) -> Reader:
    if not owner:
        return reader
    names = [name for name in (reader.name, *reader.also) if (reader.holds, name) not in shared]
    whole = [f"{owner}:{name}" for name in (reader.name, *reader.also)]
    name = reader.name if reader.name in names else whole[0]
    return reader._replace(name=name, also=tuple(each for each in (*names, *whole) if each != name))


def _check_reader(value: object, origin: Origin) -> Reader:
    if not isinstance(value, Reader):
        raise PluginError(f"plugin {origin} returned {value!r} from ireval_readers, which is not a Reader")
    named = all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in (value.name, *value.also))
    if value.holds not in CONTENTS or not named:
        raise PluginError(
            f"plugin {origin}: reader {value.name!r} holds {value.holds!r}; "
            f"holds must be one of {', '.join(CONTENTS)}; a name has only lower-case letters, digits and hyphens"
        )
    return value._replace(origin=str(origin))
