"""A run in which every field of the result tree is filled: what a large page has to show, made of no data."""

import math
from random import Random

from pytest_ireval.results.outcome import (
    Cause,
    Diagnosis,
    DocumentText,
    JudgmentEdit,
    Outcome,
    Placed,
    QueryChange,
    Restated,
    SliceFigures,
)
from pytest_ireval.results.policies import Policies
from pytest_ireval.results.suite_result import (
    Accepted,
    BaselineInfo,
    Counts,
    EngineExplanation,
    JudgmentAges,
    MetricFigures,
    QueryCurve,
    QueryDocuments,
    QueryTable,
    RecallPrecision,
    RecordedAnswers,
    RunResult,
    Section,
    SinceBase,
    SliceCurves,
    SliceRow,
    SuiteResult,
    ToJudge,
)

METRICS = ("nDCG@10", "RR@10", "R@20", "AP", "P@5", "Judged@10")
SEGMENTS = ("head", "torso", "tail")
WORDS = ("red", "mug", "kettle", "filter", "steel", "bottle", "café", "赤い", "tea", "blue", "large", "travel")
FILE = "suites/product-search.ireval.yaml"
DEPTH = 20


def full_run(suites=1, queries=60, metrics=3, documents=60):
    """So many suites of so many queries; the first one is red. Both rankings of so many queries are kept."""
    made = tuple(full_suite(f"shop-{i}", i, queries, METRICS[:metrics], documents) for i in range(suites))
    return RunResult(
        version="0.1.0",
        date="2027-03-03T09:00:00Z",
        verdict="fail",
        suites=made,
        commit="3b1c0ffee000abcd3b1c0ffee000abcd3b1c0ffe",
        branch="synonyms",
        dirty=True,
        base="origin/main",
        sections=(Section("latency", "Latency", "acme-ireval 1.2", {"p95": 212, "rows": [["head", 180]]}),),
    )


def full_suite(name, seed, queries, metrics, documents):
    chance = Random(seed)
    table = _table(chance, queries, metrics)
    kept = tuple(_documents(chance, query, metrics, table) for query in table.ids[:documents])
    outcomes = tuple(_outcomes(table, metrics, red=seed == 0))
    return SuiteResult(
        name=name,
        path=FILE,
        verdict="fail" if seed == 0 else "pass",
        outcomes=outcomes,
        owner="@acme/search-team",
        tags=("products",),
        planned=tuple(each.id for each in outcomes),
        metrics=tuple(_figures(table, metric) for metric in metrics),
        counts=Counts(queries, queries - 1, ("q001",), (), ("q002",), 1, 41, ("q017",), 0.82, 0.97, 20),
        queries=table,
        documents=kept,
        documents_of=queries,
        labels={"0": "no", "1": "partly", "2": "good", "3": "perfect"},
        grades="0=no,1=partly,2=good,3=perfect",
        cause=Cause(
            rankings=34,
            compared=queries,
            judgments=1,
            edits=(JudgmentEdit("q003", "d7", 1.0, 3.0),),
            edited=1,
            restated={metrics[0]: Restated(0.871, 0.872)},
        ),
        baseline=BaselineInfo(
            f"suites/baselines/{name}.baseline",
            "2027-03-01T09:00:00Z",
            "3f9c2e1d8a77",
            "main",
            False,
            "start",
            False,
            (),
        ),
        policies=Policies(depth=DEPTH),
        depth=DEPTH,
        source="run: runs/candidate.trec",
        variables={"RANKINGS": "runs/now.trec", "SEARCH_KEY": "…"},
        about={"engine": "Lucene 9.11"},
        recorded=RecordedAnswers(60, "2026-11-18"),
        judgments="data/qrels.txt",
        judgment_ages=JudgmentAges("2024-03-01", "2026-06-30", 210, 0.12, 4480, 20),
        plugins=("pytest-ireval 0.1.0", "acme-ireval 1.2"),
        fingerprints={"queries": "a1b2c3d4e5f60718", "judgments": "1122334455667788"},
        notes=("AP is not cut, and rankings are: only the first 20 documents count",),
        waived=("q017 until 2099-12-31: SEARCH-9: supplier feed broken",),
        slices=tuple(
            SliceRow(metric, _slice(table, metric, segment), corrected=0.03 if segment == "tail" else 0.6)
            for metric in metrics
            for segment in SEGMENTS
        ),
        to_judge=(ToJudge("q004", "q004-n1", metrics[0], 0.21, "blue tea", 1, None),),
        curves=tuple(_curves(part, queries) for part in ("all", "segment=tail")),
        explanations=(
            EngineExplanation("q004", "q004-n1", None, 2, ("7.2  sum of:", "  7.2  weight(title:tea in 8) [BM25]")),
        ),
        since_base=SinceBase(
            "3b1c0ff",
            same=False,
            changed=queries // 2,
            compared=queries,
            rows=(SliceRow(metrics[0], SliceFigures("all", queries, 0.84, 0.9, 20, 11, queries - 31)),),
            queries=(QueryChange("q004", "blue tea", 0.1, 0.9),),
        ),
        texts={"q004-d0": DocumentText("Blue tea", "https://shop.example/q004-d0", {"price": "3.5"})},
        diagnoses=(
            Diagnosis(
                "no_answers",
                "4 of 59 queries return nothing now",
                "look at the errors of the engine.",
                ("q004", "q005", "q006", "q007"),
                4,
                59,
                metrics[0],
                0.87,
            ),
        ),
        acceptances=(
            Accepted("2027-02-01T09:00:00Z", "1111111aaaa", "main", reason="start"),
            Accepted("2027-02-20T09:00:00Z", "2222222bbbb", "main", reason="release 4.2", anchor=True),
            Accepted("2027-03-01T09:00:00Z", "3f9c2e1d8a77", "main", reason="synonyms v1"),
        ),
    )


