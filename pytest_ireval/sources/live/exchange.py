"""What is sent to a live system for a query, what comes back, and where the answer has what."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pytest_ireval.errors import quote
from pytest_ireval.suite.scalars import UnfitError

LONGEST_WAIT = 60.0
"""Seconds between two attempts; a system that asks for more is not asked again."""

_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class Exchange(NamedTuple):
    """How a query becomes a request, and the answer a ranking. Texts have placeholders, paths are JMESPath."""

    url: str
    method: str
    params: Mapping[str, str]
    body: Any
    hits: str
    id: str
    score: str = ""
    fields: Mapping[str, str] = {}
    took: str = ""
    complete: str = ""
    page_size: int | None = None
    total: str = ""
    """The path of the number of documents that match; empty where nobody looks at it."""


class TimedAnswer(NamedTuple):
    """An answer, and the seconds that it took."""

    answer: Any
    seconds: float | None
    """None for one of several answers to one request."""


class AttemptError(Exception):
    """An attempt without a result; ``again`` is true if another one may succeed, ``after`` that many seconds.

    ``status`` is that of an answer which is no success.
    """

    def __init__(
        self, complaint: str, shows: str = "", *, again: bool = False, after: float = 0.0, status: int | None = None
    ) -> None:
        super().__init__(complaint)
        self.complaint, self.shows, self.again, self.after, self.status = complaint, shows, again, after, status

    @property
    def is_about_login(self) -> bool:
        """True if the system wants a login, or another one."""
        return self.status in (401, 403)


def compile_path(expression: str) -> Callable[[Any], Any]:
    """A function that finds the value of a JMESPath expression; plain names, which are most, without the library."""
    if _PLAIN_PATH.fullmatch(expression):
        *parents, last = expression.split(".")

        def follow_names(value: Any) -> Any:
            for name in parents:
                value = value.get(name) if isinstance(value, dict) else None
            return value.get(last) if isinstance(value, dict) else None

        return follow_names
    try:
        import jmespath
    except ImportError:
        needs = "jmespath must be installed, for paths other than names and dots"
        raise UnfitError(f"{quote(expression)}: {needs}", "pip install 'pytest-ireval[live]'") from None
    try:
        search: Callable[[Any], Any] = jmespath.compile(expression).search
    except jmespath.exceptions.JMESPathError as error:
        complaint = " ".join(str(error).split("\n")[0].split())
        raise UnfitError(f"{quote(expression)} is not JMESPath: {complaint}", "see https://jmespath.org") from None
    return search
