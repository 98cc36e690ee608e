"""Quantities of rules: bounds, tolerances, amounts; read from a suite's text, and written the same way."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.suite.scalars import NUMBER, UnfitError, number_in_scalar, plain_value, unfit

SIGNS = {">=": (operator.ge, -1), "<=": (operator.le, 1), ">": (operator.gt, 1), "<": (operator.lt, -1)}
"""The comparison of each sign, and the direction in which rounding moves its bound."""
BOUND = re.compile(r"(>=|<=|>|<)\s*(\S.*)")
TIME = re.compile(r"(\S+?)\s*(ms|s)")
PERCENT = re.compile(r"(\S+?)\s*%")
LEAST_SHARE = re.compile(r">=\s*(\S+?)\s*%")

ROUNDING = 1e-12
SHARE_ROUNDING = 1e-9
"""A share of a number may be off by this: 29% of 100 is 28.999999999999996."""

A_SHARE = "share: write 60%, above 0% and up to 100%"
A_LEAST_SHARE = "share of queries: write '>= 98%', above 0% and up to 100%"
AN_AMOUNT = "amount: write 2 (a number) or 5% (of all)"


class Milliseconds(float):
    """A time that a suite writes with its unit: ``150ms``, ``0.15s``."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{float(self):.10g} ms"


def refuse_unit(value: float, metric: Metric) -> None:
    """Refuse a time as a value of a metric that is not in milliseconds."""
    if isinstance(value, Milliseconds) and not metric.milliseconds:
        raise UnfitError(f"{value} is a time, but values of {metric} are not: write a number without a unit")


def refuse_tolerance(tolerance: Tolerance, metric: Metric, *, by_evidence: bool, what: str = "tolerance") -> None:
    """Refuse a tolerance that does not fit the metric, or that lets everything pass."""
    low, high = metric.bounds
    refuse_unit(tolerance.absolute, metric)
    if by_evidence and metric.ratio and tolerance.absolute:
        raise UnfitError(f"evidence compares ratios of {metric}: write {what} as a share, such as 5%")
    if tolerance.relative >= 1 or tolerance.absolute >= high - low:
        raise UnfitError(f"a {what} of {tolerance} lets everything pass")


class Bound(NamedTuple):
    """A limit for a value: ``>= 0.85``."""

    sign: str
    value: float

    def holds(self, value: float) -> bool:
        """Tell whether ``value`` is on the right side; NaN never is."""
        return bool(self.mark_valid(value))

    def mark_valid(self, values: Any) -> Any:
        """The same for each value of an array. A mean that misses the bound by rounding alone is at the bound."""
        compare, direction = SIGNS[self.sign]
        return compare(values, self.value + direction * ROUNDING * max(1.0, abs(self.value)))

    def is_looser_than(self, other: Bound) -> bool:
        """Tell whether it lets more pass; a bound of another direction may."""
        if self.sign[0] != other.sign[0]:
            return True
        further = other.value - self.value if self.sign[0] == ">" else self.value - other.value
        return further > 0 or (further == 0 and len(self.sign) > len(other.sign))

    def __str__(self) -> str:
        return f"{self.sign} {_format_quantity(self.value)}"


class Tolerance(NamedTuple):
    """The allowed loss of a figure: a share of the baseline, or an amount in its own unit."""

    relative: float = 0.0
    absolute: float = 0.0

    def allowed(self, baseline: float) -> float:
        """The allowed loss from this baseline."""
        return abs(baseline) * self.relative + self.absolute

    def is_looser_than(self, other: Tolerance) -> bool:
        """Tell whether it allows more; a share and an amount cannot be compared, so either may."""
        return self.relative > other.relative or self.absolute > other.absolute

    def is_stricter_than(self, other: Tolerance) -> bool:
        """Tell whether it surely allows less.

        A share and an amount cannot be compared before the baseline is known, so neither is stricter.
        """
        if self.relative:
            return self.relative < other.relative
        return self.absolute < other.absolute

    def __str__(self) -> str:
        return _format_quantity(self.absolute) if self.absolute else percent(self.relative)


@dataclass
class Tolerances:
    """A tolerance for all slices, or one for each value of a column."""

    default: Tolerance | None = None
    by_value: Mapping[str, Tolerance] = field(default_factory=dict)

    def of(self, value: str) -> Tolerance | None:
        """The tolerance of the slice with that value; None if none was given."""
        return self.by_value.get(value, self.default)

    on_slice = of


@dataclass(frozen=True)
class Amount:
    """A number, or a share of all."""

    count: int | None = None
    share: float | None = None

    def of(self, total: float) -> float:
        """The amount of ``total``."""
        return float(self.count) if self.count is not None else (self.share or 0.0) * total

    def allows(self, count: float, total: float) -> bool:
        """Tell whether a count is at most this amount of ``total``."""
        return count <= self.of(total) + SHARE_ROUNDING

    def is_looser_than(self, other: Amount) -> bool:
        """Tell whether it allows more; a number and a share cannot be compared, so either may."""
        if (self.count is None) != (other.count is None):
            return True
        return (self.count or 0) > (other.count or 0) or (self.share or 0.0) > (other.share or 0.0)

    def __str__(self) -> str:
        return str(self.count) if self.count is not None else percent(self.share or 0.0)


