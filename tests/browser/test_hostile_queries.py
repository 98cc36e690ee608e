"""Whatever queries, documents and columns are called: nothing runs, the text appears as it is, and addresses work."""

from dataclasses import replace

import pytest
from browser.pages import page_of
from browser.queries import explorer, view
from playwright.sync_api import expect
from report.full_run import full_run

from pytest_ireval.report.query_view import make_query_view

SCRIPT = "</script><script>alert(1)</script>"
IMAGE = "\"><img src=x onerror='alert(2)'>"
NAMES = [
    SCRIPT,
    IMAGE,
    "__proto__",
    "a::b",
    "%2F",
    "%",
    "red mug",
    "  two  blanks",
    "קומקום חשמלי",
    "\u202egum der",
    "half \udc80 here",
    "nul \x00 tab \t end",
    "&lt;b&gt;",
    "x" * 5000,
    "#?&;/\\'`$()",
]
ODD = {"half \udc80 here": "half \ufffd here", "nul \x00 tab \t end": "nul \ufffd tab \t end"}
"""What no page can hold has a mark in its place."""


def hostile_run():
    """The names are those of queries, texts, documents, columns, labels, metrics and the suite."""
    run = full_run(queries=len(NAMES), documents=len(NAMES))
    suite = run.suites[0]
    table = suite.queries
    new = dict(zip(table.ids, NAMES, strict=True))
    metric = f"nDCG@10{IMAGE}"
    red = replace(
        suite.outcomes[0],
        verdict="fail",
        headline=SCRIPT,
        queries=tuple(replace(each, query=new[each.query], text=IMAGE) for each in suite.outcomes[3].queries),
    )
    documents = tuple(
        replace(
            each,
            query=new[each.query],
            documents=tuple(
                replace(placed, document=f"{NAMES[i % len(NAMES)]}-{i}") for i, placed in enumerate(each.documents)
            ),
            shares={metric: each.shares["nDCG@10"]},
        )
        for each in suite.documents
    )
    odd = replace(
        suite,
        name=f"shop {SCRIPT}",
        outcomes=(red,),
        queries=replace(
            table,
            ids=tuple(NAMES),
            texts=tuple(reversed(NAMES)),
            columns={"__proto__": tuple(NAMES), IMAGE: tuple(NAMES)},
            now={metric: table.now["nDCG@10"]},
            baseline={metric: table.baseline["nDCG@10"]},
        ),
        metrics=(replace(suite.metrics[0], name=metric),),
        documents=documents,
        labels={"3": SCRIPT, "2": IMAGE},
    )
    return replace(run, suites=(odd,))


@pytest.fixture(scope="module")
def run():
    return hostile_run()


@pytest.fixture(scope="module")
def text(run):
    return page_of(run)


def texts(locator):
    """As they stand in the page; a reader sees blanks drawn together."""
    return [each.text_content() for each in locator.all()]


def test_names_are_texts_and_nothing_else(open_page, text):
    page = open_page(text)

    expected = {ODD.get(name, name) for name in NAMES}
    assert set(texts(explorer(page).locator(".opener bdi"))) == expected
    assert set(texts(explorer(page).locator("td.text bdi"))) == expected
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == text.count("<script>") + 1


def test_an_address_leads_to_every_name(open_page, run, text):
    page = open_page(text)
    for name in NAMES:
        page.evaluate("link => { location.hash = link; }", make_query_view(run.suites[0], name).link)
        assert page.evaluate(SHOWN, ODD.get(name, name)), name


SHOWN = """
async (name) => {
  const inSight = (each) => {
    const { top, bottom, height } = each.getBoundingClientRect();
    return each.textContent === name && height > 0 && bottom > 0 && top < window.innerHeight;
  };
  for (let frame = 0; frame < 120; frame++) {
    if ([...document.querySelectorAll(".query-id")].some(inSight)) return true;
    await new Promise(requestAnimationFrame);
  }
  return false;
}
"""
"""Whether the view of a query of exactly that name is in sight."""


def test_every_view_opens(open_page, text):
    page = open_page(text)
    for button in explorer(page).locator(".opener").all():
        button.evaluate("each => each.click()")
    expect(view(page)).to_have_count(len(NAMES))

    expect(view(page).locator(".rankings")).to_have_count(len(NAMES))
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_without_scripts_names_are_texts_too(open_page, text):
    page = open_page(text, scripts=False)

    expect(page.locator("article.query .word.fail").first).to_have_text("fail")
    expect(page.locator("article.query .query-rules li").first).to_have_text(f"fail {SCRIPT}")
    assert page.locator("img").count() == 0
