"""A metric may say what other packages call it; a third party's metric as well."""

import pytest

from pytest_ireval import Elsewhere, MetricError, metric
from pytest_ireval.metrics.metric import counterparts, without_counterpart


def toy(*rows):
    @metric(name="Toy", elsewhere=rows)
    def toy(judged, *, cutoff: int):
        """A toy."""
        return judged.retrieved

    return toy


def test_rows_are_listed_by_the_name_over_there():
    rows = [Elsewhere("ranx", name, "Toy@{cutoff}") for name in ("toy@{cutoff}", "bear@{cutoff}")]
    other = Elsewhere("trec_eval", "toy_{cutoff}", "Toy@{cutoff}")

    assert [row.name for row in counterparts([toy(*rows, other)], "ranx")] == ["bear@{cutoff}", "toy@{cutoff}"]


def test_a_metric_that_fills_a_gap_takes_the_name_off_the_list():
    row = Elsewhere("trec_eval", "prefs_simp", "Toy@1")

    missing = {absent.name for absent in without_counterpart([toy(row)], "trec_eval")}

    assert "prefs_simp" not in missing
    assert "prefs_pair" in missing


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Elsewhere("ranx", "toy", "Toy@1"), "yes"),
        (Elsewhere("ranx", "toy", "Toy@1", differs="it guesses"), "no: it guesses"),
        (Elsewhere("ranx", "toy", "Toy@1", but_for="equal scores"), "yes, but for equal scores"),
    ],
)
def test_the_verdict_in_words(row, verdict):
    assert row.equal == verdict


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            Elsewhere("renx", "toy", "Toy@1"),
            "metric 'Toy': elsewhere: package 'renx' is not one of trec_eval, ir_measures, ranx, ntcireval, "
            "pyndeval, cwl-eval, scikit-learn",
        ),
        (
            Elsewhere("ranx", "toy", "Toy@1", "a", "b"),
            "metric 'Toy': elsewhere: 'toy' has both differs and but_for; give only one of them",
        ),
        (Elsewhere("ranx", "toy", "Bear@1"), "metric 'Toy': elsewhere: 'Bear@1' is not a name of this metric"),
    ],
)
def test_rows_that_make_no_sense_are_refused(row, message):
    with pytest.raises(MetricError) as caught:
        toy(row)

    assert str(caught.value) == message


def test_every_built_in_row_names_a_metric(registry):
    for each in registry.metrics.values():
        for row in each.elsewhere:
            plain = row.ours.format(
                cutoff=5,
                recall=0.5,
                multiple=1.5,
                beta=1,
                rel=2,
                p=0.5 if "0." not in row.ours else 5,
                hit=1,
                noise=2,
                miss=3,
                rest=4,
                T=2.5,
                max_rel=4,
                min_rel=1,
                **dict.fromkeys(("K", "hb", "hc", "b1", "b2", "R1", "R2", "rate", "halflife", "L"), 1),
                A=0.5,
            )
            assert registry.parse_metrics([plain])[0].name == each.name
