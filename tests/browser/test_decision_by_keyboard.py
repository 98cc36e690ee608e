"""From a red check to a decision with Tab and Enter: a query, both its rankings, why, and what accepts or waives."""

from dataclasses import replace

import pytest
from browser.pages import page_of
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture(scope="module")
def text():
    """A red run whose failing rule lists the worst queries first, and whose loss no plain cause explains."""
    run = full_run()
    (suite,) = run.suites
    outcomes = [
        replace(outcome, queries=tuple(sorted(outcome.queries, key=lambda query: query.now - query.baseline)))
        for outcome in suite.outcomes
    ]
    return page_of(replace(run, suites=(replace(suite, outcomes=tuple(outcomes), diagnoses=()),)))


def tab_to(page, name, tabs=40):
    """Press Tab until an element of this text has the focus; it is seen, and so is that it has the focus."""
    for _ in range(tabs):
        page.keyboard.press("Tab")
        if name in page.evaluate("document.activeElement.innerText"):
            break
    reached = page.locator(":focus")
    assert name in reached.inner_text(), f"not reached with {tabs} tabs"
    expect(reached).to_be_in_viewport()
    assert reached.evaluate("element => getComputedStyle(element).outlineStyle") != "none"


def copy_next(page, label):
    """What the button beside ``label`` copies, pressed with Enter when Tab has reached it."""
    for _ in range(40):
        tab_to(page, "Copy")
        if label in page.evaluate("document.activeElement.parentElement.innerText"):
            break
    page.keyboard.press("Enter")
    return page.evaluate("copied")


@pytest.mark.parametrize(("query", "width"), [("q023", 390), ("q044", 1280)], ids=["beside the checks", "in the table"])
def test_a_red_check_is_decided_with_the_keyboard_alone(open_page, text, query, width):
    page = open_page(text, width=width)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    tab_to(page, "Skip to the findings")
    page.keyboard.press("Enter")
    tab_to(page, query)
    page.keyboard.press("Enter")
    shown = page.locator("article.query", has=page.locator(".query-id", has_text=query)).filter(visible=True)
    expect(shown).to_be_in_viewport()
    expect(shown.locator(".side.baseline li").first).to_be_visible()
    expect(shown.locator(".side.now li").first).to_be_visible()
    expect(shown.locator(".shares")).to_contain_text("What each document adds to the change")
    assert copy_next(page, "why").endswith(f"--query {query}")

    page.go_back()
    expect(page.get_by_role("link", name=query, exact=True).first).to_be_focused()
    assert "--ireval-update" in copy_next(page, "accept")
    assert copy_next(page, "waive a query").startswith("- {query: ")
