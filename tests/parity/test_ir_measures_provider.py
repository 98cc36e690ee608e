"""The example that offers all of ir_measures gives the values of that package, and its reasons for unknown names."""

import importlib.util
import random
import warnings
from pathlib import Path

import pytest
from foreign import need_peer

from pytest_ireval import InputError, MetricError, Policies, evaluate
from pytest_ireval.errors import MetricNameError
from pytest_ireval.plugins.manager import Plugins

FILE = Path(__file__).parents[2] / "examples/ir_measures_provider/ireval_ir_measures.py"
NAMES = (
    "Accuracy AP BPM(max_rel=2)@5 Bpref Compat ERR@5 INST(max_rel=2) INSQ(max_rel=2) infAP IPrec@0.2 Judged@5 nDCG@5 "
    "NERR8(max_rel=2)@5 NERR9(max_rel=2)@5 NERR10(max_rel=2) NERR11(max_rel=2) NumQ NumRel NumRet P@5 R@5 RBP(rel=1) "
    "Rprec RR SDCG(max_rel=2)@5 SetP SetR SetF SetAP Success@5"
)
OF_SUBTOPICS = "ERR_IA@5 nERR_IA@5 alpha_DCG@5 alpha_nDCG(alpha=0.3)@5 NRBP nNRBP AP_IA P_IA@5 StRecall@5"
SEED = random.Random(20)
DOCUMENTS = [f"d{i}" for i in range(20)]
JUDGMENTS = {str(q): {d: SEED.choice([0, 0, 1, 2]) for d in SEED.sample(DOCUMENTS, 12)} for q in range(1, 6)}
BY_SUBTOPIC = {
    q: {d: {s: SEED.choice([0, 0, 1]) for s in SEED.sample("abcd", 2)} for d in found} for q, found in JUDGMENTS.items()
}
RANKINGS = {q: {d: SEED.random() for d in SEED.sample(DOCUMENTS, 10)} for q in JUDGMENTS}

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="needs a checkout of the project")


@pytest.fixture
def registry():
    need_peer("ir_measures")
    spec = importlib.util.spec_from_file_location("ireval_ir_measures", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plugins = Plugins()
    plugins.load_installed()
    plugins.register_module(module, "ireval-ir-measures")
    return plugins.make_registry()


def theirs(name, judgments):
    import ir_measures

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ir_measures.iter_calc([ir_measures.parse_measure(name)], judgments, RANKINGS)
        return {each.query_id: pytest.approx(each.value, abs=1e-9) for each in found}


@pytest.mark.parametrize("name", NAMES.split())
def test_values_of_each_query(registry, name):
    assert dict(evaluate(JUDGMENTS, RANKINGS, f"irm:{name}", registry=registry)[f"irm:{name}"].values) == theirs(
        name, JUDGMENTS
    )


@pytest.mark.parametrize("name", OF_SUBTOPICS.split())
def test_values_by_subtopic(registry, name):
    import ir_measures

    rows = [(q, d, g, s) for q, all_ in BY_SUBTOPIC.items() for d, parts in all_.items() for s, g in parts.items()]
    found = evaluate(BY_SUBTOPIC, RANKINGS, f"irm:{name}", registry=registry)[f"irm:{name}"].values

    assert dict(found) == theirs(name, [ir_measures.Qrel(*row) for row in rows])


def test_every_measure_is_among_them():
    need_peer("ir_measures")
    import ir_measures

    every = {getattr(measure, "NAME", None) for measure in ir_measures.measures.registry.values()}

    assert {ir_measures.parse_measure(name).NAME for name in f"{NAMES} {OF_SUBTOPICS}".split()} == every


def test_a_query_without_documents_has_the_default_of_the_measure(registry):
    found = evaluate(JUDGMENTS, {**RANKINGS, "1": []}, ["irm:Judged@5", "irm:AP"], registry=registry)

    assert (found["irm:Judged@5"].values["1"], found["irm:AP"].values["1"]) == (0, 0)


def test_counts_are_summed_up(registry):
    assert evaluate(JUDGMENTS, RANKINGS, "irm:NumRet", registry=registry)["irm:NumRet"].value == 50


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("irm:nDGC@5", "NameError: measure not found: nDGC\n  did you mean 'irm:nDCG@5'?"),
        ("irm:nDCG(k=3)", "AssertionError: unsupported params found: ['k']"),
        ("irm:RBP", "ValueError: no installed package computes RBP"),
    ],
)
def test_its_reasons_are_shown(registry, name, reason):
    with pytest.raises(MetricNameError) as caught:
        registry.parse_metrics([name])

    assert f"irm of ireval-ir-measures has no such metric: {reason}" in str(caught.value)


def test_fractional_grades_and_missing_subtopics_are_errors(registry):
    with pytest.raises(MetricError, match="ir_measures takes whole grades only"):
        evaluate({"q": {"a": 0.5}}, {"q": ["a"]}, "irm:AP", registry=registry, policies=Policies(grades="float"))
    with pytest.raises((InputError, MetricError), match="subtopics"):
        evaluate(JUDGMENTS, RANKINGS, "irm:NRBP", registry=registry)