def _table(chance, queries, metrics):
    ids = tuple(f"q{i:03}" for i in range(queries))
    before = {metric: tuple(_round(chance.random()) for _ in ids) for metric in metrics}
    now = {
        metric: tuple(
            value if chance.random() < 0.5 else _round(value + chance.gauss(0, 0.15)) for value in before[metric]
        )
        for metric in metrics
    }
    return QueryTable(
        ids=ids,
        texts=tuple(" ".join(chance.sample(WORDS, 3)) for _ in ids),
        weights=tuple(float(1 + i % 50) for i in range(queries)),
        columns={"segment": tuple(SEGMENTS[i % 3] for i in range(queries))},
        now=now,
        baseline=before,
    )


def _round(value):
    """As short as a page shows it, and the same on every machine."""
    return round(min(1.0, max(0.0, value)), 4)


def _differences(table, metric, segment=None):
    return [
        now - before
        for now, before, part in zip(table.now[metric], table.baseline[metric], table.columns["segment"], strict=True)
        if segment in (None, part)
    ]


def _slice(table, metric, segment=None, tolerance=None):
    found = _differences(table, metric, segment)
    count, mean = len(found), math.fsum(found) / len(found)
    sd = math.sqrt(math.fsum((each - mean) ** 2 for each in found) / max(1, count - 1))
    margin = 1.7 * sd / math.sqrt(count)
    worse, better = sum(each < 0 for each in found), sum(each > 0 for each in found)
    return SliceFigures(
        slice=f"segment={segment}" if segment else "all",
        queries=count,
        now=0.8 + mean,
        baseline=0.8,
        worse=worse,
        better=better,
        same=count - worse - better,
        tolerance=tolerance,
        over=tolerance is not None and mean < -tolerance,
        low=mean - margin,
        high=mean + margin,
        resolution=2.5 * sd / math.sqrt(count),
        sd=sd,
        p=0.04,
    )


