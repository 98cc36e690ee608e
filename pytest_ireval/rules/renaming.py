"""Finds the one rule by which documents were renamed, such as a new prefix, another case or leading zeros."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from pytest_ireval.errors import quote

TRIED = 300
"""The number of queries in which the rule is looked for; it is then applied to all."""
FEWEST_PAIRS = 3
"""Fewer renamed documents may be chance."""
LEAD = 4
"""A rule maps this many times more ids than the next one. Variants of a product, ``mug-red`` and ``mug-blue`` in place
of ``mug``, have several suffixes; a renaming has one."""
LEAST_MAPPED = 0.2
"""The least share of new ids that an exact rule maps, in the queries where it maps any; the others may be new products.
"""
LEAST_ALIKE = 0.6
"""The same for rules that only compare a part of the ids, because such parts are sometimes equal by chance."""
LEAST_TOGETHER = 0.4
"""The least share of old ids in whose place a query lists the new one. The same queries find a document under its new
id; they do not find a new product that has the same number by chance.
"""
LEAST_DISTINCT = 0.8
"""The least share of old ids that are still distinct in that part."""
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
    """An old id and a new one are the same document where the two keys are equal."""

    words: str
    """What happened, such as ``the prefix 'shop:' was added``."""
    old_key: Key
    new_key: Key

    def pairs(self, changed: ChangedIds) -> dict[str, str]:
        """Old ids of a query with their new ones."""
        by_key = {key: old for old in (*changed.judged, *changed.left) if (key := self.old_key(old))}
        return {by_key[key]: new for new in changed.came if (key := self.new_key(new)) in by_key}


class Renaming(NamedTuple):
    """The rule, and by query the old ids with their new ones."""

    words: str
    pairs: Mapping[str, Mapping[str, str]]


def find_renaming(changed: Mapping[str, ChangedIds]) -> Renaming | None:
    """Return the one rule that maps ids that left to ids that came; None if there is none, or more than one."""
    candidates = {query: each for query, each in changed.items() if (each.left or each.judged) and each.came}
    # Where most is new, a renaming shows best: elsewhere other changes bring new documents too.
    by_share = sorted(candidates, key=lambda query: -len(candidates[query].came))
    tried = [candidates[query] for query in by_share[:TRIED]]
    for rule, least in _list_likely_rules(tried):
        if _maps_enough(rule, least, tried) and _stay_together(rule, tried):
            renamed = {query: pairs for query, each in candidates.items() if (pairs := rule.pairs(each))}
            return Renaming(rule.words, renamed)
    return None


def _maps_enough(rule: RenamingRule, least: float, tried: Sequence[ChangedIds]) -> bool:
    pairs = [rule.pairs(changed) for changed in tried]
    mapped = {new for renamed in pairs for new in renamed.values()}
    came = {new for renamed, changed in zip(pairs, tried, strict=True) if renamed for new in changed.came}
    return len(mapped) >= max(FEWEST_PAIRS, least * len(came))


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


def _list_likely_rules(tried: Sequence[ChangedIds]) -> Iterator[tuple[RenamingRule, float]]:
    """The exact rule that maps by far the most ids; then those that compare only a part; each with its least share."""
    rules: dict[str, RenamingRule] = {}
    mapped: dict[str, set[str]] = defaultdict(set)
    for changed in tried:
        for old, new in _find_similar_pairs(changed):
            rule = _make_rule(old, new)
            if rule is not None:
                rules[rule.words] = rule
                mapped[rule.words].add(new)
    first, *others = sorted(mapped, key=lambda words: -len(mapped[words])) or [""]
    if first and (not others or len(mapped[first]) >= LEAD * len(mapped[others[0]])):
        yield rules[first], LEAST_MAPPED
    olds = {old for changed in tried for old in (*changed.left, *changed.judged)}
    for words, part in PARTS:
        parts = {part(old) for old in olds}
        if len(parts) >= LEAST_DISTINCT * len(olds):
            yield RenamingRule(words, part, part), LEAST_ALIKE


def _find_similar_pairs(changed: ChangedIds) -> Iterator[tuple[str, str]]:
    """Pairs in which one id contains the other, or that share a part that tells ids apart; in linear time."""
    former = changed.left or changed.judged
    pairs = {
        *_find_contained(former, changed.came),
        *((old, new) for new, old in _find_contained(changed.came, former)),
    }
    for key in (*(key for key, _ in SAME_IN), *(part for _, part in PARTS)):
        by_key = {part: old for old in former if (part := key(old))}
        pairs.update((by_key[part], new) for new in changed.came if (part := key(new)) in by_key)
    yield from sorted(pairs)  # sets have another order in every process


def _find_contained(shorter: Sequence[str], longer: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of which one begins or ends with the other. Ids have few lengths, so few pieces are looked up."""
    there, lengths = {*shorter}, sorted({*map(len, shorter)} - {0})
    for whole in longer:
        for length in lengths:
            if length >= len(whole):
                break
            yield from ((piece, whole) for piece in (whole[:length], whole[-length:]) if piece in there)


def _strip_zeros(text: str) -> str:
    """Without leading zeros of numbers."""
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)


