"""An address leads to its query, wherever that is, and to its rule; what is copied shows the same again."""

import pytest
from browser.pages import queries_of
from browser.queries import control, count, explorer, ids, opener, show_query, view
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture(scope="module")
def text():
    return queries_of(full_run(suites=2, queries=120, documents=20))


def test_a_suite_that_is_closed_is_opened(open_page, text):
    page = open_page(text, "#shop-1::q=q007")

    show_query(page, "q007", 1)


def test_a_filter_that_hides_the_query_is_cleared_and_that_is_said(open_page, text):
    page = open_page(text)
    control(page, "filter").fill("q003")
    control(page, "slice").select_option("segment=head")
    control(page, "worsened only").check()
    page.evaluate("location.hash = '#shop-0::q=q100'")

    show_query(page, "q100")
    assert count(page) == "All 120 queries, by nDCG@10 change, the lowest first. The filter hid q100 and was cleared."
    expect(control(page, "filter")).to_have_value("")
    expect(control(page, "worsened only")).not_to_be_checked()


def test_the_address_follows_what_is_open(open_page, text):
    page = open_page(text)
    query = ids(page)[2]
    opener(page, query).click()
    assert page.evaluate("location.hash") == f"#shop-0::q={query}"
    opener(page, query).click()

    assert page.evaluate("location.hash") == ""


def test_a_view_that_needs_no_script_is_where_its_address_leads(open_page, text):
    page = open_page(queries_of(full_run(queries=60)), "#shop-0::q=q005")

    expect(page.locator("details.worst-query article").nth(1)).to_be_in_viewport()
    expect(page.locator("details.worst-query").nth(1)).to_have_attribute("open", "")
    expect(explorer(page).locator(".view-row")).to_have_count(0)


@pytest.mark.parametrize("anchor", ["#shop-0::q=nobody", "#%"])
def test_an_address_of_nothing_changes_nothing(open_page, text, anchor):
    page = open_page(text, anchor)

    expect(view(page)).to_have_count(0)
    assert count(page).startswith("All 120 queries")
