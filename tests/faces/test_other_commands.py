"""``ireval metrics`` and ``ireval plugins``."""

import pytest

from pytest_ireval.cli import COMMANDS


def test_metrics_lists_all_by_plugin_with_what_must_follow_the_name(ireval):
    out = ireval("metrics").out

    assert out.startswith("pytest-ireval 0.1.0\nAccuracy[@cutoff] ")
    assert "\nIPrec@recall " in out
    assert "\nP@cutoff " in out
    assert out.endswith("\nireval metrics NAME explains one.\n")


@pytest.mark.parametrize("name", ["RBP", "rbp", "RBP(p=0.5)@10", " RBP "])
def test_metrics_explains_one(ireval, name):
    out = ireval("metrics", name).out

    assert out.startswith("RBP[@cutoff]\n  What a reader gets per document")
    assert "  formula: RBP = (1 - p) sum" in out
    assert "  p: the probability that a reader goes on to the next document; at least 0, below 1; default 0.8\n" in out


def test_metrics_explains_several_and_spellings(ireval):
    out = ireval("metrics", "ndcg", "map").out

    assert "ndcg_cut_{cutoff}" in out
    assert "AP[@cutoff]" in out


def test_metrics_lists_what_another_package_calls_them_and_why_values_differ(ireval):
    out = ireval("metrics", "--for", "trec_eval").out

    assert out.startswith("trec_eval ")
    assert "\nmap                                  AP " in out
    assert (
        "\nunj_{cutoff}                         Unjudged@{cutoff}                                            "
        "yes, but for grades below 0, which it takes for unjudged documents; here they are judged\n"
    ) in out
    assert out.endswith(
        "\nno counterpart: ndcg_p\n"
        "  in the source of trec_eval 10, but not offered by it; nDCG(discount='jarvelin') is the same\n"
    )


def test_metrics_lists_what_another_package_calls_one(ireval):
    assert ireval("metrics", "--for", "ir_measures", "SetF").out == (
        "ir_measures          pytest-ireval      equal\n"
        "SetF                 SetF               yes\n"
        "SetF(beta={beta}.0)  SetF(beta={beta})  "
        "no: it hands beta to trec_eval, which takes it for the square of beta\n"
    )


def test_an_unknown_name_is_an_error(ireval):
    outcome = ireval("metrics", "ndgc")

    assert outcome.code == 2
    assert "did you mean 'nDCG'?" in outcome.err


def test_plugins_lists_distribution_and_version(ireval):
    out = ireval("plugins").out

    assert out.startswith("pytest-ireval 0.1.0 (builtin, formats)\n  metrics: P, R, CappedR, F,")
    assert "\n  formats of queries: table, jsonl," in out
    assert out.endswith("Found through the entry-point group pytest_ireval.\n")


def test_help_names_the_commands_without_importing_them(ireval):
    out = ireval("--help").out

    for command in COMMANDS:
        assert f"\n  {command} " in out


def test_an_unknown_command_is_a_usage_error(ireval):
    outcome = ireval("evalute")

    assert outcome.code == 2
    assert "No such command 'evalute'" in outcome.err


@pytest.mark.parametrize(
    ("name", "found"), [("P_5", "P@cutoff"), ("11pt_avg", "IPrecAvg"), ("ndcg_cut_10", "nDCG[@cutoff]")]
)
def test_metrics_explains_what_others_call_by_another_name(ireval, name, found):
    assert ireval("metrics", name).out.startswith(found + "\n")


def test_words_behind_a_name_are_an_error(ireval):
    assert ireval("metrics", "P junk").code == 2
