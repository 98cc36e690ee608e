"""Generated collections: systems of growing skill, and judgments of the pool of all."""

import numpy as np


def collection(systems=8, queries=25, documents=120, length=60, pool=20, seed=1):
    """Judgments as {query: {document: grade}}, and rankings by the name of the system."""
    draw = np.random.default_rng(seed)
    grades = np.zeros((queries, documents), int)
    for query in range(queries):
        relevant = int(draw.integers(3, 20))
        grades[query, :relevant] = draw.integers(1, 4, relevant)
    runs = []
    for system in range(systems):
        skill = 1 + system / systems + draw.normal(0, 0.3, (queries, 1))
        runs.append(np.argsort(-draw.normal(size=grades.shape) - skill * grades / 2, axis=1)[:, :length])
    judgments = {
        f"q{query}": {f"d{d}": int(grades[query, d]) for run in runs for d in run[query, :pool].tolist()}
        for query in range(queries)
    }
    named = {
        f"s{system}": {f"q{query}": [f"d{d}" for d in run[query].tolist()] for query in range(queries)}
        for system, run in enumerate(runs)
    }
    return judgments, named
