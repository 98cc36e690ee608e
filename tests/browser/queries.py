"""What the tests of queries ask of a page."""

from playwright.sync_api import expect

ROW = "tr.query-row"


def explorer(page, number=0):
    return page.locator(".explorer").nth(number)


def control(page, name, number=0):
    """What chooses queries: filter, slice, rules, metric, worsened only."""
    return explorer(page, number).get_by_label(name)


def ids(page, number=0):
    """Of the queries that are shown, in their order."""
    return explorer(page, number).locator(f"{ROW} .opener").all_inner_texts()


def column(page, name, number=0):
    """The cells of a column, from the top."""
    heads = [" ".join(each.split()) for each in explorer(page, number).locator("thead th").all_inner_texts()]
    place = heads.index(name) + 1
    return explorer(page, number).locator(f"{ROW} > :nth-child({place})").all_inner_texts()


def count(page, number=0):
    return explorer(page, number).locator(".explorer-count").inner_text()


def head(page, name, number=0):
    """The button that sorts by a column."""
    return explorer(page, number).locator("thead th").filter(has_text=name).get_by_role("button")


def opener(page, query, number=0):
    return explorer(page, number).get_by_role("button", name=query, exact=True)


def view(page, number=0):
    """The views that are open below their rows."""
    return explorer(page, number).locator(".view-row article.query")


def get_focus(page):
    return page.evaluate("document.activeElement.innerText")


def show_query(page, query, number=0):
    """Waits until the query is open, and what a reader sees is its row."""
    expect(view(page, number).locator(".query-id")).to_have_text(query)
    expect(opener(page, query, number)).to_be_in_viewport()
    return view(page, number)
