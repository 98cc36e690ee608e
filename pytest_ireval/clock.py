"""The time of a run, which SOURCE_DATE_EPOCH can set."""

from __future__ import annotations

import os
from datetime import date, datetime, timezone

from pytest_ireval.errors import IrevalError


def read_clock() -> datetime:
    """The current time in UTC, to the second; or the one in SOURCE_DATE_EPOCH."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(timezone.utc).replace(microsecond=0)
    try:
        return datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise IrevalError(f"SOURCE_DATE_EPOCH={epoch!r} is not a number of seconds since 1970") from error


def read_date() -> date:
    """The day of that moment."""
    return read_clock().date()


def format_moment(moment: datetime) -> str:
    """ISO 8601: ``2026-11-20T19:20:00Z``."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
