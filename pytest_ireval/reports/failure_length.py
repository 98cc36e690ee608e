"""How much of a red outcome a terminal shows: all of it for the first of a suite, its first lines for the others."""

from __future__ import annotations

from pytest_ireval.reports.failure_text import failure_head
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import SuiteResult

WHOLE = 20
"""So many red outcomes of a suite are told whole: nobody reads more of them one by one."""


def told_whole(suite: SuiteResult, outcome: str) -> bool:
    """Whether an outcome, by its id, is one of the first; the plan decides, not the order in which tests are run."""
    red = [each.id for each in suite.outcomes if each.verdict in ("fail", "error")]
    return outcome not in red[WHOLE:]


def short_text(outcome: Outcome, suite: SuiteResult, width: int, rest: str = "") -> str:
    """Headline, sentence and where the rest stands; ``rest`` is a file that has it."""
    where = f"{rest} and -vv have the rest" if rest else "-vv shows the rest"
    said = f"  one of more than {WHOLE} red verdicts of this suite: {where}"
    return "\n".join([*failure_head(outcome, suite, width), said])
