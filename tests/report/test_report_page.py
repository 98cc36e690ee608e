"""The page of a run: everything that decides stands in it as text, and nothing in it is anything but text."""

import base64
import hashlib
import html
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import pytest
import yaml
from report.full_run import full_run
from report.runs import FAILED, GREEN, RUN, SHOP, UNFINISHED, make_suite_of_red_rules

from pytest_ireval.report.page import make_suite_view, render_page
from pytest_ireval.results.suite_result import RunResult

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}</style>"


class Elements(HTMLParser):
    """What a browser would make of a page, as far as these tests ask."""

    VOID = ("meta", "link", "br", "img", "input", "hr")

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.texts = [], [], [], {}
        self.attributes, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        for tag in self.open[-1:]:
            self.texts.setdefault(tag, []).append(data)

    @property
    def text(self):
        return " ".join(" ".join(part.split()) for tag, parts in self.texts.items() for part in parts if tag != "style")


def test_a_run_that_did_not_end_is_no_pass():
    page = Elements(render_page(UNFINISHED))

    assert page.texts["title"] == ["! Could not be judged – no suite"]
    assert "the run did not end" in page.text


def test_every_rule_and_suite_has_an_anchor_that_links_lead_to():
    run = full_run(suites=2, queries=9)
    page = Elements(render_page(run))

    wanted = {suite.name for suite in run.suites}
    wanted |= {f"{suite.name}::{outcome.id}" for suite in run.suites for outcome in suite.outcomes}
    assert wanted <= set(page.ids)
    assert "#shop-0::no_regression::nDCG_10.segment-tail" in page.links
    assert len(page.ids) == len(set(page.ids))


def test_no_suite_has_the_anchor_of_another_part_of_the_page():
    names = ("findings", "verdict", "suites", "problems", "unaffected", "provenance")
    suites = tuple(replace(SHOP, name=name) for name in names)
    page = Elements(render_page(replace(RUN, suites=suites, problems=("no room",), unaffected=("ads",))))

    assert set(names) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_texts_of_others_are_text():
    query = replace(FAILED.queries[0], query=EVIL, text=EVIL, note=EVIL)
    outcome = replace(FAILED, headline=EVIL, sentence=EVIL, file=EVIL, queries=(query,), facts=(EVIL,), name=EVIL)
    suite = replace(SHOP, name=EVIL, path=EVIL, owner=EVIL, notes=(EVIL,), outcomes=(outcome,), source=EVIL)
    run = replace(RUN, suites=(suite,), branch=EVIL, commit=EVIL, problems=(EVIL,), reason=EVIL)
    harmless, page = Elements(render_page(RUN)), Elements(render_page(run))

    assert page.tags.count("script") == harmless.tags.count("script")
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert EVIL in page.texts["bdi"]
    assert "49" not in page.text.replace("149", "")


def test_only_what_is_inside_the_page_may_run_and_nothing_is_loaded():
    text = render_page(full_run())
    page = Elements(text)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)

    inside = [
        f"&#39;sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}&#39;"
        for part in (*page.texts["style"], *[p for p in page.texts["script"] if "use strict" in p])
    ]
    assert inside == re.findall(r"&#39;sha256-[^&]*&#39;", policy)
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert [link for link in page.links if not link.startswith("#")] == ["data:,"]


def test_lines_of_rules_lead_to_the_code_host_where_there_is_one():
    from pytest_ireval.report.markdown_text import SourceLinks

    page = Elements(render_page(RUN, links=SourceLinks("https://github.com/o/r/blob/abc")))

    assert "https://github.com/o/r/blob/abc/suites/product-search.ireval.yaml#L17" in page.links


def test_a_check_that_could_not_be_made_is_not_against_the_change():
    broken = replace(FAILED, verdict="error", headline="no judgments")
    page = Elements(render_page(replace(RUN, suites=(replace(SHOP, outcomes=(FAILED, broken)),))))

    assert "2 checks failed or could not be made" in page.text
    assert "against the change" not in page.text


def test_two_hundred_red_rules_stay_readable():
    page = Elements(render_page(replace(RUN, suites=(make_suite_of_red_rules(200),))))

    assert "200 checks failed" in page.text
    opened = [name for name, _ in page.attributes].count("open")
    assert opened == 1  # the suite


def test_the_chart_of_the_red_metric_comes_first_and_the_others_are_named():
    suite = full_run().suites[0]
    first, second = (metric.name for metric in suite.metrics[:2])
    red = replace(suite, outcomes=(replace(suite.outcomes[0], verdict="fail", metric=second),))
    values = next(each for each in make_suite_view(red, alone=True).charts if each.title == "Query by query")

    assert values.shown.metric == second
    assert first in [each.metric for each in values.folded]


@pytest.mark.ci
def test_seven_thousand_queries_of_six_metrics_weigh_less_than_10_mb():
    assert len(render_page(full_run(queries=7000, metrics=6, documents=1500)).encode()) < 10_000_000


def test_a_run_without_anything_has_a_page():
    page = Elements(render_page(RunResult("0.1.0", "2027-03-03T09:00:00Z", "error", ())))

    assert "no suite was run" in page.text


def test_only_of_a_run_that_passed_it_is_said_that_nothing_asks_for_a_look():
    fine = "No check needs attention."
    cut_off = replace(SHOP, verdict="error", outcomes=(), error="the run ended before this suite was evaluated")

    assert fine in Elements(render_page(GREEN)).text
    assert fine not in Elements(render_page(replace(RUN, verdict="error", suites=(cut_off,)))).text
    assert fine not in Elements(render_page(replace(GREEN, verdict="error", problems=("no room",)))).text


@pytest.mark.parametrize("waived", [(), SHOP.waived])
def test_a_red_suite_offers_the_line_that_waives_its_worst_query(waived):
    page = html.unescape(render_page(replace(RUN, suites=(replace(SHOP, waived=waived),))))
    (line,) = re.findall(r"<code>(.*?until:.*?)</code>", page)
    known = "waive:\n- {query: q017}\n" if waived else ""  # a suite has the key once
    *_, entry = yaml.safe_load(known + line)["waive"]
    assert entry == {"query": "q052", "until": date(2027, 4, 2), "reason": "..."}
    assert "until:" not in re.findall(r"<code>(.*?)</code>", render_page(GREEN))
