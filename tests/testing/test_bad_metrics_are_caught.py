"""Each bad metric is caught by the one promise that it breaks, with the smallest evidence."""

import re
from pathlib import Path

import pytest
from bad_metrics import METRICS, remembered

from pytest_ireval import MetricError
from pytest_ireval.testing import check_metric, promises

PLUGINS_PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"

CAUGHT = {
    "Biased": """\
Biased breaks the promise names_of_documents
  promised: the ids of documents do not matter
  query q1: judged d15=1; ranked d15
  value of q1: 1
  with every document renamed:
  query q1: judged r061=1; ranked r061
  value of q1: 0
  what to do: use grades and ranks, not ids; the result must not depend on a set or sort of ids; or, if its
    definition makes that impossible, declare it in the metric:
    not_promised={'names_of_documents': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "NameReader": """\
NameReader breaks the promise names_of_queries
  promised: the ids of queries do not matter
  query q1: judged d15=1; ranked d15
  value of q1: 1
  with every query renamed:
  query x048: judged d15=1; ranked d15
  value of x048: 0
  what to do: do not use the id of a query in the formula, and keep nothing under it from one call to the
    next: use judged.remember for values that belong to the data
  the metric comes from bad_metrics (not registered)
""",
    "CarriesOver": """\
CarriesOver breaks the promise order_of_queries
  promised: the order of queries does not matter, nor do other queries
  query q10: judged d71=1; ranked d71
  query q11: judged d2=1; ranked nothing
  value of q11: 0.001
  with the queries in another order:
  query q11: judged d2=1; ranked nothing
  query q10: judged d71=1; ranked d71
  value of q11: 0
  what to do: carry nothing over from one query to the next: judged.running and judged.sum start again for
    each query
  the metric comes from bad_metrics (not registered)
""",
    "Curved": """\
Curved breaks the promise alone_or_together
  promised: a query scores the same alone as among others
  query q10: judged d71=1; ranked d71
  query q11: judged d92=1 d2=1; ranked nothing
  value of q10: 0.5
  alone:
  query q10: judged d71=1; ranked d71
  value of q10: 1
  what to do: compare a query only with its own documents; the scale is judged.highest_grade, never a maximum
    over the queries that are present; or, if its definition makes that impossible, declare it in the metric:
    not_promised={'alone_or_together': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "NaNOnEmpty": """\
NaNOnEmpty breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q1: judged d15=1; ranked nothing
  value of q1: nan
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "RaisesOnUnjudged": """\
RaisesOnUnjudged breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q8: judged d78=1; ranked d71
  it raised ValueError: zero-size array to reduction operation maximum which has no identity for query 'q8'
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "Hungry": """\
Hungry breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q1: judged d15=1; ranked nothing
  it raised AttributeError: 'NoneType' object has no attribute 'ids' for query 'q1'
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "Unbounded": """\
Unbounded breaks the promise within_its_range
  promised: values are within the range that the metric declares
  query q12: judged d85=2; ranked d85
  value of q12: 2, outside 0 to 1
  what to do: correct the formula, or declare range=(lowest, highest)
  the metric comes from bad_metrics (not registered)
""",
    "Scribbler": """\
Scribbler breaks the promise reads_only
  promised: judgments, rankings and all related data are read, never changed
  query q1: judged d15=1; ranked d15
  it changed what it was given
  what to do: work on a copy
  the metric comes from bad_metrics (not registered)
""",
    "Scribe": """\
Scribe breaks the promise reads_only
  promised: judgments, rankings and all related data are read, never changed
  query q1: judged d22=0; ranked nothing
  it raised ValueError: assignment destination is read-only for query 'q1'
  what to do: work on a copy
  the metric comes from bad_metrics (not registered)
""",
    "Moody": """\
Moody breaks the promise same_twice
  promised: the same data score the same twice
  query q1: judged d15=1; ranked d15
  value of q1: 0.…
  the second time:
  query q1: judged d15=1; ranked d15
  value of q1: 0.…
  what to do: keep values between calls only with judged.remember, and do not depend on chance or time
  the metric comes from bad_metrics (not registered)
""",
    "LateIsGood": """\
LateIsGood breaks the promise promotion_never_harms
  promised: moving a relevant document above one with a lower grade never makes a ranking worse
  query q8: judged d85=1; ranked d71 d78 d85
  value of q8: 0.3333333333
  with a relevant document one place higher:
  query q8: judged d85=1; ranked d71 d85 d78
  value of q8: 0.25
  what to do: correct the formula, or declare direction='lower' or 'neither'; or, if its definition makes that
    impossible, declare it in the metric:
    not_promised={'promotion_never_harms': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "LongIsGood": """\
LongIsGood breaks the promise perfect_is_best
  promised: no ranking is better than all relevant documents in order of grade
  query q7: judged d64=1; ranked d57 d64
  value of q7: 0.6666666667
  with all relevant documents in order of grade:
  query q7: judged d64=1; ranked d64
  value of q7: 0.5
  what to do: correct the formula, or declare direction='lower' or 'neither'; or, if its definition makes that
    impossible, declare it in the metric:
    not_promised={'perfect_is_best': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "NoCutoff": """\
NoCutoff@1 breaks the promise below_the_cutoff
  promised: adding documents that are not relevant below the cutoff changes nothing
  query q1: judged d8=1 i0=0; ranked d8
  value of q1: 1
  with two more documents after the others:
  query q1: judged d8=1 i0=0; ranked d8 i0 u0
  value of q1: 0.3333333333
  what to do: exclude documents below the cutoff: hits.rank <= cutoff, grades[:cutoff], min(retrieved,
    cutoff); or, if its definition makes that impossible, declare it in the metric:
    not_promised={'below_the_cutoff': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "ScoreReader": """\
ScoreReader breaks the promise scores_scaled
  promised: scores only order documents
  query q1: judged d15=1; ranked d15 (1.5)
  value of q1: 1
  with other scores in the same order:
  query q1: judged d15=1; ranked d15 (106.75)
  value of q1: 0
  what to do: use the rank, or declare needs=('scores',)
  the metric comes from bad_metrics (not registered)
""",
    "RowReader": """\
RowReader breaks the promise order_of_lines
  promised: the order of lines in the files does not matter, even for equal scores
  query q1: judged d22=0 d29=0 d64=1; ranked d22 d29
  value of q1: 1
  with lines in another order:
  query q1: judged d64=1 d29=0 d22=0; ranked d22 d29
  value of q1: 0
  what to do: use the rank; the row number of a judgment has no meaning
  the metric comes from bad_metrics (not registered)
""",
    "ShortMemory": """\
ShortMemory@1 breaks the promise arguments_apart
  promised: earlier calls with other arguments do not matter
  query q1: judged d15=1; ranked d8 d15
  value of q1: 0
  after other arguments:
  query q1: judged d15=1; ranked d8 d15
  value of q1: 1
  what to do: include every argument in the key of judged.remember
  the metric comes from bad_metrics (not registered)
""",
    "Remembers": """\
Remembers breaks the promise names_of_queries
  promised: the ids of queries do not matter
  query q1: judged d15=1; ranked d15
  value of q1: 1
  with a long id for every query:
  query größere-tasse-コップ-0048: judged d15=1; ranked d15
  value of größere-tasse-コップ-0048: 0.5
  what to do: do not use the id of a query in the formula, and keep nothing under it from one call to the
    next: use judged.remember for values that belong to the data
  the metric comes from bad_metrics (not registered)
""",
    "ShortNames": """\
ShortNames breaks the promise names_of_documents
  promised: the ids of documents do not matter
  query q1: judged d15=1; ranked d15
  value of q1: 0
  with a long id for every document:
  query q1: judged https://shop.example/größe/コップ/00061=1; ranked https://shop.example/größe/コップ/00061
  value of q1: 1
  what to do: use grades and ranks, not ids; the result must not depend on a set or sort of ids; or, if its
    definition makes that impossible, declare it in the metric:
    not_promised={'names_of_documents': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "AsciiNames": """\
AsciiNames breaks the promise names_of_documents
  promised: the ids of documents do not matter
  query q1: judged d15=1; ranked d15
  value of q1: 0
  with a long id for every document:
  query q1: judged https://shop.example/größe/コップ/00061=1; ranked https://shop.example/größe/コップ/00061
  value of q1: 1
  what to do: use grades and ranks, not ids; the result must not depend on a set or sort of ids; or, if its
    definition makes that impossible, declare it in the metric:
    not_promised={'names_of_documents': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "WholeGrades": """\
WholeGrades breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q1: judged d29=0.25; ranked d29
  value of q1: nan
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "HundredQueries": """\
HundredQueries breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q45: judged d32=1 d39=2 d46=1; ranked d25 d32 d39
  query q46: judged d39=0 d46=0 d53=0 d60=0 d67=0; ranked d32 d39 d46
  query q47: judged d39=1 d46=-1 d53=1 d60=2; ranked d39 d46
  query q48: judged d46=1 d60=1 d67=1 d74=-1 d81=1; ranked d46 d53 d60
  query q49: judged d53=1 d67=0 d74=0; ranked d53 d60
  query q50: judged d60=-1 d67=1 d74=0 d81=0 d88=1; ranked d60
  query q51: judged d67=1 d74=3 d81=-1 d88=0 d95=0 d5=-1; ranked d67 d74
  query q52: judged d74=1 d81=0 d88=0; ranked d74
  query q53: judged d81=1 d88=0; ranked d81
  query q54: judged d88=-1 d95=0 d5=2 d12=0 d19=1 d26=0 d33=0; ranked d88 d95 d5
  query q55: judged d95=1 d5=0 d12=-1 d19=0 d26=1; ranked d95
  query q56: judged d5=-1 d12=2 d19=1 d26=1 d33=0; ranked d5 d12
  … and 92 queries more
  it raised IndexError: index 100 is out of bounds for axis 0 with size 100 for query 'q145'
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "AlwaysHalf": """\
AlwaysHalf breaks the promise tells_rankings_apart
  promised: rankings that differ do not all have the same value
  it has the value 0.5 for all rankings, good or bad
  what to do: correct the formula; or pass arguments with which it tells good rankings from bad ones; or, if
    its definition makes that impossible, declare it in the metric:
    not_promised={'tells_rankings_apart': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "NoReturn": """\
NoReturn breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q1: judged d15=1; ranked nothing
  it returned None: a return statement is missing
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "OneForAll": """\
OneForAll breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q1: judged d15=1; ranked nothing
  it returned a single number, 0.5, for 1 query: it must be an array with one number for each
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
  the metric comes from bad_metrics (not registered)
""",
    "ThreeAtMost": """\
ThreeAtMost breaks the promise within_its_range
  promised: values are within the range that the metric declares
  query q1: judged d36=4; ranked d36
  value of q1: 9, outside 0 to 1
  what to do: correct the formula, or declare range=(lowest, highest)
  the metric comes from bad_metrics (not registered)
""",
    "HundredAtMost": """\
HundredAtMost@1 breaks the promise within_its_range
  promised: values are within the range that the metric declares
  query q2: judged d1422=1 d1443=-1 d1450=3 d1478=1 … (66 more) … d2059=3 d2066=0 d2073=0 d2087=1; ranked d1387 d1394 d1401 d1408 … (93 more) … d2066 d2073 d2080 d2087
  value of q2: 5, outside 0 to 1
  what to do: correct the formula, or declare range=(lowest, highest)
  the metric comes from bad_metrics (not registered)
""",  # noqa: E501 - evidence has a line for each query
    "Patient": """\
Patient(patience=2) breaks the promise within_its_range
  promised: values are within the range that the metric declares
  query q9: judged d64=1; ranked d64
  value of q9: 2, outside 0 to 1
  patience=2 was chosen by this test (it tries 0.5, 2): if it is not a sensible value, declare the allowed
    numbers, as patience: Annotated[float, Param('…', low=0, below=1)]
  what to do: correct the formula, or declare range=(lowest, highest)
  the metric comes from bad_metrics (not registered)
""",
    "Cost": """\
Cost breaks the promise perfect_is_best
  promised: no ranking is better than all relevant documents in order of grade
  query q1: judged d15=1; ranked nothing
  value of q1: 0
  with all relevant documents in order of grade:
  query q1: judged d15=1; ranked d15
  value of q1: 0.1
  what to do: set empty= to the score of an empty ranking, as empty=1; empty=0 is better than a perfect one;
    or, if its definition makes that impossible, declare it in the metric:
    not_promised={'perfect_is_best': 'the reason'}
  the metric comes from bad_metrics (not registered)
""",
    "Top_10": """\
Top_10 breaks the promise name_round_trips
  promised: its canonical name, read again, is the same metric
  it is read as 'Top_10@10'
  what to do: choose a name that cannot be read as one of its own spellings
  the metric comes from bad_metrics (not registered)
""",
}
BAD = [(promise, metric) for promise, metrics in METRICS.items() for metric in metrics]
each_bad_metric = pytest.mark.parametrize(("promise", "metric"), BAD, ids=str)


@pytest.mark.ci
@each_bad_metric
def test_a_bad_metric_is_caught_by_the_promise_it_breaks_and_by_no_other(promise, metric):
    remembered.clear()

    with pytest.raises(MetricError) as caught:
        check_metric(metric)

    text = str(caught.value) + "\n"
    if metric.name == "Moody":
        text = re.sub(r"0\.\d+", "0.…", text)
    assert text == CAUGHT[metric.name]
    assert f"breaks the promise {promise}" in text
    assert len(caught.value.problems) == 1


def test_every_promise_has_a_metric_that_breaks_it():
    assert set(METRICS) == {name for name, _ in promises()}


@pytest.mark.skipif(not PLUGINS_PAGE.exists(), reason="needs a checkout of the project")
def test_the_evidence_in_the_documentation_is_what_authors_see():
    shown = CAUGHT["CarriesOver"].replace("bad_metrics", "my_metrics")

    assert f"```\n{shown}```" in PLUGINS_PAGE.read_text(encoding="utf-8")
