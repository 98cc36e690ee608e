"""The anchor as something to compare with: scored like the baseline, or why that cannot be done."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.baselines.anchors import anchor_name, anchor_words
from pytest_ireval.baselines.baseline import Baseline, Fingerprints
from pytest_ireval.baselines.fingerprints import JudgmentPrints
from pytest_ireval.baselines.past import files_of_last_commit
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.errors import BaselineError, IrevalError, MissingAnchorError, Problem
from pytest_ireval.gate.against import compared
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.misfit import anchor_command, the_anchor
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.side import Side
from pytest_ireval.suites.suite import Suite


class Anchored(NamedTuple):
    """What the rules that say ``against: anchor`` compare with, by their place in the suite; and what to know of it."""

    sides: Mapping[int, Side | IrevalError] = {}
    notes: tuple[str, ...] = ()
    anchor: Baseline | None = None


def anchored_by(
    suite: Suite, gathered: Gathered, now: Side, prints: Fingerprints, judged_by: JudgmentPrints | None
) -> Anchored:
    """The anchor under the judgments and metrics of now, if a rule asks for it."""
    asking = [n for n, rule in enumerate(suite.rules) if (a := getattr(rule.options, "against", None)) and a.anchored]
    if not asking:
        return Anchored()
    try:
        anchor = read_baseline(suite.baselines, anchor_name(suite.name))
        found = _compared(suite, gathered, now, anchor, prints, judged_by)
    except BaselineError as error:
        return Anchored(dict.fromkeys(asking, error))
    return Anchored(dict.fromkeys(asking, found[0]), found[1], anchor)


def _compared(
    suite: Suite,
    gathered: Gathered,
    now: Side,
    anchor: Baseline | None,
    prints: Fingerprints,
    judged_by: JudgmentPrints | None,
) -> tuple[Side | IrevalError, tuple[str, ...]]:
    if anchor is None:
        return _missing(suite), ()
    found = compared(suite, gathered, now, anchor, prints, judged_by, the_anchor(suite))
    if found.error is not None or found.side is None:
        return found.error or BaselineError("the anchor was not scored"), ()
    return replace(found.side, origin=anchor_words(anchor.accepted)), found.notes


def _missing(suite: Suite) -> MissingAnchorError:
    """What brings it back, or pins it for the first time."""
    deleted = files_of_last_commit(suite.baselines, anchor_name(suite.name))
    if deleted:
        files = " ".join(shlex.quote(path.as_posix()) for path in deleted)
        remedy = f"somebody deleted it: git checkout HEAD -- {files} brings it back"
    else:
        remedy = f"pin what is accepted now: {anchor_command(suite)}"
    return MissingAnchorError(Problem("there is no anchor to compare with", suggestion=remedy))


def without_anchor(plain: Outcome, error: MissingAnchorError) -> Outcome:
    """Against the change, like a baseline that is missing; but accepting what was measured pins nothing."""
    (problem,) = error.problems
    return replace(
        plain,
        verdict="fail",
        headline=f"{problem.complaint}\n  {problem.suggestion}",
        sentence="The rule compares with a pinned release of this suite, and none is there.",
        against="the anchor",
        missing_baseline=True,
    )
