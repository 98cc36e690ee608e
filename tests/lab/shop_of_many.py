"""A made-up shop of many queries, with an accepted baseline and a change of it."""

from dataclasses import replace
from datetime import date

import numpy as np
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval.gate.collect import collect_inputs
from pytest_ireval.gate.run import make_plan
from pytest_ireval.gate.score import score_inputs
from pytest_ireval.suite.loading import load_suite
from pytest_ireval_lab.self_test.rehearsal import begin_rehearsal

TODAY = date(2026, 11, 1)


class Shop:
    """Files in a folder; every query ranks eight documents of its own, of grades 3, 2, 1 and 0 by turns."""

    def __init__(self, folder, registry):
        self.folder, self.registry = folder, registry
        self.queries = [f"q{i:03}" for i in range(60)]
        self.lists = {query: [f"{query}-d{i}" for i in range(8)] for query in self.queries}
        self.rules = ["no_regression: {metric: nDCG@5, tolerance: 1%}"]
        self.keys = {"source": "{run: now.trec}"}
        self.columns = {}

    def write(self):
        segment = ["head" if int(query[1:]) % 6 else "tail" for query in self.queries]
        write_queries(self.folder / "queries.tsv", self.queries, segment=segment, **self.columns)
        judgments = {query: {f"{query}-d{i}": 3 - i % 4 for i in range(6)} for query in sorted(self.queries)}
        write_judgments(self.folder / "judgments.txt", judgments)
        write_rankings(self.folder / "now.trec", self.lists)
        keys = {"depth": 8, "queries": "queries.tsv", "metrics": "[nDCG@5, RR@5]", **self.keys}
        return write_suite(self.folder, *self.rules, **keys)

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
