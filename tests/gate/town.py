"""A suite of many queries with one relevant document each, whose rank before and now is all that a test has to say."""

import random

from suite_files import outcomes_by_id, run_suite, write_judgments, write_queries, write_rankings

SEGMENTS = ("head", "tail")


class Town:
    """``ranks`` has the rank of the relevant document before and now, query by query.

    0: it is not listed; below 0: documents above it are new, so that nobody has judged them.
    """

    def __init__(self, folder, ranks, *, weights=None, order=None, names="q{:04}", intents=None, segments=None):
        self.folder = folder
        self.queries = [names.format(number) for number in range(len(ranks))]
        rows = list(range(len(ranks)))
        if order is not None:
            random.Random(order).shuffle(rows)
        columns = {
            "text": [""] * len(ranks),
            "segment": segments or [SEGMENTS[row % 2] for row in range(len(ranks))],
            "searches": weights or [1] * len(ranks),
            **({"intent": intents} if intents else {}),
        }
        queries = [self.queries[row] for row in rows]
        columns = {name: [cells[row] for row in rows] for name, cells in columns.items()}
        write_queries(folder / "queries.tsv", queries, **columns)
        grades = {query: {f"{query}-good": 1, **{f"{query}-bad{n}": 0 for n in range(5)}} for query in queries}
        write_judgments(folder / "judgments.txt", grades)
        for side, name in enumerate(("before.txt", "now.txt")):
            rankings = {self.queries[row]: list_documents(self.queries[row], ranks[row][side]) for row in rows}
            write_rankings(folder / name, rankings)

    def gate(self, *rules, **keys):
        """The outcomes of these rules, by id; each is compared with ``before.txt``."""
        keys = {"depth": 10, "queries": "queries.tsv", "weight": "searches", "metrics": "[RR@10]", **keys}
        rules = [f"{rule[:-1]}, against: {{run: before.txt}}}}" for rule in rules]
        self.result = run_suite(self.folder, *rules, suite="town", source="{run: now.txt}", **keys)
        return outcomes_by_id(self.result)

    def only(self, rule, **keys):
        """The outcome of the only rule."""
        (outcome,) = (outcome for name, outcome in self.gate(rule, **keys).items() if name != "inputs")
        return outcome


def list_documents(query, rank):
    """A ranking of five documents, the good one at its rank."""
    listed = [f"{query}-bad{n}" for n in range(5)]
    if rank:
        listed.insert(abs(rank) - 1, f"{query}-good")
    if rank < 0:
        listed[: -rank - 1] = [f"{query}-new{n}" for n in range(-rank - 1)]
    return listed
