"""When a run takes place: now, or what ``SOURCE_DATE_EPOCH`` says, for runs that are to be the same twice."""

from __future__ import annotations

import os
from datetime import date, datetime, timezone

from pytest_ireval.errors import IrevalError


def moment_of() -> datetime:
    """In UTC, to the second."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is None:
        return datetime.now(timezone.utc).replace(microsecond=0)
    try:
        return datetime.fromtimestamp(int(told), timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise IrevalError(f"SOURCE_DATE_EPOCH={told!r} is no number of seconds since 1970") from error


def today_of() -> date:
    """The day of it."""
    return moment_of().date()


def written(moment: datetime) -> str:
    """ISO 8601: ``2026-11-20T19:20:00Z``."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
