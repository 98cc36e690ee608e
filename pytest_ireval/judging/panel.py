"""Several judges of the same documents, and one grade from several by a stated policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Problem, did_you_mean, shown
from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.judged import Floats, Integers, Mask
from pytest_ireval.retrieval.judgments import MOST_SEEDS, Judgments, judgments_of, no_judgments, numbered
from pytest_ireval.retrieval.scan.tokens import begins_of, mixed


class PairRows(NamedTuple):
    """Pairs of one file: for each row the position of its query in ``queries``, and its document."""

    queries: Sequence[str]
    query: Integers
    documents: Ids


class Pairs(NamedTuple):
    """Each pair once, in order of appearance; ``number`` is the pair of each row of all parts."""

    queries: tuple[str, ...]
    query: Integers
    documents: Ids
    number: Integers


def distinct_pairs(parts: Sequence[PairRows]) -> Pairs:
    """The pairs of all parts, each once."""
    names = {name: i for i, name in enumerate(dict.fromkeys(name for part in parts for name in part.queries))}
    codes = [np.array([names[name] for name in part.queries], np.int64)[part.query] for part in parts]
    query = np.concatenate([np.zeros(0, np.int64), *codes])
    documents = concatenated([part.documents for part in parts])
    every = np.arange(query.size)
    for seed in range(MOST_SEEDS):
        keys = documents.keys(seed) ^ mixed(Ids.of(list(names)).keys(seed))[query]
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        same = first[number]
        if (query[same] == query).all() and documents.same(every, documents, same).all():
            order = np.argsort(first)
            place = np.empty(order.size, np.int64)
            place[order] = np.arange(order.size)
            kept = first[order]
            return Pairs(tuple(names), query[kept], documents.take(kept), place[number])
    raise InputError(Problem("ids collide under all hash functions; were they constructed to collide?"))


Choice = Literal["highest", "lowest", "median", "majority", "mean"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
TiePolicy = Literal["lower", "higher", "drop"]
MissingPolicy = Literal["ignore", "zero", "drop"]


@dataclass(frozen=True)
class Merging:
    """The policy that makes one grade of several.

    ``ties`` is the grade of a majority or median between two grades (``drop``: such a document stays without a
    judgment). ``missing`` is the vote of a judge who did not judge a document: none, grade 0, or the document is
    dropped. ``weights`` is the weight of a judge's vote in median, majority and mean; 1 unless it is given.
    """

    choice: Choice
    ties: TiePolicy = "lower"
    missing: MissingPolicy = "ignore"
    weights: Mapping[str, float] = field(default_factory=dict)


class Votes(NamedTuple):
    """Grades that judges gave to ``size`` things; ``thing``, ``judge`` and ``grade`` have one entry a grade."""

    names: Sequence[str]
    size: int
    thing: Integers
    judge: Integers
    grade: Floats

    def of(self, judge: int) -> Floats:
        """The grades of one judge for all things; NaN where there is none."""
        grades = np.full(self.size, np.nan)
        grades[self.thing[self.judge == judge]] = self.grade[self.judge == judge]
        return grades

    def at(self, rows: Integers) -> Votes:
        """Some of them."""
        return self._replace(thing=self.thing[rows], judge=self.judge[rows], grade=self.grade[rows])

    def of_things(self, wanted: Mask) -> Votes:
        """The votes about the ``wanted`` things."""
        return self.at(np.flatnonzero(wanted[self.thing]))

    def groups(self) -> tuple[Integers, Integers]:
        """Rows sorted by thing and grade, and the first place of each group with one grade of one thing."""
        order = np.lexsort((self.grade, self.thing))
        thing, grade = self.thing[order], self.grade[order]
        new = np.diff(thing, prepend=-1).astype(bool) | np.diff(grade, prepend=np.nan).astype(bool)
        return order, np.flatnonzero(new)

    def voters(self) -> Integers:
        """For each thing the number of its judges."""
        voters: Integers = self._judged().sum(axis=1, dtype=np.int64)
        return voters

    def _judged(self) -> NDArray[np.bool_]:
        found = np.zeros((self.size, len(self.names)), bool)
        found[self.thing, self.judge] = True
        return found

    def with_zeros(self) -> Votes:
        """The same with grade 0 from each judge who did not judge a thing."""
        thing, judge = np.nonzero(~self._judged())
        return self._replace(
            thing=np.concatenate((self.thing, thing)),
            judge=np.concatenate((self.judge, judge)),
            grade=np.concatenate((self.grade, np.zeros(thing.size))),
        )


class MergedVotes(NamedTuple):
    """One grade for each thing, NaN for one that is dropped; ``tied`` marks those between two grades."""

    grade: Floats
    tied: Mask


def merged_votes(votes: Votes, policy: Merging) -> MergedVotes:
    """One grade for each thing; each thing has one vote or more."""
    dropped = votes.voters() < len(votes.names) if policy.missing == "drop" else np.zeros(votes.size, bool)
    votes = votes.with_zeros() if policy.missing == "zero" else votes
    weight = _weights(votes.names, policy.weights)[votes.judge]
    order, first = votes.groups()
    rows, support = order[first], np.add.reduceat(weight[order], first)
    low, high = _between(votes.thing[rows], votes.grade[rows], support, votes.size, policy.choice)
    tied = low != high
    chosen = high if policy.ties == "higher" else low
    dropped |= tied & (policy.ties == "drop")
    return MergedVotes(np.where(dropped, np.nan, chosen), tied)


def _between(thing: Integers, grade: Floats, support: Floats, count: int, choice: Choice) -> tuple[Floats, Floats]:
    """The lowest and the highest grade that the choice allows; each grade of a thing with the weight of its votes."""
    first = begins_of(np.bincount(thing, minlength=count))[:-1]
    total = np.add.reduceat(support, first)
    if choice == "mean":
        mean = np.add.reduceat(support * grade, first) / total
        return mean, mean
    almost = 1e-9 * total[thing]
    if choice == "majority":
        possible = support >= np.maximum.reduceat(support, first)[thing] - almost
    elif choice == "median":
        so_far = np.cumsum(support)
        so_far -= (so_far[first] - support[first])[thing]
        half = total[thing] / 2
        possible = (so_far >= half - almost) & (so_far - support <= half + almost)
    else:
        ends = np.minimum if choice == "lowest" else np.maximum
        possible = grade == ends.reduceat(grade, first)[thing]
    low = np.minimum.reduceat(np.where(possible, grade, np.inf), first)
    return low, np.maximum.reduceat(np.where(possible, grade, -np.inf), first)


def _weights(names: Sequence[str], weights: Mapping[str, float]) -> Floats:
    unknown = [name for name in weights if name not in names]
    if unknown:
        complaint = f"weight of an unknown judge: {shown(unknown[0])}"
        raise InputError(Problem(complaint, "", (), did_you_mean(unknown[0], names), f"judges: {', '.join(names)}"))
    return np.array([weights.get(name, 1.0) for name in names], np.float64)


@dataclass(frozen=True, eq=False)
class JudgePanel:
    """Several judges, with every pair of query and document that one of them judged."""

    pairs: Pairs
    votes: Votes
    origin: str

    def shared(self) -> JudgePanel:
        """The queries that all judges judged, if there are any."""
        names, (queries, query, documents, number) = self.votes.names, self.pairs
        judged = np.zeros((len(queries), len(names)), bool)
        judged[query[self.votes.thing], self.votes.judge] = True
        wanted: Mask = np.logical_and.reduce(judged, axis=1)
        kept = np.flatnonzero(wanted[query])
        thing = np.cumsum(wanted[query]) - 1
        rows = np.flatnonzero(wanted[query[self.votes.thing]])
        votes = self.votes.at(rows)
        shared = tuple(name for name, there in zip(queries, wanted.tolist(), strict=True) if there)
        pairs = Pairs(shared, (np.cumsum(wanted) - 1)[query[kept]], documents.take(kept), number[rows])
        return JudgePanel(pairs, votes._replace(size=kept.size, thing=thing[votes.thing]), self.origin)

    def judgments(self, grade: Floats, origin: str) -> Judgments:
        """Judgments with one grade a pair; pairs with NaN are not judged, their queries stay."""
        rows = np.flatnonzero(~np.isnan(grade))
        if not rows.size:
            return no_judgments(self.pairs.queries, origin)
        return judgments_of(
            self.pairs.queries,
            self.pairs.query[rows],
            self.pairs.documents.take(rows),
            grade[rows],
            origin=origin,
            place=numbered(origin),
        )


def panel_of(judges: Sequence[tuple[str, Judgments]]) -> JudgePanel:
    """Judges by name with their judgments; a judge may occur several times, but not with two grades for one pair."""
    names = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in judges))}
    parts = [each for _, each in judges]
    pairs = distinct_pairs([PairRows(each.queries, each.query, each.documents) for each in parts])
    size = len(pairs.documents)
    judge = np.repeat([names[name] for name, _ in judges], list(map(len, parts)))
    votes = Votes(tuple(names), size, pairs.number, judge, np.concatenate([each.grade for each in parts]))
    _, first, number = np.unique(judge * size + pairs.number, return_index=True, return_inverse=True)
    origin = ", ".join(dict.fromkeys(each.origin for each in parts))
    two = np.flatnonzero(votes.grade != votes.grade[first][number])
    if two.size:
        row, other = int(two[0]), int(first[number[two[0]]])
        thing = int(pairs.number[row])
        complaint = (
            f"judge {shown(votes.names[judge[row]])} gave document {shown(pairs.documents[thing])} of query "
            f"{shown(pairs.queries[pairs.query[thing]])} two grades: {votes.grade[other]:g} and {votes.grade[row]:g}"
        )
        raise InputError(Problem(complaint, origin, suggestion="keep one of them"))
    return JudgePanel(pairs, votes.at(np.sort(first)), origin)
