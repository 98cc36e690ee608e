"""Every metric that another package offers is in the table: with its counterpart, or with the reason for none."""

import inspect
import re
from pathlib import Path

import foreign
import pytest
from foreign import need_peer

from pytest_ireval.errors import MetricNameError
from pytest_ireval.metrics.elsewhere import PACKAGES, list_counterparts, list_without_counterpart
from pytest_ireval.plugins.manager import installed_registry

ROWS = installed_registry().vocabulary.elsewhere


def families(package):
    """Names in the table, without their numbers and arguments."""
    names = [row.name for row in list_counterparts(ROWS, package)]
    names += [row.name for row in list_without_counterpart(ROWS, package)]
    return {re.split(r"[_.]\{|_1=|[(@]", name)[0] for name in names}


TREC_EVAL_10 = (
    "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P relstring recall "
    "infAP gm_bpref Rprec_mult utility 11pt_avg binG G dcg ideal_dcg ndcg ndcg_rel Rndcg ndcg_cut map_cut relative_P "
    "success set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret "
    "prefs_num_prefs_poss prefs_num_prefs_ful "
    "prefs_num_prefs_ful_ret prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret "
    "prefs_avgjg_ret prefs_avgjg_Rnonrel_ret prefs_simp_imp prefs_pair_imp prefs_avgjg_imp map_avgjg P_avgjg "
    "Rprec_mult_avgjg yaap rbp rbp_resid unj"
)
"""The measures that its measures.c lists."""


def test_all_of_trec_eval_10():
    assert set(TREC_EVAL_10.split()) - families("trec_eval") == set()
    assert families("trec_eval") - set(TREC_EVAL_10.split()) == {"ndcg_p"}


def test_all_of_pytrec_eval():
    need_peer("trec_eval")
    import pytrec_eval

    assert set(pytrec_eval.supported_measures) - families("trec_eval") == set()


def test_all_of_ir_measures():
    need_peer("ir_measures")
    from ir_measures.measures import registry

    assert set(registry) - families("ir_measures") == set()


def test_all_of_ranx():
    need_peer("ranx")
    from ranx import metrics

    offered = set(re.findall(r'metric == "([\w-]+)"', inspect.getsource(metrics.metric_switch)))
    functions = {getattr(metrics, name).__name__ for name in metrics.__all__}
    behind = {metrics.metric_switch(name).__name__ for name in offered}

    assert offered - families("ranx") == set()
    assert functions - behind - families("ranx") == set()


def test_all_of_ntcireval():
    need_peer("ntcireval")
    from pyNTCIREVAL import metrics

    offered = {name for name, each in vars(metrics).items() if inspect.isclass(each)} - {"Metric"}

    assert offered - families("ntcireval") == set()


def test_all_of_pyndeval():
    need_peer("pyndeval")
    import pyndeval

    assert set(pyndeval.SUPPORTED_MEASURES) - families("pyndeval") == set()


def test_all_of_cwl_eval():
    need_peer("cwl-eval")
    from cwl.ruler import measures

    text = "".join(path.read_text() for path in Path(measures.__path__[0]).glob("cwl_*.py"))
    offered = set(re.findall(r"^class (\w+)", text, re.MULTILINE))

    assert offered - families("cwl-eval") == set()


def test_all_of_scikit_learn_that_ranks():
    need_peer("scikit-learn")
    from sklearn.metrics import _ranking

    offered = {
        name
        for name, each in vars(_ranking).items()
        if re.fullmatch(r"[a-z]\w*_(score|loss|error)", name) and each.__module__ == _ranking.__name__
    }

    assert offered - families("scikit-learn") == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_stands_once(package):
    names = [(row.name, row.ours) for row in list_counterparts(ROWS, package)]

    assert len(names) == len(set(names))
    assert {name for name, _ in names}.isdisjoint(row.name for row in list_without_counterpart(ROWS, package))


def test_every_package_can_be_asked():
    assert set(foreign.PEERS) == set(PACKAGES)
    assert set(PACKAGES) <= set(foreign.MODULES)  # which has packages without metrics, too


OUR_OWN = {
    ("ir_measures", "ERR@{cutoff}"),
    ("ir_measures", "SetF(beta={beta})"),
    *(("ntcireval", name) for name in ("AP@{cutoff}", "ERR", "nDCG@{cutoff}", "nERR@{cutoff}", "RBP")),
}
"""Names of metrics here that mean something else there. The dialect ir_measures reads the first as there."""
REFUSED = {
    "trec_eval": {"rbp"},
    "ranx": {"f1", "hit_rate", "hits", "hits@{cutoff}", "interpolated_precision_at_recall", "precision", "recall"}
    | {"precision@{cutoff}-l2", "r-precision", "rbp.{p}"},
    "ir_measures": set(),
}
"""Names of packages that write names as we do, which are refused nevertheless."""
NUMBERS = {"cutoff": 10, "recall": "0.3", "multiple": "1.6", "beta": 2, "beta^2": 4, "rel": 2, "p": 5}
NUMBERS |= {"K": 5, "hb": 1, "hc": 1, "b1": 1, "b2": 2, "R1": 3, "R2": 4, "A": 0.2, "rate": 0.1, "halflife": 9, "L": 9}
NUMBERS |= {"T": 2.5, "max_rel": 4, "min_rel": 1, "hit": 2, "noise": -2, "miss": -3, "rest": 4}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_means_here_what_it_means_there_or_is_refused(package):
    registry, refused = installed_registry(), set()
    for row in list_counterparts(ROWS, package):
        numbers = NUMBERS if package == "ranx" else NUMBERS | {"p": 0.5}
        try:
            theirs = registry.parse_metrics([row.name.format_map(numbers)])
        except MetricNameError:
            refused.add(row.name)
            continue
        same = theirs == registry.parse_metrics([row.ours.format_map(numbers)])
        assert same != ((package, row.name) in OUR_OWN), row

    assert refused == REFUSED.get(package, refused)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rbp", "write 'RBP(p=0.9)' or 'RBP'"),
        ("QMeasure@10", "a name of NTCIREVAL: ireval metrics --for ntcireval 'QMeasure@10' shows ours"),
        ("hits", "a name of ranx: ireval metrics --for ranx 'hits' shows ours"),
    ],
)
def test_a_refused_name_is_explained(name, hint):
    with pytest.raises(MetricNameError, match=re.escape(hint)):
        installed_registry().parse_metrics([name])
