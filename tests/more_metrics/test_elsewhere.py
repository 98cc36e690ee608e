"""A plugin may say what other packages call metrics; a third party's plugin as well."""

import pytest

from pytest_ireval import Elsewhere
from pytest_ireval.errors import MetricNameError, PluginError
from pytest_ireval.metrics.elsewhere import OTHER_MEANINGS, list_counterparts, list_without_counterpart
from pytest_ireval.plugins.by_name import Origin, build_vocabulary


def test_rows_are_listed_by_the_name_over_there():
    rows = [Elsewhere("ranx", name, "Toy@{cutoff}") for name in ("toy@{cutoff}", "bear@{cutoff}")]
    other = Elsewhere("trec_eval", "toy_{cutoff}", "Toy@{cutoff}")

    assert [row.name for row in list_counterparts([*rows, other], "ranx")] == ["bear@{cutoff}", "toy@{cutoff}"]


def test_a_metric_that_fills_a_gap_takes_the_name_off_the_list(registry):
    row = Elsewhere("trec_eval", "prefs_simp", "Toy@1")

    missing = {absent.name for absent in list_without_counterpart([*registry.vocabulary.elsewhere, row], "trec_eval")}

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
            Elsewhere("renx", "toy", "P@1"),
            "package 'renx' is not one of trec_eval, ir_measures, ranx, ntcireval, pyndeval, cwl-eval, scikit-learn",
        ),
        (Elsewhere("ranx", "toy", "P@1", "a", "b"), "'toy' has both differs and but_for; give only one of them"),
        (Elsewhere("ranx", "toy", "Bear@1"), "'toy' stands for 'Bear@1', and there is no such metric"),
    ],
)
def test_rows_that_make_no_sense_are_refused_when_they_are_read(registry, row, message):
    origin = Origin("acme", "acme", "1")
    vocabulary = build_vocabulary([(origin, [registry.metrics["P"]])], elsewhere=lambda: [(origin, [row])])

    with pytest.raises(PluginError) as caught:
        vocabulary.elsewhere  # noqa: B018 - it is read here

    assert str(caught.value) == f"ireval_names_elsewhere of acme 1: {message}"


NUMBERS = {
    "cutoff": 5,
    "recall": 0.5,
    "multiple": 1.5,
    "beta": 1,
    "rel": 2,
    "hit": 1,
    "noise": 2,
    "miss": 3,
    "rest": 4,
    "T": 2.5,
    "max_rel": 4,
    "min_rel": 1,
    "A": 0.5,
    **dict.fromkeys(("K", "hb", "hc", "b1", "b2", "R1", "R2", "rate", "halflife", "L"), 1),
}


def test_every_row_names_a_metric(registry):
    for row in registry.vocabulary.elsewhere:
        if row.ours:
            plain = row.ours.format(p=0.5 if "0." not in row.ours else 5, **NUMBERS)
            assert registry.parse_metrics([plain])[0].name == row.metric


def test_a_name_that_means_another_metric_elsewhere_is_refused(registry):
    refused = {}
    for row in registry.vocabulary.elsewhere:
        if row.ours and "{" not in row.name + row.ours and row.name not in registry.metrics:
            try:
                assert registry.parse_metrics([row.name]) == registry.parse_metrics([row.ours])
            except MetricNameError as error:
                if "this name means" in str(error):
                    refused[row.name] = (row.package, row.ours)

    assert refused == OTHER_MEANINGS
