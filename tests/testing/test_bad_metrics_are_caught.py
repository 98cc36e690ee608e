"""Each bad metric is caught by the one promise that it breaks, with the smallest evidence."""

import pytest
from bad_metrics import METRICS, remembered

from pytest_ireval import MetricError
from pytest_ireval.testing import check_metric, list_promises

EVIDENCE = {
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
    "RaisesOnUnjudged": """\
RaisesOnUnjudged breaks the promise a_value_for_every_query
  promised: every query gets a number, whatever was judged or retrieved
  query q8: judged d78=1; ranked d71
  it raised ValueError: zero-size array to reduction operation maximum which has no identity for query 'q8'
  what to do: set no_relevant= and empty= to the score of such queries, or return a number for them, as
    ratio(…) does for 0 / 0; and declare in needs= the data that it uses in addition to grades
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
    "AlwaysHalf": """\
AlwaysHalf breaks the promise tells_rankings_apart
  promised: rankings that differ do not all have the same value
  it has the value 0.5 for all rankings, good or bad
  what to do: correct the formula; or pass arguments with which it tells good rankings from bad ones; or, if
    its definition makes that impossible, declare it in the metric:
    not_promised={'tells_rankings_apart': 'the reason'}
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
}
BAD = [(promise, metric) for promise, metrics in METRICS.items() for metric in metrics]


@pytest.mark.ci
@pytest.mark.parametrize(("promise", "metric"), BAD, ids=str)
def test_a_bad_metric_is_caught_by_the_promise_it_breaks_and_by_no_other(promise, metric):
    remembered.clear()

    with pytest.raises(MetricError) as caught:
        check_metric(metric)

    text = str(caught.value) + "\n"
    assert f" breaks the promise {promise}\n" in text
    assert len(caught.value.problems) == 1
    assert text == EVIDENCE.get(metric.name, text)


def test_every_promise_has_a_metric_that_breaks_it():
    assert set(METRICS) == {name for name, _ in list_promises()}
