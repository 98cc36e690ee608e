"""Finds documents that were renamed: one rule that leads from the old ids to the new ones, such as another case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

TRIED = 300
"""The number of queries in which the rule is looked for; it is then applied to all."""
FEWEST_PAIRS = 3
"""Fewer renamed documents may be chance."""
LEAST_MAPPED = 0.5
"""The least share of new ids that a rule maps, in the queries where it maps any; the others may be new products."""
LEAST_TOGETHER = 0.4
"""The least share of old ids in whose place a query lists the new one. The same queries find a document under its new
id; they do not find a new product that has the same number by chance.
"""
LEAST_DISTINCT = 0.8
"""The least share of ids, old and new, that the part which stayed tells apart. Variants of a product, ``mug-red`` and
``mug-blue`` in place of ``mug``, have one such part; renamed documents have one each."""
LONGEST_ID = 1000
"""The characters of an id in which numbers are looked for: some systems have whole addresses as ids."""

Key = Callable[[str], str]


class ChangedIds(NamedTuple):
    """The ids of one query that may be old and new names of the same documents."""

    left: Sequence[str]
    """Documents that the query listed, and does not list now."""
    judged: Sequence[str]
    """Other documents that were judged for it, and that it does not list."""
    came: Sequence[str]
    """Documents that it lists now, and that nobody knew before."""


class RenamingRule(NamedTuple):
    """An old id and a new one are the same document where the two keys are equal, and not empty."""

    words: str
    """What happened, such as ``letters have another case``."""
    old_key: Key
    new_key: Key

    def pairs(self, changed: ChangedIds) -> dict[str, str]:
        """Old ids of a query with their new ones."""
        by_key = {key: old for old in (*changed.judged, *changed.left) if (key := self.old_key(old))}
        return {by_key[key]: new for new in changed.came if (key := self.new_key(new)) in by_key}


class Renaming(NamedTuple):
    """The rule in words, and by query the old ids with their new ones."""

    words: str
    pairs: Mapping[str, Mapping[str, str]]


def find_renaming(changed: Mapping[str, ChangedIds]) -> Renaming | None:
    """Return the strictest rule that maps ids that left to ids that came; None without one."""
    candidates = {query: ids for query, ids in changed.items() if (ids.left or ids.judged) and ids.came}
    # Where most is new, a renaming shows best: elsewhere other changes bring new documents too.
    by_share = sorted(candidates, key=lambda query: -len(candidates[query].came))
    tried = [candidates[query] for query in by_share[:TRIED]]
    for rule in RULES:
        if _maps_enough(rule, tried) and _tells_apart(rule, tried) and _stay_together(rule, tried):
            pairs = {query: rule.pairs(ids) for query, ids in candidates.items()}
            return Renaming(rule.words, {query: renamed for query, renamed in pairs.items() if renamed})
    return None


def _maps_enough(rule: RenamingRule, tried: Sequence[ChangedIds]) -> bool:
    pairs = [rule.pairs(changed) for changed in tried]
    mapped = {new for renamed in pairs for new in renamed.values()}
    came = {new for renamed, changed in zip(pairs, tried, strict=True) if renamed for new in changed.came}
    return len(mapped) >= max(FEWEST_PAIRS, LEAST_MAPPED * len(came))


def _tells_apart(rule: RenamingRule, tried: Sequence[ChangedIds]) -> bool:
    old = {document for changed in tried for document in (*changed.left, *changed.judged)}
    new = {document for changed in tried for document in changed.came}
    return all(
        len({key(document) for document in ids}) >= LEAST_DISTINCT * len(ids)
        for key, ids in ((rule.old_key, old), (rule.new_key, new))
    )


def _stay_together(rule: RenamingRule, tried: Sequence[ChangedIds]) -> bool:
    """Tell whether queries that listed a document under its old id list it under the new one."""
    anywhere = {rule.new_key(new) for changed in tried for new in changed.came}
    expected = there = 0
    for changed in tried:
        here = {*map(rule.new_key, changed.came)}
        keys = [key for old in changed.left if (key := rule.old_key(old)) in anywhere]
        expected += len(keys)
        there += sum(key in here for key in keys)
    return there >= LEAST_TOGETHER * expected


def _strip_zeros(text: str) -> str:
    """Without leading zeros of numbers."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)


def _compose(document: str) -> str:
    return unicodedata.normalize("NFC", document)


def _strip_separators(document: str) -> str:
    return re.sub(r"[\W_]+", "", document).casefold()


def _strip_first(document: str) -> str:
    return "".join(re.split(r"[\W_]", document, maxsplit=1)[1:])


def _strip_last(document: str) -> str:
    return "".join(re.findall(r"^(.*)[\W_]", document))


def _extract_numbers(document: str) -> str:
    return ".".join(str(int(number)) for number in re.findall(r"[0-9]+", document[:LONGEST_ID]))


def _extract_last_number(document: str) -> str:
    return _extract_numbers(document).rpartition(".")[2]


def _extract_first_part(document: str) -> str:
    return re.split(r"[:/#|@.?]", document)[0]


def _extract_last_part(document: str) -> str:
    return re.split(r"[:/#|@]", document)[-1]


RULES = (
    RenamingRule("letters have another case", str.casefold, str.casefold),
    RenamingRule("numbers have more or fewer leading zeros", _strip_zeros, _strip_zeros),
    RenamingRule("percent-encoding changed", unquote, unquote),
    RenamingRule("letters with accents are written in another Unicode form", _compose, _compose),
    RenamingRule("separators or the case of letters changed", _strip_separators, _strip_separators),
    RenamingRule("a first part was added", str, _strip_first),
    RenamingRule("the first part was removed", _strip_first, str),
    RenamingRule("a last part was added", str, _strip_last),
    RenamingRule("the last part was removed", _strip_last, str),
    RenamingRule("only the first part changed", _strip_first, _strip_first),
    RenamingRule("only the last part changed", _strip_last, _strip_last),
    RenamingRule("the last part of the id stayed", _extract_last_part, _extract_last_part),
    RenamingRule("the first part of the id stayed", _extract_first_part, _extract_first_part),
    RenamingRule("the numbers in the id stayed", _extract_numbers, _extract_numbers),
    RenamingRule("the last number of the id stayed", _extract_last_number, _extract_last_number),
)
"""What may happen to ids, the stricter first."""