def _figures(table, metric):
    of = _slice(table, metric)
    return MetricFigures(
        *(metric, "higher", "query", "mean", of.now, of.baseline, of.now, False, of.low, of.high),
        *(of.worse, of.better, of.same, "fail" if metric == "nDCG@10" else "pass"),
        sd=of.sd,
        resolution=of.resolution,
    )


def _outcomes(table, metrics, red):
    for line, metric in enumerate(metrics, 15):
        slug = metric.replace("@", "_")
        for segment in (None, *SEGMENTS):
            figures = _slice(table, metric, segment, 0.01)
            fails = red and segment == "tail" and metric == metrics[0]
            yield Outcome(
                id=f"no_regression::{slug}.{f'segment-{segment}' if segment else 'all'}",
                kind="no_regression",
                verdict="fail" if fails else "pass",
                headline=f"{metric} fell 31.1% on segment=tail (tolerance 1%)" if fails else f"{metric} held",
                sentence="4 of 12 tail queries (2.1% of all searches) lost their best document." if fails else "",
                file=FILE,
                line=line,
                column=5,
                metric=metric,
                slice=figures.slice,
                acceptable=fails,
                figures=(figures,),
                queries=tuple(_change(table, metric, i) for i in range(2, len(table.ids), 3)) if fails else (),
                facts=("with this spread, a harmless change would exceed the tolerance 42.0% of the time",),
                compares=True,
                numbers={"value": figures.now, "baseline": 0.8, "tolerance": 0.01},
            )
    yield Outcome(
        id="expect::q044.order",
        kind="expect",
        verdict="pass",
        headline="q044-d0 #2, q044-d3 #1",
        file=FILE,
        line=31,
        warning=True,
    )


def _change(table, metric, i):
    query = table.ids[i]
    top = tuple(Placed(f"{query}-n{rank}", None, rank) for rank in (1, 2, 3))
    best = Placed(f"{query}-d0", 3.0, 14, 1)
    return QueryChange(
        query, table.texts[i], table.now[metric][i], table.baseline[metric][i], table.weights[i], best, top
    )


def _documents(chance, query, metrics, table):
    before = [f"{query}-d{i}" for i in range(DEPTH)]
    now = before[:]
    chance.shuffle(now)
    now[0] = f"{query}-n1"
    grades = {document: float(3 - i // 2) for i, document in enumerate(before[:6])}
    every = list(dict.fromkeys([*now, *before]))
    placed = tuple(
        Placed(
            document,
            grades.get(document),
            now.index(document) + 1 if document in now else None,
            before.index(document) + 1 if document in before else None,
        )
        for document in every
    )
    i = table.ids.index(query)
    gained = {metric: table.now[metric][i] - table.baseline[metric][i] for metric in metrics[:2]}
    relevant = [place for place in placed if place.grade]
    return QueryDocuments(
        query,
        placed,
        now=_query_curve(sorted(place.now for place in relevant if place.now)),
        baseline=_query_curve(sorted(place.baseline for place in relevant if place.baseline)),
        shares={
            metric: tuple(change / len(relevant) if place.grade else None for place in placed)
            for metric, change in gained.items()
        },
        relevant=len(relevant),
    )


def _query_curve(ranks):
    recall = tuple((i + 1) / 6 for i in range(len(ranks)))
    precision = tuple((i + 1) / rank for i, rank in enumerate(ranks))
    levels = tuple(
        max((p for r, p in zip(recall, precision, strict=True) if r >= level / 10), default=0.0) for level in range(11)
    )
    return QueryCurve(recall, precision, RecallPrecision(levels, 0.5))


def _curves(part, queries):
    now = tuple(round(0.95 - 0.08 * level, 4) for level in range(11))
    before = tuple(round(0.98 - 0.075 * level, 4) for level in range(11))
    return SliceCurves(part, queries, RecallPrecision(now, 0.52), RecallPrecision(before, 0.56))
