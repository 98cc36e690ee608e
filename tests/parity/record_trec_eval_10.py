"""Records what trec_eval 10 says: ``IREVAL_TREC_EVAL=… PYTHONPATH=tests python tests/parity/record_trec_eval_10.py``.

No Python package has version 10; with the record its rows are compared everywhere.
"""

import json
import random
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


def recorded(data):
    """Every name of the table with its values."""
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        for repairs, pairs in groups("trec_eval", ten=True).items():
            given = data
            for repair in repairs:
                given = repair(given)
            values |= foreign.trec_eval_10(given, [name for name, _ in pairs], Path(folder))
    return values


def recorded_differences():
    """The value of every example on which it differs."""
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, _, judgments, scores, query, _, _ in (case for cases in DIFFERENT_IN_10.values() for case in cases):
            data = Data(judgments, dict.fromkeys(judgments, scores))
            values[f"{name} {judgments}"] = foreign.trec_eval_10(data, [name], Path(folder))[name][query]
    return values


if __name__ == "__main__":
    base = rankings(seed=10, count=24)
    record = {"judgments": base.judgments, "rankings": base.rankings, "values": recorded(base)}
    record |= {"different": recorded_differences()}
    RECORD.write_text(json.dumps(record, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
