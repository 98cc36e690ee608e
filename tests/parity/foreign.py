"""Other packages, each asked for some of its metrics by name: ``{name: {query: value}}``."""

import importlib
import math
import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

TREC_EVAL_10 = os.environ.get("IREVAL_TREC_EVAL", "")
"""Path of a trec_eval 10 that was built from its source; no Python package has it."""

COLLECTION = 1000
"""How many documents there are to find."""


def trec_eval(data, names):
    """trec_eval 9, by way of pytrec_eval; it gives logarithms for geometric means."""
    import pytrec_eval

    found = {name: {} for name in names}
    for name in names:  # one by one: it mixes up parameters of one metric
        level = pytrec_eval.RelevanceEvaluator(data.judgments, {name})
        for query, values in level.evaluate(data.rankings).items():
            (value,) = values.values()
            found[name][query] = math.exp(value) if name.startswith("gm_") else value
    return found


def trec_files(data, folder):
    """Judgments and rankings as TREC files."""
    judgments, rankings = folder / "judgments.txt", folder / "rankings.txt"
    judgments.write_text("".join(f"{q} 0 {d} {g}\n" for q, all_ in data.judgments.items() for d, g in all_.items()))
    rankings.write_text(
        "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, all_ in data.rankings.items() for d, s in all_.items())
    )
    return judgments, rankings


