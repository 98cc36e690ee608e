"""A run that is checked again from its kept rankings, after grades were added to its judgments."""

import itertools
import random
from datetime import date

import pytest
from suite_files import write_judgments, write_queries, write_rankings, write_suite

from pytest_ireval import InputError, RunResult, load_registry, load_suite, load_suites, score_inputs
from pytest_ireval.baseline.rankings_file import pack_run
from pytest_ireval.gate.grade_bounds import bound_outcomes
from pytest_ireval.gate.kept_run import open_kept_run, restore_inputs
from pytest_ireval.gate.last_run import keep_rankings
from pytest_ireval.gate.run import gate_suite, make_plan
from pytest_ireval.gate.run_context import RunContext

TODAY = date(2026, 3, 1)
OBSERVED = "no_regression: {metric: nDCG@3, tolerance: 10%, decide_by: observed, against: {run: before.txt}}"
EVIDENCE = "no_regression: {metric: nDCG@3, tolerance: 10%, against: {run: before.txt}}"
WORSENED = (
    "worsened: {metric: P@3, by_more_than: 0.3, at_most: 1, decide_by: observed, name: few, against: {run: before.txt}}"
)
RULES = (OBSERVED, EVIDENCE.replace("metric:", "name: tested, metric:"), WORSENED)


class Kept:
    """A suite whose run was kept; its sources are gone since."""

    def __init__(self, folder, *rules, **keys):
        self.folder, self.path = folder, write_suite(folder, *rules, **keys)
        registry = load_registry()
        suite = load_suite(self.path, registry)
        gated = gate_suite(suite, registry, make_plan(suite, registry), RunContext(TODAY))
        run = RunResult("0.1", "2026-03-01T10:00:00Z", gated.result.verdict, (gated.result,))
        (folder / "rankings.zip").write_bytes(pack_run(run, [keep_rankings(gated.inputs)]))
        self.result = gated.result
        for name in ("rankings.txt", "before.txt"):
            (folder / name).unlink()

    def open(self):
        registry = load_registry()
        (suite,) = load_suites(self.path, registry, asks_source=False)
        return open_kept_run(suite, registry, self.result, self.folder / "rankings.zip")

    def verdicts(self):
        return {each.id: (each.verdict, each.headline) for each in self.open().check_again().outcomes}


def write_lamps(folder, judged=("screw", "cable")):
    write_judgments(folder / "judgments.txt", {"q1": {"brass": 1, "glass": 1, **dict.fromkeys(judged, 0)}})
    write_rankings(folder / "before.txt", {"q1": ["brass", "screw", "u1", "glass", "cable", "u2"]})
    write_rankings(folder / "rankings.txt", {"q1": ["u3", "brass", "u1", "u4", "glass", "u2"]})


