"""The table of all queries: filter, slices, rules, metrics, sorting, pages."""

from dataclasses import replace

import pytest
from browser.pages import queries_of
from browser.queries import column, control, count, explorer, head, ids, opener, view
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture(scope="module")
def run():
    return full_run(suites=2, queries=120, metrics=3, documents=20)


@pytest.fixture(scope="module")
def text(run):
    return queries_of(run)


@pytest.fixture
def page(open_page, text):
    return open_page(text)


def changes(run, metric="nDCG@10"):
    table = run.suites[0].queries
    return dict(zip(table.ids, table.changes(metric), strict=True))


def test_the_worst_change_of_the_first_metric_stands_first(page, run):
    by_change = sorted(changes(run).items(), key=lambda pair: pair[1])

    assert ids(page) == [query for query, _ in by_change[:50]]
    assert column(page, "nDCG@10 change")[0] == f"{by_change[0][1]:+.4f}"
    assert count(page) == "All 120 queries, by nDCG@10 change, the lowest first."


def test_all_words_of_the_filter_must_be_there_in_any_column(page, run):
    table = run.suites[0].queries
    control(page, "filter").fill("RED  tail")
    wanted = {
        query
        for query, text, segment in zip(table.ids, table.texts, table.columns["segment"], strict=True)
        if "red" in text and segment == "tail"
    }

    assert set(ids(page)) == wanted
    assert count(page).startswith(f"{len(wanted)} of 120 queries")


def test_what_nobody_asks_for_is_said(page):
    control(page, "filter").fill("nothing of this kind")

    assert ids(page) == []
    expect(explorer(page).get_by_text("No query is like that.")).to_be_visible()
    assert count(page).startswith("0 of 120 queries")


def test_a_slice_is_chosen(page):
    control(page, "slice").select_option("segment=tail")

    assert set(column(page, "segment")) == {"tail"}
    assert count(page).startswith("40 of 120 queries")


def test_queries_behind_red_rules(page, run):
    red = {each.query for outcome in run.suites[0].outcomes if outcome.verdict == "fail" for each in outcome.queries}
    control(page, "rules").select_option("behind a red rule")

    assert set(ids(page)) == red
    control(page, "rules").select_option("fail: no_regression::nDCG_10.segment-tail")
    assert set(ids(page)) == red
    control(page, "rules").select_option("behind a red or doubtful one")
    assert set(ids(page)) == red
    control(page, "rules").select_option("all queries")
    assert count(page).startswith("All 120 queries")


def test_only_what_worsened(page, run):
    control(page, "metric").select_option("nDCG@10")
    control(page, "worsened only").check()

    worse = {query for query, change in changes(run).items() if round(change, 4) < 0}
    assert set(ids(page)) == worse
    assert all(each.startswith("-") for each in column(page, "nDCG@10 change"))


SORTS = {
    "query": lambda table: table.ids,
    "segment": lambda table: table.columns["segment"],
    "weight": lambda table: table.weights,
    "nDCG@10 baseline": lambda table: table.baseline["nDCG@10"],
    "nDCG@10 now": lambda table: table.now["nDCG@10"],
    "RR@10 change": lambda table: table.changes("RR@10"),
    "R@20 change": lambda table: table.changes("R@20"),
}


def test_every_column_sorts_both_ways(page, run):
    for name, values_of in SORTS.items():
        values = dict(zip(run.suites[0].queries.ids, values_of(run.suites[0].queries), strict=True))
        down = name == "weight"  # the heaviest query matters most
        sorted_by = explorer(page).locator("th[aria-sort]")
        head(page, name).click()
        expect(sorted_by).to_have_attribute("aria-sort", "descending" if down else "ascending")
        assert round_values(values, ids(page)) == round_values(
            values, sorted(values, key=values.get, reverse=down)[:50]
        )
        head(page, name).click()
        expect(sorted_by).to_have_attribute("aria-sort", "ascending" if down else "descending")
        assert round_values(values, ids(page)) == round_values(
            values, sorted(values, key=values.get, reverse=not down)[:50]
        )


def round_values(values, queries):
    """What the page sorts by: figures have four decimals there."""
    found = [values[query] for query in queries]
    return [round(value, 4) + 0.0 if isinstance(value, float) else value for value in found]


def test_a_column_of_numbers_is_sorted_as_such(open_page, run):
    suite = run.suites[0]
    searches = tuple(str(number * 7 % 120) if number else "" for number in range(120))
    table = replace(suite.queries, columns={"searches": searches})
    page = open_page(queries_of(replace(run, suites=(replace(suite, queries=table),))))
    head(page, "searches").click()

    assert column(page, "searches")[:12] == [str(number) for number in range(1, 13)]


def test_texts_are_in_the_order_of_a_language(page, run):
    head(page, "text").click()

    texts = column(page, "text")
    assert texts[0].startswith("blue")
    assert texts.index(next(text for text in texts if text.startswith("café"))) > 0


def test_fifty_queries_are_a_page(page):
    expect(explorer(page).locator(".page")).to_have_text("1 to 50 of 120")
    explorer(page).get_by_role("button", name="Next").click()
    explorer(page).get_by_role("button", name="Next").click()

    expect(explorer(page).locator(".page")).to_have_text("101 to 120 of 120")
    assert len(ids(page)) == 20
    expect(explorer(page).get_by_role("button", name="Next")).to_be_disabled()
    head(page, "query").click()
    expect(explorer(page).locator(".page")).to_have_text("1 to 50 of 120")


def test_each_suite_has_a_table_of_its_own(page, run):
    page.locator("details.suite").nth(1).evaluate("each => each.open = true")
    control(page, "filter", 1).fill("q005")

    assert ids(page, 1) == ["q005"]
    assert len(ids(page, 0)) == 50


def test_a_metric_of_costs_has_its_worst_where_it_rises(open_page, run):
    suite = run.suites[0]
    metrics = tuple(replace(each, direction="lower") for each in suite.metrics)
    page = open_page(queries_of(replace(run, suites=(replace(suite, metrics=metrics),))))

    highest = max(changes(run).items(), key=lambda pair: pair[1])
    assert ids(page)[0] == highest[0]
    expect(explorer(page).locator("td.change").first).to_have_class("number change worse")


def test_without_a_baseline_there_is_no_change(open_page, run):
    suite = run.suites[0]
    alone = replace(suite, baseline=None, queries=replace(suite.queries, baseline={}))
    page = open_page(queries_of(replace(run, suites=(alone,))))

    lowest = min(suite.queries.now["nDCG@10"])
    assert column(page, "nDCG@10 now")[0] == f"{lowest:.4f}"
    assert explorer(page).locator("thead th").filter(has_text="change").count() == 0
    opener(page, "q003").or_(explorer(page).locator(".opener").first).first.click()
    expect(view(page).locator(".query-figures")).to_be_visible()
