"""``ireval metrics --for``: what the names of other packages mean here."""

import pytest


def rows(out):
    """The lines below the header, each as its cells."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.splitlines()[1:]]


def test_all_names_of_a_package_are_listed_with_why_values_differ(ireval):
    out = ireval("metrics", "--for", "trec_eval").out

    assert out.startswith("trec_eval ")
    assert "\nmap                                  AP " in out
    assert (
        "\nunj_{cutoff}                         Unjudged@{cutoff}                                            "
        "yes, but for grades below 0, which it takes for unjudged documents; here they are judged\n"
    ) in out
    assert out.endswith(
        "\nno counterpart: ndcg_p\n"
        "  in the source of trec_eval 10, but not offered by it; nDCG(discount='jarvelin') gives the same values\n"
    )


def test_a_name_of_ours_lists_everything_it_is_called(ireval):
    assert ireval("metrics", "--for", "ir_measures", "SetF").out == (
        "ir_measures          pytest-ireval      equal\n"
        "SetF                 SetF               yes\n"
        "SetF(beta={beta}.0)  SetF(beta={beta})  "
        "no: it hands beta to trec_eval, which takes it for the square of beta\n"
    )
    assert rows(ireval("metrics", "--for", "trec_eval", "AP").out) == [
        ["map", "AP", "yes"],
        ["map_cut_{cutoff}", "AP@{cutoff}", "yes"],
    ]


@pytest.mark.parametrize(
    ("package", "name", "theirs", "ours"),
    [
        ("trec_eval", "ndcg_cut.10", "ndcg_cut_10", "nDCG@10"),
        ("trec_eval", "ndcg_cut", "ndcg_cut_{cutoff}", "nDCG@{cutoff}"),
        ("trec_eval", "utility.1,-1,2,0", "utility_1,-1,2,0", "Utility(miss=2)"),
        ("trec_eval", "dcg.1=2,3=5", "dcg_1=2,3=5", "DCG(gains={1: 2, 3: 5})"),
        ("ranx", "ndcg@10", "ndcg@10", "nDCG@10"),
        ("ir_measures", "P(rel=2)@5", "P(rel=2)@5", "P(rel=2)@5"),
        ("trec_eval", "nDCG@10", "ndcg_cut_10", "nDCG@10"),
        ("ranx", "RBP(p=0.5)", "rbp.5", "RBP(p=0.5)"),
    ],
)
def test_a_name_of_the_package_is_one_row_with_its_numbers(ireval, package, name, theirs, ours):
    ((first, second, verdict),) = [row[:3] for row in rows(ireval("metrics", "--for", package, name).out)]

    assert (first, second) == (theirs, ours)
    assert verdict.startswith("yes")


@pytest.mark.parametrize(
    ("package", "name", "reason"),
    [
        ("trec_eval", "runid", "text, not a number: the tag of the rankings file"),
        (
            "trec_eval",
            "P_avgjg.5",
            "averages over several sets of judgments in one file; evaluate each set separately instead",
        ),
    ],
)
def test_a_name_without_counterpart_has_a_reason(ireval, package, name, reason):
    outcome = ireval("metrics", "--for", package, name)

    assert outcome.code == 0
    assert outcome.out == f"no counterpart: {name}\n  {reason}\n"


def test_a_metric_of_ours_that_the_package_lacks_is_said_to_be(ireval):
    assert ireval("metrics", "--for", "ntcireval", "AWP").out == "NTCIREVAL has no name for it: AWP\n"


def test_a_number_that_makes_no_sense_is_an_error(ireval):
    outcome = ireval("metrics", "--for", "trec_eval", "ndcg_cut_0")

    assert outcome.code == 2
    assert outcome.err == "error: 'nDCG@0', column 1\n  nDCG: cutoff=0 is out of range (at least 1)\n"


@pytest.mark.parametrize(("name", "family"), [("recip_rank@5", "RR"), ("P@-1", "P")])
def test_a_metric_is_not_translated_into_another_one(ireval, name, family):
    outcome = ireval("metrics", "--for", "trec_eval", name)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith(
        f"trec_eval has no name for this metric\n  ireval metrics --for trec_eval {family} lists its names for "
        f"{family}\n"
    )


def test_a_square_below_zero_is_an_error(ireval):
    assert ireval("metrics", "--for", "trec_eval", "set_F_-1").err == "error: -1 is not the square of a number\n"


def test_every_row_is_found_by_its_own_name(registry):
    from pytest_ireval.metrics.elsewhere import PACKAGES, list_counterparts, list_without_counterpart
    from pytest_ireval.metrics.lookup import look_up

    for package in PACKAGES:
        for row in list_counterparts(registry.vocabulary.elsewhere, package):
            assert row in look_up(row.names[0], package, registry.vocabulary).rows
        for absent in list_without_counterpart(registry.vocabulary.elsewhere, package):
            assert look_up(absent.name, package, registry.vocabulary).absent == absent
