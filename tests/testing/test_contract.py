"""Every installed metric keeps its promises, and the kit says plainly what it could not check."""

import re
import subprocess
import sys

import numpy as np
import pytest

from pytest_ireval import MetricError, metric, per_query_metric, ratio
from pytest_ireval.errors import PluginError
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.testing import check_metric, metric_contract
from pytest_ireval.testing.breaking import make_variants

INSTALLED = installed_registry()
FIELDS = {"stock": ["yes", "no", ""], "price": [1, "2.5", 7], "day": ["2026-11-01", "2026-11-03"]}
COLUMNS = {"known": ["yes", "no", "no"]}
"""One for all metrics: judged data are kept from one check to the next by the identity of the fields."""
GUARDRAILS = (
    "Share(field='stock', value='no', better='lower')@3",
    "Exposure(field='stock', value='no')@10",
    "Mean(field='price', better='higher')@3",
    "Age(field='day', on='2026-11-05')@3",
    "Repeats(field='price')@3",
)


def choose_arguments(metric):
    """The metric at a cutoff, or with its first other arguments: without any, a dozen would be tried."""
    chosen = [variant for variant in make_variants(metric) if variant.arguments]
    if metric.name == "Instant" or not chosen:  # that no answer is instant makes all rankings equal
        return metric
    return metric @ 3 if "cutoff" in chosen[0].settings and set(metric.missing) <= {"cutoff"} else chosen[0]


BY_NEEDS = sorted(INSTALLED.metrics.values(), key=lambda metric: sorted(metric.needs))
"""Metrics that need the same share the judged data that were made for the one before."""


@pytest.mark.parametrize("metric", [metric for metric in BY_NEEDS if "fields" not in metric.needs], ids=str)
def test_every_installed_metric_keeps_its_promises(metric):
    assert check_metric(choose_arguments(metric), fields=COLUMNS)


@pytest.mark.parametrize("metric", INSTALLED.parse_metrics(GUARDRAILS), ids=str)
def test_every_guardrail_keeps_its_promises(metric):
    assert check_metric(metric, fields=FIELDS)


test_contract_of_all_arguments = metric_contract("nDCG")


def list_spared(findings):
    return {finding.promise: finding.spared for finding in findings if finding.spared}


def test_a_failing_case_is_the_evidence_without_a_traceback(pytester):
    pytester.makepyfile(
        """
        from pytest_ireval import per_query_metric
        from pytest_ireval.testing import metric_contract

        @per_query_metric(name="Two")
        def two(ranking):
            '''Always 2.'''
            return 2

        test_contract = metric_contract(two)
        """
    )

    result = pytester.runpytest("-v", "-p", "no:cacheprovider")

    result.assert_outcomes(failed=2, passed=13, skipped=2)
    result.stdout.fnmatch_lines(["*::test_contract[[]Two-within_its_range[]] FAILED*"])
    result.stdout.fnmatch_lines(["Two breaks the promise within_its_range", "  value of q?: 2, outside 0 to 1"])
    result.stdout.no_fnmatch_line("*contract.py*")


def test_a_notebook_needs_neither_pytest_nor_hypothesis():
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from pytest_ireval.testing import check_metric\n"
        "print(len(findings := check_metric('AP')), findings[0], findings[10], sep='; ')"
    )

    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == (
        "17; AP: a_value_for_every_query: kept; AP: below_the_cutoff: kept\n"
    )


def test_a_metric_with_arguments_is_tried_with_those_alone():
    @per_query_metric(name="Picky")
    def picky(ranking, *, cutoff: int):
        """Wrong but for cutoff 7."""
        return (ranking.grades > 0).mean() if cutoff == 7 else 2.0

    check_metric(picky @ 7)
    with pytest.raises(MetricError, match="Picky@1 breaks the promise within_its_range"):
        check_metric(picky)


def test_every_choice_and_flag_is_tried():
    @metric(name="Flagged")
    def flagged(judged, *, odd: bool = False):
        """Wrong when odd."""
        return np.full(judged.count, 2.0 if odd else 1.0)

    with pytest.raises(MetricError, match=r"Flagged\(odd=True\) breaks the promise within_its_range"):
        check_metric(flagged)


@metric(name="Slow", needs=("timings",), range=(0, float("inf")), direction="lower", no_relevant=None)
def slow(judged):
    """Seconds."""
    return judged.timings


