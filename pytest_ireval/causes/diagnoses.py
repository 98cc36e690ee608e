"""The built-in diagnoses: plain causes of a change that lists of documents show, the more specific first."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice

from pytest_ireval.causes.ranking_change import LEAST_SHARE, RankingChange, Symptom
from pytest_ireval.causes.renaming import ChangedIds, find_renaming
from pytest_ireval.data.ids import Ids, find_ids, find_unknown
from pytest_ireval.errors import quote
from pytest_ireval.plugins.plugin_types import DiagnosisKind, diagnosis
from pytest_ireval.words import format_count

ALIKE = 0.8
"""The share of places, or of documents, that makes two lists the same list."""
TOP = 10
"""The documents that people look at."""
FEW = 3
"""Fewer documents, or queries, show no pattern."""
EXAMPLES = 3
TRIED = 300
"""The number of queries whose titles are looked at."""
PAGES, PAGE_ALIKE = (10, 20, 25, 50), 0.9
"""Usual sizes of pages: in a page the order may have changed as well."""


@diagnosis(name="same_answers", certain=True)
def same_answers(change: RankingChange) -> Symptom | None:
    """The source changed, and every ranking is that of the baseline."""
    if not change.source_changed or not change.queries or not change.is_unchanged:
        return None
    rankings = format_count(len(change.compared_queries), "ranking")
    return Symptom(
        f"the source changed, but all {rankings} equal those of the baseline",
        change.queries,
        "check that the new source was asked: a cache or an old file may have answered.",
    )


@diagnosis(name="no_answers", certain=True)
def no_answers(change: RankingChange) -> Symptom | None:
    """Queries return nothing that returned something in the baseline."""
    moved = change.moved_queries
    queries = [query for query in moved if change.count_baseline(query) and not change.count_current(query)]
    return _make_symptom(
        change, queries, "return nothing now", "ask the search engine for one of these queries, and look at its errors."
    )


@diagnosis(name="fewer_answers")
def fewer_answers(change: RankingChange) -> Symptom | None:
    """Queries return less than half as many documents."""
    queries = [
        query for query in change.moved_queries if 0 < len(change.current(query)) <= len(change.baseline(query)) / 2
    ]
    if not queries:
        return None
    baseline, current = (sorted(len(side(query)) for query in queries) for side in (change.baseline, change.current))
    numbers = f"{current[0]}" if current[0] == current[-1] else f"{current[0]} to {current[-1]}"
    return _make_symptom(
        change,
        queries,
        f"return fewer documents: {numbers} instead of {baseline[len(baseline) // 2]}",
        "look for a new filter, a timeout, or a part of the index that did not answer.",
    )


@diagnosis(name="other_ids")
def other_ids(change: RankingChange) -> Symptom | None:
    """Documents have ids that were never seen, and one rule leads from the old ids to the new ones."""
    changed = {query: _collect_ids(change, query, came) for query, came in _find_new_documents(change).items()}
    renaming = find_renaming(changed)
    if renaming is None:
        return None
    queries = [query for query, pairs in renaming.pairs.items() if _has_relevant(change, query, pairs)]
    if not queries:
        return None
    pairs = {old: new for query in change.sort_by_loss(queries) for old, new in renaming.pairs[query].items()}
    examples = [f"{quote(old)} is {quote(new)}" for old, new in islice(pairs.items(), 2)]
    old, new = next(iter(pairs.items()))
    documents = format_count(len(pairs), "document")
    return _make_symptom(
        change,
        queries,
        f"list {documents} under other ids: {renaming.words} ({', '.join(examples)}); "
        "the results themselves may be the same",
        f"restore the former ids; if the new ones are intended, write a file with the columns from and to, a line for "
        f"each document ({quote(old)}, {quote(new)}), and name it in the suite: documents: {{aliases: FILE}}.",
    )


def _find_new_documents(change: RankingChange) -> dict[str, list[str]]:
    """By query, the documents that it lists now, that no query listed before, and that are not judged."""
    came = {}
    for query in change.moved_queries:
        baseline = {*change.baseline(query)}
        came[query] = [document for document in change.current(query) if document not in baseline]
    known = [rankings.documents for rankings in change.baseline_side.rankings]
    if change.population.judgments is not None:
        known.append(change.population.judgments.documents)
    unknown = find_unknown({document for of_query in came.values() for document in of_query}, known)
    new = {query: [document for document in of_query if document in unknown] for query, of_query in came.items()}
    return {query: of_query for query, of_query in new.items() if of_query}


def _collect_ids(change: RankingChange, query: str, came: Sequence[str]) -> ChangedIds:
    current, baseline = {*change.current(query)}, change.baseline(query)
    listed = {*current, *baseline}
    judged = [document for document in change.grades(query) if document not in listed]
    return ChangedIds([document for document in baseline if document not in current], judged, came)


def _has_relevant(change: RankingChange, query: str, renamed: Collection[str]) -> bool:
    """Tell whether a relevant document was renamed: other ones do not move a metric. Without judgments, any counts."""
    grades = change.grades(query)
    return not grades or any(grades.get(document, 0.0) > 0 for document in renamed)


@diagnosis(name="answers_of_others")
def answers_of_others(change: RankingChange) -> Symptom | None:
    """Queries return the answers of other queries."""
    suspects = {
        query: answers
        for query in change.moved_queries
        if len(answers := change.current(query)[:TOP]) >= FEW and not _keeps_its_answers(change, query)
    }
    owners: dict[tuple[str, ...], str] = {}
    keepers: dict[tuple[str, ...], dict[tuple[str, ...], str]] = defaultdict(dict)
    looked_for = set(suspects.values())
    compared = change.compared_queries if suspects else ()  # those whose answers they are need not be drawn
    tops = (side.iterate_tops(compared, TOP) for side in (change.baseline_side, change.current_side))
    for query, baseline, answers in zip(compared, *tops, strict=True):
        if baseline in looked_for:
            owners.setdefault(baseline, query)
        # Two with different former lists are enough: a suspect differs from one of them. Of one list for all
        # queries, more would be compared with each suspect.
        if answers in looked_for and len(keepers[answers]) < 2 and _keeps_its_answers(change, query):
            keepers[answers].setdefault(baseline, query)
    owner_by_query: dict[str, str] = {}
    for query, answers in suspects.items():
        former = change.baseline(query)[:TOP]
        if answers in owners:
            owner_by_query[query] = owners[answers]
        elif other := next((keeper for baseline, keeper in keepers[answers].items() if baseline != former), None):
            owner_by_query[query] = other
    if not owner_by_query:
        return None
    query = change.sort_by_loss(list(owner_by_query))[0]
    one, other = change.quote_query(query), change.quote_query(owner_by_query[query])
    return _make_symptom(
        change,
        list(owner_by_query),
        f"return the answers of other queries: {one} has those of {other}",
        "look for answers that are cached under a wrong key, or mixed up in a batch.",
    )


def _keeps_its_answers(change: RankingChange, query: str) -> bool:
    """Tell whether at least half of a query's first documents were in its list before."""
    answers = change.current(query)[:TOP]
    return 2 * len({*answers} & {*change.baseline(query)}) >= len(answers)


