"""A weighted rule and the plain mean beside it: each face says which of the two a figure is."""

import re

import pytest

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


@pytest.fixture
def report(shop):
    """Lines of the terminal, and the folder of the report, of a red weighted rule beside a green plain one."""
    text = shop_of(shop, WEIGHTED, PLAIN).run("--junitxml=junit.xml").stdout.str()
    return text.splitlines(), shop.path / "ireval-report"


def test_the_headline_says_weighted_and_its_table_has_the_figures_of_the_sentence(report):
    lines, _ = report

    assert any(line.endswith(f": {HEADLINE}") for line in lines)
    (row,) = (line for line in lines if line.startswith("  all, weighted"))
    assert row.split()[2:6] == [BASELINE, NOW, "-0.1645", "-16.4%"]


def test_the_table_of_the_run_has_a_row_of_each_mean_with_the_verdict_of_its_rules(report):
    lines, _ = report

    table = lines[lines.index(next(line for line in lines if "= ireval =" in line)) :]
    plain = next(line for line in table if PLAIN_NOW in line)
    weighted = next(line for line in table if NOW in line)
    assert plain.split()[-1] == "pass"
    assert weighted.split()[-1] == "fail"
    assert any("nDCG@10, weighted" in line for line in table)


def test_the_summary_of_a_pull_request_says_weighted_wherever_it_has_these_figures(report):
    summary = (report[1] / "summary.md").read_text()

    assert f"(weighted nDCG@10 {BASELINE} -> {NOW})" in summary
    assert f"#### {HEADLINE}" in summary
    assert f"| **all, weighted** | {BASELINE} | {NOW} |" in summary
    assert f"| nDCG@10, weighted | {NOW} | {BASELINE} |" in summary
    assert all("weighted" in line for line in summary.splitlines() if NOW in line)


def test_the_page_says_weighted_and_that_its_table_of_slices_is_not(report):
    page = (report[1] / "index.html").read_text()

    assert HEADLINE in page
    assert '<th scope="row">all, weighted</th>' in page
    assert "Every query counts the same here; a rule that weights queries shows its own figures." in page


def test_programs_can_tell_the_two_means(report, shop):
    suite = shop.results()["suites"][0]

    weighted, plain = (each["figures"][0] for each in suite["outcomes"] if each["kind"] == "no_regression")
    assert (weighted["weighted"], f"{weighted['now']:.4f}") == (True, NOW)
    assert (plain["weighted"], f"{plain['now']:.4f}") == (False, PLAIN_NOW)
    assert f"{suite['metrics'][0]['now']:.4f}" == PLAIN_NOW
    metrics = (report[1] / "metrics.txt").read_text()
    assert re.search(r'^ireval_metric\{suite="shop",metric="nDCG@10",slice="all"\} 0\.9$', metrics, re.MULTILINE)
    found = re.search(r'^ireval_metric\{.*slice="all",weighted="true"\} (.*)$', metrics, re.MULTILINE)
    assert found is not None
    assert f"{float(found[1]):.4f}" == NOW
    assert HEADLINE in (shop.path / "junit.xml").read_text()


def test_rules_without_weights_do_not_speak_of_them(shop):
    shop_of(shop, PLAIN.replace("50%", "5%"))

    text = shop.run().stdout.str()

    assert "nDCG@10 fell 10.0% (tolerance 5%)" in text
    files = [(shop.path / "ireval-report" / name).read_text() for name in ("summary.md", "metrics.txt")]
    assert not [each for each in (text, *files) if "weighted" in each]