@metric(name="SameAsBefore", needs=("reference", "documents"), no_relevant=None)
def same_as_before(judged):
    """Whether the first document is the one that the reference has first."""
    there = (judged.retrieved > 0) & (judged.reference.retrieved > 0)
    found = np.zeros(judged.count)
    for i in np.flatnonzero(there):
        found[i] = (
            judged.documents.ids[judged.documents.first[i]]
            == judged.reference.documents.ids[judged.reference.documents.first[i]]
        )
    return found


@per_query_metric(name="Agrees", needs=("preferences",))
def agrees(ranking):
    """Share of preferences that the ranking follows."""
    place = {document: rank for rank, document in enumerate(ranking.documents)}
    follows = [place.get(a, 10**6) < place.get(b, 10**6) for a, b in ranking.preferences]
    return sum(follows) / max(1, len(follows))


@per_query_metric(name="Parts", needs=("subtopics",))
def parts(ranking, *, cutoff: int):
    """Share of three subtopics that are met."""
    return len({name for by_rank in ranking.subtopics for name, grade in by_rank.items() if grade > 0}) / 3


COMPARES = {"perfect_is_best": "the reference decides which ranking is good"}
COMPARES["promotion_never_harms"] = COMPARES["perfect_is_best"]
BY_SUBTOPIC = dict.fromkeys(COMPARES, "the grades for subtopics decide which ranking is good")
NO_ARGUMENTS = {"below_the_cutoff": "it has no cutoff", "arguments_apart": "it has no other arguments to try"}


@pytest.mark.parametrize(
    ("toy", "expected"),
    [(slow, NO_ARGUMENTS), (same_as_before, COMPARES | NO_ARGUMENTS), (parts, BY_SUBTOPIC), (agrees, NO_ARGUMENTS)],
    ids=str,
)
def test_what_a_metric_needs_is_brought_and_what_does_not_apply_is_said(toy, expected):
    assert list_spared(check_metric(toy)) == expected


@per_query_metric(
    name="Long",
    needs=("queries", "unretrieved"),
    no_relevant=None,
    not_promised={"perfect_is_best": "a list of relevant documents lacks those that are judged irrelevant"},
)
def long(ranking):
    """1 for a query of several words in the head whose judged documents were all retrieved."""
    return len(ranking.text.split()) > 1 and ranking.columns["segment"] == "head" and not ranking.unretrieved


test_contract_of_queries = metric_contract([long])


@per_query_metric(name="Cheap", needs=("fields",))
def cheap(ranking):
    """Share of documents that cost less than 2."""
    return sum(known["price"] < 2 for known in ranking.fields) / ranking.retrieved


def test_attributes_are_what_the_author_says():
    assert list_spared(check_metric(cheap, fields={"price": [1, 2.5]}))["perfect_is_best"] == (
        "fields of documents decide which ranking is good"
    )


def read_failure(toy, **options):
    with pytest.raises(MetricError) as caught:
        check_metric(toy, **options)
    return str(caught.value)


def test_a_metric_of_which_nothing_can_be_checked_fails():
    assert read_failure(cheap) == (
        "Cheap: nothing was checked\n"
        "  it needs fields: give their values, as fields={'price': [1, 2.5]}\n"
        "  the metric comes from test_contract (not registered)"
    )


def test_a_required_parameter_that_nobody_can_guess_fails():
    @metric(name="Texted")
    def texted(judged, *, language: str):
        """By language."""
        return judged.top(1)[:, 0] > 0

    assert read_failure(texted) == (
        "Texted: nothing was checked\n"
        "  Texted no suitable value is known for language pass the metric with arguments, "
        "as Texted(language=…)\n"
        "  the metric comes from test_contract (not registered)"
    )
    assert list_spared(check_metric(texted(language="en"))) == NO_ARGUMENTS


def make_excused_metric(name):
    @metric(name="Excused", not_promised={name: "because"})
    def toy(judged):
        """The first document is relevant."""
        return judged.top(1)[:, 0] > 0

    return toy


OPTIONAL = (
    "these promises may be excluded: tells_rankings_apart, perfect_is_best, promotion_never_harms, names_of_documents, "
    "alone_or_together, below_the_cutoff"
)


