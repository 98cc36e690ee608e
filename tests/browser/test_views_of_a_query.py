"""The view of one query: both rankings side by side, what moved and by how much, and the command that says why."""

from dataclasses import replace

import pytest
from browser.pages import queries_of
from browser.queries import control, explorer, ids, opener, show_query, view
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture(scope="module")
def run():
    return full_run(queries=60, documents=50)


@pytest.fixture(scope="module")
def text(run):
    return queries_of(run)


def words(locator):
    return [" ".join(each.split()) for each in locator.all_inner_texts()]


def test_both_rankings_stand_side_by_side(open_page, text):
    page = open_page(text, "#shop-0::q=q017")
    before, now = view(page).locator(".side.baseline li"), view(page).locator(".side.now li")

    assert words(before)[:2] == ["#1 q017-d0 3 perfect ↓ now #19", "#2 q017-d1 3 perfect ↓ now #5"]
    assert words(now)[0] == "#1 q017-n1 unjudged new"
    assert words(now)[-2:] == ["#19 q017-d0 3 perfect ↓ was #1", "#20 q017-d4 1 partly ↓ was #5"]
    left, right = before.first.bounding_box(), now.first.bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]


def test_a_line_joins_the_places_of_a_document(open_page, text):
    page = open_page(text, "#shop-0::q=q017")
    (line, *rows) = show_query(page, "q017").evaluate(
        """(view) => [...view.querySelectorAll(".moves .worse, .side li.worse")].map((each) => {
          const { top, bottom } = each.getBoundingClientRect();
          return each.tagName === "LI" ? (top + bottom) / 2 : [top, bottom];
        }).sort((a, b) => Array.isArray(b) - Array.isArray(a))"""
    )
    middles = [row for row in rows if not isinstance(row, list)]

    assert len(middles) == 10
    assert all(any(abs(end - middle) < 1 for middle in middles) for end in line)


def test_each_documents_share_of_the_change_is_said(open_page, text, run):
    page = open_page(text, "#shop-0::q=q017")
    rows = words(view(page).locator(".shares tbody tr"))

    assert len(rows) == 6
    assert "q017-d0 3 perfect #1 → #19 +0.0029 +0.0078" in rows


def test_the_curve_is_drawn_and_said(open_page, text):
    page = open_page(text, "#shop-0::q=q017")
    picture = view(page).get_by_role("img")

    expect(picture).to_have_accessible_name(
        "Precision at each recall. baseline: 6 relevant found up to recall 1.00. "
        "now: 6 relevant found up to recall 1.00."
    )
    assert picture.locator("circle").count() == 12


def test_the_table_opens_what_the_page_has_without_scripts(open_page, text):
    page = open_page(text)
    control(page, "metric").select_option("nDCG@10")
    opener(page, "q002").click()
    fixed = page.locator(".worst-query article").first
    expect(view(page).locator(".rankings")).to_be_visible()

    for part in (".query-figures", ".query-rules", ".query-columns", ".shares", ".command code"):
        assert words(view(page).locator(part)) == words(fixed.locator(part)), part
    for side in ("baseline", "now"):  # the fixed view has fewer of the documents that are of no account
        listed = words(view(page).locator(f".side.{side} li"))
        assert [each for each in listed if each in words(fixed.locator(f".side.{side} li"))] == words(
            fixed.locator(f".side.{side} li")
        )


def test_a_click_opens_and_closes(open_page, text):
    page = open_page(text)
    query = ids(page)[0]
    explorer(page).locator("td.text").first.click()
    expect(view(page).locator(".query-id")).to_have_text(query)
    expect(opener(page, query)).to_have_attribute("aria-expanded", "true")
    view(page).get_by_role("button", name="Close").click()

    expect(view(page)).to_have_count(0)
    expect(opener(page, query)).to_be_focused()


def test_without_a_baseline_there_is_one_ranking(open_page, run):
    alone = replace(run.suites[0], baseline=None)
    page = open_page(queries_of(replace(run, suites=(alone,))), "#shop-0::q=q017")

    expect(view(page).locator(".side.now li")).to_have_count(20)
    expect(view(page).locator(".side.baseline")).to_have_count(0)


def test_links_and_commands_are_copied(open_page, text):
    page = open_page(text, "#shop-0::q=q017")
    page.evaluate(  # what a browser without a window lets a page copy differs from one machine to another
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    view(page).get_by_role("button", name="Copy link").click()
    assert page.evaluate("copied").endswith(".html#shop-0::q=q017")
    view(page).get_by_role("button", name="Copy", exact=True).click()
    assert page.evaluate("copied") == (
        "RANKINGS=runs/now.trec SEARCH_KEY=… ireval why nDCG@10 --suite suites/product-search.ireval.yaml --query q017"
    )
