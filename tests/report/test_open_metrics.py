"""``metrics.txt``: OpenMetrics that GitLab reads, too."""

import re
import shlex
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from runs import ALL, FAILED, PASSED, RUN, SHOP, TAIL, UNFINISHED, suites

from pytest_ireval.report.metrics_file import format_metrics

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?\d+(?:\.\d+)?(?:e-?\d+)?)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"')


def samples(text):
    """By family and labels, read as the specification says."""
    *lines, end = text.removesuffix("\n").split("\n")
    assert end == "# EOF"
    found, family = {}, ""
    for line in lines:
        if line.startswith("# "):
            _, kind, family = line.split(" ")[:3]
            assert kind in ("TYPE", "HELP")
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        assert name == family
        key = (name, tuple((n, re.sub(r"\\(.)", r"\1", v)) for n, v in LABEL.findall(labels or "")))
        assert key not in found
        found[key] = float(value)
    return found


def read_by_gitlab(text):
    """GitLab cuts each line at the first number sign, and takes it apart as a shell does."""
    lines = [shlex.split(re.sub("#.*$", "", line)) for line in text.splitlines()]
    return [(words[0], float(words[1])) for words in lines if len(words) > 1]


def test_a_run_that_did_not_end_is_no_pass():
    assert samples(format_metrics(UNFINISHED)) == {("ireval_pass", ()): 0.0}


def test_what_has_no_value_is_left_out():
    nothing = replace(SHOP.metrics[0], now=float("nan"), baseline=None, paired=None, resolution=None)
    infinite = replace(PASSED, numbers={"value": float("inf")})

    found = samples(format_metrics(replace(RUN, suites=(replace(SHOP, metrics=(nothing,), outcomes=(infinite,)),))))

    assert {name for name, _ in found} == {"ireval_pass", "ireval_suite_pass", "ireval_verdicts"}


def test_another_reference_than_the_baseline_is_no_baseline():
    anchored = replace(FAILED, against="run: release.trec", figures=(TAIL, ALL))

    found = samples(format_metrics(replace(RUN, suites=(replace(SHOP, metrics=(), outcomes=(anchored,)),))))

    rule = {dict(labels)["number"]: value for (name, labels), value in found.items() if name == "ireval_rule"}
    assert rule == {"value": 0.6154, "baseline": 0.9438, "change": -0.3283, "tolerance": 0.0283}
    assert not any(name.startswith("ireval_metric") for name, _ in found)


def test_figures_that_differ_by_noise_are_written_alike():
    def text(value):
        return format_metrics(replace(RUN, suites=(replace(SHOP, outcomes=(replace(PASSED, numbers={"v": value}),)),)))

    assert text(0.1 + 0.2) == text(0.3)
    assert 'number="v"} 0.0\n' in text(-1e-12)


@given(st.text(st.sampled_from("a#\"\\'{}=,$` \n\r\t\x1b\u202e\x00\u2028é"), min_size=1, max_size=30))
def test_names_are_read_back(name):
    run = suites(2, red=1)
    named = replace(run, suites=(replace(run.suites[0], name=name), run.suites[1]))

    text = format_metrics(named)

    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name).replace("#", "\uff03")
    assert samples(text)[("ireval_suite_pass", (("suite", shown),))] == 0.0
    assert len(read_by_gitlab(text)) == len(samples(text))
    assert "\x1b" not in text
