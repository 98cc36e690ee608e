"""Charts as SVG: well-formed, harmless, and with words for those who cannot see them."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from report.full_run import full_run
from small_suites import make_scored_suite, rule, suite

from pytest_ireval.report.charts.chart import clean_text
from pytest_ireval.report.charts.curves import make_query_curve_chart
from pytest_ireval.report.charts.drawing import draw_file, draw_on_page
from pytest_ireval.report.page import make_suite_view

HOSTILE = ("<script>alert(1)</script>", '" onload="x', "\x00\x1b[31m\u202eabc", "]]>&amp;")
RIGHT_TO_LEFT = "\u05e9\u05dc\u05d5\u05dd"
PERSIAN = "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627"


def charts_of(suite):
    """All charts of the suite's page, in their order."""
    return [chart for group in make_suite_view(suite, alone=True).charts for chart in (group.shown, *group.folded)]


def parse_drawing(text):
    """The tree of a drawing; that of a file has a namespace, which HTML has no need of."""
    return ET.fromstring(text.encode().replace(b' xmlns="http://www.w3.org/2000/svg"', b"", 1))


@pytest.fixture(scope="module")
def every_kind():
    """A chart of each kind, and that of a query."""
    made = full_run().suites[0]
    found = {chart.kind: chart for chart in charts_of(made)}
    return [*found.values(), make_query_curve_chart(made, made.documents[0])]


def test_a_suite_that_could_not_be_judged_has_none():
    assert charts_of(suite(verdict="error")) == []


def test_every_drawing_is_well_formed_and_says_what_it_shows(every_kind):
    for chart in every_kind:
        for text in (draw_on_page(chart), draw_file(chart)):
            root = parse_drawing(text)
            title, said = root.find("title"), root.find("desc")
            assert (title.text, said.text) == (chart.title, chart.said)
            assert root.get("viewBox") == f"0 0 {chart.drawing.width} {chart.drawing.height}"


def test_on_a_page_there_is_nothing_that_its_policy_forbids(every_kind):
    for chart in every_kind:
        drawn = draw_on_page(chart)
        assert not re.search(r"style=|<style|<script|\son\w+=|url\(|@import", drawn)


def test_a_file_has_its_own_style_in_plain_colours_and_no_links(every_kind):
    for chart in every_kind:
        text = draw_file(chart)
        assert "<style>" in text
        assert "prefers-color-scheme: dark" in text
        assert not re.search(r"var\(|<a |href", text)


def hostile_suites(text):
    found, _ = make_scored_suite([0.1, 0.2], [0.5, 0.1], metric=text, ids=[text, "q2"], texts=["x", text], name=text)
    yield replace(found, outcomes=(rule(text, 0.1, metric=text), rule("x", 0.1, name=text)))
    full = full_run(metrics=1).suites[0]
    yield replace(
        full,
        name=text,
        curves=tuple(replace(each, slice=text) for each in full.curves),
        acceptances=tuple(replace(each, reason=text) for each in full.acceptances),
    )


@pytest.mark.parametrize("text", [*HOSTILE, RIGHT_TO_LEFT, PERSIAN, "x" * 500, " ", "=1+1"], ids=ascii)
def test_whatever_others_write_is_text_and_nothing_else(text):
    plain = len(charts_of(next(hostile_suites("plain")))), len(charts_of([*hostile_suites("plain")][1]))
    for number, each in enumerate(hostile_suites(text)):
        charts = charts_of(each)
        assert len(charts) == plain[number]
        for chart in charts:
            for drawn in (draw_on_page(chart), draw_file(chart)):
                root = parse_drawing(drawn)
                assert not {e.tag for e in root.iter()} & {"script", "foreignObject"}
                assert "49" not in (root.findtext("title") or "")


def test_marks_that_xml_forbids_or_that_turn_a_text_around_are_replaced():
    assert clean_text("a\x00b\x1b\u202ec\ud800\ufffe\U0001ffff") == "a\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffd"
    assert clean_text("two\nlines\tand a tab") == "two lines and a tab"
    assert [clean_text(text) for text in (PERSIAN, RIGHT_TO_LEFT, "\U0001f469\u200d\U0001f680")] == [
        PERSIAN,
        RIGHT_TO_LEFT,
        "\U0001f469\u200d\U0001f680",
    ]


def test_a_text_that_reads_the_other_way_does_not_turn_its_figures_around():
    found, _ = make_scored_suite([0.1], [0.5], texts=[RIGHT_TO_LEFT])

    (bar,) = charts_of(found)[0].drawing.bars
    assert bar.said == f"q1 “\u2068{RIGHT_TO_LEFT}\u2069”: 0.500 → 0.100"
