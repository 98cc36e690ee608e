"""The page that tests look at."""

from dataclasses import replace

from pytest_ireval.report.page import page_text


def page_of(run):
    return page_text(run)


def queries_of(run):
    """The page with little besides queries: it opens sooner, and there are many tests of queries."""
    lean = {"curves": (), "slices": (), "to_judge": (), "acceptances": ()}
    return page_text(replace(run, sections=(), suites=tuple(replace(suite, **lean) for suite in run.suites)))
