"""Team-draft interleaving: one list from two rankings, the credit that clicks give to each, and the test of it.

F. Radlinski, M. Kurup, T. Joachims 2008, How does clickthrough data reflect retrieval quality?, CIKM: 43-52. Two
captains pick in turns, each the best document that neither has yet, and a coin decides who picks first in each round. A
user who clicks at random gives both the same credit.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import InputError
from pytest_ireval.plugin_api import (
    SILENT,
    Mistakes,
    Problem,
    Progress,
    heads_at_most,
    mean_evidence,
    quote,
    share_limits,
)
from pytest_ireval.tables import Table, Unfit, normalize_name, parse_id, require_column

Floats: TypeAlias = NDArray[np.float64]

NO_TEAM = "-"
"""In place of A or B: a document of the list that neither team picked."""


class Interleaved(NamedTuple):
    """One list; ``teams`` has a letter for each document: ``A``, ``B``, or ``-``."""

    documents: tuple[str, ...]
    teams: str


def interleave(a: Sequence[str], b: Sequence[str], coins: Iterable[bool], depth: int | None = None) -> Interleaved:
    """The list for these coins: one for each round, True where A picks first; B does when they are used up.

    A round begins only if both teams could pick in it, whichever comes first, or if the same document is the last of
    both. The documents that are then left belong to neither team: A's, then B's. ``depth`` cuts the list.
    """
    flips = iter(coins)
    a, b = (a, b) if depth is None else (a[: depth + 1], b[: depth + 1])
    picked: dict[str, str] = {}
    begins = [0, 0]
    while depth is None or len(picked) < depth:
        for side, ranking in enumerate((a, b)):
            while begins[side] < len(ranking) and ranking[begins[side]] in picked:
                begins[side] += 1
        tops = [_first_two_unpicked(ranking, begin, picked) for ranking, begin in zip((a, b), begins, strict=True)]
        if not (tops[0] and tops[1]) or (tops[0][0] == tops[1][0] and len(tops[0]) != len(tops[1])):
            break
        order = (0, 1) if next(flips, False) else (1, 0)
        for side in order:
            if left := [document for document in tops[side] if document not in picked]:
                picked[left[0]] = "AB"[side]
    for document in (*a, *b):
        picked.setdefault(document, NO_TEAM)
    documents = tuple(picked)[:depth]
    return Interleaved(documents, "".join(picked[document] for document in documents))


def _first_two_unpicked(ranking: Sequence[str], begin: int, picked: Collection[str]) -> list[str]:
    unpicked: list[str] = []
    for place in range(begin, len(ranking)):
        if ranking[place] not in picked and ranking[place] not in unpicked:
            unpicked.append(ranking[place])
            if len(unpicked) == 2:
                break
    return unpicked


def find_same_ranks(a: Sequence[str], b: Sequence[str]) -> frozenset[str]:
    """The documents that both rankings have at the same rank."""
    return frozenset(one for one, other in zip(a, b, strict=False) if one == other)


class Credit(NamedTuple):
    """The clicked documents of each team, each counted once, and those of no team."""

    a: int
    b: int
    neither: int


def count_credit(interleaved: Interleaved, clicks: Collection[str], ignored: Collection[str] = ()) -> Credit:
    """The credit of one search; ``ignored`` documents count for neither team."""
    teams = [
        NO_TEAM if document in ignored else team
        for document, team in zip(interleaved.documents, interleaved.teams, strict=True)
        if document in clicks
    ]
    return Credit(teams.count("A"), teams.count("B"), teams.count(NO_TEAM))


Lists = Mapping[str, Sequence[str]]
"""The documents of each query, best first."""


class DrawnList(NamedTuple):
    """A list of an experiment; the draws of a query are numbered from 1."""

    query: str
    draw: int
    interleaved: Interleaved


def draw_lists(a: Lists, b: Lists, depth: int, draws: int, seed: int) -> Iterator[DrawnList]:
    """The lists of an experiment: for each query some draws."""
    coins = np.random.Generator(np.random.PCG64(seed))
    for query in dict.fromkeys((*a, *b)):
        for draw in range(1, draws + 1):
            flips = (coins.random(-(-depth // 2)) < 0.5).tolist()
            yield DrawnList(query, draw, interleave(a.get(query, ()), b.get(query, ()), flips, depth))


class Search(NamedTuple):
    """One search of the experiment."""

    query: str
    credit: Credit


def read_searches(
    log: Table, a: Lists, b: Lists, *, ignore_same_rank: bool = False, progress: Progress = SILENT
) -> list[Search]:
    """The searches of a log with columns query, documents, teams and clicks.

    InputError, with its line, for each search whose list is not an interleaving of the two rankings, and for each click
    on a document that was not shown.
    """
    if not log.rows:
        raise InputError(Problem("it has no rows", place=log.origin))
    names = {"query": require_column(log.columns, "query", log.origin)}
    names |= {name: _find_column(log, name) for name in ("documents", "teams", "clicks")}
    mistakes, searches = Mistakes(), []
    known: set[tuple[str, Interleaved]] = set()
    progress.expect(len(log.rows), "reading searches")
    for row in log.rows:
        progress.advance(1)
        cells = {name: log.columns[column][row] for name, column in names.items()}
        try:
            searches.append(_read_search(cells, a, b, known, ignore_same_rank=ignore_same_rank))
        except Unfit as unfit:
            mistakes.add(Problem(str(unfit), place=log.place(row), suggestion=unfit.suggestion))
    mistakes.refuse()
    return searches


def _read_search(
    cells: Mapping[str, Any], a: Lists, b: Lists, known: set[tuple[str, Interleaved]], *, ignore_same_rank: bool
) -> Search:
    """Read one row; the lists that are ``known`` to be right are not checked again."""
    query = parse_id(cells["query"])
    if query not in a and query not in b:
        raise Unfit(f"query {quote(query)} is in neither ranking")
    rankings = a.get(query, ()), b.get(query, ())
    interleaved = _parse_list(cells["documents"], cells["teams"])
    if (query, interleaved) not in known:
        _refuse_other_lists(interleaved, *rankings)
        known.add((query, interleaved))
    clicked = _parse_ids(cells["clicks"], "clicks")
    if unknown := [document for document in clicked if document not in interleaved.documents]:
        raise Unfit(f"clicked document {quote(unknown[0])} was not shown for query {quote(query)}")
    ignored = find_same_ranks(*rankings) if ignore_same_rank else ()
    return Search(query, count_credit(interleaved, set(clicked), ignored))


def _find_column(log: Table, name: str) -> str:
    column = next((column for column in log.columns if normalize_name(column) == name), None)
    if column is None:
        complaint = f"there is no column {name}: the columns are {', '.join(map(repr, log.columns)) or 'none'}"
        allowed = "a log of an interleaving has query, documents, teams and clicks"
        raise InputError(Problem(complaint, place=log.origin, allowed=allowed))
    return column


def _parse_list(documents: Any, teams: Any) -> Interleaved:
    ids, letters = _parse_ids(documents, "documents"), "".join(_parse_ids(teams, "teams")).upper()
    if set(letters) - {"A", "B", NO_TEAM} or len(letters) != len(ids):
        complaint = f"teams are {quote(letters)} for a list of {len(ids)}"
        raise Unfit(complaint, f"write one of A, B and {NO_TEAM} for each document, such as ABBA")
    return Interleaved(tuple(ids), letters)


def _parse_ids(cell: Any, what: str) -> list[str]:
    """A list of a JSON file, or the text of one; other text is words between spaces."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            raise Unfit(f"{what} are {quote(cell)}, which is not a JSON list") from None
    if cell is None or isinstance(cell, str):
        return (cell or "").split()
    if not isinstance(cell, list):
        raise Unfit(f"{what} are {quote(repr(cell))}, not a list of ids")
    return [parse_id(each) for each in cell]


