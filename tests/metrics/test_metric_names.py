"""One parser, one printer: every accepted spelling, the canonical text, and what is said of mistakes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.errors import MetricNameError
from pytest_ireval.plugins.manager import installed_registry

REGISTRY = installed_registry()
AVAILABLE = f"ireval metrics lists all {len(REGISTRY.metrics)} metrics"


def canonical(text):
    return [str(metric) for metric in REGISTRY.parse_metrics([text])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" nDCG @ 10 ", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("nDCG()@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain='exp')@10"),
        ('nDCG(gain="exp", )@10', "nDCG(gain='exp')@10"),
        ("nDCG(judged_only=True,gain='exp')@10", "nDCG(gain='exp', judged_only=True)@10"),
        ("nDCG(gains={2: 3, 1:1})", "nDCG(gains={1: 1, 2: 3})"),
        ("nDCG(gains={0:-1.5})", "nDCG(gains={0: -1.5})"),
        ("AP(rel=2.0)@100", "AP(rel=2)@100"),
        ("AP(rel=-1)", "AP(rel=-1)"),
        ("RBP(p=.5)", "RBP(p=0.5)"),
        ("RBP(p=5e-1)", "RBP(p=0.5)"),
        ("ERR(max_grade=None)", "ERR"),
        ("nDCG(gains={})", "nDCG"),
    ],
)
def test_canonical_text_drops_defaults_sorts_and_puts_at_last(text, expected):
    assert canonical(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("map_cut_10", ["AP@10"]),
        ("set_F.0.25", ["SetF(beta=0.5)"]),
        ("relative_P.5,10", ["CappedR@5", "CappedR@10"]),
        ("Rprec_mult.0.2,1.6", ["Rprec(multiple=0.2)", "Rprec(multiple=1.6)"]),
        ("utility.2.5,-1.0,-0.5,0", ["Utility(hit=2.5, miss=-0.5)"]),
        ("G.1=3.5,2=9", ["G(gains={1: 3.5, 2: 9})"]),
        ("rbp_resid.p=0.5", ["RBPResidual(p=0.5)"]),
        ("ndcg_cut.10", ["nDCG@10"]),
        ("P.5,10", ["P@5", "P@10"]),
        ("iprec_at_recall_0.20", ["IPrec(rounding='nearest')@0.2"]),
        (" 11pt_avg ", ["IPrecAvg(rounding='nearest')"]),
        ("set_relative_P", ["SetP(relative=True)"]),
        ("mrr@10", ["RR@10"]),
        ("hit_rate@10", ["Success@10"]),
        ("SetRelP(rel=2)", ["SetP(rel=2, relative=True)"]),
        ("F1@5", ["F@5"]),
        ("nDCG(gain='exp')@[1,3]", ["nDCG(gain='exp')@1", "nDCG(gain='exp')@3"]),
    ],
)
def test_familiar_spellings(text, expected):
    assert canonical(text) == expected


def test_two_texts_with_one_canonical_form_are_one_metric():
    metrics = REGISTRY.parse_metrics(["nDCG@10", "ndcg_cut_10", "P@[5,10]", "NDCG(cutoff=10)", "P_5"])

    assert list(map(str, metrics)) == ["nDCG@10", "P@5", "P@10"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", f"'ndgc@10', column 1\n  unknown metric 'ndgc'\n  did you mean 'nDCG@10'?\n  {AVAILABLE}"),
        ("nDCG10", f"'nDCG10', column 1\n  unknown metric 'nDCG10'\n  did you mean 'nDCG@10'?\n  {AVAILABLE}"),
        ("zzz", f"'zzz', column 1\n  unknown metric 'zzz'\n  {AVAILABLE}"),
        ("P", "'P', column 1\n  P needs a cutoff, for example P@10"),
        ("Rprec@3", "'Rprec@3', column 6\n  Rprec has no parameter after @"),
        ("P@0", "'P@0', column 1\n  P: cutoff=0 is out of range (at least 1)"),
        (f"P@{10**15}", "'P@1000000000000000', column 1\n  P: cutoff has more than 15 digits"),
        ("P@1.5", "'P@1.5', column 1\n  P: cutoff=1.5 is not a whole number"),
        ("P@'5'", "\"P@'5'\", column 1\n  P: cutoff='5' is not a whole number"),
        (
            "nDCG@10,20",
            "'nDCG@10,20', column 8\n  unexpected ',' after the metric\n"
            "  for several metrics write P@[5, 10], or name each separately",
        ),
        ("F1(beta=2)@5", "'F1(beta=2)@5', column 4\n  beta is given twice"),
        ("nDCG(gains={1: None})", "'nDCG(gains={1: None})', column 16\n  expected a number"),
        ("P_5(rel=2)", f"'P_5(rel=2)', column 1\n  unknown metric 'P_5'\n  write it 'P(rel=2)@5'\n  {AVAILABLE}"),
        ("utility.1,2", "'utility.1,2', column 8\n  unexpected '.1' after the metric"),
        ("set_F.-1", "'set_F.-1'\n  SetF: beta=-1 is out of range (at least 0)"),
        ("nDCG(cutoff=5)@10", "'nDCG(cutoff=5)@10', column 15\n  cutoff is given twice"),
        (
            "nDCG(gian='exp')@3",
            "\"nDCG(gian='exp')@3\", column 6\n  nDCG: unknown parameter 'gian'; did you mean 'gain'? "
            "known: cutoff, gain, discount, log_base, gains, ideal, judged_only",
        ),
        ("nDCG(gain=exp)", "'nDCG(gain=exp)', column 11\n  'exp' is not a number; text needs quotes"),
        (
            "nDCG(gain='expo')",
            "\"nDCG(gain='expo')\", column 6\n  nDCG: gain='expo' is unknown; allowed: 'linear', 'exp'",
        ),
        (
            "RBP(p=1)",
            "'RBP(p=1)', column 5\n  RBP: p=1 is out of range (at least 0, below 1); "
            "with p = 1 the factor 1 - p is 0, and so is every score",
        ),
        ("nDCG(gain='exp'", "\"nDCG(gain='exp'\", column 16\n  expected ')', got the end"),
        (
            "",
            "'', column 1\n  the name is missing\n  write a metric as Name(parameter=value)@cutoff, for example "
            "nDCG@10",
        ),
        (
            "@10",
            "'@10', column 1\n  '@' is not a name\n  write a metric as Name(parameter=value)@cutoff, for example "
            "nDCG@10",
        ),
        ("nDCG@", "'nDCG@', column 6\n  expected a value"),
        ("nDCG(gains={1:1, 1:2})", "'nDCG(gains={1:1, 1:2})', column 18\n  1 is given twice"),
        ("nDCG(5)", "'nDCG(5)', column 6\n  expected a parameter, as in rel=2"),
    ],
)
def test_mistakes_are_shown_with_position_suggestion_and_what_is_allowed(text, message):
    with pytest.raises(MetricNameError) as caught:
        REGISTRY.parse_metrics([text])

    assert str(caught.value) == message


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(MetricNameError) as caught:
        REGISTRY.parse_metrics(["nDCG@10", "P", "Rprec@3"])

    assert str(caught.value) == (
        "'P', column 1\n  P needs a cutoff, for example P@10\n'Rprec@3', column 6\n  Rprec has no parameter after @"
    )


def test_a_very_long_text_is_refused_without_being_read():
    with pytest.raises(MetricNameError, match="this name is longer than any metric's name"):
        REGISTRY.parse_metrics(["P@" + "1" * 5000])


numbers = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-1000, 1000).map(float)
values_by_kind = {
    "int": st.integers(1, 10**6),
    "float": numbers,
    "bool": st.booleans(),
    "map": st.dictionaries(numbers, numbers, max_size=4),
    "text": st.sampled_from(["price", "seconds to read"]),
}


@given(st.data())
def test_printing_and_reading_round_trip_over_all_metrics_and_values(data):
    metric = data.draw(st.sampled_from(sorted(REGISTRY.metrics.values(), key=str)))
    arguments = {}
    for parameter in metric.parameters:
        if parameter.required or data.draw(st.booleans()):
            value = data.draw(
                st.sampled_from(parameter.choices) if parameter.choices else values_by_kind[parameter.kind]
            )
            try:
                arguments[parameter.name] = parameter.check(value)
            except ValueError:
                if parameter.required:
                    arguments[parameter.name] = 0.5  # a level of recall
    whole = metric(**arguments)

    (again,) = REGISTRY.parse_metrics([str(whole)])

    assert again == whole
    assert again.settings == whole.settings


@given(st.text(max_size=30) | st.text("nDCGP@()[]{}=,:'\"10.-_ ", max_size=30))
def test_any_text_is_a_metric_or_a_clear_error(text):
    try:
        assert REGISTRY.parse_metrics([text])
    except MetricNameError as error:
        assert str(error)
