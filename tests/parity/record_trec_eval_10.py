"""Records what trec_eval 10 says: ``IREVAL_TREC_EVAL=… PYTHONPATH=tests python tests/parity/record_trec_eval_10.py``.

No Python package has version 10; with the record its rows are compared everywhere.
"""

import json
import random
import subprocess
import tempfile
from pathlib import Path

import foreign
from rankings_at_random import Data, query_with_many_documents
from test_different_values import DIFFERENT_IN_10
from test_equal_values import groups

RECORD = Path(__file__).with_name("trec_eval_10.json")


def rankings(seed, count):
    """Fixed rankings of many documents: equal scores, grades below 0, nothing relevant, queries without a ranking."""
    draw = random.Random(seed)
    judgments, scores = {}, {}
    for query in map(str, range(1, count + 1)):
        judgments[query], ranked = query_with_many_documents(draw)
        if ranked:
            scores[query] = ranked
    return Data(judgments, scores)


def record_values(data):
    """Every name of the table with its values."""
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        for repairs, pairs in groups("trec_eval", ten=True).items():
            given = data
            for repair in repairs:
                given = repair(given)
            values |= foreign.trec_eval_10(given, [name for name, _ in pairs], Path(folder))
    return values


def record_differences():
    """The value of every example on which it differs."""
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, _, judgments, scores, query, _, _ in (case for cases in DIFFERENT_IN_10.values() for case in cases):
            data = Data(judgments, dict.fromkeys(judgments, scores))
            values[f"{name} {judgments}"] = foreign.trec_eval_10(data, [name], Path(folder))[name][query]
    return values


PRINTED = (
    "-m all_trec -q -c",
    "-m all_trec -c -J -l 2",
    "-m official -q -c -M 5 -n",
    "-c -m utility.2,-1,-0.5,0.25 -N 1000 -m yaap -m dcg -m ideal_dcg -m set",
    "-q -c -m P.7,3 -m iprec_at_recall..5,.25 -m 11pt_avg.0.2,0.5 -m set_F.4 -m ndcg.1=3,2=9 -m rbp.p=0.8",
)
"""Options of calls whose whole output is compared."""


def run_trec_eval(data, options, folder):
    """What the program prints with these options."""
    files = foreign.trec_files(data, folder)
    command = [foreign.TREC_EVAL_10, *options.split(), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def record_output(data):
    """The output of every call."""
    with tempfile.TemporaryDirectory() as folder:
        return {options: run_trec_eval(data, options, Path(folder)) for options in PRINTED}


if __name__ == "__main__":
    base = rankings(seed=10, count=24)
    record = {"judgments": base.judgments, "rankings": base.rankings, "values": record_values(base)}
    record |= {"different": record_differences()}
    few = rankings(seed=7, count=6)
    record |= {"few": {"judgments": few.judgments, "rankings": few.rankings, "printed": record_output(few)}}
    RECORD.write_text(json.dumps(record, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