def refuse_everything(at_most: Amount) -> None:
    """Refuse a share of 100% or more."""
    if at_most.share is not None and at_most.share >= 1:
        raise ValueError(f"at_most: {at_most} lets everything pass")


def _format_quantity(value: float) -> str:
    return str(value) if isinstance(value, Milliseconds) else f"{value:.10g}"


def percent(share: float) -> str:
    """``0.01`` as ``1%``."""
    return f"{share * 100:.10g}%"


def read_figure(value: Any, what: str = "number") -> float:
    """Read ``0.85``; a time with its unit, such as ``0.15s``, becomes milliseconds."""
    match = None if isinstance(value, int | float) else TIME.fullmatch(plain_value(value, what))
    if match is None:
        return value if isinstance(value, Milliseconds) else number_in_scalar(value, what)
    return Milliseconds(number_in_scalar(match[1], what) * {"ms": 1, "s": 1000}[match[2]])


def read_bound(value: Any) -> Bound:
    """Read ``>= 0.85``."""
    if isinstance(value, Bound):
        return value
    number = _find_number(value)
    wanted = f"bound: write '>= {'0.85' if number is None else value}' (or <=, >, <)"
    match = BOUND.fullmatch(plain_value(value, wanted).replace("≥", ">=").replace("≤", "<="))
    if not match:
        raise unfit(value, wanted)
    return Bound(match[1], read_figure(match[2], wanted))


def read_tolerance(value: Any) -> Tolerance:
    """Read ``1%`` or ``{absolute: 0.01}``."""
    if isinstance(value, Tolerance):
        return value
    if isinstance(value, dict):
        return _read_absolute(value)
    wanted = describe_tolerance(_find_number(value))
    match = PERCENT.fullmatch(plain_value(value, wanted))
    if not match:
        raise unfit(value, wanted)
    return Tolerance(relative=_refuse_negative(number_in_scalar(match[1], wanted), value) / 100)


def describe_tolerance(number: float | None = None) -> str:
    """What to write; with a bare number, the two that it can mean."""
    share, amount = "1", "0.01"
    if number is not None and number > 0:
        share, amount = f"{100 * number if number < 1 else number:g}", f"{number:g}"
    return f"tolerance: write {share}% (of the baseline) or {{absolute: {amount}}}"


def _find_number(value: Any) -> float | None:
    """The number that a text is; None if it is something else."""
    text = str(value).strip()
    return float(text) if isinstance(value, str) and NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def _read_absolute(value: dict[str, Any]) -> Tolerance:
    if list(value) != ["absolute"]:
        keys = ", ".join(map(str, value)) or "no key"
        raise UnfitError(f"a mapping with {keys} is not a valid {describe_tolerance()}")
    wanted = "number: an absolute tolerance is in the metric's own unit, such as {absolute: 0.01}"
    return Tolerance(absolute=_refuse_negative(read_figure(value["absolute"], wanted), value["absolute"]))


def _refuse_negative(number: float, value: Any) -> float:
    if number < 0:
        raise UnfitError(f"{str(value)!r} is negative: a tolerance says how far a figure may get worse, from 0 up")
    return number


def read_share(value: Any) -> float:
    """Read ``60%`` as 0.6."""
    if isinstance(value, float):
        return value
    match = PERCENT.fullmatch(plain_value(value, A_SHARE))
    number = number_in_scalar(match[1], A_SHARE) if match else 0.0
    if not 0 < number <= 100:
        raise unfit(value, A_SHARE)
    return number / 100


def read_least_share(value: Any) -> float:
    """Read ``>= 98%`` as 0.98."""
    if isinstance(value, float):
        return value
    match = LEAST_SHARE.fullmatch(plain_value(value, A_LEAST_SHARE).replace("≥", ">="))
    number = number_in_scalar(match[1], A_LEAST_SHARE) if match else 0.0
    if not 0 < number <= 100:
        raise unfit(value, A_LEAST_SHARE)
    return number / 100


def read_amount(value: Any) -> Amount:
    """Read ``2`` or ``5%``."""
    if isinstance(value, Amount):
        return value
    match = PERCENT.fullmatch(str(value).strip()) if isinstance(value, str) else None
    number = number_in_scalar(match[1] if match else value, AN_AMOUNT)
    if number < 0 or (match and number > 100) or not (match or number.is_integer()):
        raise unfit(value, AN_AMOUNT)
    return Amount(share=number / 100) if match else Amount(count=int(number))
