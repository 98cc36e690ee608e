"""Pages with many queries: how large they may get, and that they can be used."""

import pytest
from browser.pages import page_of
from browser.queries import column, control, count, ids, show_query, view
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture(scope="module")
def run():
    return full_run(queries=7000, metrics=6, documents=500)


@pytest.fixture(scope="module")
def text(run):
    return page_of(run)


def test_seven_thousand_queries_are_filtered_sorted_and_found(open_page, run, text):
    page = open_page(text)
    assert len(ids(page)) == 50
    control(page, "filter").fill("kettle blue")
    table = run.suites[0].queries
    assert count(page).startswith(
        f"{sum('kettle' in each and 'blue' in each for each in table.texts)} of 7,000 queries"
    )
    page.evaluate("location.hash = '#shop-0::q=q6999'")

    show_query(page, "q6999")
    expect(view(page)).to_contain_text("The page does not hold the documents of this query")
    assert column(page, "query")
