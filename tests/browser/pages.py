"""The page that tests look at."""

from browser.tiny_page import page_text


def page_of(run):
    return page_text(run)
