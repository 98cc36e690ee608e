"""Every metric that another package offers is in the table: with its counterpart, or with the reason for none."""

import inspect
import re

import foreign
import pytest
from foreign import need_peer

from pytest_ireval import load_registry
from pytest_ireval.metrics.metric import PACKAGES, counterparts, without_counterpart

METRICS = load_registry().metrics.values()


def families(package):
    """Names in the table, without their numbers and arguments."""
    names = [row.name for row in counterparts(METRICS, package)]
    names += [row.name for row in without_counterpart(METRICS, package)]
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
    names = [(row.name, row.ours) for row in counterparts(METRICS, package)]

    assert len(names) == len(set(names))
    assert {name for name, _ in names}.isdisjoint(row.name for row in without_counterpart(METRICS, package))


def test_every_package_can_be_asked():
    assert set(foreign.PEERS) == set(foreign.MODULES) == set(PACKAGES)


READ_OTHERWISE = {
    *(("trec_eval", name) for name in ("rbp", "rbp_resid")),  # p = 0.9 there, 0.8 here
    *(("ir_measures", name) for name in ("ERR@{cutoff}", "IPrec@{recall}")),
    *(("ranx", name) for name in ("f1", "hit_rate", "precision", "precision@{cutoff}-l2", "r-precision", "recall")),
    *(("ranx", name) for name in ("rbp.{p}", "interpolated_precision_at_recall")),
}
"""Names that mean something else here, or nothing."""
SPELLED = [
    pytest.param(row, id=f"{package} {row.name}")
    for package in ("trec_eval", "ir_measures", "ranx")
    for row in counterparts(METRICS, package)
    if (package, row.name) not in READ_OTHERWISE
]


@pytest.mark.parametrize("row", SPELLED)
def test_a_name_is_read_as_its_counterpart(row):
    numbers = {"cutoff": 10, "recall": "0.3", "multiple": "1.6", "beta": 2, "beta^2": 4, "rel": 2, "p": 0.5}
    numbers |= {"T": 2.5, "max_rel": 4, "min_rel": 1}
    numbers |= {"hit": 2, "noise": -2, "miss": -3, "rest": 4}
    registry = load_registry()

    (theirs,) = registry.parse_metrics([row.name.format_map(numbers)])

    assert [theirs] == registry.parse_metrics([row.ours.format_map(numbers)])
