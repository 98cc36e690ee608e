"""The page in Firefox: it shows and does what it shows and does in Chromium."""

from dataclasses import replace

import pytest
from browser.firefox import find_firefox, firefox
from browser.needs import without
from report.full_run import full_run

from pytest_ireval.report.page import render_page


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    path = find_firefox()
    if path is None:
        without("needs firefox")
    with firefox(path, tmp_path_factory.mktemp("firefox")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    run = full_run(queries=60)
    (suite,) = run.suites
    red = next(each for each in suite.outcomes if each.verdict == "fail")
    several = (*suite.outcomes, replace(red, id="no_regression::other", headline="another check fell"))
    file = tmp_path_factory.mktemp("page") / "index.html"
    file.write_text(render_page(replace(run, suites=(replace(suite, outcomes=several),))), encoding="utf-8")
    return file.as_uri()


def test_nothing_is_asked_for_and_nothing_is_complained_about(tab, address):
    tab.open(address)

    tab.wait_for("document.querySelectorAll('.explorer-table tbody tr').length > 0")
    assert tab.run("document.querySelector('h1').textContent.trim()").endswith("Not safe to land")
    assert [each for each in tab.requests() if not each.startswith(("file:", "about:", "data:"))] == []
    assert tab.complaints() == []
    assert tab.picture().startswith(b"\x89PNG")


def test_a_link_opens_the_check_that_it_leads_to(tab, address):
    tab.open(address)
    folded = "document.querySelectorAll('.finding')[1]"
    assert tab.run(f"{folded}.open") is False

    tab.run(f"location.hash = {folded}.id")
    tab.wait_for(f"{folded}.open")
    assert tab.run(f"{folded}.querySelector('.statistics').open") is False
    assert "nine times out of ten" in tab.run(f"{folded}.querySelector('.legend').textContent")


def test_queries_are_filtered_as_one_types(tab, address):
    tab.open(address)
    rows = "document.querySelectorAll('.explorer-table tbody tr').length"
    tab.wait_for(f"{rows} > 5")

    tab.run("document.querySelector('.explorer input.words').focus()")
    tab.press("q004")
    tab.wait_for(f"{rows} === 1")
    assert "q004" in tab.run("document.querySelector('.explorer-table tbody tr').textContent")