def _refuse_other_lists(interleaved: Interleaved, a: Sequence[str], b: Sequence[str]) -> None:
    """Refuse a list that no coins give: the first team of each round shows how its coin fell."""
    coins = (team == "A" for team in interleaved.teams[::2])
    wanted = interleave(a, b, coins, len(interleaved.documents))
    if interleaved == wanted:
        return
    pairs, others = (list(zip(each.documents, each.teams, strict=True)) for each in (interleaved, wanted))
    rank = next((i for i, (pair, other) in enumerate(zip(pairs, others, strict=False)) if pair != other), len(others))
    document, team = pairs[rank]
    complaint = f"is not an interleaving: rank {rank + 1} is {quote(document)} of team {team}"
    remedy = "give the rankings that the lists were made of"
    if rank == len(others):
        raise Unfit(f"{complaint}, but neither ranking has more documents", remedy)
    document, team = others[rank]
    complaint = f"{complaint}; with these rankings it is {quote(document)} of team {team}"
    raise Unfit(complaint, f"{remedy}, in the same order: A, then B")


class Preference(NamedTuple):
    """The searches that prefer A, B or neither, with the exact sign test of them.

    ``share`` is B's share of the searches with a preference, ``low`` and ``high`` its interval (Clopper, Pearson); all
    None without any. ``delta`` is B's share with half of the ties, less one half (O. Chapelle, T. Joachims,
    F. Radlinski, Y. Yue 2012, Large-scale validation and analysis of interleaved search evaluation, TOIS 30(1)).
    """

    searches: int
    a: int
    b: int
    ties: int
    delta: float
    share: float | None
    low: float | None
    high: float | None
    p: float


