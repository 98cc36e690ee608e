"""Click models: how attractive and how satisfying a document is, from clicks; and grades from these estimates.

All models are fitted with a prior, so that a few lucky clicks do not make the best grade. Attraction is drawn towards
0, as if users had examined each document ``prior`` times more without a click. Satisfaction is drawn towards that of
all clicks, as if there were ``prior`` clicks more: drawn towards 0 it would end at 0 for documents with few clicks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.plugin_api import SILENT, Progress
from pytest_ireval_judgments.arrays import Floats, Integers, Mask
from pytest_ireval_judgments.clicks import Searches

ROUNDS = 50
"""The most rounds of EM."""
STILL = 1e-4
"""EM ends when no estimate moves more than this."""
BLOCK = 1 << 18
"""Documents of the lists that are computed at a time."""
IMPOSSIBLE = 1e-6
"""The chance of a click that a model thinks impossible; a certain click has the rest."""


class ClickModel(NamedTuple):
    """A fitted model. ``attraction`` and ``satisfaction`` have an entry for each pair of query and document."""

    name: str
    attraction: Floats
    """The chance of a click where a user examines the document."""
    satisfaction: Floats
    """The chance that a click ends the search; 1 in models without it."""
    continuation: float
    """The chance that an unsatisfied user goes on to the next document."""
    examined: Floats
    """The times that users examined each pair, as far as the model can tell."""
    examination: Floats | None = None
    """The chance that a rank is examined, compared with the first; None: users read from the top."""
    rounds: int = 0
    """Rounds of EM; 0: estimated at once."""

    def with_means(self, known: Mask) -> ClickModel:
        """The model with its mean estimates for all pairs but the known ones."""
        examined = self.examined * known
        clicks = examined * self.attraction
        a = _divide(clicks.sum(), examined.sum())
        s = _divide((clicks * self.satisfaction).sum(), clicks.sum())
        attraction, satisfaction = np.where(known, self.attraction, a), np.where(known, self.satisfaction, s)
        return self._replace(attraction=attraction, satisfaction=satisfaction)

    @property
    def relevance(self) -> Floats:
        """The chance that a user who examines a document clicks it, and is satisfied."""
        return self.attraction if self.name in ("position", "cascade") else self.attraction * self.satisfaction


def fit_position_model(searches: Searches, prior: float, progress: Progress = SILENT) -> ClickModel:
    """Position-based: a click is an examined rank, times an attractive document.

    M. Richardson et al. 2007, Predicting clicks: estimating the click-through rate for new ads, WWW; the chance of
    examining the first rank is 1.
    """
    size, ranks = searches.pairs.shown.size, int(searches.rank.max(initial=1))
    keys, number = np.unique(searches.pairs.number * ranks + searches.rank - 1, return_inverse=True)
    pair, rank = np.divmod(keys, ranks)
    times, clicks = searches.totals(number.ravel(), keys.size)
    clicked, shown = (np.bincount(pair, each, size) for each in (clicks, times))
    a, e = np.full(size, _divide(clicked.sum(), shown.sum())), 1 / np.arange(1.0, ranks + 1)
    of_rank = np.bincount(rank, times, ranks)
    progress.expect(ROUNDS, "fitting position")
    done = 0
    for done in range(1, ROUNDS + 1):  # noqa: B007 - it is told how many there were
        unclicked = (times - clicks) / np.maximum(1 - a[pair] * e[rank], IMPOSSIBLE)
        attractive = clicked + np.bincount(pair, unclicked * a[pair] * (1 - e[rank]), size)
        examined = np.bincount(rank, clicks + unclicked * e[rank] * (1 - a[pair]), ranks)
        before = a, e
        a, e = attractive / np.maximum(shown + prior, 1e-300), examined / np.maximum(of_rank, 1)
        e[:1] = 1.0
        progress.advance(1)
        if _has_converged(zip((a, e), before, strict=True)):
            break
    seen = np.bincount(pair, times * e[rank], size).astype(np.float64)
    return ClickModel("position", a, np.ones(size), 1.0, seen, e, done)


def fit_cascade_model(searches: Searches, prior: float, progress: Progress = SILENT) -> ClickModel:
    """Cascade: users read from the top, and end with the first click. Further clicks are not used.

    N. Craswell et al. 2008, An experimental comparison of click position-bias models, WSDM.
    """
    del progress
    first, _ = _find_ends(searches)
    examined = searches.rank <= first
    clicks, seen = _count_pairs(searches, examined, searches.clicked & examined)
    return ClickModel("cascade", _shrink(clicks, seen, prior), np.ones(seen.size), 1.0, seen)


def fit_simplified_model(searches: Searches, prior: float, progress: Progress = SILENT) -> ClickModel:
    """Simplified DBN: users examine all documents down to their last click, which satisfies them.

    O. Chapelle, Y. Zhang 2009, A dynamic Bayesian network click model for web search ranking, WWW, algorithm 1.
    """
    del progress
    _, last = _find_ends(searches)
    clicks, seen = _count_pairs(searches, searches.rank <= last, searches.clicked)
    satisfied, clicked = _count_pairs(searches, searches.clicked, searches.clicked & (searches.rank == last))
    s = _shrink(satisfied, clicked, prior, _divide(satisfied.sum(), clicked.sum()))
    return ClickModel("sdbn", _shrink(clicks, seen, prior), s, 1.0, seen)


def fit_dynamic_model(searches: Searches, prior: float, progress: Progress = SILENT) -> ClickModel:
    """DBN: users read from the top, click what attracts them, and end when satisfied, or tired of reading.

    O. Chapelle, Y. Zhang 2009; the continuation is estimated too.
    """
    simple = fit_simplified_model(searches, prior)
    a, s, go_on = simple.attraction, simple.satisfaction, 0.9
    progress.expect(ROUNDS, "fitting dbn")
    done = 0
    for done in range(1, ROUNDS + 1):  # noqa: B007 - it is told how many there were
        found = expect_behaviour(searches, a, s, go_on)
        before = a, s, np.array([go_on])
        a = _shrink(found.clicks, found.examined, prior)
        s = _shrink(found.satisfied, found.clicks, prior, _divide(found.satisfied.sum(), found.clicks.sum()))
        go_on = _divide(found.went_on, found.could_go_on, go_on)
        progress.advance(1)
        if _has_converged(zip((a, s, np.array([go_on])), before, strict=True)):
            break
    return ClickModel("dbn", a, s, go_on, expect_behaviour(searches, a, s, go_on).examined, None, done)


MODELS: dict[str, Callable[[Searches, float, Progress], ClickModel]] = {
    "position": fit_position_model,
    "cascade": fit_cascade_model,
    "sdbn": fit_simplified_model,
    "dbn": fit_dynamic_model,
}


class Expected(NamedTuple):
    """Expected numbers under a DBN, given the clicks: of each pair, and of steps from one rank to the next."""

    examined: Floats
    clicks: Floats
    satisfied: Floats
    could_go_on: float
    went_on: float


def expect_behaviour(searches: Searches, a: Floats, s: Floats, go_on: float) -> Expected:
    """The E step of the DBN: what users examined, and where they were satisfied."""
    size = a.size
    totals = np.zeros((3, size))
    could = went = 0.0
    for rows, at in _split_by_length(searches):
        pair, clicked = searches.pairs.number[at], searches.clicked[at]
        times = searches.count[rows][:, None].astype(np.float64)
        examined, satisfied = _infer_behaviour(a[pair], s[pair], clicked, go_on)
        parts = (examined, clicked.astype(np.float64), satisfied)
        totals += np.array([np.bincount(pair.ravel(), (each * times).ravel(), size) for each in parts])
        could += float(((examined - satisfied) * times)[:, :-1].sum())
        went += float((examined * times)[:, 1:].sum())
    return Expected(totals[0], totals[1], totals[2], could, went)


def _infer_behaviour(a: Floats, s: Floats, clicked: Mask, go_on: float) -> tuple[Floats, Floats]:
    """The chances that each document of equally long lists was examined, and that a click on it satisfied.

    All is known down to the last click. ``silent[:, j]`` is the chance of no click from rank j on, after an unsatisfied
    user at the rank before; ``reached`` is the chance of no click so far at examined ranks, given all clicks but those
    that did not happen below.
    """
    rows, length = a.shape
    places = np.where(clicked, np.arange(length), -1)
    last = places.max(axis=1, initial=-1)
    silent = np.ones((rows, length + 1))
    for j in range(length - 1, 0, -1):
        silent[:, j] = 1 - go_on + go_on * (1 - a[:, j]) * silent[:, j + 1]
    row, found = np.arange(rows), last >= 0
    content = np.where(found, s[row, last], 0.0)
    after = silent[row, last + 1]
    rest = np.where(found, content + (1 - content) * after, np.maximum((1 - a[:, 0]) * silent[:, 1], 1e-300))
    satisfied = np.zeros(a.shape)
    satisfied[row[found], last[found]] = (content / rest)[found]
    examined = np.ones(a.shape)
    reached = np.where(found, (1 - content) / rest, 0.0)
    for j in range(length):
        begins = np.full(rows, not j) & ~found
        reached = np.where(begins, (1 - a[:, 0]) / rest, np.where(j > last, reached * go_on * (1 - a[:, j]), reached))
        examined[:, j] = np.where(j > last, reached * silent[:, j + 1], 1.0)
    return examined, satisfied


def _split_by_length(searches: Searches) -> Iterator[tuple[Integers, Integers]]:
    """Rows with lists of one length, and where their documents are, a row for each list."""
    length = np.diff(searches.first)
    order = np.argsort(length, kind="stable")
    for size in np.unique(length).tolist():
        of_size = order[slice(*np.searchsorted(length[order], [size, size + 1]))]
        step = max(1, BLOCK // size)
        for begin in range(0, of_size.size, step):
            rows = of_size[begin : begin + step]
            yield rows, searches.first[rows][:, None] + np.arange(size)


def _find_ends(searches: Searches) -> tuple[Integers, Integers]:
    """For each document the ranks of the first and the last click of its list; without clicks all were examined."""
    sizes = np.diff(searches.first)
    rank, far = searches.rank, np.repeat(sizes, sizes)
    if not rank.size:
        return far, far
    first = np.minimum.reduceat(np.where(searches.clicked, rank, far), searches.first[:-1])
    last = np.maximum.reduceat(np.where(searches.clicked, rank, 0), searches.first[:-1])
    return np.repeat(first, sizes), np.repeat(np.where(last, last, sizes), sizes)


def _count_pairs(searches: Searches, among: Mask, these: Mask) -> tuple[Floats, Floats]:
    """For each pair, how often it is one of these, and among how many."""
    size, number = searches.pairs.shown.size, searches.pairs.number
    these_times, times = (np.bincount(number, searches.times * each, size) for each in (these, among))
    return these_times.astype(np.float64), times.astype(np.float64)


def _shrink(these: Floats, among: Floats, prior: float, towards: float = 0.0) -> Floats:
    """Shares, drawn towards one."""
    return (these + prior * towards) / np.maximum(among + prior, 1e-300)


def _divide(these: float, among: float, otherwise: float = 0.0) -> float:
    return float(these / among) if among else otherwise


def _has_converged(pairs: Iterator[tuple[Floats, Floats]]) -> bool:
    return all(np.abs(now - before).max(initial=0.0) < STILL for now, before in pairs)


def predict_clicks(model: ClickModel, searches: Searches) -> Floats:
    """For each document the chance of a click, given the clicks above it."""
    found = np.zeros(searches.document.size)
    for _, at in _split_by_length(searches):
        pair, clicked = searches.pairs.number[at], searches.clicked[at]
        a, s = model.attraction[pair], model.satisfaction[pair]
        examined = np.ones(at.shape[0])
        for j in range(at.shape[1]):
            if model.examination is not None:
                examined = np.full(at.shape[0], model.examination[min(j, model.examination.size - 1)])
            chance = examined * a[:, j]
            found[at[:, j]] = chance
            missed = examined * (1 - a[:, j]) / np.maximum(1 - chance, IMPOSSIBLE)
            examined = model.continuation * np.where(clicked[:, j], 1 - s[:, j], missed)
    return np.clip(found, IMPOSSIBLE, 1 - IMPOSSIBLE)


class ModelFit(NamedTuple):
    """The quality of predicted clicks, on searches that the model was not fitted to."""

    model: str
    rounds: int
    log_likelihood: float
    """The mean of a search, in natural logarithms; closer to 0 is better."""
    perplexity: float
    """Of a document, given the clicks above it: 1 is a perfect prediction, 2 that of a coin."""


def measure_fit(model: ClickModel, searches: Searches) -> ModelFit:
    """The fit on these searches."""
    chance = predict_clicks(model, searches)
    bits = np.log(np.where(searches.clicked, chance, 1 - chance)) * searches.times
    mean = _divide(bits.sum(), searches.times.sum())
    return ModelFit(model.name, model.rounds, _divide(bits.sum(), searches.count.sum()), float(np.exp(-mean)))


def hold_out(searches: Searches, share: float, seed: int) -> tuple[Searches, Searches]:
    """The searches in two random parts; the second one has about that share."""
    rng = np.random.Generator(np.random.PCG64(seed))
    count = rng.binomial(searches.count, share)
    return searches.some(searches.count - count), searches.some(count)


TOP = 4
"""The highest grade of usual thresholds."""


def choose_thresholds(searches: Searches, relevance: Floats, counts: Mask) -> list[float]:
    """The lowest relevance of grades 1 to 4, by the best documents of queries.

    A document as good as the best one of a typical query (the median) is of grade 4. Below it the gain 2^grade - 1 is
    in proportion to relevance, rounded to the nearest grade: so nDCG weighs a document as users do.
    """
    best = np.zeros(len(searches.queries))
    np.maximum.at(best, searches.pairs.query[counts], relevance[counts])
    best = best[best > 0]
    top = float(np.median(best)) if best.size else 1.0
    return [top * (2.0 ** (grade - 0.5) - 1) / (2.0**TOP - 1) for grade in range(1, TOP + 1)]


class ClickJudgments(NamedTuple):
    """Judgments of the documents that users examined often enough; by query, the best first."""

    rows: list[tuple[str, str, int, float, int, float, int]]
    """Query, document, grade, estimate, impressions, times examined, clicks."""
    thresholds: Sequence[float]
    rare: int
    """The pairs of query and document that were examined too seldom."""


def make_judgments(searches: Searches, model: ClickModel, thresholds: Sequence[float], least: int) -> ClickJudgments:
    """Judgments by these thresholds, or by the usual ones."""
    pairs, relevance = searches.pairs, model.relevance
    often = model.examined >= least - 1e-9
    thresholds = thresholds or choose_thresholds(searches, relevance, often)
    order = np.flatnonzero(often)
    order = order[np.lexsort((-relevance[order], pairs.query[order]))]
    columns = (
        pairs.query,
        pairs.document,
        np.searchsorted(np.array(thresholds), relevance, side="right"),
        relevance.round(6),
        pairs.shown,
        model.examined.round(1),
        pairs.clicks,
    )
    cells = zip(*(column[order].tolist() for column in columns), strict=True)
    rows = [(searches.queries[query], searches.documents[document], *more) for query, document, *more in cells]
    return ClickJudgments(rows, thresholds, int((~often).sum()))
