"""Write the files of a suite (rankings, judgments, queries, the suite itself), and run it in this process."""

import pytest

from pytest_ireval import load_registry, load_suite, run_gate
from pytest_ireval.clock import read_clock, read_date
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval.gate.run import gate_suite, make_plan
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.pytest_plugin.baseline_update import BaselineUpdate
from pytest_ireval.pytest_plugin.planned_suite import SuiteEvaluation, plan_suite
from pytest_ireval.suite.loading import load_suites


def write_rankings(path, rankings):
    """Write a TREC file of ``{query: documents}``, best first; a mapping of documents has their scores."""
    lines = []
    for query, documents in rankings.items():
        scored = documents if isinstance(documents, dict) else {d: 100 - rank for rank, d in enumerate(documents, 1)}
        lines += [f"{query} Q0 {d} {rank} {score} x\n" for rank, (d, score) in enumerate(scored.items(), 1)]
    _write(path, lines)


def write_judgments(path, judgments):
    """Write a qrels file of ``{query: {document: grade}}``."""
    _write(path, (f"{query} 0 {d} {grade}\n" for query, grades in judgments.items() for d, grade in grades.items()))


def write_queries(path, queries, **columns):
    """Write a table of queries; a column has a cell for each query, and ``text`` is "words" where it is not given."""
    columns = {"text": ["words"] * len(queries), **columns}
    rows = zip(queries, *columns.values(), strict=True)
    _write(path, ["\t".join(map(str, row)) + "\n" for row in [("id", *columns), *rows]])


def write_suite(folder, *rules, **keys):
    """Write ``NAME.ireval.yaml`` with these rules and keys, all as YAML, and return its path.

    It has the name shop, and is about ``rankings.txt`` and ``judgments.txt``, unless keys say otherwise; a key of None
    is left out.
    """
    keys = {"suite": "shop", "source": "{run: rankings.txt}", "judgments": "judgments.txt", **keys}
    lines = ["ireval: 1", *(f"{key}: {value}" for key, value in keys.items() if value is not None)]
    if rules:
        lines += ["rules:", *(f"  - {rule}" for rule in rules)]
    path = folder / f"{keys['suite']}.ireval.yaml"
    _write(path, (f"{line}\n" for line in lines))
    return path


def run_suite(folder, *rules, **keys):
    """Write a suite, and return the result of its gate."""
    return run_gate(load_suite(write_suite(folder, *rules, **keys)))


def find_registry(path):
    """The registry of a suite, which a conftest.py beside it makes larger."""
    if not (path.parent / "conftest.py").exists():
        return installed_registry()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.dont_write_bytecode", True)  # it may be written anew within the second of its bytecode
        return load_registry(path)


def accept_suites(path, reason="", *, force=False):
    """Write the baselines of a file of suites as a whole run of pytest that accepts them does, without pytest.

    Without a reason only first baselines are written.
    """
    update = BaselineUpdate(bool(reason), not reason, reason, force)
    for name in _accept_one_by_one(path, update):
        assert name in update.written, (*update.problems, *update.messages)


def try_to_accept(path, reason="", *, only_new=False, force=False):
    """What comes of accepting them: the baselines that are written, messages, and the problems that a run names."""
    update = BaselineUpdate(not only_new, only_new, reason, force)
    list(_accept_one_by_one(path, update))
    return update


def _accept_one_by_one(path, update):
    registry = find_registry(path)
    for suite in load_suites(path, registry):
        plan = make_plan(suite, registry)
        gated = gate_suite(suite, registry, plan, RunContext(read_date()))
        planned = plan_suite(suite, plan.checks, affected_by="")
        planned.selected += planned.checks
        evaluation = SuiteEvaluation(gated.result, propose_baseline(gated.inputs, gated.scores))
        update.accept_suite(planned, evaluation, planned.checks, read_clock())
        yield suite.name


def outcomes_by_id(result):
    return {outcome.id: outcome for outcome in result.outcomes}


def _write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
