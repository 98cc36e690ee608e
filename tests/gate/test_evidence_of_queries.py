"""Beside a query that lost stands the document that its loss comes from."""

import pytest


@pytest.fixture
def make_red_shop(shop):
    """A shop whose q02 had this ranking when it was accepted, and has that one now; all documents are judged."""

    def make(before, now, *rules, metric="nDCG@10"):
        shop.judgments["q02"] = {"good": 3, "fair": 2, "weak": 1, **{f"bad{n}": 0 for n in range(9)}}
        listed = "".join(
            f"  - {rule}\n"
            for rule in rules or [f"no_regression: {{metric: {metric}, tolerance: 0.1%, decide_by: observed}}"]
        )
        shop.suite = shop.suite[: shop.suite.index("metrics:")] + f"metrics: ['{metric}']\nrules:\n{listed}"
        shop.rankings["q02"] = before
        shop.write()
        (shop.path / "before.txt").write_bytes((shop.path / "rankings.txt").read_bytes())
        shop.accept()
        shop.rankings["q02"] = now
        shop.write()
        assert shop.gate().verdict == "fail"
        return shop

    return make


def evidence(shop):
    """The document beside q02, with its ranks in the baseline and now."""
    for outcome in shop.results()["suites"][0]["outcomes"]:
        for query in outcome["queries"]:
            if query["query"] == "q02":
                best = query["best"]
                return best and (best["document"], best["baseline"], best["now"])
    return pytest.fail("q02 is in no list")


def test_it_is_the_document_that_fell_and_not_one_that_rose(make_red_shop):
    shop = make_red_shop(["fair", "good"], ["good", "bad1"])

    assert evidence(shop) == ("fair", 1, None)
    shop.run().stdout.fnmatch_lines(["*document that fell *", '*q02 "words 2" *fair (grade 2) #1 *not in top 10'])


@pytest.mark.parametrize(
    ("metric", "before", "now", "expected"),
    [
        pytest.param("nDCG@10", ["good", "fair"], ["bad1", "bad2", "good", "fair"], ("good", 1, 3), id="the best fell"),
        pytest.param(
            "P@3", ["good", "fair", "weak"], ["bad1", "bad2", "good", "fair"], ("fair", 2, 4), id="in the top"
        ),
        pytest.param("R@3", ["weak", "fair"], ["fair", "bad1", "bad2", "good"], ("weak", 1, None), id="recall"),
        pytest.param("AP", ["good", "bad1", "fair"], ["good", "bad1", "bad2"], ("fair", 3, None), id="the best stayed"),
    ],
)
def test_it_is_the_document_that_cost_this_metric_most(make_red_shop, metric, before, now, expected):
    assert evidence(make_red_shop(before, now, metric=metric)) == expected


def test_compared_with_a_file_it_is_the_document_whose_fall_weighs_most(make_red_shop):
    rule = "no_regression: {metric: nDCG@10, tolerance: 0.1%, decide_by: observed, against: {run: before.txt}}"

    assert evidence(make_red_shop(["fair", "good"], ["good", "bad1"], rule)) == ("fair", 1, None)