def test_an_excuse_is_shown_and_one_from_what_is_no_promise_or_cannot_be_left_out_fails():
    assert list_spared(check_metric(make_excused_metric("perfect_is_best")))["perfect_is_best"] == "because"
    assert read_failure(make_excused_metric("perfekt_is_best")) == (
        "Excused\n  not_promised names 'perfekt_is_best', which is not a promise\n"
        f"  did you mean 'perfect_is_best'?\n  {OPTIONAL}"
    )
    assert read_failure(make_excused_metric("reads_only")) == (
        f"Excused\n  not_promised names 'reads_only', which every metric has to promise\n  {OPTIONAL}"
    )


def test_lower_is_better_turns_the_promises_round():
    @metric(name="Effort", direction="lower", range=(0, float("inf")), no_relevant=None)
    def effort(judged):
        """Better when documents of low grades stand first."""
        return judged.sum(judged.relevant() / judged.hits.rank)

    text = read_failure(effort)

    assert "Effort breaks the promise perfect_is_best" in text
    assert "Effort breaks the promise promotion_never_harms" in text


def test_a_metric_may_take_half_a_grade_for_nothing_or_for_something():
    @metric(name="Precise")
    def precise(judged):
        """Share of documents with grade 1 or more among those judged and retrieved."""
        return ratio(judged.sum(judged.relevant()), np.diff(judged.first))

    @metric(name="Halves")
    def halves(judged):
        """Share of documents with a grade above 0 among those judged and retrieved."""
        return ratio(judged.sum(judged.hits.grade > 0), np.diff(judged.first))

    assert list_spared(check_metric(precise)) == NO_ARGUMENTS
    assert list_spared(check_metric(halves)) == NO_ARGUMENTS


def test_no_grade_is_above_the_scale_for_which_a_metric_was_made():
    assert check_metric("ERR(max_grade=1)")


def test_ids_that_decide_by_definition_may_still_be_long_and_of_any_script():
    @per_query_metric(name="ById", needs=("documents",), not_promised={"names_of_documents": "ids decide"})
    def by_id(ranking):
        """Cannot write every id down."""
        return 0.0 * sum(len(document.encode("ascii")) for document in ranking.documents)

    assert "it raised UnicodeEncodeError: 'ascii' codec can't encode characters" in read_failure(by_id)


@pytest.mark.parametrize(
    ("needs", "data"), [(("timings",), "answers take 0.01s"), (("documents",), "documents are d1")]
)
def test_where_the_data_of_the_test_cannot_fit_a_metric_the_advice_says_so(needs, data):
    def looks_for_others(ranking):
        return float((ranking.seconds or 0) > 500 or "sku-1" in (ranking.documents or ()))

    made = per_query_metric(name="Others", needs=needs, range=(0, 1), no_relevant=0.0, empty=0.0)(looks_for_others)

    with pytest.raises(MetricError, match=f"in the data of this test {data}(.|\n)*if the metric looks for others"):
        check_metric(made)


def test_a_contract_of_nothing_is_an_error():
    with pytest.raises(MetricError, match="no metric was given to check"):
        metric_contract([])
    with pytest.raises(PluginError, match="7 is neither a metric nor the name of one: decorate the function with"):
        metric_contract([7])


def test_a_range_that_cannot_be_said_is_the_metrics_own_error():
    @metric(name="Rangeless", range=lambda settings: settings["nothing"])
    def rangeless(judged):
        """The first document is relevant."""
        return judged.top(1)[:, 0] > 0

    shown = re.sub(r"at \S+test_contract\.py:\d+", "at …", read_failure(rangeless))
    assert shown == (
        "Rangeless\n  its range failed for these arguments: KeyError: 'nothing'\n  at …\n"
        "  the metric comes from test_contract (not registered)"
    )


@pytest.mark.parametrize("cutoff", [1, 1000])
def test_no_cutoff_is_too_deep_for_the_data(cutoff):
    @metric(name="Deep")
    def deep(judged, *, cutoff: int):
        """Sees one place too far."""
        return judged.sum(judged.hits.rank <= cutoff + 1) / (cutoff + 1)

    assert f"Deep@{cutoff} breaks the promise below_the_cutoff" in read_failure(deep @ cutoff)


def test_a_cutoff_beyond_all_data_is_said_to_be():
    findings = check_metric("P@1001")

    assert list_spared(findings)["below_the_cutoff"] == "the test uses no rankings longer than 1,000"
