"""A suite of many queries with one relevant document each, whose rank before and now is all that a test has to say."""

import random

from pytest_ireval import load_suite, run_gate

SEGMENTS = ("head", "tail")


class Town:
    """``ranks`` has the rank of the relevant document before and now, query by query.

    0: it is not listed; below 0: documents above it are new, so that nobody has judged them.
    """

    def __init__(self, folder, ranks, *, weights=None, order=None, names="q{:04}", intents=None, segments=None):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.queries = [names.format(number) for number in range(len(ranks))]
        self.rows = list(range(len(ranks)))
        if order is not None:
            random.Random(order).shuffle(self.rows)
        weights = weights or [1] * len(ranks)
        segments = segments or [SEGMENTS[i % 2] for i in range(len(ranks))]
        head, more = ("\tintent", lambda i: f"\t{intents[i]}") if intents else ("", lambda _: "")
        self.put(
            "queries.tsv",
            f"id\ttext\tsegment\tsearches{head}\n",
            lambda i, q: f"{q}\t\t{segments[i]}\t{weights[i]}{more(i)}\n",
        )
        self.put(
            "judgments.txt", "", lambda i, q: f"{q} 0 {q}-good 1\n" + "".join(f"{q} 0 {q}-bad{n} 0\n" for n in range(5))
        )
        for side, name in enumerate(("before.txt", "now.txt")):
            self.put(name, "", lambda i, q, side=side: lines(q, ranks[i][side]))

    def put(self, name, head, line):
        (self.folder / name).write_text(head + "".join(line(i, self.queries[i]) for i in self.rows))

    def gate(self, *rules, weight="weight: searches\n", more=""):
        """What the gate says of these rules, by id; each is compared with ``before.txt``."""
        text = "".join(f"  - {rule[:-1]}, against: {{run: before.txt}}}}\n" for rule in rules)
        (self.folder / "town.ireval.yaml").write_text(
            "ireval: 1\nsuite: town\nsource: {run: now.txt}\ndepth: 10\nqueries: queries.tsv\n"
            f"{weight}judgments: judgments.txt\nmetrics: [RR@10]\n{more}rules:\n{text}"
        )
        self.result = run_gate(load_suite(self.folder / "town.ireval.yaml"))
        return {outcome.id: outcome for outcome in self.result.outcomes}

    def only(self, rule, **more):
        """The outcome of the only rule."""
        (outcome,) = (each for name, each in self.gate(rule, **more).items() if name != "inputs")
        return outcome


def lines(query, rank):
    """A ranking of five documents, the good one at its rank."""
    listed = [f"{query}-bad{n}" for n in range(5)]
    if rank:
        listed.insert(abs(rank) - 1, f"{query}-good")
    if rank < 0:
        listed[: -rank - 1] = [f"{query}-new{n}" for n in range(-rank - 1)]
    return "".join(f"{query} Q0 {each} {place} {20 - place} x\n" for place, each in enumerate(listed, 1))