def compare_searches(searches: Sequence[Search], level: float = 0.95) -> Preference:
    """Count the searches by the ranking with more credit."""
    a, b = (sum(_sign(each.credit) == side for each in searches) for side in (-1, 1))
    decided, count = a + b, len(searches)
    delta = (b - a) / (2 * count) if count else 0.0
    if not decided:
        return Preference(count, a, b, count, delta, share=None, low=None, high=None, p=1.0)
    limits = share_limits(b, decided, level)
    p = min(1.0, 2 * heads_at_most(min(a, b), decided))
    return Preference(count, a, b, count - decided, delta, b / decided, limits.low, limits.high, p)


def _sign(credit: Credit) -> int:
    """1 for B, -1 for A, 0 for neither."""
    return (credit.b > credit.a) - (credit.b < credit.a)


class QueryPreference(NamedTuple):
    """The searches of one query, their clicks, and the mean difference of credit, B less A."""

    query: str
    searches: int
    a: int
    b: int
    ties: int
    clicks_a: int
    clicks_b: int
    clicks_neither: int
    difference: float


def sum_up_queries(searches: Iterable[Search]) -> list[QueryPreference]:
    """One row a query, the greatest differences first."""
    credit_of: dict[str, list[Credit]] = {}
    for search in searches:
        credit_of.setdefault(search.query, []).append(search.credit)
    rows = []
    for query, credit in credit_of.items():
        signs = Counter(map(_sign, credit))
        a, b, neither = (sum(each[side] for each in credit) for side in range(3))
        difference = (b - a) / len(credit)
        rows.append(
            QueryPreference(query, len(credit), signs[-1], signs[1], signs[0], a, b, neither, difference=difference)
        )
    return sorted(rows, key=lambda row: (-abs(row.difference), row.query))


class MeanPreference(NamedTuple):
    """The mean over queries of the difference of credit, each query counted once; the interval is by t.

    ``p`` is that of the paired evidence of a gate, two-sided: 1 below five queries.
    """

    queries: int
    a: int
    b: int
    ties: int
    mean: float
    low: float | None
    high: float | None
    p: float


def compare_queries(queries: Sequence[QueryPreference], alpha: float = 0.05) -> MeanPreference:
    """The same question for queries like these, however often each is searched."""
    values = np.array([each.difference for each in queries])
    a, b = int((values < 0).sum()), int((values > 0).sum())
    evidence = mean_evidence(values, alpha=alpha / 2)  # its bounds are one-sided
    low, high = (bound if math.isfinite(bound) else None for bound in (evidence.low, evidence.high))
    return MeanPreference(
        values.size, a, b, values.size - a - b, float(values.mean()), low, high, compute_two_sided_p(values)
    )


def compute_two_sided_p(differences: Floats) -> float:
    """The chance of so great a mean, up or down, if the true one were 0: 1 below five queries."""
    return min(1.0, 2 * min(mean_evidence(each).p_worse for each in (differences, -differences)))
