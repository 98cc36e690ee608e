"""The rater in a real browser: keys, saving, going on, two tabs, hostile texts, labels and contrast."""

import json
import threading

import pytest
from playwright.sync_api import expect

from pytest_ireval_judgments.commands.rating_page import Rating, make_rating_server
from pytest_ireval_judgments.rating import JudgmentFile, read_pool

HOSTILE = "<img src=x onerror=\"document.title='broken'\"></script><script>document.title='broken'</script>"
LABELS = {0: "no", 1: "partly", 2: HOSTILE}
ROWS = [
    {
        "query": "q1",
        "query_text": "red mug",
        "query_narrative": "for ☕",
        "document": "d1",
        "document_title": "Mug",
        "grade": "",
    },
    {
        "query": "q1",
        "query_text": "red mug",
        "document": HOSTILE,
        "document_title": HOSTILE,
        "document_url": "javascript:alert(1)",
        "grade": "",
    },
    {"query": "q2", "query_text": "שלום", "document": "d1", "document_url": "https://shop.example/d1", "grade": ""},
]


@pytest.fixture
def rating(tmp_path):
    """The address of a page for three documents, and a function that reads what was saved."""
    (tmp_path / "pool.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    file = JudgmentFile(tmp_path / "judged.jsonl", "ann")
    items = read_pool(tmp_path / "pool.jsonl").items
    server, address = make_rating_server(
        Rating("pool.jsonl", items, file, {"date": "2026-03-01"}, LABELS, "Grade\nwell")
    )
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield address, lambda: list(file.grades.values())
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_address(browser):
    """Opens an address in a new tab; the test fails if the page complains or asks for anything elsewhere."""
    complaints, context = [], browser.new_context()

    def open_page(address, **options):
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request", lambda asked: None if asked.url.startswith((address, "data:")) else complaints.append(asked.url)
        )
        page.emulate_media(color_scheme=options.get("scheme", "light"))
        page.set_viewport_size({"width": options.get("width", 1100), "height": 700})
        page.goto(address)
        expect(page.locator("#item")).to_be_visible()
        return page

    yield open_page
    context.close()
    assert [each for each in complaints if "409" not in each and "500" not in each] == []


def status(page, text):
    expect(page.locator("#status")).to_have_text(text)


def test_keys_grade_undo_and_skip_and_the_next_visit_goes_on(rating, open_address):
    address, saved = rating
    page = open_address(address)
    assert page.inner_text("h1") == "red mug"
    assert page.inner_text("#about") == "narrative\nfor ☕"

    page.keyboard.press("2")
    status(page, "Grade 2 saved. 1 of 3 judged.")
    assert saved() == ["2"]
    page.keyboard.press("u")
    status(page, "Undone: without a grade again.")
    assert (saved(), page.inner_text("#document")) == ([], "d1")
    page.keyboard.press("s")
    status(page, "Skipped. 0 of 3 judged.")
    page.keyboard.press("1")
    status(page, "Grade 1 saved. 1 of 3 judged.")
    page.keyboard.press("9")
    page.close()

    again = open_address(address)
    assert (again.inner_text("#document"), again.inner_text("#count")) == ("d1", "1 of 3 judged")
    again.get_by_role("button", name="0 no").click()
    status(again, "Grade 0 saved. 2 of 3 judged.")
    again.keyboard.press("0")
    status(again, "Grade 0 saved. All 3 documents are judged.")
    assert sorted(saved()) == ["0", "0", "1"]


def judge_in_two_tabs(address, open_address):
    """Two tabs; the first gave its first document a 2, which the second was told when it tried a 0."""
    one, other = open_address(address), open_address(address)
    one.keyboard.press("2")
    status(one, "Grade 2 saved. 1 of 3 judged.")
    other.keyboard.press("0")
    status(other, "This document was judged elsewhere: 2. Press a key again to change it.")
    return one, other


def test_two_tabs_lose_nothing_and_tell_what_the_other_did(rating, open_address):
    address, saved = rating
    _, other = judge_in_two_tabs(address, open_address)
    assert saved() == ["2"]
    other.keyboard.press("0")
    status(other, "Grade 0 saved. 1 of 3 judged.")
    assert saved() == ["0"]


