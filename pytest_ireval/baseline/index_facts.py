"""The facts of the index that was searched, and how two indexes differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_ireval.baseline.json_trees import compute_hash, name_changes, prune_tree
from pytest_ireval.errors import Problem, SourceError, quote
from pytest_ireval.words import list_changes

LARGE_LOSS = 0.10
"""The share of documents whose loss is a cause; smaller moves are a note."""
LONGEST = 80
"""The characters of a fact that is kept as it is; of a longer one the hash is kept."""
FACTS = ("name", "build", "mapping", "documents")
"""The facts that reports show, and that a suite can name."""
NOTHING: Mapping[str, Any] = {}  # workers get it pickled, which a MappingProxyType cannot be


class IndexFacts(NamedTuple):
    """The facts that a source reports of its index; empty where it reports none."""

    name: str = ""
    """The index behind an alias."""
    build: str = ""
    """Another one after each rebuild: a uuid, a version, a time."""
    mapping: str = ""
    """The fields and how they are analyzed: mostly a hash."""
    documents: int | None = None
    details: Mapping[str, Any] = NOTHING
    """What the hash of the mapping stands for, field by field, so that a change can be named; empty if unknown."""
    stored: Mapping[str, Any] = NOTHING
    """What the engine keeps of the request, by name: search templates, scripts, pipelines, parameters of a handler."""

    @property
    def known(self) -> dict[str, Any]:
        """The facts that reports show, as far as there are some, by name."""
        return {name: value for name in FACTS if (value := getattr(self, name)) not in ("", None)}

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.known.items())


NO_INDEX = IndexFacts()
"""The facts of a source that reports none."""


def check_index_facts(facts: Any) -> IndexFacts:
    """Check the facts of a source: texts are kept, of other values of JSON a hash; of a mapping also its details."""
    allowed = f"allowed: a mapping of {', '.join(IndexFacts._fields)}"
    if not isinstance(facts, Mapping):
        raise SourceError(Problem(f"facts of the index are {type(facts).__name__}, not a mapping", allowed=allowed))
    unknown = [name for name in facts if name not in IndexFacts._fields]
    if unknown:
        raise SourceError(Problem(f"unknown fact of the index: {quote(str(unknown[0]))}", allowed=allowed))
    documents = facts.get("documents")
    if documents is not None and (isinstance(documents, bool) or not isinstance(documents, int) or documents < 0):
        raise SourceError(f"facts of the index: documents is {quote(repr(documents))}, not a number of documents")
    trees = {name: facts.get(name) or {} for name in ("details", "stored")}
    if isinstance(facts.get("mapping"), Mapping):
        trees["details"] = trees["details"] or facts["mapping"]
    for name, tree in trees.items():
        if not isinstance(tree, Mapping):
            raise SourceError(f"facts of the index: {name} is {type(tree).__name__}, not a mapping")
    name, build, mapping = (_shorten_fact(facts.get(name)) for name in ("name", "build", "mapping"))
    return IndexFacts(name, build, mapping, documents, prune_tree(trees["details"]), prune_tree(trees["stored"]))


def _shorten_fact(value: Any) -> str:
    """A short text as it is, of anything else a hash."""
    if value is None or value == "":
        return ""
    text = "" if isinstance(value, Mapping | list) else " ".join(str(value).split())
    return text if 0 < len(text) <= LONGEST else compute_hash(value)


def merge_index_facts(looks: Sequence[IndexFacts]) -> IndexFacts:
    """The facts of an index that was looked at several times while it was asked.

    A mapping or a build that changed in between is an error: the rankings come from two indexes.
    """
    merged = NO_INDEX
    for facts in looks:
        same = not (_differ(merged, facts, "mapping") or _differ(merged, facts, "build"))
        changes = [] if same else [describe_any_change(merged, facts)]
        if merged.stored and facts.stored:
            changes += name_changes(merged.stored, facts.stored)
        if any(changes):
            complaint = f"the index changed while it was asked: {'; '.join(filter(None, changes))}"
            suggestion = "run again when the new index is complete: rankings of two indexes are not evidence"
            raise SourceError(Problem(complaint, suggestion=suggestion))
        known = {name: value for name, value in merged._asdict().items() if value or value == 0}
        merged = facts._replace(**known)  # one look may know more than another
    return merged


def describe_index_change(before: IndexFacts, now: IndexFacts) -> str:
    """Say what changed that can move rankings: the mapping, or a large loss of documents. Empty without a change.

    Each job of CI builds its own index. So another build alone says nothing, unless a source reports nothing else.
    """
    parts = list(_describe_mapping_changes(before, now))
    if not (before.mapping and now.mapping):
        parts += _describe_other_build(before, now)
    if parts and _differ(before, now, "name"):
        parts.append(f"{before.name} -> {now.name}")
    if before.documents and now.documents is not None and (loss := 1 - now.documents / before.documents) > LARGE_LOSS:
        parts.append(f"it lost {loss:.0%} of its documents ({before.documents:,} -> {now.documents:,})")
    return "; ".join(parts)


def describe_any_change(before: IndexFacts, now: IndexFacts) -> str:
    """Say the same of two indexes that should be one, of which the build is a part."""
    build = _describe_other_build(before, now) if before.mapping and now.mapping else []
    return "; ".join(filter(None, (describe_index_change(before, now), *build)))


def describe_rebuild(before: IndexFacts, now: IndexFacts) -> str:
    """Note another build of the index whose mapping is known; empty without one."""
    if not (before.mapping and now.mapping) or not _differ(before, now, "build"):
        return ""
    same = [] if any(_describe_mapping_changes(before, now)) else ["mapping", "settings"]
    if before.documents is not None and before.documents == now.documents:
        same.append(f"number of documents ({now.documents:,})")
    if not same:
        return "the index was rebuilt"
    *most, last = same
    return f"the index was rebuilt, with the same {', '.join(most)}{' and ' if most else ''}{last}"


def describe_new_count(before: IndexFacts, now: IndexFacts, then: str) -> Iterator[str]:
    """Note another number of documents; ``then`` names the earlier moment."""
    if before.documents is not None and now.documents is not None and before.documents != now.documents:
        yield f"the index has {now.documents:,} documents; {then} it had {before.documents:,}"


def _describe_mapping_changes(before: IndexFacts, now: IndexFacts) -> Iterator[str]:
    changes = [*name_changes(before.details, now.details)] if before.details and now.details else []
    if changes:
        yield list_changes(changes)
    elif _differ(before, now, "mapping"):
        hashes = any(re.fullmatch("[0-9a-f]{12}", facts.mapping) for facts in (before, now))
        unknown = "" if before.details else " (the baseline does not keep what it was)"
        yield f"its mapping is another one{unknown if hashes else f' ({before.mapping} -> {now.mapping})'}"


def _describe_other_build(before: IndexFacts, now: IndexFacts) -> list[str]:
    return [f"it was rebuilt ({before.build} -> {now.build})"] if _differ(before, now, "build") else []


def _differ(before: IndexFacts, now: IndexFacts, name: str) -> bool:
    """Tell whether both know a fact, and it is another one."""
    ours, theirs = getattr(before, name), getattr(now, name)
    return bool(ours and theirs and ours != theirs)
