"""The keyboard goes through queries, and leaves those alone who type or press something else."""

import pytest
from browser.pages import queries_of
from browser.queries import control, explorer, get_focus, head, ids, opener, view
from playwright.sync_api import expect
from report.full_run import full_run


@pytest.fixture(scope="module")
def text():
    return queries_of(full_run(suites=2, queries=60, documents=20))


@pytest.fixture
def page(open_page, text):
    return open_page(text)


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_enter_in_the_filter_leads_to_the_first_query_that_it_found(page):
    first = ids(page)[0]
    press(page, "/", *first, "Enter")

    assert get_focus(page) == first
    expect(view(page)).to_have_count(0)
    press(page, "Enter")
    expect(view(page)).to_have_count(1)


def test_j_and_k_and_arrows_go_from_query_to_query(page):
    first, second, third = ids(page)[:3]
    press(page, "j")
    assert get_focus(page) == first
    press(page, "j", "j")
    assert get_focus(page) == third
    press(page, "k")
    assert get_focus(page) == second
    press(page, "ArrowDown")
    assert get_focus(page) == third
    press(page, "ArrowUp")

    assert get_focus(page) == second
    expect(opener(page, second)).to_be_in_viewport()


def test_the_last_query_of_a_page_is_followed_by_the_first_of_the_next(page):
    explorer(page).locator(".opener").last.focus()
    press(page, "j")
    expect(explorer(page).locator(".page")).to_have_text("51 to 60 of 60")
    assert get_focus(page) == ids(page)[0]
    press(page, "k")

    expect(explorer(page).locator(".page")).to_have_text("1 to 50 of 60")
    assert get_focus(page) == ids(page)[-1]


def test_enter_opens_and_closes_and_escape_closes(page):
    press(page, "j", "Enter")
    expect(view(page)).to_have_count(1)
    press(page, "Enter")
    expect(view(page)).to_have_count(0)
    press(page, "Enter")
    view(page).get_by_role("button", name="Copy link").focus()
    press(page, "Escape")

    expect(view(page)).to_have_count(0)
    assert get_focus(page) == ids(page)[0]


def test_a_question_mark_shows_the_keys(page):
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    press(page, "j")
    press(page, "Escape")
    expect(page.get_by_role("dialog", name="Keys")).not_to_be_visible()
    page.get_by_role("button", name="Keys").first.click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).click()

    expect(page.get_by_role("dialog", name="Keys")).not_to_be_visible()


def test_no_key_is_taken_from_those_who_type(page):
    field = control(page, "filter")
    field.focus()
    press(page, *"jk/?")

    expect(field).to_have_value("jk/?")
    expect(field).to_be_focused()


def test_no_key_is_taken_with_another_one(page):
    press(page, "Control+j", "Alt+j", "Meta+j", "Control+/")

    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_everything_is_reached_by_tab(page):
    control(page, "filter").focus()
    reached = []
    for _ in range(10):
        reached.append(page.evaluate("document.activeElement.className || document.activeElement.innerText"))
        press(page, "Tab")

    assert reached == ["words", "slice", "rule", "metric", "worsened", "keys", "query", "text", "segment", "weight"]
    head(page, "R@20 change").focus()
    press(page, "Tab")
    assert get_focus(page) == ids(page)[0]
    press(page, "Enter")
    expect(view(page).get_by_role("button", name="Copy link")).to_be_visible()
    press(page, "Tab", "Tab")
    assert get_focus(page) == "Copy link"
