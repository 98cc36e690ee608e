"""The page that tests look at."""

from pytest_ireval.reports.page import page_text


def page_of(run):
    return page_text(run)