def test_undo_leaves_what_another_tab_has_judged_since(rating, open_address):
    address, saved = rating
    one, other = judge_in_two_tabs(address, open_address)
    other.keyboard.press("0")
    status(other, "Grade 0 saved. 1 of 3 judged.")

    one.keyboard.press("u")
    status(one, "This document was judged elsewhere: 0. Press a key again to change it.")
    assert saved() == ["0"]


def test_hostile_texts_are_shown_as_they_are(rating, open_address):
    page = open_address(rating[0])
    page.keyboard.press("s")
    expect(page.locator("h2")).to_have_text(HOSTILE)
    assert page.inner_text("#document") == HOSTILE
    assert page.locator("#fields a").count() == 0  # no link runs a script
    assert page.locator("img").count() == 0
    assert page.title() == "Judge pool.jsonl"

    page.keyboard.press("s")
    expect(page.locator("#fields a")).to_have_attribute("href", "https://shop.example/d1")
    assert page.locator("#fields a").get_attribute("rel") == "noopener noreferrer"


@pytest.fixture
def losing(rating, browser):
    """A page, shown, and the set of methods whose requests are lost from now on.

    Requests are caught from the beginning: catching begins some time after it is asked for.
    """
    page, lost = browser.new_page(), set()
    page.route("**/items/*", lambda route: route.abort() if route.request.method in lost else route.continue_())
    page.goto(rating[0])
    status(page, "0 of 3 judged.")
    yield page, lost
    page.close()


def test_a_server_that_has_ended_is_told(rating, losing):
    page, lost = losing
    lost |= {"GET", "POST"}
    page.keyboard.press("1")
    expect(page.locator("#status")).to_contain_text("Not saved: ")
    expect(page.locator("#status")).to_have_class("status wrong")
    assert rating[1]() == []

    lost.clear()
    page.keyboard.press("1")
    status(page, "Grade 1 saved. 1 of 3 judged.")


def test_a_grade_is_told_as_saved_though_the_next_document_does_not_come(rating, losing):
    page, lost = losing
    lost.add("GET")
    page.keyboard.press("1")
    expect(page.locator("#status")).to_contain_text("Grade 1 saved. The next document cannot be shown: ")
    expect(page.locator("[data-grade='1']")).to_have_attribute("aria-pressed", "true")
    assert rating[1]() == ["1"]

    lost.clear()
    page.keyboard.press("2")  # no clash: the page remembers the grade that it saved
    status(page, "Grade 2 saved. 1 of 3 judged.")
    assert rating[1]() == ["2"]


def test_a_screen_reader_hears_each_document_and_each_result(rating, open_address):
    page = open_address(rating[0])
    assert page.evaluate("document.activeElement.id") == "text"
    assert page.get_by_role("status").get_attribute("aria-live") == "polite"
    assert page.get_by_role("group", name="Grade").get_by_role("button").count() == 6
    assert page.get_by_role("progressbar", name="judged documents").count() == 1
    page.keyboard.press("1")
    status(page, "Grade 1 saved. 1 of 3 judged.")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-grade='1']")).to_have_attribute("aria-pressed", "true")


CONTRAST = """([selector]) => {
  const light = (color) => {
    const [r, g, b] = color.match(/[0-9.]+/g).map(Number).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (of) => {
    for (let at = of; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!color.endsWith(", 0)")) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const of = document.querySelector(selector);
  const two = [light(getComputedStyle(of).color), light(ground(of))].sort((a, b) => b - a);
  return (two[0] + 0.05) / (two[1] + 0.05);
}"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1100)])
def test_texts_can_be_read_and_nothing_is_cut(rating, open_address, scheme, width):
    page = open_address(rating[0], scheme=scheme, width=width)
    page.keyboard.press("1")
    status(page, "Grade 1 saved. 1 of 3 judged.")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-grade='1']")).to_have_attribute("aria-pressed", "true")

    for selector in (
        "h1",
        "h2",
        "#status",
        "dt",
        "dd",
        "#count",
        "[data-grade='0']",
        "[data-grade='1']",
        "#skip",
        "footer",
    ):
        assert page.evaluate(CONTRAST, [selector]) >= 4.5, selector
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
