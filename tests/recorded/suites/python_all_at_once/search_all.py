"""A function that is asked for all queries in one call."""

import os
from pathlib import Path

FILE = Path(__file__).parents[1] / f"data/{os.environ.get('RANKINGS') or 'better'}.trec"


def search_all(queries):
    found = {query: [] for query in queries}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        found[line.split()[0]].append(line.split()[2])
    return found
