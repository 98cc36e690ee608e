"""How queries look: light and dark, narrow, printed, without scripts, and to those who cannot see."""

from dataclasses import replace

import pytest
from browser.needs import without
from browser.pages import page_of, queries_of
from browser.queries import control, explorer, ids, opener, show_query, view
from playwright.sync_api import expect
from report.full_run import full_run
from report.runs import RUN


@pytest.fixture(scope="module")
def text():
    return queries_of(full_run(queries=60, documents=40))


def colour(locator, name="color"):
    return locator.evaluate(f"each => getComputedStyle(each)['{name}']")


def luminance(text):
    """Of ``rgb(1, 2, 3)``, roughly."""
    red, green, blue = map(float, text.partition("(")[2].rstrip(")").split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_and_ground_and_worse_and_better_differ_in_lightness(open_page, text, scheme):
    page = open_page(text, "#shop-0::q=q017", scheme=scheme)
    ink, ground = luminance(colour(view(page))), luminance(colour(page.locator("body"), "background-color"))
    control(page, "metric").select_option("R@20")
    worse = luminance(colour(page.locator("td.worse .bar i").first, "background-color"))
    control(page, "filter").fill("q059")
    control(page, "metric").select_option("nDCG@10")
    better = luminance(colour(page.locator("td.better .bar i").first, "background-color"))

    assert (ink < 60 < 200 < ground) if scheme == "light" else (ground < 60 < 200 < ink)
    assert abs(worse - better) > 60
    assert (worse < better) == (scheme == "light")


def test_a_narrow_page_is_not_wider_than_its_window(open_page, text):
    page = open_page(text, "#shop-0::q=q017", width=390)
    show_query(page, "q017")

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert view(page).bounding_box()["width"] <= 390
    for side in ("baseline", "now"):
        expect(view(page).locator(f".side.{side} li").first).to_be_visible()
    assert view(page).locator(".side.baseline").bounding_box()["width"] > 120


OUT_OF_SIGHT = """
(window_width) => [...document.querySelectorAll(".findings td:not(:empty), .findings tbody th, table.rules td")]
  .map((cell) => [cell.textContent.trim(), cell.getBoundingClientRect()])
  .filter(([text, box]) => text && box.width && (box.right > window_width || box.height > 110))
  .map(([text, box]) => `${text.slice(0, 40)}: to ${Math.round(box.right)}, ${Math.round(box.height)} high`)
"""
"""Cells that reach beyond the window, or are blocks with little in them."""


@pytest.mark.parametrize("width", [390, 768])
def test_what_failed_checks_rest_on_is_in_sight_on_a_narrow_page(open_page, text, width):
    page = open_page(text, width=width)

    expect(page.locator(".worst td[data-label='now at']").first).to_be_visible()
    assert page.evaluate(OUT_OF_SIGHT, width) == []


def test_the_command_that_accepts_is_not_folded(open_page):
    expect(open_page(page_of(RUN)).locator(".findings > .command", has_text="--ireval-update").first).to_be_visible()


def test_print_shows_what_is_open_and_the_views(open_page, text):
    page = open_page(text)
    second = ids(page)[1]
    opener(page, second).click()
    expect(view(page)).to_have_count(1)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    expect(page.locator(".worst-query article").nth(2)).to_be_visible()
    expect(view(page)).to_be_visible()
    expect(opener(page, ids(page)[0])).not_to_be_visible()
    expect(explorer(page).locator(".explorer-controls")).not_to_be_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(page.locator("details.worst-query").nth(2)).not_to_have_attribute("open", "")


def test_without_scripts_all_that_decides_is_there(open_page, text):
    page = open_page(text, "#shop-0::q=q002", scripts=False)
    first = page.locator("article.query").first

    expect(first.locator(".side.baseline li").nth(9)).to_contain_text("#10")
    expect(first.locator(".side.now li").nth(1)).to_contain_text("q002-d0 3 perfect ↓ was #1")
    expect(first.locator(".command code")).to_contain_text("ireval why nDCG@10")
    expect(first.get_by_role("button")).to_have_count(0)
    expect(page.locator(".without-script")).to_be_visible()
    expect(explorer(page)).not_to_be_visible()
    assert page.locator("article.query").count() == 3


def test_without_scripts_an_address_opens_its_view(open_page, text):
    page = open_page(text, "#shop-0::q=q008", scripts=False)

    expect(page.locator("article.query").nth(2)).to_be_visible()
    expect(page.locator("article.query").nth(2)).to_be_in_viewport()


@pytest.fixture(scope="module")
def axe():
    """What finds obstacles for those who cannot see, or use no mouse."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        without("needs axe-playwright-python")
    return Axe()


def obstacles(axe, page):
    """Their names, and where they are."""
    found = axe.run(page).response["violations"]
    return [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found]


def test_the_page_can_be_used_by_everyone(open_page, axe):
    small = page_of(full_run(queries=20, documents=10))
    page = open_page(small, "#shop-0::q=q009", scheme="dark", width=390)
    show_query(page, "q009")
    assert obstacles(axe, page) == []
    page.keyboard.press("?")

    assert obstacles(axe, page) == []


LETTER_BY_LETTER = """
() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, text = node.data.trim(), range = document.createRange();
    if (text.length < 12 || node.parentElement.closest("svg, script, style")) continue;
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1);
    const lines = new Set(boxes.map((box) => Math.round(box.top / 8)));
    if (lines.size > 2 && text.length / lines.size < 6) found.push(`${text.slice(0, 60)} in ${lines.size} lines`);
  }
  return found;
}
"""
"""Texts with fewer than six characters a line."""


def test_no_name_is_broken_letter_by_letter(open_page):
    run = full_run(queries=60)
    (suite,) = run.suites
    owner, name = "@acme/marketplace-search-team-of-the-northern-region", "marketplace-search-for-returning-customers"
    rule = "no_regression_of_returning_customers_in_the_northern_region"
    red = tuple(replace(each, name=rule, verdict="fail", id=f"{each.id}-{rule}") for each in suite.outcomes)
    long = replace(suite, name=name, owner=owner, path=f"suites/northern/{name}.ireval.yaml", outcomes=red)
    page = open_page(page_of(replace(run, suites=(long, replace(long, name=f"{name}-2")))), width=390)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    assert page.evaluate(LETTER_BY_LETTER) == []
