"""Many small losses since an anchor: seen from the acceptances that the baseline keeps, and from nothing else."""

import random
from dataclasses import replace
from datetime import date

import pytest
from suite_files import write_judgments, write_rankings, write_suite

from pytest_ireval import load_suite
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.baseline.writing import delete_baseline, write_anchor, write_baseline
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval.gate.run import gate_suite, make_plan
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.rules import wording

pytestmark = pytest.mark.ci

QUERIES = 200
EVIDENCE = "decide_by: evidence, on_inconclusive: warn"
RELEASE = "no_regression::RR_10.all.release"


class Series:
    """Versions of a search whose only relevant document has a rank in each query; each can be accepted."""

    def __init__(self, folder, evidence=EVIDENCE):
        self.folder = folder
        self.ranks = [1 + query % 3 for query in range(QUERIES)]
        self.day = 0
        self.judge()
        self.suite = write_suite(
            folder,
            "no_regression: {metric: RR@10, tolerance: 2%}",
            f"no_regression: {{metric: RR@10, tolerance: 2%, against: anchor, {evidence}, name: release}}",
            source="{run: now.txt}",
            depth=10,
        )
        self.accept("the first")
        self.pin()

    def judge(self):
        grades = {"good": 1, **{str(place): 0 for place in range(1, 6)}}
        queries = range(len(self.ranks))
        judgments = {f"q{q}": {f"q{q}-{name}": grade for name, grade in grades.items()} for q in queries}
        write_judgments(self.folder / "judgments.txt", judgments)

    def pin(self):
        write_anchor(self.folder / "baselines", self.stored, Acceptance("2026-03-01T00:00:00Z", reason="release 4.2"))

    @property
    def stored(self):
        return read_baseline(self.folder / "baselines", "shop")

    def gated(self):
        rankings = {
            f"q{q}": [f"q{q}-{'good' if place == rank else place}" for place in range(1, 6)]
            for q, rank in enumerate(self.ranks)
        }
        write_rankings(self.folder / "now.txt", rankings)
        suite = load_suite(self.suite)
        plan = make_plan(suite, installed_registry())
        return gate_suite(suite, installed_registry(), plan, RunContext(date(2026, 11, 22)))

    def accept(self, reason):
        """What this version is, accepted on the next day; the outcomes before it was."""
        gated = self.gated()
        self.day += 1
        accepted = propose_baseline(gated.inputs, gated.scores).make_baseline(
            Acceptance(f"2026-03-{1 + self.day:02}T09:00:00Z", reason=reason)
        )
        if accepted is not None:
            write_baseline(self.folder / "baselines", accepted)
        return {outcome.id: outcome for outcome in gated.result.outcomes}

    def release(self):
        """The outcome of the rule that compares with the anchor."""
        return next(outcome for outcome in self.gated().result.outcomes if outcome.id == RELEASE)

    def step(self, seed, *, lose, gain):
        """Some queries lose a rank, and others gain one."""
        queries = random.Random(seed).sample(range(len(self.ranks)), 60)
        losing = [q for q in queries if self.ranks[q] < 5][:lose]
        gaining = [q for q in queries if self.ranks[q] > 1 and q not in losing][:gain]
        for q in losing:
            self.ranks[q] += 1
        for q in gaining:
            self.ranks[q] -= 1


@pytest.fixture
def series(tmp_path):
    return Series(tmp_path)


def test_small_losses_that_were_accepted_one_by_one_are_red_together(series):
    found = []
    for change in range(12):
        series.step(change, lose=9, gain=4)
        found.append(series.accept(f"change {change}"))

    assert {each["no_regression::RR_10.all"].verdict for each in found} == {"pass"}
    assert [each[RELEASE].verdict for each in found[:1] + found[-3:]] == ["pass", "inconclusive", "fail", "fail"]
    said = found[-1][RELEASE]
    assert said.sentence == (
        "Since the anchor of 2026-03-01 (release 4.2), 11 accepted changes and this one lost 8.5% together. 73 of 200 "
        "queries got worse."
    )
    assert said.facts[0] == (
        "largest accepted losses: 2026-03-04 change 1 -1.2%; 2026-03-09 change 6 -1.2%; 2026-03-08 change 5 -1.0%"
    )
    assert "change 12 of 20 since the anchor: a p below .0066 counts" in said.statistics


