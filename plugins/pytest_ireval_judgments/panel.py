"""Several judges of the same documents, and one grade from several by a stated policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import InputError, Judgments
from pytest_ireval.plugin_api import Pairs, Problem, did_you_mean, number_pairs, quote
from pytest_ireval_judgments.arrays import Floats, Integers, Mask

Choice = Literal["highest", "lowest", "median", "majority", "mean"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
TiePolicy = Literal["lower", "higher", "drop"]
MissingPolicy = Literal["ignore", "zero", "drop"]


@dataclass
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


def merge_votes(votes: Votes, policy: Merging) -> MergedVotes:
    """One grade for each thing; each thing has one vote or more."""
    dropped = votes.voters() < len(votes.names) if policy.missing == "drop" else np.zeros(votes.size, bool)
    votes = votes.with_zeros() if policy.missing == "zero" else votes
    weight = _list_weights(votes.names, policy.weights)[votes.judge]
    order, first = votes.groups()
    rows, support = order[first], np.add.reduceat(weight[order], first)
    low, high = _choose_grades(votes.thing[rows], votes.grade[rows], support, votes.size, policy.choice)
    tied = low != high
    chosen = high if policy.ties == "higher" else low
    dropped |= tied & (policy.ties == "drop")
    return MergedVotes(np.where(dropped, np.nan, chosen), tied)


def _choose_grades(
    thing: Integers, grade: Floats, support: Floats, count: int, choice: Choice
) -> tuple[Floats, Floats]:
    """The lowest and the highest grade that the choice allows; each grade of a thing with the weight of its votes."""
    first = np.cumsum(np.bincount(thing, minlength=count)) - np.bincount(thing, minlength=count)
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


def _list_weights(names: Sequence[str], weights: Mapping[str, float]) -> Floats:
    unknown = [name for name in weights if name not in names]
    if unknown:
        complaint = f"weight of an unknown judge: {quote(unknown[0])}"
        raise InputError(Problem(complaint, "", (), did_you_mean(unknown[0], names), f"judges: {', '.join(names)}"))
    return np.array([weights.get(name, 1.0) for name in names], np.float64)


@dataclass(eq=False)
class JudgePanel:
    """Several judges, with every pair of query and document that one of them judged."""

    pairs: Pairs
    votes: Votes
    origin: str

    def shared(self) -> JudgePanel:
        """The queries that all judges judged, if there are any."""
        names, query = self.votes.names, self.pairs.query
        judged = np.zeros((len(self.pairs.queries), len(names)), bool)
        judged[query[self.votes.thing], self.votes.judge] = True
        wanted: Mask = np.logical_and.reduce(judged, axis=1)
        pairs, thing = self.pairs.of_queries(wanted), np.cumsum(wanted[query]) - 1
        votes = self.votes.at(np.flatnonzero(wanted[query[self.votes.thing]]))
        return JudgePanel(pairs, votes._replace(size=len(pairs), thing=thing[votes.thing]), self.origin)


def make_panel(judges: Sequence[tuple[str, Judgments]]) -> JudgePanel:
    """Judges by name with their judgments; a judge may occur several times, but not with two grades for one pair."""
    names = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in judges))}
    parts = [each for _, each in judges]
    pairs, thing_of_row = number_pairs(parts)
    size = len(pairs)
    judge = np.repeat([names[name] for name, _ in judges], list(map(len, parts)))
    votes = Votes(tuple(names), size, thing_of_row, judge, np.concatenate([each.grade for each in parts]))
    _, first, number = np.unique(judge * size + thing_of_row, return_index=True, return_inverse=True)
    origin = ", ".join(dict.fromkeys(each.origin for each in parts))
    two = np.flatnonzero(votes.grade != votes.grade[first][number])
    if two.size:
        row, other = int(two[0]), int(first[number[two[0]]])
        thing = int(thing_of_row[row])
        complaint = (
            f"judge {quote(votes.names[judge[row]])} gave document {quote(pairs.documents[thing])} of query "
            f"{quote(pairs.queries[pairs.query[thing]])} two grades: {votes.grade[other]:g} and {votes.grade[row]:g}"
        )
        raise InputError(Problem(complaint, origin, suggestion="keep one of them"))
    return JudgePanel(pairs, votes.at(np.sort(first)), origin)
