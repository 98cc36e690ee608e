"""Rules about times: they warn and say how noisy times are, take units, and compare ratios where evidence decides."""

import math
from statistics import fmean, stdev

import pytest
from suite_files import write_queries, write_rankings, write_suite

from pytest_ireval import SuiteError, load_suite, run_gate

QUERIES = [f"q{number:02}" for number in range(40)]
BEFORE = {query: 10 * 1.1**number for number, query in enumerate(QUERIES)}
SOURCE = "{run: now.txt, timings: now.tsv}"
OTHER = "against: {run: now.txt, timings: before.tsv}"


class Speed:
    """A suite about times, with the times of two systems."""

    def __init__(self, path):
        self.path = path
        write_queries(path / "queries.tsv", QUERIES, text=QUERIES)
        write_rankings(path / "now.txt", {query: ["d"] for query in QUERIES})
        self.write_times("before", BEFORE)

    def write_times(self, name, times):
        rows = "".join(f"{query}\t{time!r}\n" for query, time in times.items())
        (self.path / f"{name}.tsv").write_text(f"query\tms\n{rows}")

    def gate(self, rule, times=BEFORE, source=SOURCE, **options):
        self.write_times("now", times)
        suite = write_suite(self.path, rule, suite="speed", source=source, queries="queries.tsv", judgments=None)
        return run_gate(load_suite(suite), **options).outcomes[1]


@pytest.fixture
def speed(tmp_path):
    return Speed(tmp_path)


def slower(factor, spread=0.0):
    """Times that are slower by a factor, each by a little more or less."""
    return {query: BEFORE[query] * factor * math.exp(spread * math.cos(n)) for n, query in enumerate(QUERIES)}


@pytest.mark.parametrize("bound", ["<= 150ms", "<= 0.15 s"])
def test_a_bound_of_a_time_has_a_unit(speed, bound):
    found = speed.gate(f'threshold: {{Latency(p=95): "{bound}"}}')

    assert (found.verdict, found.warning) == ("pass", True)
    assert found.headline == "Latency(p=95) is 341.7 ms (must be <= 150 ms)"
    assert found.facts == (
        "only a warning, as times vary from run to run: the noise of these times is unknown without repeats "
        "(repeat: 3 in the source); on_fail: fail lets this rule decide",
    )


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ('threshold: {Instant: ">= 150ms"}', "150 ms is a time, but values of Instant are not"),
        ('threshold: {Latency: "<= 3 min"}', "'3 min' is not a valid bound"),
        (
            f"no_regression: {{metric: Latency, tolerance: {{absolute: 5ms}}, decide_by: evidence, {OTHER}}}",
            "evidence compares ratios of Latency: write tolerance as a share",
        ),
    ],
)
def test_a_unit_that_does_not_fit_is_a_mistake(speed, rule, complaint):
    with pytest.raises(SuiteError, match=complaint):
        speed.gate(rule)


def test_a_tolerance_may_be_a_time(speed):
    rule = f"no_regression: {{metric: Latency, tolerance: {{absolute: 5ms}}, on_fail: fail, {OTHER}}}"
    slow = fmean(BEFORE.values()) * 0.1

    assert speed.gate(rule, slower(1.1)).verdict == "fail"
    assert f"rose by {slow:.4f} (tolerance 5 ms)" in speed.gate(rule, slower(1.1)).headline
    assert speed.gate(rule, slower(1.02)).verdict == "pass"


@pytest.mark.parametrize(("option", "verdict", "warning"), [("", "pass", True), (", on_fail: fail", "fail", False)])
def test_a_time_decides_only_if_the_rule_says_so(speed, option, verdict, warning):
    found = speed.gate(f"no_regression: {{metric: Latency, tolerance: 5%{option}, {OTHER}}}", slower(1.2))

    assert (found.verdict, found.warning) == (verdict, warning)
    assert "the noise of these times is unknown without repeats" in found.facts[-1]