def test_the_verdict_is_the_same_before_and_after_the_change_is_accepted(series):
    for change in range(4):
        series.step(change, lose=9, gain=3)
        before = series.accept(f"change {change}")[RELEASE]
        after = series.release()

        assert (after.verdict, after.headline) == (before.verdict, before.headline)
        assert after.figures[0].adjusted == pytest.approx(before.figures[0].adjusted, rel=1e-3)


def test_steps_that_no_acceptance_kept_are_unknown_and_still_count(series):
    for change in range(5):
        series.step(change, lose=9, gain=4)
        series.accept(f"change {change}")
    stored = series.stored
    plain = tuple(each._replace(steps={}) for each in stored.acceptances[:-2])
    delete_baseline(series.folder / "baselines", "shop")
    write_baseline(series.folder / "baselines", replace(stored, acceptances=(*plain, *stored.acceptances[-2:])))

    said = series.release()

    assert said.sentence.startswith("Since the anchor of 2026-03-01 (release 4.2), 5 accepted changes lost ")
    assert "3 of 5 accepted changes keep no figures of this mean" in said.facts
    assert any(fact.startswith("change 5 of 20 since the anchor: ") for fact in said.statistics)


def test_a_new_anchor_begins_anew(series):
    for change in range(6):
        series.step(change, lose=9, gain=4)
        series.accept(f"change {change}")
    series.pin()
    series.step(7, lose=2, gain=1)

    said = series.release()

    assert said.verdict != "fail"
    assert not said.sentence.startswith("Since")
    assert any(fact.startswith("change 1 of 20 since the anchor: ") for fact in said.statistics)


def test_more_changes_than_alpha_lasts_for_are_said(tmp_path, monkeypatch):
    series = Series(tmp_path, EVIDENCE)
    monkeypatch.setattr(wording, "LOOKS", 2)
    for change in range(3):
        series.step(change, lose=5, gain=5)
        series.accept(f"change {change}")

    facts = series.release().facts

    assert any(
        fact.startswith("this is change 3 since the anchor: after 2, chance turns more than 5.0%") for fact in facts
    )


def neutral(series):
    for change in range(5):
        series.step(change, lose=7, gain=7)
        series.accept("neutral")


def lose_and_win_back(series):
    before = list(series.ranks)
    series.step(1, lose=20, gain=0)
    series.accept("broken")
    series.ranks = before
    series.accept("repaired")


def add_a_query(series):
    series.ranks.append(1)
    series.judge()
    series.accept("a new query")


@pytest.mark.parametrize("history", [neutral, lose_and_win_back, add_a_query])
def test_a_harmless_series_is_not_red(series, history):
    history(series)

    assert series.release().verdict in ("pass", "inconclusive")


def test_every_rule_that_evidence_decides_says_at_which_look_it_is(series):
    path = series.folder / "shop.ireval.yaml"
    path.write_text(
        path.read_text()
        + f"  - worsened: {{metric: RR@10, by_more_than: 0.1, against: anchor, {EVIDENCE}}}\n"
        + "  - equivalent: {metric: RR@10, tolerance: 3%, against: anchor, on_inconclusive: warn}\n"
    )
    series.step(1, lose=7, gain=7)
    series.accept("one")
    series.step(2, lose=7, gain=7)

    outcomes = {each.id: each for each in series.gated().result.outcomes}

    for name in ("worsened::RR_10", "equivalent::RR_10.all", RELEASE):
        found = next(each for each in outcomes.values() if each.id.startswith(name))
        assert any(fact.startswith("change 2 of 20 since the anchor: a p below ") for fact in found.statistics), found


def test_a_release_has_no_hard_limit_unless_the_rule_writes_one(tmp_path):
    """Harmless changes since a release add up, and half of such series fall by a tenth at some time."""
    series = Series(tmp_path)
    series.step(1, lose=9, gain=4)
    found = {outcome.id: outcome.numbers.get("hard_limit") for outcome in series.gated().result.outcomes}
    (tmp_path / "written").mkdir()
    written = Series(tmp_path / "written", "hard_limit: 30%")

    assert (found["no_regression::RR_10.all"] is None, found[RELEASE] is None) == (False, True)
    assert written.release().numbers["hard_limit"] == pytest.approx(0.3 * written.release().figures[0].baseline)