def _extract_numbers(document: str) -> str:
    return ".".join(str(int(number)) for number in re.findall(r"[0-9]+", document[:LONGEST_ID]))


def _strip_separators(document: str) -> str:
    return re.sub(r"[\W_]+", "", document).casefold()


def _compose(document: str) -> str:
    return unicodedata.normalize("NFC", document)


def _describe_case(new: str) -> str:
    if new == new.upper():
        return "letters are capitals now"
    return "letters are small now" if new == new.lower() else "letters have another case now"


SAME_IN: tuple[tuple[Key, Callable[[str, str], str]], ...] = (
    (str.casefold, lambda _, new: _describe_case(new)),
    (_strip_zeros, lambda old, new: f"numbers have {'' if len(new) > len(old) else 'no '}leading zeros now"),
    (unquote, lambda old, new: f"ids are {'' if len(new) > len(old) else 'not '}percent-encoded now"),
    (_compose, lambda *_: "letters with accents are written in another Unicode form"),
)
"""Forms of an id that are equal before and after, with the words for what differs."""

PARTS: tuple[tuple[str, Key], ...] = (
    ("letters and digits stayed, separators or case changed", _strip_separators),
    ("the last part of the id stayed", lambda document: re.split(r"[:/#|@]", document)[-1]),
    ("the first part of the id stayed", lambda document: re.split(r"[:/#|@.?]", document)[0]),
    ("the numbers in the id stayed", _extract_numbers),
    ("the last number of the id stayed", lambda document: _extract_numbers(document).rpartition(".")[2]),
)
"""Parts of an id that a renaming may leave as they were, the stricter first."""


def _make_rule(old: str, new: str) -> RenamingRule | None:
    """The exact rule that makes a new id of an old one; None if there is none, as for ``d1`` and ``d10``."""
    for key, words in SAME_IN:
        if key(old) == key(new):
            return RenamingRule(words(old, new), key, key)
    return _make_separator_rule(old, new) or _make_affix_rule(old, new) or _make_exchange_rule(old, new)


def _make_separator_rule(old: str, new: str) -> RenamingRule | None:
    if re.split(r"[\W_]", old) != re.split(r"[\W_]", new):
        return None
    before, now = next(pair for pair in zip(old, new, strict=True) if pair[0] != pair[1])
    if old.replace(before, now) != new:
        return None
    return RenamingRule(f"{quote(before)} became {quote(now)}", lambda document: document.replace(before, now), str)


def _make_affix_rule(old: str, new: str) -> RenamingRule | None:
    """A prefix or suffix added or removed. One that makes another number of a number is none."""
    long, short, happened = (new, old, "added") if len(new) > len(old) else (old, new, "removed")
    if short and long.endswith(short) and not _splits_number(long, len(long) - len(short)):
        prefix = long[: -len(short)]
        rule = RenamingRule(f"the prefix {quote(prefix)} was {happened}", lambda document: prefix + document, str)
    elif short and long.startswith(short) and not _splits_number(long, len(short)):
        suffix = long[len(short) :]
        rule = RenamingRule(f"the suffix {quote(suffix)} was {happened}", lambda document: document + suffix, str)
    else:
        return None
    return rule if happened == "added" else RenamingRule(rule.words, str, rule.old_key)


def _splits_number(text: str, place: int) -> bool:
    return _is_digit(text[place - 1 : place]) and _is_digit(text[place : place + 1])


def _is_digit(sign: str) -> bool:
    return sign.isascii() and sign.isdigit()


def _make_exchange_rule(old: str, new: str) -> RenamingRule | None:
    """A part that became another one: ``de-17`` is ``fr-17`` now, ``q2-d0`` is ``q2/doc-0``."""
    head, tail = _measure_common_ends(old, new)
    before, now = old[head : len(old) - tail], new[head : len(new) - tail]
    if not before or not now or _is_number(before) or _is_number(now):
        return None
    if not head:
        words = f"the prefix {quote(before)} became {quote(now)}"
        return RenamingRule(
            words, lambda document: now + document[len(before) :] if document.startswith(before) else "", str
        )
    if not tail:
        words = f"the suffix {quote(before)} became {quote(now)}"
        return RenamingRule(
            words, lambda document: document[: -len(before)] + now if document.endswith(before) else "", str
        )
    rule = RenamingRule(f"{quote(before)} became {quote(now)}", lambda document: document.replace(before, now, 1), str)
    return rule if rule.old_key(old) == new else None


def _measure_common_ends(old: str, new: str) -> tuple[int, int]:
    """The lengths of the common beginning and end, which split no word and no number, and leave a part of both."""
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    while tail and any(_is_inside(document, len(document) - tail) for document in (old, new)):
        tail -= 1
    while head and (head + tail >= most or any(_is_inside(document, head) for document in (old, new))):
        head -= 1
    return head, tail


def _is_inside(text: str, place: int) -> bool:
    """Tell whether a place is inside a run of letters or of digits."""
    return any(all(map(is_kind, text[place - 1 : place + 1])) for is_kind in (str.isalpha, _is_digit)) and (
        0 < place < len(text)
    )


def _is_number(text: str) -> bool:
    return all(map(_is_digit, text))
