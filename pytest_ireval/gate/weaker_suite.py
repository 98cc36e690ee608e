"""Compares a suite with its version at the merge base: changes that make it weaker, and missing suites.

Git supplies the base version; today's plugins read it. Checks, options, queries and judgments are compared. A change
whose direction is unknown is reported as a change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.baseline.at_base import read_suite_names
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.errors import IrevalError, format_inline
from pytest_ireval.gate.planning import Check, RuleCheck, plan_checks, select_rule_checks
from pytest_ireval.gate.queries_and_judgments import read_suite_judgments
from pytest_ireval.gate.suite_at_base import (
    YAML,
    find_path_at_base,
    load_suite_at_base,
    load_suites_at_base,
    read_judgments_at_base,
    read_queries_at_base,
)
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.repositories.tree import Tree
from pytest_ireval.suite.finding import says_suite
from pytest_ireval.suite.loosening import ChangedOption, find_changed_options, format_changed_value, looser_part
from pytest_ireval.suite.suite import Suite, Waiver
from pytest_ireval.words import format_count, format_some

NAMED = 10
"""The most verdicts to name among those that are gone."""
ELSEWHERE = ("name", "where", "per", "against")
"""Options whose change shows elsewhere: in the list of verdicts, and in the comparison of references."""
POLICIES = {
    "missing_queries": ("error", "zero", "ignore"),
    "no_relevant": ("error", "zero", "ignore"),
    "unjudged": ("irrelevant", "removed"),
}
"""Keys of a suite whose values are words, the strictest first."""
SETTINGS = ("depth", "weight", "cluster", "documents", "tags")
"""Keys that may make it weaker or not."""


class Weakening(NamedTuple):
    """Lines about changes since the base."""

    weaker: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    """Changes that may let more pass, or less."""


def find_weakening(
    suite: Suite, registry: Registry, tree: Tree, queries: Queries, ranked: Collection[str] = ()
) -> Weakening:
    """Compare the suite with its version in ``tree``; a new suite is not weaker.

    ``queries`` are the current ones. ``ranked`` are those of the base's baseline: git may not have the queries file.
    """
    own = find_path_at_base(suite, tree)
    files = [tree.path_from_top(path) for path in _list_files(suite)]
    unchanged = Weakening(tuple(_list_removed_queries(ranked, queries)))
    if not own or (own == files[0] and not any(path in tree.changes for path in files)):
        return unchanged
    try:
        then = load_suite_at_base(suite, own, registry, tree)
        return unchanged if then is None else _compare_suites(then, suite, registry, tree, queries, ranked)
    except IrevalError as error:
        return Weakening(
            (f"the base version of the suite cannot be compared: {format_inline(error)[:400]}", *unchanged.weaker)
        )


def _compare_suites(
    then: Suite, suite: Suite, registry: Registry, tree: Tree, queries: Queries, ranked: Collection[str]
) -> Weakening:
    queries_then = read_queries_at_base(then, registry, tree, queries)
    before, now = plan_checks(then, queries_then), plan_checks(suite, queries)
    weaker = [
        *_list_removed_checks(before, now),
        *_list_changed_options(before, now, looser=True),
        *_list_weaker_keys(then, suite),
        *_compare_waivers(then.waivers, suite.waivers),
        *_compare_watches(then, suite),
        *_list_removed_queries((*queries_then.ids, *ranked), queries),
        *_list_removed_judgments(then, suite, registry, tree),
    ]
    other = [*_list_changed_options(before, now, looser=False), *_list_changed_keys(then, suite)]
    return Weakening(tuple(weaker), tuple(other))


def _list_files(suite: Suite) -> Iterator[Path]:
    """Its YAML files, and those that hold queries, judgments and other data of documents."""
    yield from suite.files or (suite.path,)
    files = [asked.file for asked in (suite.queries, suite.judgments) if asked is not None]
    for asked in (*files, suite.documents.aliases, suite.documents.collapse_file):
        if asked is not None:
            yield asked.path


def _identify_nameless(check: RuleCheck) -> tuple[object, ...]:
    """What stays the same if the rule of a check is only given another name."""
    return check.rule.kind.name, str(check.part.metric), check.part.label, check.slice


def pair_checks(before: Sequence[Check], now: Sequence[Check]) -> Iterator[tuple[RuleCheck, RuleCheck | None]]:
    """Each check of a rule, with the current check that continues it, if there is one."""
    by_id = {check.id: check for check in select_rule_checks(now)}
    known = {check.id for check in before}
    free = {_identify_nameless(check): check for id_, check in by_id.items() if id_ not in known}
    for check in select_rule_checks(before):
        yield check, by_id.get(check.id) or free.get(_identify_nameless(check))


def _list_removed_checks(before: Sequence[Check], now: Sequence[Check]) -> Iterator[str]:
    gone = [check.id for check, other in pair_checks(before, now) if other is None]
    yield from (f"check removed: {each}" for each in gone[:NAMED])
    if len(gone) > NAMED:
        yield f"{format_count(len(gone) - NAMED, 'more check')} removed"


def _list_changed_options(before: Sequence[Check], now: Sequence[Check], *, looser: bool) -> Iterator[str]:
    """Changed options that let more pass, or the others. Checks with the same change share a line."""
    ids: dict[tuple[str, ChangedOption], list[str]] = {}
    for check, other in pair_checks(before, now):
        if other is None:
            continue
        values = check.slice.value, other.slice.value
        changes = [*find_changed_options(check.rule.options, other.rule.options, values)]
        changes = [change for change in changes if change.name != "on_fail"]
        if other.rule.only_warns(other.part.metric) and not check.rule.only_warns(check.part.metric):
            changes.append(ChangedOption("on_fail", "fail", "warn", looser=True))
        changes += looser_part(check.part.item, other.part.item)
        for change in changes:
            if change.name not in ELSEWHERE and change.looser == looser:
                ids.setdefault((check.family, change), []).append(other.id)
    for (_, change), changed in ids.items():
        checks = changed[0] if len(changed) == 1 else f"{changed[0]} and {len(changed) - 1} more"
        yield f"{checks}: {_format_change(change.name, change.before, change.now)}"


def _format_change(name: str, before: str, now: str) -> str:
    return (f"{name} {before} -> {now}" if before != now else f"{name} changed").strip()


def _list_weaker_keys(then: Suite, now: Suite) -> Iterator[str]:
    for key, order in POLICIES.items():
        one, other = getattr(then.policies, key), getattr(now.policies, key)
        if order.index(other) > order.index(one):
            yield _format_change(key, one, other)
    if then.judgments is not None and then.judgments.lock and not (now.judgments and now.judgments.lock):
        yield "judgments are no longer locked"


def _list_changed_keys(then: Suite, now: Suite) -> Iterator[str]:
    """Keys that may make the suite weaker or not."""
    if then.policies.ties != now.policies.ties:
        yield _format_change("ties", then.policies.ties, now.policies.ties)
    for key in SETTINGS:
        one, other = getattr(then, key), getattr(now, key)
        if one != other:
            simple = isinstance(one, str | int | tuple) and isinstance(other, str | int | tuple)
            yield _format_change(key, format_changed_value(one), format_changed_value(other)) if simple else key
    before, after = then.judgments, now.judgments
    if before is not None and after is not None:
        if before.relevant_from != after.relevant_from:
            lowest = map(format_changed_value, (before.relevant_from, after.relevant_from))
            yield _format_change("relevant_from", *lowest)
        if before.scale != after.scale:
            yield "judgments.scale"
        if before.file.path.name != after.file.path.name:
            yield _format_change("judgments", before.file.path.name, after.file.path.name)
    if then.source is not None and _identify_source(then) != _identify_source(now):
        yield "source"


def _identify_source(suite: Suite) -> object:
    return None if suite.source is None else (suite.source.kind.name, suite.source.options)


def _compare_waivers(then: Sequence[Waiver], now: Sequence[Waiver]) -> Iterator[str]:
    until = {waiver.query: waiver.until for waiver in then}
    for waiver in now:
        before = until.get(waiver.query)
        if before is None:
            yield f"new waiver: {waiver.query} until {waiver.until} ({waiver.reason})"
        elif waiver.until > before:
            yield f"longer waiver: {waiver.query} until {waiver.until}, before until {before} ({waiver.reason})"


def _compare_watches(then: Suite, now: Suite) -> Iterator[str]:
    """Globs by which the suite took part, and exceptions that keep it from doing so."""
    if not now.watches:
        return
    if not then.watches:
        yield "new watches: the suite now runs only if a watched file changes"
        return
    kept, known = {watch.text for watch in now.watches}, {watch.text for watch in then.watches}
    globs = [watch.text for watch in then.watches if not watch.excludes and watch.text not in kept]
    exceptions = [watch.text[1:] for watch in now.watches if watch.excludes and watch.text not in known]
    yield from (f"no longer watches {text}" for text in globs)
    yield from (f"no longer watches {text} (new exception)" for text in exceptions)


def _list_removed_queries(then: Iterable[str], now: Queries) -> Iterator[str]:
    known = set(now.ids)
    gone = [query for query in dict.fromkeys(then) if query not in known]
    if gone:
        yield f"{format_count(len(gone), 'query')} removed: {format_some(gone)}"


def _list_removed_judgments(then: Suite, now: Suite, registry: Registry, tree: Tree) -> Iterator[str]:
    if then.judgments is None:
        return
    if now.judgments is None:
        yield "judgments removed from the suite"
        return
    same_file = then.judgments.file.path == now.judgments.file.path
    if same_file and tree.path_from_top(then.judgments.file.path) not in tree.changes:
        return
    before = _list_pairs(read_judgments_at_base(then, registry, tree))
    after = _list_pairs(read_suite_judgments(now, registry))
    gone = [pair for pair in before if pair not in after]
    if gone:
        queries = list(dict.fromkeys(query for query, _ in gone))
        where = format_count(len(queries), "query")
        yield f"{format_count(len(gone), 'judgment')} removed, in {where}: {format_some(queries)}"


def _list_pairs(judgments: Judgments | None) -> dict[tuple[str, str], None]:
    if judgments is None:
        return {}
    named = (judgments.queries[query] for query in judgments.query.tolist())
    return dict.fromkeys(zip(named, judgments.documents.texts(), strict=True))


def find_missing_suites(
    tree: Tree, folders: Iterable[Path], now: Mapping[Path, Collection[str]], registry_for: Callable[[Path], Registry]
) -> Iterator[str]:
    """Yield a line for each that was in ``folders``; ``now`` has the names of the collected suites, by their files."""
    real = [Path(os.path.realpath(folder)) for folder in folders]
    known = {name for names in now.values() for name in names}
    of_file = {Path(os.path.realpath(path)): names for path, names in now.items()}
    for path in tree.changes:
        file = tree.base.top / path
        if not path.endswith(YAML) or not any(file.is_relative_to(folder) for folder in real):
            continue
        then = _list_names_at_base(tree, path, registry_for)
        if len(of_file.get(file, ())) < len(then):  # with as many as then, some have another name and are compared
            gone = (name for name in then if name not in known)
            yield from (f"suite {name} ({path}) is missing; it existed at {tree.base}" for name in gone)


def _list_names_at_base(tree: Tree, path: str, registry_for: Callable[[Path], Registry]) -> list[str]:
    """The names of the suites of a file at the base; the file's own name for them, if it is unreadable today."""
    content = tree.read_files([path]).get(path)
    if content is None or not says_suite(Path(path).stem, content):
        return []
    try:
        return [suite.name for suite in load_suites_at_base(path, registry_for(tree.base.top / path), tree)]
    except IrevalError:
        return list(read_suite_names(tree, [path]).values())
