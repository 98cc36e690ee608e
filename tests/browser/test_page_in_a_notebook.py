"""The page of a gate inside of a notebook's output: a frame that is cut off from the notebook around it."""

import pytest
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture
def frame(open_page):
    (suite,) = full_run(queries=20, documents=10).suites
    page = open_page(f'<!doctype html><meta charset="utf-8"><h1>Notebook</h1>{suite._repr_html_()}')
    return page.frame_locator("iframe")


def test_links_stay_inside_of_the_frame_and_queries_are_shown(frame):
    expect(frame.locator("h1, h2").first).to_be_visible()

    frame.locator("a[href*='q0']").first.click()

    expect(frame.locator("h1", has_text="Notebook")).to_have_count(0)
    expect(frame.locator(".explorer, [id*='query']").first).to_be_visible()
