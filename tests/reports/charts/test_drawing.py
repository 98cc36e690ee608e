"""Charts as SVG: well-formed, harmless, and with words for those who cannot see them."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from reports.full_run import full_run
from small_suites import rule, scored, suite

from pytest_ireval.reports.charts.chart import cut_label, inert_text
from pytest_ireval.reports.charts.curves import query_curve_chart
from pytest_ireval.reports.charts.drawing import COLOURS, draw_file, draw_on_page, own_style
from pytest_ireval.reports.page import suite_view

HOSTILE = (
    "<script>alert(1)</script>",
    '" onload="x',
    "\x00\x1b[31m\u202eabc",
    "\ud800",
    "\ufffe",
    "]]>&amp;",
    "' {{ 7*7 }}",
)
RIGHT_TO_LEFT = "\u05e9\u05dc\u05d5\u05dd"
PERSIAN = "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627"


def charts_of(suite):
    """All charts of the suite's page, in their order."""
    return [chart for group in suite_view(suite, alone=True).charts for chart in (group.shown, *group.folded)]


def parsed(text):
    """The tree of a drawing; that of a file has a namespace, which HTML has no need of."""
    return ET.fromstring(text.encode().replace(b' xmlns="http://www.w3.org/2000/svg"', b"", 1))


@pytest.fixture(scope="module")
def every_kind():
    """A chart of each kind, and that of a query."""
    made = full_run().suites[0]
    found = {chart.kind: chart for chart in charts_of(made)}
    return [*found.values(), query_curve_chart(made, made.documents[0])]


def test_a_full_suite_has_every_kind_in_the_order_of_a_page():
    kinds = [chart.kind for chart in charts_of(full_run(metrics=1).suites[0])]

    assert kinds == ["differences", "intervals", "curves"]


def test_a_suite_that_could_not_be_judged_has_none():
    assert charts_of(suite(verdict="error")) == []


def test_every_drawing_is_well_formed_and_says_what_it_shows(every_kind):
    for chart in every_kind:
        for text in (draw_on_page(chart), draw_file(chart)):
            root = parsed(text)
            title, said = root.find("title"), root.find("desc")
            assert (title.text, said.text) == (chart.title, chart.said)
            assert root.get("viewBox") == f"0 0 {chart.drawing.width} {chart.drawing.height}"


def test_a_picture_is_one_and_what_holds_links_is_a_document(every_kind):
    roles = {chart.kind: parsed(draw_on_page(chart)).get("role") for chart in every_kind}

    assert roles == {"differences": "graphics-document", "intervals": "graphics-document", "curves": "img"}
    assert {parsed(draw_file(chart)).get("role") for chart in every_kind} == {"img"}


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


def test_every_property_of_the_style_is_one_of_the_page():
    assert len(COLOURS) == 11
    assert "var(" not in own_style()


def luminance(colour):
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_worse_and_better_differ_in_lightness_and_all_colours_from_the_page(scheme):
    colour = {name: each[scheme] for name, each in COLOURS.items()}

    assert contrast(colour["worse"], colour["better"]) > 2
    assert contrast(colour["worse"], colour["panel"]) > contrast(colour["better"], colour["panel"])
    for name in ("worse", "better", "now", "baseline", "accent", "warn"):
        assert contrast(colour[name], colour["panel"]) > 3, name
    for name in ("ink", "soft"):
        assert contrast(colour[name], colour["panel"]) > 4.5, name


def hostile_suites(text):
    found, _ = scored([0.1, 0.2], [0.5, 0.1], metric=text, ids=[text, "q2"], texts=["x", text], name=text)
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
                root = parsed(drawn)
                assert not {e.tag for e in root.iter()} & {"script", "foreignObject"}
                assert "49" not in (root.findtext("title") or "")


def test_marks_that_xml_forbids_or_that_turn_a_text_around_are_replaced():
    assert inert_text("a\x00b\x1b\u202ec\ud800\ufffe\U0001ffff") == "a\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffd"
    assert inert_text("two\nlines\tand a tab") == "two lines and a tab"
    assert [inert_text(text) for text in (PERSIAN, RIGHT_TO_LEFT, "\U0001f469\u200d\U0001f680")] == [
        PERSIAN,
        RIGHT_TO_LEFT,
        "\U0001f469\u200d\U0001f680",
    ]


def test_long_texts_are_cut():
    assert cut_label("x" * 300, 80) == "x" * 79 + "…"
    assert cut_label("x" * 80, 80) == "x" * 80


def test_a_text_that_reads_the_other_way_does_not_turn_its_figures_around():
    found, _ = scored([0.1], [0.5], texts=[RIGHT_TO_LEFT])

    (bar,) = charts_of(found)[0].drawing.bars
    assert bar.said == f"q1 “\u2068{RIGHT_TO_LEFT}\u2069”: 0.500 → 0.100"
