"""A weighted rule and the plain mean beside it: each face says which of the two a figure is."""

import re

WEIGHTED = "  - no_regression: {metric: nDCG@10, tolerance: 5%, weighted: true, decide_by: observed}\n"
PLAIN = "  - no_regression: {metric: nDCG@10, tolerance: 50%, name: plain, decide_by: observed}\n"
HEADLINE = "weighted nDCG@10 fell 16.4% (tolerance 5%)"
BASELINE, NOW = "1.0000", "0.8355"
"""The weighted means; one query in ten lost all, and it has 100 of 608 searches."""
PLAIN_NOW = "0.9000"


def shop_of(shop, *rules):
    """The shop with these rules alone; now its first query has lost everything."""
    shop.suite = shop.suite.partition("rules:")[0] + "rules:\n" + "".join(rules)
    shop.write()
    shop.accept()
    shop.rankings["q01"] = ["q01-n1", "q01-n2"]
    shop.write()
    return shop


def test_each_face_says_which_of_the_two_means_a_figure_is(shop):
    lines = shop_of(shop, WEIGHTED, PLAIN).run().stdout.str().splitlines()
    assert any(line.endswith(f": {HEADLINE}") for line in lines)
    (row,) = (line for line in lines if line.startswith("  all, weighted"))
    assert row.split()[2:6] == [BASELINE, NOW, "-0.1645", "-16.4%"]
    table = lines[lines.index(next(line for line in lines if "= ireval =" in line)) :]
    assert next(line for line in table if PLAIN_NOW in line).split()[-1] == "pass"
    assert next(line for line in table if NOW in line).split()[-1] == "fail"

    summary, page, metrics = (
        (shop.path / "ireval-report" / name).read_text() for name in ("summary.md", "index.html", "metrics.txt")
    )
    assert f"(weighted nDCG@10 {BASELINE} -> {NOW})" in summary
    assert f"| **all, weighted** | {BASELINE} | {NOW} |" in summary
    assert all("weighted" in line for line in summary.splitlines() if NOW in line)
    assert '<th scope="row">all, weighted</th>' in page
    assert "Every query counts the same here; a rule that weights queries shows its own figures." in page
    assert 'ireval_metric{suite="shop",metric="nDCG@10",slice="all"} 0.9\n' in metrics
    found = re.search(r'^ireval_metric\{.*slice="all",weighted="true"\} (.*)$', metrics, re.MULTILINE)
    assert f"{float(found[1]):.4f}" == NOW

    (suite,) = shop.results()["suites"]
    weighted, plain = (each["figures"][0] for each in suite["outcomes"] if each["kind"] == "no_regression")
    assert (weighted["weighted"], f"{weighted['now']:.4f}") == (True, NOW)
    assert (plain["weighted"], f"{plain['now']:.4f}") == (False, PLAIN_NOW)


def test_rules_without_weights_do_not_speak_of_them(shop):
    shop_of(shop, PLAIN.replace("50%", "5%"))

    text = shop.run().stdout.str()

    assert "nDCG@10 fell 10.0% (tolerance 5%)" in text
    files = [(shop.path / "ireval-report" / name).read_text() for name in ("summary.md", "metrics.txt")]
    assert not [each for each in (text, *files) if "weighted" in each]
