"""Whether a verdict hangs on the order of equal scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pytest_ireval.results.outcome import Verdict
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.side import Floats


def decided_by_ties(question: Question, verdict_of: Callable[[Question], Verdict]) -> str:
    """What is to be said if the worst and the best order of equal scores get different verdicts; nothing if not."""
    seen = question.seen
    orders = seen.tie_orders(seen.metric) if seen.metric.unit == "query" else None
    if orders is None:
        return ""
    worst, best = (verdict_of(_ordered(question, values)) for values in orders)
    if worst == best:
        return ""
    orders_said = f"with equal scores in the worst order the verdict would be {worst}, in the best {best}"
    return f"decided by tie-breaking: {orders_said}"


def _ordered(question: Question, now: Floats) -> Question:
    """The question about the rankings of now in another order of equal scores."""
    values, place = question.values, question.values.place
    known = ~np.isnan(now[place])
    return replace(question, values=values._replace(now=np.where(known, now[place], values.now)))