def test_a_suite_of_times_alone_says_that_it_cannot_fail(speed):
    notes = {}
    for option in ("", ", on_fail: fail"):
        speed.gate(f'threshold: {{Latency: "<= 1s"{option}}}')
        notes[option] = run_gate(load_suite(speed.path / "speed.ireval.yaml")).notes
    said = "no rule of this suite can fail: times only warn, unless a rule says on_fail: fail"

    assert [said in " ".join(each) for each in notes.values()] == [True, False]


def test_evidence_is_about_the_ratio_of_times(speed):
    rule = f"no_regression: {{metric: Latency, tolerance: 5%, decide_by: evidence, {OTHER}}}"
    times = slower(1.2, spread=0.2)
    logs = [math.log(times[query] / BEFORE[query]) for query in QUERIES]
    mean, half = fmean(logs), 1.6848751 * stdev(logs) / math.sqrt(40)  # t of 39 degrees at 95%
    found = speed.gate(rule, times)
    (figures,) = found.figures

    assert found.warning
    assert figures.now / figures.baseline == pytest.approx(math.exp(mean))
    assert figures.baseline == pytest.approx(10 * 1.1**19.5)
    assert [end / figures.baseline for end in (figures.low, figures.high)] == pytest.approx(
        [math.expm1(mean - half), math.expm1(mean + half)]
    )
    assert found.headline == f"Latency rose {100 * math.expm1(mean):.1f}% (tolerance 5%, statistically significant)"


def test_a_time_of_zero_has_no_ratio(speed):
    found = speed.gate(f"equivalent: {{metric: Latency, tolerance: 5%, {OTHER}}}", {**BEFORE, "q03": 0})

    assert found.verdict == "error"
    assert "every value must be above 0; 'q03' has 0" in found.headline


TIMED = """\
from pytest_ireval import Answer

asked = {}

def search(text):
    asked[text] = asked.get(text, 0) + 1
    return Answer(["d"], timings=0.1 * asked[text])
"""


def test_repeats_show_the_noise(speed):
    (speed.path / "timed_search.py").write_text(TIMED)
    source = "{python: timed_search:search, repeat: 3}"
    found = speed.gate('threshold: {Latency: "<= 250ms", Throughput: ">= 1"}', source=source)

    assert found.headline == "Latency is 200.0 ms (must be <= 250 ms)"
    assert found.facts == ("3 repeats of the same system gave Latency from 100 to 300, 200% apart",)


def test_a_warning_is_seen_in_a_quiet_run_and_in_the_headline(pytester):
    speed = Speed(pytester.path)
    speed.gate('threshold: {Latency: "<= 20ms"}')
    run = pytester.runpytest("--ireval", "-q", "-p", "no:cacheprovider")

    assert run.ret == 0
    run.stdout.fnmatch_lines(["warning: speed: Latency is 110.6 ms (must be <= 20 ms)"])
    assert "1 warning" in (pytester.path / "ireval-report/summary.md").read_text().splitlines()[1]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("times: engine", "times: client of the source with times: engine of against"),
        ("batch: 9", "a batch has one time"),
    ],
)
def test_a_reference_has_times_of_the_same_kind(speed, options, complaint):
    live = "opensearch: http://127.0.0.1:9/shop, query: {match_all: {}}"
    source = f"{{{live}}}"
    rule = f"no_regression: {{metric: Latency, tolerance: 5%, against: {{{live}, {options}}}}}"

    with pytest.raises(SuiteError, match=complaint):
        speed.gate(rule, source=source)


def test_a_first_baseline_needs_the_times_too(speed):
    (speed.path / "shop_search.py").write_text("def search(queries):\n    return {query: ['d'] for query in queries}\n")
    source = "{python: shop_search:search, mode: all}"
    found = speed.gate("no_regression: {metric: Latency, tolerance: 5%}", source=source)

    assert (found.verdict, found.acceptable) == ("error", False)
    assert "Latency" in found.headline
    assert "needs timings" in found.headline
