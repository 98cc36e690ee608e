"""A made-up shop of many queries, with an accepted baseline and a change of it."""

from dataclasses import replace
from datetime import date

import numpy as np

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval.gate.collect import collect_inputs
from pytest_ireval.gate.run import make_plan
from pytest_ireval.gate.score import score_inputs
from pytest_ireval.suite.loading import load_suite
from pytest_ireval_lab.self_test.rehearsal import begin_rehearsal

TODAY = date(2026, 11, 1)
RULES = """\
  - no_regression: {metric: nDCG@5, tolerance: 1%}
"""


class Shop:
    """Files in a folder; every query ranks eight documents of its own, of grades 3, 2, 1 and 0 by turns."""

    def __init__(self, folder, registry):
        self.folder, self.registry = folder, registry
        self.queries = [f"q{i:03}" for i in range(60)]
        self.lists = {query: [f"{query}-d{i}" for i in range(8)] for query in self.queries}
        self.rules = RULES
        self.source = "{run: now.trec}"
        self.more = ""
        self.searches = [1] * len(self.queries)

    def write(self):
        rows = [f"{q}\twords\t{'head' if int(q[1:]) % 6 else 'tail'}" for q in self.queries]
        if set(self.searches) != {1}:
            rows = [f"{row}\t{self.searches[int(row[1:4])]}" for row in rows]
        columns = "id\ttext\tsegment" + ("\tsearches" if set(self.searches) != {1} else "")
        (self.folder / "queries.tsv").write_text("\n".join([columns, *rows]) + "\n")
        judged = [f"{q} 0 {q}-d{i} {3 - i % 4}" for q in sorted(self.queries) for i in range(6)]
        (self.folder / "judgments.txt").write_text("\n".join(judged) + "\n")
        self.write_run("now.trec", self.lists)
        path = self.folder / "shop.ireval.yaml"
        path.write_text(
            f"ireval: 1\nsuite: shop\nsource: {self.source}\ndepth: 8\nqueries: queries.tsv\njudgments: judgments.txt\n"
            f"{self.more}metrics: [nDCG@5, RR@5]\nrules:\n{self.rules}"
        )
        return path

    def write_run(self, name, lists):
        lines = [f"{q} Q0 {d} {r} {100 - r} x" for q, ids in lists.items() for r, d in enumerate(ids, 1)]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def suite(self):
        return load_suite(self.write(), self.registry)

    def accept(self):
        inputs, scores = self.collect_and_score()
        baseline = propose_baseline(inputs, scores).baseline
        first = Acceptance("2026-10-01T10:00:00Z", "", "", reason="the first one")
        write_baseline(inputs.suite.baselines, replace(baseline, acceptances=(first,)))

    def collect_and_score(self):
        inputs = collect_inputs(self.suite(), self.registry, TODAY)
        return inputs, score_inputs(inputs)

    def rehearse(self):
        inputs, scores = self.collect_and_score()
        return begin_rehearsal(inputs, scores, make_plan(inputs.suite, self.registry).checks)

    def change(self, share=0.5, seed=1):
        """Half of the queries have two documents at random swapped: nothing is better or worse on the whole."""
        random = np.random.default_rng(seed)
        for ids in self.lists.values():
            if random.random() < share:
                a, b = random.choice(8, 2, replace=False)
                ids[a], ids[b] = ids[b], ids[a]