@diagnosis(name="ascending_scores")
def ascending_scores(change: RankingChange) -> Symptom | None:
    """The file's rank column contradicts its scores, and other documents are first."""
    contradicted = set(change.current_side.rankings[0].contradicted)
    queries = [
        query
        for query in change.moved_queries
        if query in contradicted and _is_far(change.current(query), change.baseline(query))
    ]
    return _make_symptom(
        change,
        queries,
        "have the lowest score at rank 1 in the file of rankings; the gate sorts by score, so their order is reversed",
        "write the highest score at rank 1. If the search itself shows the right order, only the file is wrong.",
    )


@diagnosis(name="reversed_order")
def reversed_order(change: RankingChange) -> Symptom | None:
    """The baseline's documents are in the opposite order."""
    queries = [query for query in change.moved_queries if _is_reversed(change.current(query), change.baseline(query))]
    return _make_symptom(
        change, queries, "list their documents in the opposite order", "check in which direction the search sorts."
    )


def _is_far(current: Sequence[str], baseline: Sequence[str]) -> bool:
    """Tell whether half of the first documents are others, or the first one is the last of them."""
    top = baseline[:TOP]
    return len({*current[:TOP]} & {*top}) <= len(top) / 2 or current[:1] == top[-1:]


def _is_reversed(current: Sequence[str], baseline: Sequence[str]) -> bool:
    baseline_ranks = {document: rank for rank, document in enumerate(baseline)}
    ranks = [baseline_ranks[document] for document in current if document in baseline_ranks]
    if len(ranks) <= FEW or len(ranks) < ALIKE * min(len(current), len(baseline)) or ranks[0] < ranks[-1]:
        return False
    ranks = ranks[:: max(1, len(ranks) // (2 * TOP))]
    turned = [later < earlier for earlier, later in combinations(ranks, 2)]
    return sum(turned) >= (0.8 if len(ranks) >= TOP else 0.95) * len(turned)


@diagnosis(name="exchanged_ranks")
def exchanged_ranks(change: RankingChange) -> Symptom | None:
    """A block of ranks has changed places with the next, or the first block is missing."""
    blocks: dict[tuple[str, int], list[str]] = defaultdict(list)
    for query in change.moved_queries:
        lists = change.current(query), change.baseline(query)
        block = _find_page(*lists) or _find_block(*lists)
        if block is not None:
            blocks[block].append(query)
    if not blocks:
        return None
    (what, size), queries = max(blocks.items(), key=lambda entry: len(entry[1]))
    if what == "exchanged":
        predicate = f"have ranks 1-{size} and {size + 1}-{2 * size} exchanged"
    else:
        predicate = f"lack ranks 1-{size}, and begin with what was at rank {size + 1}"
    advice = "check the offset of the first page, and how pages of results are joined."
    return _make_symptom(change, queries, predicate, advice)


def _find_block(current: Sequence[str], baseline: Sequence[str]) -> tuple[str, int] | None:
    """The size of the first block of the baseline, and whether it comes after the second or is missing."""
    if not current or current[0] not in baseline:
        return None
    size = baseline.index(current[0])
    if size < 2 or len(baseline) - size < FEW:
        return None
    second = min(size, len(baseline) - size, len(current))
    if not _has_same_places(current[:second], baseline[size : size + second]):
        return None
    if len(current) >= 2 * size and second == size and _has_same_places(current[size : 2 * size], baseline[:size]):
        return "exchanged", size
    rest = min(len(current), len(baseline) - size)
    return ("missing", size) if rest > FEW and _has_same_places(current[:rest], baseline[size : size + rest]) else None


def _find_page(current: Sequence[str], baseline: Sequence[str]) -> tuple[str, int] | None:
    for size in PAGES:
        first, second = {*baseline[:size]}, {*baseline[size : 2 * size]}
        if len(second) == size and len(second & {*current[:size]}) >= PAGE_ALIKE * size:
            if len(first & {*current[size : 2 * size]}) >= PAGE_ALIKE * size:
                return "exchanged", size
            if len(first & {*current}) <= (1 - PAGE_ALIKE) * size:
                return "missing", size
    return None


def _has_same_places(one: Sequence[str], other: Sequence[str]) -> bool:
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return len(one) >= FEW - 1 and same >= ALIKE * len(one)


@diagnosis(name="one_document")
def one_document(change: RankingChange) -> Symptom | None:
    """The same documents are new on top of many queries."""
    newly = defaultdict(list)
    for query in change.moved_queries:
        for document in set(change.current(query)[:FEW]) - set(change.baseline(query)[:TOP]):
            newly[document].append(query)
    # A document that is good for many queries rises in those that it is judged for.
    for document, queries in newly.items():
        newly[document] = [query for query in queries if not change.grades(query).get(document)]
    most = max(newly, key=lambda document: (len(newly[document]), document), default=None)
    if most is None or len(newly[most]) < FEW:
        return None
    formerly = find_ids(change.baseline_side.list_first_documents(change.queries, FEW), Ids.of([most])) >= 0
    if formerly.sum() > len(newly[most]) / 4:
        return None
    return _make_symptom(
        change,
        newly[most],
        f"have the document {quote(most)} new among the first {FEW}",
        "check whether it has a boost, an empty field, or a text that matches every query.",
    )


@diagnosis(name="crowded_top")
def crowded_top(change: RankingChange) -> Symptom | None:
    """Variants of one document, whose ids differ in their ends or whose titles are alike, fill the top."""
    moved = change.sort_by_loss(list(change.moved_queries))
    sides = change.current, change.baseline
    titles = change.titles({document for query in moved[:TRIED] for side in sides for document in side(query)[:TOP]})
    for stem in (_strip_ending, lambda document: re.sub(r"[\W\d_]+", "", titles.get(document, "")).casefold()):
        crowds = {query: group for query in moved if (group := _find_crowd(change, query, stem))}
        if len(crowds) >= LEAST_SHARE * len(change.queries):
            break
    if not crowds:
        return None
    query = change.sort_by_loss(list(crowds))[0]
    variants = [document for document in change.current(query)[:TOP] if document in crowds[query]]
    examples = ", ".join(map(quote, variants[:EXAMPLES]))
    return _make_symptom(
        change,
        list(crowds),
        f"have variants of one document on top: {examples} for {change.quote_query(query)}",
        "look for a lost grouping or collapsing of variants.",
    )


def _find_crowd(change: RankingChange, query: str, stem: Callable[[str], str]) -> list[str]:
    """The documents of the largest group in the first ten, if it is much larger than any group was before."""
    sides = change.current, change.baseline
    current, baseline = ([stem(document) for document in side(query)[:TOP]] for side in sides)
    name, size = _find_largest_group(current)
    if size < FEW or size < 3 * _find_largest_group(baseline)[1]:
        return []
    return [document for document, group in zip(change.current(query)[:TOP], current, strict=True) if group == name]


def _strip_ending(document: str) -> str:
    head, _, end = document.rpartition(next((sign for sign in reversed(document) if sign in "-_:./#@|"), " "))
    return head if end else ""


def _find_largest_group(names: Iterable[str]) -> tuple[str, int]:
    stems = Counter(filter(None, names))
    return max(stems.items(), key=lambda entry: (entry[1], entry[0]), default=("", 1))


@diagnosis(name="missing_part")
def missing_part(change: RankingChange) -> Symptom | None:
    """All documents whose ids begin alike are gone: a shard, a source, a type."""
    lost_by_group, queries = Counter[str](), defaultdict(list)
    for query in change.moved_queries:
        groups = Counter(map(_find_prefix, {*change.baseline(query)} - {*change.current(query)}))
        lost_by_group.update(groups)
        for group in groups:
            queries[group].append(query)
    total = sum(lost_by_group.values())
    if total < 2 * FEW:
        return None
    listed = change.baseline_side.list_first_documents(change.queries)
    for group, lost in lost_by_group.most_common(EXAMPLES):
        number = listed.count_beginning(group) if group and lost >= 2 * FEW else 0
        others = len(listed) - number
        if 0 < number <= others and lost >= 0.95 * number and total - lost <= 0.3 * others:
            return _make_symptom(
                change,
                [query for query in queries[group] if change.losses.get(query, 0) > 0],
                f"lost all documents whose ids begin with {quote(group)} ({lost} of {number} places in lists)",
                "check that this part of the index was loaded, and that its shard answers.",
            )
    return None


@diagnosis(name="gone_documents")
def gone_documents(change: RankingChange) -> Symptom | None:
    """Documents are in no list any more, and those below them moved up: a lost shard, a new filter."""
    known = {query: change.removed_documents.intersection(change.baseline(query)) for query in change.moved_queries}
    if queries := [query for query, removed in known.items() if removed]:
        removed = set[str]().union(*known.values())
        documents = f"{format_count(len(removed), 'document')}, such as {quote(min(removed))}"
        words = f"lost relevant documents that the index no longer has: {documents}"
        return _make_symptom(change, queries, words, "restore them, or judge again if they were removed on purpose.")
    tops = {document for query in change.moved_queries for document in change.baseline(query)[: TOP // 2]}
    # queries that were not drawn may find them, too
    found_nowhere = find_unknown(tops, [change.current_side.list_first_documents(change.compared_queries)])
    queries, missing = [], set[str]()
    for query in change.moved_queries:
        baseline, current = change.baseline(query), change.current(query)
        lost = found_nowhere.intersection(baseline[: TOP // 2])
        if lost and len(current) >= FEW and {*current[: TOP // 2]} <= {*baseline}:  # nothing new took their places
            queries.append(query)
            missing |= lost
    if not missing or len(queries) < len(change.moved_queries) / 2:
        return None
    return _make_symptom(
        change,
        queries,
        f"lost documents that no query finds any more, such as {quote(min(missing))} "
        f"({format_count(len(missing), 'document')})",
        "check that the whole index was loaded, that every shard answers, and which filters are new.",
    )


def _find_prefix(document: str) -> str:
    """The first part of an id that has parts; else its letters."""
    prefix = re.match(r"[^-_:./#@|]+[-_:./#@|]", document) or re.match(r"[^\W\d]+(?=\d)", document)
    return prefix[0] if prefix else ""


@diagnosis(name="one_slice")
def one_slice(change: RankingChange) -> Symptom | None:
    """One value of a column holds the loss."""
    losing = {query for query, loss in change.losses.items() if loss > 0}
    scored = [query for query in change.queries if query in change.losses]
    if len(losing) < FEW:
        return None
    slices = list(_list_slices(change, scored))
    best = max(
        (
            (change.explained_share(queries) or 0.0, -len(queries), name, queries)
            for name, queries in slices
            if len(queries) <= len(scored) / 2
            and _is_significant(len(losing), len(losing & {*queries}), len(scored), len(queries), len(slices))
        ),
        default=None,
    )
    if best is None or best[0] < ALIKE:
        return None
    *_, name, queries = best
    return Symptom(
        f"{len(queries)} of {change.format_sample(len(scored))} with {name}",
        queries,
        f"the cause is not known; look at what the change does only to queries with {name}.",
        locates=True,
    )


def _list_slices(change: RankingChange, queries: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for column, values in change.columns.items():
        by_value = defaultdict(list)
        for query in queries:
            by_value[values[query]].append(query)
        if 2 <= len(by_value) <= len(queries) / FEW:
            for value, members in by_value.items():
                if len(members) >= FEW:
                    yield f"{column}={value}", members


def _is_significant(losing: int, inside: int, queries: int, members: int, tried: int) -> bool:
    """Tell whether this many losing queries in one of these slices is hardly chance, if each query were as likely.

    The bound is that of Hoeffding, which holds for draws without replacement too.
    """
    share, expected = inside / losing, members / queries
    if share <= expected:
        return False
    divergence = share * math.log(share / expected)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - expected))
    return losing * divergence >= math.log(1000 * tried)


def _make_symptom(change: RankingChange, queries: Sequence[str], predicate: str, advice: str) -> Symptom | None:
    if not queries:
        return None
    return Symptom(f"{len(queries)} of {change.format_sample(len(change.queries))} {predicate}", queries, advice)


DIAGNOSES: list[DiagnosisKind] = [
    same_answers,
    no_answers,
    other_ids,
    answers_of_others,
    ascending_scores,
    reversed_order,
    exchanged_ranks,
    missing_part,
    gone_documents,
    fewer_answers,
    one_document,
    crowded_top,
    one_slice,
]
