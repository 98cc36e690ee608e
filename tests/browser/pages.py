"""The page that tests look at."""

from dataclasses import replace

from pytest_ireval.report.page import render_page


def page_of(run):
    return render_page(run)


def queries_of(run):
    """The page with little besides queries: it opens sooner, and there are many tests of queries."""
    lean = {"curves": (), "slices": (), "to_judge": (), "acceptances": ()}
    return render_page(replace(run, sections=(), suites=tuple(replace(suite, **lean) for suite in run.suites)))
