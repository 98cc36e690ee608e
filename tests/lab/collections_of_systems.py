"""Generated collections: systems of growing skill, and judgments of the pool of all.

``python tests/lab/collections_of_systems.py FOLDER`` writes one.
"""

import sys
from pathlib import Path

import numpy as np

from pytest_ireval.data.formats.writers import write_judgments, write_rankings


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


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    judgments, rankings = collection(systems=20, queries=250, documents=400, length=100, pool=30)
    write_judgments(judgments, folder / "judgments.txt")
    for name, ranking in rankings.items():
        write_rankings(ranking, folder / f"{name}.trec")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
