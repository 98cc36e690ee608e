"""The hard limit of ``no_regression``: a fall beyond it is red even where chance could explain it."""

from __future__ import annotations

import math

from pytest_ireval.rules.metric_change import MetricChange, distance_to_worst
from pytest_ireval.suite.quantities import Tolerance

TOLERANCES = 5
"""The default is this many tolerances, but at least a share of the baseline."""
LEAST_SHARES = ((20, 0.25), (100, 0.20), (math.inf, 0.10))
"""For less than so many queries, the least share: the means of few queries move far by chance."""

(_FEW, _OF_FEW), (_SOME, _OF_SOME), (_, _OF_MANY) = LEAST_SHARES
DEFAULT_IN_WORDS = (
    f"{TOLERANCES} times the tolerance, at least {_OF_MANY:.0%} of the baseline, {_OF_SOME:.0%} below {_SOME} queries, "
    f"{_OF_FEW:.0%} below {_FEW}"
)


def choose_hard_limit(
    written: Tolerance | None, tolerance: Tolerance, change: MetricChange, *, against_anchor: bool
) -> Tolerance | None:
    """The hard limit that the rule names, or the default; None where there is none."""
    limit, baseline = written, change.baseline_figure
    # Harmless changes since a release add up, so there is no default against an anchor.
    if limit is None and not against_anchor:
        room = distance_to_worst(change.context.metric, baseline)
        limit = default_hard_limit(tolerance, baseline, room, change.effective_size)
    # A share of a baseline of 0 is 0, which every fall exceeds: it limits nothing.
    return limit if limit is not None and limit.allowed(baseline) else None


def is_beyond(limit: Tolerance, change: MetricChange) -> bool:
    """Tell whether the metric fell by more; a tolerance in another unit may be larger, and then counts."""
    return change.fell_beyond(max(limit.allowed(change.baseline_figure), change.allowed_fall or 0.0))


def default_hard_limit(tolerance: Tolerance, baseline: float, room: float | None, queries: float) -> Tolerance:
    """The hard limit of a rule that names none.

    It is never more than halfway from the tolerance to the loss of everything, so that a wide tolerance keeps one.
    ``room`` is the distance of the baseline from the worst value. Three digits are enough for a message.
    """
    least = find_least_share(queries)
    size = abs(baseline)
    if tolerance.absolute:
        most = math.inf if room is None else (tolerance.absolute + room) / 2
        amount = min(max(TOLERANCES * tolerance.absolute, least * size), most)
        return Tolerance(absolute=max(tolerance.absolute, float(f"{amount:.3g}")))
    most = math.inf if room is None or not size else (tolerance.relative + room / size) / 2
    share = min(max(TOLERANCES * tolerance.relative, least), most)
    return Tolerance(relative=max(tolerance.relative, float(f"{share:.3g}")))


def find_least_share(queries: float) -> float:
    """The least share of the baseline for so many queries."""
    return next(share for below, share in LEAST_SHARES if queries < below)