def trec_eval_10(data, names, folder):
    """The program; it prints four decimals. Without -c it fails on queries that the rankings lack."""
    judgments, rankings = trec_files(data, folder)
    found = {name: {} for name in names}
    for name in names:
        asked = re.sub(r"_(?=-?[0-9.]+([,=]|$))", ".", name)
        command = [TREC_EVAL_10, "-q", "-c", "-N", str(COLLECTION), "-m", asked, str(judgments), str(rankings)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            _, query, value = line.split()
            found[name][query] = float(value)
        if len(found[name]) > 1:  # else it is a figure for all queries alone
            del found[name]["all"]
    return found


def ir_measures(data, names):
    import ir_measures as package

    judgments = _with_iterations(data.judgments, package.Qrel)
    found = {name: {} for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            for metric in package.iter_calc([package.parse_measure(name)], judgments, data.rankings):
                found[name][metric.query_id] = float(metric.value)
    return found


def _with_iterations(judgments, row):
    """Grades of subtopics as rows that have the subtopic as iteration; others as they are."""
    if not any(isinstance(grade, dict) for grades in judgments.values() for grade in grades.values()):
        return judgments
    return [
        row(query, document, grade, subtopic)
        for query, grades in judgments.items()
        for document, of_subtopics in grades.items()
        for subtopic, grade in of_subtopics.items()
    ]


def ranx(data, names):
    import ranx as package

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        queries = list(data.judgments)
        judged = {query: data.judgments[query] for query in queries}
        ranked = {query: data.rankings[query] for query in queries}
        scores = package.evaluate(judged, ranked, ["hits", "map", *names], return_mean=False)  # one alone may fail
    return {name: dict(zip(queries, np.asarray(scores[name]).tolist(), strict=True)) for name in names}


LEVELS = (1, 2, 3)
"""The gain of each relevance level for NTCIREVAL."""


def ntcireval(data, names):
    """It is given rankings in order, and has no defaults: beta = 1, gamma = 0.95, p = 0.95, base 2, stops as gains."""
    found = {name: {} for name in names}
    for query, grades in data.judgments.items():
        ranking = sorted(data.rankings[query].items(), key=lambda entry: (entry[1], entry[0].encode()), reverse=True)
        labelled = [(document, grades.get(document)) for document, _ in ranking]
        numbers = [sum(grade == level for grade in grades.values()) for level in (0, *LEVELS)]
        with np.errstate(all="ignore"):
            for name in names:
                found[name][query] = float(_ntcir_metric(name, numbers).compute(labelled))
    return found


def _ntcir_metric(name, numbers):
    from pyNTCIREVAL import metrics

    family, _, cutoff = name.partition("@")
    cutoff = int(cutoff) if cutoff else None
    made = getattr(metrics, family)
    gains = list(LEVELS)
    arguments = {
        "RR": (),
        "Precision": (cutoff,),
        "Hit": (cutoff,),
        "nDCG": (numbers, gains, 2, cutoff),
        "NCUguP": (numbers, gains, gains),
        "NCUguBR": (numbers, gains, gains, 1.0),
        "NCUrbP": (numbers, gains, 0.95),
        "NCUrbBR": (numbers, gains, 0.95, 1.0),
        "RBP": (numbers, gains, 0.95),
        "ERR": (numbers, gains),
        "AP": (numbers, gains, cutoff),
        "MSnDCG": (numbers, gains, cutoff),
        "nERR": (numbers, gains, cutoff),
        "QMeasure": (numbers, gains, 1.0, cutoff),
    }
    return made(*arguments.get(family, (numbers, gains, 1.0)))


def pyndeval(data, names):
    """It is given judgments of subtopics, and ranks by score."""
    import pyndeval as package

    judgments = _with_iterations(data.judgments, lambda query, document, grade, topic: (query, topic, document, grade))
    rankings = [(query, document, score) for query, all_ in data.rankings.items() for document, score in all_.items()]
    values = package.RelevanceEvaluator(judgments, names).evaluate(rankings)
    return {name: {query: of_query[name] for query, of_query in values.items()} for name in names}


def cwl_eval(data, names):
    """It is given rankings in order, and judgments as gains from 0 to 1: a quarter of the grade."""
    from cwl.ruler.cwl_ruler import CWLRuler
    from cwl.ruler.ranking import RankingMaker
    from cwl.seeker.trec_qrel_handler import TrecQrelHandler

    gains, ruler, found = TrecQrelHandler(), CWLRuler(), {name: {} for name in names}
    for query, grades in data.judgments.items():
        for document, grade in grades.items():
            gains.put_value(query, document, max(grade, 0) / 4)
    for query, scores in data.rankings.items():
        maker = RankingMaker(query, gains)
        for document in sorted(scores, key=lambda each: (scores[each], each.encode()), reverse=True):
            maker.add(document, "Q0")
        for name in names:
            family, _, arguments = name.rstrip(")").partition("(")
            metric = _cwl_class(family)(
                *[float(each) if "." in each else int(each) for each in arguments.split(",") if each]
            )
            metric.residuals = ruler.metrics[0].residuals
            found[name][query] = float(metric.measure(maker.get_ranking()))
    return found


def _cwl_class(name):
    """A class of one of its modules; its ruler knows all but two."""
    from cwl.ruler import measures

    for module in Path(measures.__path__[0]).glob("cwl_*.py"):
        made = getattr(importlib.import_module(f"cwl.ruler.measures.{module.stem}"), name, None)
        if made:
            return made
    raise LookupError(name)


def scikit_learn(data, names):
    """It is given every document that is known: its grade (0: not judged) and its score."""
    found = {name: {} for name in names}
    for query, grades in data.judgments.items():
        documents = list(dict.fromkeys([*data.rankings[query], *grades]))
        grade = [grades.get(document, 0) for document in documents]
        score = [data.rankings[query].get(document) for document in documents]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in names:
                found[name][query] = float(_scikit_value(name, grade, score))
    return found


def _scikit_value(name, grade, score):
    from sklearn import metrics

    family, _, rest = name.partition("(k=")
    function = getattr(metrics, family)
    relevant = [int(each >= 1) for each in grade]
    if family in ("precision_score", "recall_score", "f1_score"):
        return function(relevant, [int(each is not None) for each in score], zero_division=0)
    if family in ("average_precision_score", "roc_auc_score"):
        return function(relevant, score)
    if family.startswith("label_"):
        return function([relevant], [score])
    return function([grade], [score], **({"k": int(rest.rstrip(")"))} if rest else {}))


PEERS = {
    "trec_eval": trec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
    "ntcireval": ntcireval,
    "pyndeval": pyndeval,
    "cwl-eval": cwl_eval,
    "scikit-learn": scikit_learn,
}

REQUIRED = "IREVAL_PEERS"
"""Set to ``required`` in this project's own check, where no package may be missing unseen."""

MODULES = {
    "trec_eval": ("pytrec_eval", "pytrec_eval-terrier"),
    "ir_measures": ("ir_measures cwl pyndeval", "ir-measures[cwl_eval,pyndeval]"),
    "ranx": ("ranx", "ranx"),
    "ntcireval": ("pyNTCIREVAL", "pyNTCIREVAL"),
    "pyndeval": ("pyndeval", "pyndeval"),
    "cwl-eval": ("cwl", "cwl-eval"),
    "scikit-learn": ("sklearn", "scikit-learn"),
    "polars": ("polars", "polars"),
}


def need_peer(package):
    modules, requirement = MODULES[package]
    text = ""
    try:
        for module in modules.split():
            importlib.import_module(module)
    except ImportError:
        text = f"{package} is not installed: pip install '{requirement}' (or pip install --group parity -e .)"
    if package == "ir_measures" and not shutil.which("perl"):
        text = "ir_measures computes ERR with gdeval, which needs perl"
    if text:
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(text)
        pytest.skip(text)
