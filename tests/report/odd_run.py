"""A run of everything that is hard to lay out: long names, wide letters, many metrics, and every verdict there is."""

from dataclasses import replace

from full_run import full_run, full_suite

from pytest_ireval.results.outcome import Placed, QueryChange, SliceFigures

LONG_METRIC = "nDCG[discount=log2(b=3),gain=exp](rel=2)@10"
LONG_NAME = "marketplace-search-for-returning-customers-of-the-northern-region"
TWELVE = (
    *("nDCG@10", "RR@10", "R@20", "AP", "P@5", "Judged@10", LONG_METRIC, "ERR@20", "RBP(p=0.95)"),
    *("infAP", "Q", "NCU(stops=uniform,utility=precision,levels=7)@1000"),
)
TEXTS = (
    "赤いマグカップと湯呑みのセット、電子レンジ対応",
    "كوب أحمر كبير للسفر",
    "red mug " * 40,
    "cafe\N{COMBINING ACUTE ACCENT} crème",
)
LONG_ID = "https://shop.example/products/" + "x" * 170


def change(query, text, best):
    top = (Placed(best, 3.0, 1), Placed("d2", None, 2), Placed("商品-0001", 0.0, 3))
    return QueryChange(query, text, 0.25, 1.0, 3.0, Placed(best, 3.0, None, 1), top)


CHANGES = (
    change("q1", TEXTS[0], "d1"),
    change("クエリ-0002", TEXTS[1], "商品-0002"),
    change("q3", TEXTS[2], "d3"),
    change(LONG_ID, TEXTS[3], LONG_ID),
    *(change(f"q{i}", "plain", f"d{i}") for i in range(5, 15)),
)
LONG_SLICE = "category=kitchen appliances and small electrical devices, refurbished"


def odd_run():
    """Seven suites; none of them has a short table."""
    red = full_suite("shop", 0, 60, TWELVE[:3], 4)
    outcomes = list(red.outcomes)
    tail = next(each for each in outcomes if each.verdict == "fail")
    figures = (
        replace(tail.figures[0], slice=LONG_SLICE, queries=1_234_567, worse=123_456, better=23_456, same=1_087_655),
        SliceFigures("言語=日本語", 40, 0.5, 0.6, 10, 0, 30),
        SliceFigures("all", 1_234_567, 0.7, 0.8, 100_000, 200_000, 934_567),
    )
    failed = replace(tail, metric=LONG_METRIC, figures=figures, queries=CHANGES)
    verdicts = ("inconclusive", "error", "pass")
    others = [replace(each, verdict=verdict) for each, verdict in zip(outcomes[:3], verdicts, strict=True)]
    accepted = replace(outcomes[1], metric="RR@10", verdict="pass", accepted=True)
    whole = replace(red, outcomes=(failed, *others, accepted, outcomes[-1]))
    many = full_suite(LONG_NAME, 1, 60, TWELVE, 4)
    run = full_run()
    forty = tuple(
        replace(full_suite(f"shop-{i}", i, 10, ("nDCG@10",), 0), matrix={"language": value}, name=f"shop.{value}")
        for i, value in enumerate(("de", "日本語", "العربية"), 1)
    )
    unjudged = replace(forty[0], name="broken", verdict="error", outcomes=(), metrics=(), error="data/qrels.txt: none")
    return replace(run, suites=(whole, many, *forty, unjudged), accepted=("shop.de",))


def failing():
    """The outcome with the widest tables."""
    suite = odd_run().suites[0]
    return suite.outcomes[0], suite
