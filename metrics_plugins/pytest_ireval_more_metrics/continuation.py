"""User models of the C/W/L framework: the probability to go on from each rank decides what a reader gets and spends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from pytest_ireval import JudgedRankings, Metric, MetricError, Param, list_ranking, make_steps, metric, steps_for
from pytest_ireval_metrics.vocabulary import (
    Floats,
    MaxGrade,
    find_top_grade,
    format_number,
    format_sum,
    parse_field_number,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

DEEPEST = 1000
"""The rank at which readers stop at the latest, unless a cutoff says otherwise; cwl-eval has the same."""
CELLS = 2**21
"""Queries are computed in blocks of this many places, which bounds the memory."""

Deep = Annotated[int, Param("the rank at which every reader stops", low=1, high=1_000_000)]
MinGrade = Annotated[float, Param("documents of this grade and below have no gain", low=0, aliases={"min_rel": {}})]
Cost = Annotated[
    str | None,
    Param(
        "the field of a document that is its cost; below the list it is the highest cost of the list; unless "
        "given, every document costs 1"
    ),
]
Measured = Annotated[
    Literal["EU", "ETU", "ED", "EC", "ETC", "residual"],
    Param(
        "EU is the expected gain per document read, ETU the expected gain of all documents read, ED the expected "
        "number of documents read, EC the expected cost per document read, ETC the expected cost of all documents "
        "read, residual the change of EU if every document without a judgment had the top grade"
    ),
]
Goal = Annotated[float, Param("the gain that the reader looks for, in documents of the top grade", low=0)]
Budget = Annotated[
    float, Param("the cost that the reader is ready to pay; in documents, unless cost is given", above=0)
]


class GainAndCost(NamedTuple):
    """The input of a model: gain (0 to 1) and cost, a row per query, a column per rank; and the ranks."""

    gain: Floats
    cost: Floats
    rank: Floats

    @property
    def gained(self) -> Floats:
        """The gain of the documents down to each rank."""
        gained: Floats = np.cumsum(self.gain, axis=1)
        return gained

    @property
    def spent(self) -> Floats:
        """The cost of the documents down to each rank."""
        spent: Floats = np.cumsum(self.cost, axis=1)
        return spent


class _Reading(NamedTuple):
    """The input of a model, the probability to go on from each rank, and the probability to come there."""

    reader: GainAndCost
    goes_on: Floats
    reaches: Floats

    def measured(self, what: str) -> Floats:
        """Per query, one of the measures; ``residual`` is measured as EU."""
        depth: Floats = self.reaches.sum(axis=1)
        if what == "ED":
            return depth
        of_each = self.reader.cost if what in ("EC", "ETC") else self.reader.gain
        whole: Floats = (of_each * self.reaches).sum(axis=1)
        return whole if what in ("ETU", "ETC") else whole / depth


GoesOn = Callable[..., Floats]
Settings = Mapping[str, Any]


def _simulate_reading(
    goes_on: GoesOn, judged: JudgedRankings, settings: Settings, queries: slice, unjudged: float
) -> _Reading:
    """Read the lists of some queries; every reader stops at the cutoff."""
    gain = _compute_gains(judged, settings, queries, unjudged)
    cost = np.ones(gain.shape) if settings["cost"] is None else _read_costs(judged, settings, queries)
    reader = GainAndCost(gain, cost, np.arange(1.0, gain.shape[1] + 1))
    chance = np.array(np.broadcast_to(goes_on(reader, **_select_own(settings)), gain.shape))
    chance[:, -1] = 0.0
    reaches = np.ones(gain.shape)
    np.cumprod(chance[:, :-1], axis=1, out=reaches[:, 1:])
    return _Reading(reader, chance, reaches)


def _compute_gains(judged: JudgedRankings, settings: Settings, queries: slice, unjudged: float) -> Floats:
    """Gains by rank; documents without a judgment, and places below the list, have the gain ``unjudged``."""
    rows = slice(judged.first[queries.start], judged.first[queries.stop])
    query, rank = judged.hits.query[rows] - queries.start, judged.hits.rank[rows]
    within = rank <= settings["cutoff"]
    gain = np.full((queries.stop - queries.start, settings["cutoff"]), unjudged)
    least, top = _find_scale(judged, settings)
    gain[query[within], rank[within] - 1] = np.maximum(judged.hits.grade[rows][within] - least, 0.0) / (top - least)
    return gain


def _find_scale(judged: JudgedRankings, settings: Settings) -> tuple[float, float]:
    """The highest grade without gain, and the grade of gain 1."""
    least, given = settings["min_grade"], settings["max_grade"]
    if given is not None and given <= least:
        raise MetricError(f"min_grade={least:g} is not below max_grade={given:g}")
    top = find_top_grade(given, judged)
    return least, top if top > least else least + 1


def _read_costs(judged: JudgedRankings, settings: Settings, queries: slice) -> Floats:
    documents, fields, name = judged.documents, judged.fields, settings["cost"]
    if documents is None or fields is None:
        raise MetricError("cost is a field of documents: give fields={document: {name: value}}")
    first = documents.first[queries.start : queries.stop + 1]
    rows = np.arange(first[0], first[-1])
    query = np.repeat(np.arange(first.size - 1), np.diff(first))
    rank = rows - first[query]
    within = rank < settings["cutoff"]
    texts = documents.ids.texts(rows[within])
    found = np.array([_parse_cost(text, fields.get(text, {}).get(name), name) for text in texts])  # a map of Python
    highest = np.zeros(first.size - 1)
    np.maximum.at(highest, query[within], found)
    cost = np.repeat(np.where(highest > 0, highest, 1.0)[:, None], settings["cutoff"], axis=1)
    cost[query[within], rank[within]] = found
    return cost


def _parse_cost(document: str, value: object, name: str) -> float:
    number = parse_field_number(value)
    if number is None or number <= 0:
        raise MetricError(f"the field {name!r} of document {document!r} is {value!r}; a cost is a number above 0")
    return number


def _split_blocks(judged: JudgedRankings, cutoff: int) -> Iterator[slice]:
    """Queries, as many at a time as fit into memory together."""
    step = max(1, CELLS // cutoff)
    return (slice(start, min(start + step, judged.count)) for start in range(0, judged.count, step))


def _compute_values(goes_on: GoesOn, judged: JudgedRankings, settings: Settings) -> Floats:
    found, what = np.zeros(judged.count), settings["measure"]
    for queries in _split_blocks(judged, settings["cutoff"]):
        found[queries] = _simulate_reading(goes_on, judged, settings, queries, 0.0).measured(what)
        if what == "residual":
            found[queries] = _simulate_reading(goes_on, judged, settings, queries, 1.0).measured("EU") - found[queries]
    return found


def _select_own(settings: Settings) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in COMMON}


def _show_steps(goes_on: GoesOn, formula: str, judged: JudgedRankings, settings: Settings) -> Steps:
    listed, what = list_ranking(judged, settings["cutoff"]), settings["measure"]
    reading = _simulate_reading(goes_on, judged, settings, slice(0, 1), 0.0)
    size = listed.rank.size
    gain, cost, chance, reaches = (
        each[0, :size] for each in (reading.reader.gain, reading.reader.cost, reading.goes_on, reading.reaches)
    )
    columns = {"gain": gain, "goes_on": chance, "reaches": reaches, "product": gain * reaches}
    if settings["cost"] is not None:
        columns = {"gain": gain, "cost": cost, **columns}
    depth, value = (float(reading.measured(each)[0]) for each in ("ED", what))
    shares = {"EU": gain * reaches / depth, "ETU": gain * reaches}.get(what)
    if what in ("EU", "ETU"):
        text = (
            format_sum(gain * reaches) if what == "ETU" else f"{format_number(value * depth)} / {format_number(depth)}"
        )
    elif what == "residual":
        highest = float(_simulate_reading(goes_on, judged, settings, slice(0, 1), 1.0).measured("EU")[0])
        text, value = f"{format_number(highest)} - {format_number(value)}", highest - value
    else:
        text = _format_closing(what, reaches if what == "ED" else reaches * cost, value, depth)
    facts = [*_describe_model(judged, settings, formula), f"ED = {format_number(depth)} documents are read on average"]
    return make_steps(listed, columns, arithmetic=text, value=value, facts=facts, shares=shares)


def _format_closing(what: str, terms: Floats, value: float, depth: float) -> str:
    """The documents read, or the cost, in the list and below it."""
    whole, seen = value * depth if what == "EC" else value, float(terms.sum())
    text = f"{format_number(seen)} + {format_number(whole - seen)}"
    return f"({text}) / {format_number(depth)}" if what == "EC" else text


def _describe_model(judged: JudgedRankings, settings: Settings, formula: str) -> Iterator[str]:
    least, top = _find_scale(judged, settings)
    above = f"(grade - {format_number(least)})" if least else "grade"
    yield f"gain = {above} / {format_number(top - least)}, at least 0"
    yield f"goes_on = {formula}"
    yield from (
        f"{name} = {value if isinstance(value, str) else format_number(value)}"
        for name, value in _select_own(settings).items()
    )
    yield f"every reader stops at rank {settings['cutoff']}"
    yield "reaches = the product of goes_on of all ranks above; product = gain * reaches"


def _take_common(
    judged: JudgedRankings,
    *,
    cutoff: Deep = DEEPEST,
    max_grade: MaxGrade = None,
    min_grade: MinGrade = 0,
    cost: Cost = None,
    measure: Measured = "EU",
) -> Floats:
    """Parameters of every model; only the signature is used."""
    raise NotImplementedError


COMMON = {each.name: each for each in metric(name="Common")(_take_common).parameters}
EXPECTED = ("EU", "ETU")


class _Model(NamedTuple):
    """The fields of a user model that its arguments decide; ``by``: what the probability to go on depends on."""

    by: Literal["rank", "cost", "gain"]

    def fixed(self, settings: Settings) -> bool:
        """Tell whether every ranking is read in the same way."""
        return self.by == "rank" or (self.by == "cost" and settings["cost"] is None)

    def decided(self, settings: Settings) -> Mapping[str, Any]:
        """More utility is better; of the rest, no value is better than another."""
        utility = settings["measure"] == "EU" or (settings["measure"] == "ETU" and self.fixed(settings))
        needs = () if settings["cost"] is None else ("fields", "documents")
        return {"direction": "higher" if utility else "neither", "needs": frozenset(needs)}

    def range(self, settings: Settings) -> tuple[float, float]:
        """Utility per document is at most 1, and at least one document is read."""
        what, deepest = settings["measure"], float(settings.get("cutoff", DEEPEST))
        if what in ("EC", "ETC"):
            return (0.0, np.inf if settings["cost"] is not None else deepest)
        ends = {"ED": (1.0, deepest), "ETU": (0.0, deepest), "residual": (0.0 if self.fixed(settings) else -1.0, 1.0)}
        return ends.get(what, (0.0, 1.0))

    def additive(self, settings: Settings) -> bool:
        """Add up what ranks are worth times what documents are worth."""
        return self.fixed(settings) and settings["measure"] in EXPECTED


def user_model(
    name: str,
    formula: str,
    *,
    by: Literal["rank", "cost", "gain"],
    cutoff_required: bool = False,
    not_promised: Mapping[str, str] | None = None,
    dialects: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] | None = None,
) -> Callable[[GoesOn], Metric]:
    """Make a metric of a function that gives the probability to go on from each rank, and adds its own parameters."""
    model = _Model(by)

    def make(goes_on: GoesOn) -> Metric:
        def batch(judged: JudgedRankings, **settings: Any) -> Floats:
            return _compute_values(goes_on, judged, settings)

        own = metric(
            name=name,
            by_arguments=model.decided,
            uses=lambda settings: () if settings["cost"] is None else (settings["cost"],),
            range=model.range,
            additive=model.additive,
            no_relevant=None,
            not_promised=not_promised or {},
            dialects=dialects or {},
        )(goes_on)
        cutoff = replace(COMMON["cutoff"], default=inspect.Parameter.empty) if cutoff_required else COMMON["cutoff"]
        parameters = (cutoff, *own.parameters, *(COMMON[name] for name in COMMON if name != "cutoff"))
        made = replace(own, batch=batch, parameters=parameters, at="cutoff")

        @steps_for(made)
        def steps(judged: JudgedRankings, **settings: Any) -> Steps:
            return _show_steps(goes_on, formula, judged, settings)

        return made

    return make


SOONER = "a reader who is satisfied one document sooner leaves the documents behind it out of her average"
NEARLY = 1e-9
"""Gains, or costs, that add up to a limit but for rounding reach it."""


@user_model(
    "BPM",
    "1 while the gain so far is less than T",
    by="gain",
    cutoff_required=True,
    not_promised={"promotion_never_harms": SOONER},
)
def bpm(reader: GainAndCost, *, T: Goal = 1) -> Floats:
    """Gain per document of a reader who stops when she has found enough, or at the cutoff (bejeweled player model).

    Formula: C(i) = 1 if G_i < T and i < cutoff, else 0, with G_i = gain of ranks 1 to i; EU as SDCG
    Reference: F. Zhang et al., Evaluating Web Search with a Bejeweled Player Model, SIGIR 2017 (static).
    Example: BPM(T=2)@5 of 0 1 0 1 1 = 2/4 = 0.5
    """
    return (reader.gained < T - NEARLY).astype(np.float64)


@user_model(
    "BPMD",
    "1 while the gain so far is less than T + hb * x and the cost so far is less than K + hc * x, where x is the sum "
    "of gain - gain_med of the ranks above",
    by="gain",
    not_promised={
        "promotion_never_harms": SOONER,
        "perfect_is_best": "good documents make the reader more patient, and what follows them counts",
    },
)
def bpmd(
    reader: GainAndCost,
    *,
    T: Goal = 1,
    K: Budget = 10,
    hb: Annotated[float, Param("how much a gain above gain_med raises T, and one below lowers it", low=0)] = 1,
    hc: Annotated[float, Param("how much a gain above gain_med raises K, and one below lowers it", low=0)] = 1,
    gain_med: Annotated[float, Param("the gain that changes neither", low=0, high=1)] = 0.5,
) -> Floats:
    """BPM of a reader whose wishes and patience grow with good documents, and shrink with bad ones (dynamic).

    Formula: C(i) = 1 if G_i < T + hb x_i and cost of ranks 1 to i < K + hc x_i, else 0, with x_i = sum of
    gain_j - gain_med for j < i; EU as SDCG
    Reference: F. Zhang et al., Evaluating Web Search with a Bejeweled Player Model, SIGIR 2017 (dynamic).
    Example: BPMD(K=3) of 0 0 1 = 1/3 = 0.3333
    """
    change = reader.gain - gain_med
    above = np.cumsum(change, axis=1) - change
    wants = reader.gained < T + hb * above - NEARLY
    can_pay = reader.spent < K + hc * above - NEARLY
    return (wants & can_pay).astype(np.float64)


@user_model(
    "IFT",
    "goal * rate, with goal = 1 - 1 / (1 + b1 e^(R1 (T - gained))) and rate = 1 / (1 + b2 e^(R2 (A - gained / spent)))"
    "; stop = goal and stop = rate leave out the other",
    by="gain",
    not_promised={
        "promotion_never_harms": "a good document early keeps the reader going, and what follows it counts",
        "perfect_is_best": "good documents early keep the reader going, and what follows them counts",
    },
)
def ift(
    reader: GainAndCost,
    *,
    T: Goal = 2,
    b1: Annotated[float, Param("the odds to go on where the gain is just T", above=0)] = 0.9,
    R1: Annotated[float, Param("how strictly the reader stops at T", low=0)] = 10,
    A: Annotated[float, Param("the gain per cost that the reader expects", low=0)] = 0.2,
    b2: Annotated[float, Param("the odds to stop where the gain per cost is just A", above=0)] = 0.9,
    R2: Annotated[float, Param("how strictly the reader stops below A", low=0)] = 10,
    stop: Annotated[
        Literal["goal", "rate", "both"],
        Param("why the reader stops: she has found enough, she finds too little for her effort, or either"),
    ] = "both",
) -> Floats:
    """Expected gain per document of a forager, who leaves when she has enough, or finds too little for her effort.

    Formula: C(i) = (1 - 1 / (1 + b1 e^(R1 (T - G_i)))) / (1 + b2 e^(R2 (A - G_i / K_i))), with G_i = gain and K_i =
    cost of ranks 1 to i; EU as SDCG
    Reference: L. Azzopardi, P. Thomas, N. Craswell, Measuring the Utility of Search Engine Result Pages, SIGIR 2018.
    Example: IFT(R1=0, R2=0, b1=1, b2=1)@2 of 1 0 = 1 / (1 + 1/2 * 1/2) = 0.8
    """
    gained, spent = reader.gained, reader.spent
    goal = 1 - 1 / (1 + b1 * np.exp(R1 * (T - gained)))
    rate = 1 / (1 + b2 * np.exp(R2 * (A - gained / spent)))
    chance: Floats = {"goal": goal, "rate": rate, "both": goal * rate}[stop]
    return chance


@user_model("NPV", "1 / (1 + rate)", by="rank")
def npv(
    reader: GainAndCost,
    *,
    rate: Annotated[float, Param("how much less a gain is worth one document later", low=0)] = 0.1,
) -> Floats:
    """RBP told as an investment: gains further down are worth less, as money in later years (net present value).

    Formula: C(i) = 1 / (1 + rate), that is RBP(p=1 / (1 + rate)) of readers who stop at rank 1000; EU as SDCG
    Reference: L. Azzopardi, P. Thomas, A. Moffat, cwl_eval: An Evaluation Tool for Information Retrieval, SIGIR 2019.
    Example: NPV(rate=1)@3 of 1 0 1 = (1 + 1/4) / (1 + 1/2 + 1/4) = 0.7143
    """
    return np.full(reader.rank.size, 1 / (1 + rate))


@user_model(
    "SET", "the step of rank^beta to the next rank, divided by the step to this rank", by="rank", cutoff_required=True
)
def search_economy(
    reader: GainAndCost,
    *,
    beta: Annotated[
        float, Param("how much more documents give: 1 as many times as much, near 0 hardly anything", above=0, high=1)
    ] = 0.5,
) -> Floats:
    """Expected gain per document where i good documents are together worth i^beta (search economic theory).

    Formula: C(i) = ((i + 1)^beta - i^beta) / (i^beta - (i - 1)^beta); EU as SDCG
    Reference: L. Azzopardi, Modelling interaction with economic models of search, SIGIR 2014.
    Example: SET@4 of 1 0 0 1 = (1 + (2 - 1.7321)) / 2 = 0.634
    """
    steps = (reader.rank + 1) ** beta - reader.rank**beta
    return steps / np.concatenate((np.ones(1), steps[:-1]))


@user_model("TBG", "2^(-cost / halflife)", by="cost")
def time_biased_gain(
    reader: GainAndCost,
    *,
    halflife: Annotated[float, Param("the cost after which half of the readers are gone", above=0)] = 224,
) -> Floats:
    """Expected gain per document of readers of whom half are gone after a certain time (time-biased gain).

    Formula: C(i) = 2^(-cost_i / halflife); EU as SDCG; ETU is the gain that the paper adds up
    Reference: M. Smucker, C. Clarke, Time-based calibration of effectiveness measures, SIGIR 2012.
    Example: TBG(halflife=1)@3 of 1 0 1 = (1 + 1/4) / (1 + 1/2 + 1/4) = 0.7143
    """
    chance: Floats = np.exp2(-reader.cost / halflife)
    return chance


@user_model("U", "(L - spent) / (L - spent above), 0 once L is spent", by="cost")
def u_measure(
    reader: GainAndCost,
    *,
    L: Annotated[float, Param("the cost at which the last reader is gone, as a length of text", above=0)] = 1000,
) -> Floats:
    """Expected gain per document of readers who leave at a constant rate along the text that they read (U-measure).

    Formula: C(i) = (L - K_i) / (L - K_(i-1)), at least 0, with K_i = cost of ranks 1 to i; EU as SDCG
    Reference: T. Sakai, Z. Dou, Summaries, ranked retrieval and sessions, SIGIR 2013.
    Example: U(L=4)@3 of 1 0 1 = (1 + 1/2) / (1 + 3/4 + 1/2) = 0.6667
    """
    left = np.maximum(L - reader.spent, 0.0)
    above = np.maximum(left + reader.cost, np.finfo(np.float64).tiny)
    return np.where(left > 0, left / above, 0.0)