def grade(kept, *lines):
    with open(kept.folder / "judgments.txt", "a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def lamps(tmp_path):
    write_lamps(tmp_path)
    return Kept(tmp_path, OBSERVED.replace("@3", "@5"), depth=10)


def bound_of(kept):
    (bound,) = kept.open().check_again().bounds.values()
    return bound


def test_a_grade_changes_the_verdict_without_asking_a_source(lamps):
    before, bound = lamps.verdicts(), bound_of(lamps)
    grade(lamps, "q1 0 u3 1")

    assert before == {each.id: (each.verdict, each.headline) for each in lamps.result.outcomes}
    assert (bound.left, bound.best, bound.worst, bound.is_final) == (3, "pass", "fail", False)
    assert lamps.verdicts()["no_regression::nDCG_5.all"] == ("pass", "nDCG@5 rose 41.0% (tolerance 10%)")
    assert lamps.open().added == 1
    assert bound_of(lamps).is_final  # with u1 and u4 at their worst it still rose


def test_when_every_document_is_graded_the_verdict_is_final(lamps):
    grade(lamps, "q1 0 u3 0", "q1 0 u1 0", "q1 0 u4 0")
    bound = bound_of(lamps)

    assert (bound.left, bound.worst, bound.is_final) == (0, "fail", True)
    assert str(bound).startswith("Further grades cannot change this verdict: every document")


def make_small_suite(folder, seed):
    """Two lists of four queries, of which about three listed documents are not graded."""
    draw = random.Random(seed)
    judgments, before, now = {}, {}, {}
    ungraded = {(f"q{q}", f"q{q}d{d}") for q, d in draw.sample(list(itertools.product(range(4), range(4))), 3)}
    for query in ("q0", "q1", "q2", "q3"):
        documents = [f"{query}d{d}" for d in range(5)]
        judgments[query] = {d: draw.choice((0, 1, 2)) for d in documents if (query, d) not in ungraded} | {"x": 2}
        before[query], now[query] = (draw.sample(documents, 4) for _ in range(2))
    write_judgments(folder / "judgments.txt", judgments)
    write_rankings(folder / "before.txt", before)
    write_rankings(folder / "rankings.txt", now)
    listed = {(q, d) for lists in (before, now) for q, documents in lists.items() for d in documents[:3]}
    return sorted(ungraded & listed)


def test_no_grades_change_a_verdict_that_is_said_to_be_final(tmp_path):
    finals = set()
    for seed in (0, 1, 2, 3, 8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        ungraded = make_small_suite(folder, seed)
        kept = Kept(folder, *RULES, depth=4)
        run = kept.open()
        checked = run.check_again()
        now = {each.id: each.verdict for each in checked.outcomes}
        bounds = bound_outcomes(run.plan.checks, checked.scores, checked.outcomes)
        final = {name for name, bound in bounds.items() if bound.is_final}
        finals |= {(name, now[name], bool(bounds[name].left)) for name in final}
        text = (folder / "judgments.txt").read_text()
        for grades in itertools.product((0, 1, 2), repeat=len(ungraded)) if final else ():
            lines = (
                f"{query} 0 {document} {given}\n" for (query, document), given in zip(ungraded, grades, strict=True)
            )
            (folder / "judgments.txt").write_text(text + "".join(lines))
            inputs = restore_inputs(run, run.read_collection())
            then = {each.id: each.verdict for each in run.apply(inputs, score_inputs(inputs))}
            assert {name: then[name] for name in final} == {name: now[name] for name in final}, (seed, grades)
    observed = "no_regression::nDCG_3.all"
    assert finals >= {(observed, "fail", True), (observed, "pass", True), (f"{observed}.tested", "pass", True)}


def test_a_test_may_decide_otherwise_between_the_best_and_the_worst_grades(tmp_path):
    queries = ("q0", "q1", "q2", "q3")
    lists = {query: [f"{query}a", f"{query}b", f"{query}c"] for query in queries}
    write_judgments(tmp_path / "judgments.txt", {query: dict.fromkeys(lists[query], 1) for query in queries})
    write_rankings(tmp_path / "before.txt", lists)
    write_rankings(tmp_path / "rankings.txt", {**lists, "q0": ["q0a", "x", "y"], "q1": ["q1a", "q1b", "new"]})
    with open(tmp_path / "judgments.txt", "a", encoding="utf-8") as file:
        file.write("q0 0 x 0\nq0 0 y 0\n")
    rule = "no_regression: {metric: P@3, tolerance: {absolute: 0.02}, hard_limit: {absolute: 0.5}, "
    kept = Kept(tmp_path, rule + "against: {run: before.txt}}")
    bound = bound_of(kept)

    assert (bound.left, bound.best, bound.worst, bound.is_final) == (1, "inconclusive", "inconclusive", False)
    assert str(bound).endswith("it would be inconclusive; others may change that.")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            lambda kept: kept.path.write_text(kept.path.read_text() + "tags: [x]\n"),
            "the suite file changed since the run",
        ),
        (
            lambda kept: (kept.folder / "judgments.txt").write_text("q1 0 brass 2\nq1 0 glass 1\n"),
            "3 judgments changed",
        ),
        (lambda kept: (kept.folder / "rankings.zip").unlink(), "the rankings of the run were not kept"),
    ],
)
def test_a_run_whose_inputs_changed_is_not_checked_again(lamps, change, complaint):
    change(lamps)
    with pytest.raises(InputError, match=complaint):
        lamps.open()


def test_changed_queries_are_named_and_other_line_ends_are_no_change(tmp_path):
    write_lamps(tmp_path)
    write_queries(tmp_path / "queries.tsv", ["q1"])
    kept = Kept(tmp_path, OBSERVED.replace("@3", "@5"), queries="queries.tsv")
    kept.path.write_bytes(kept.path.read_bytes().replace(b"\n", b"\r\n"))
    assert kept.open().unrepeatable == ()

    write_queries(tmp_path / "queries.tsv", ["q1"], text=["other words"])
    with pytest.raises(InputError, match="the queries changed since the run of 2026-03-01"):
        kept.open()
