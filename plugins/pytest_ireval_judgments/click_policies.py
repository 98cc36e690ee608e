"""Policies: ways to read preferences between documents from clicks, which plugins may add to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pytest_ireval import PluginError

__all__ = ["ClickPolicy", "ClickedSearch", "click_policy"]


class ClickedSearch(NamedTuple):
    """One search of a log."""

    documents: tuple[str, ...]
    """The documents that were shown, in order of rank."""
    clicks: tuple[int, ...]
    """The ranks that were clicked, from 1: each once, in the order of time."""


@dataclass(frozen=True)
class ClickPolicy:
    """A way to read preferences from clicks; made by :func:`click_policy`."""

    name: str
    prefer: Callable[[ClickedSearch], Iterable[tuple[int, int]]]
    """``prefer(search) -> pairs``: two ranks each, that of the better document first."""
    summary: str
    """One sentence, for documentation."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.prefer.__module__} (not registered)"


def click_policy(*, name: str) -> Callable[[Callable[[ClickedSearch], Iterable[tuple[int, int]]]], ClickPolicy]:
    """Make a policy of ``function(search) -> pairs of ranks``; the docstring's first paragraph is its summary."""

    def make(function: Callable[[ClickedSearch], Iterable[tuple[int, int]]]) -> ClickPolicy:
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise PluginError(f"{name!r} cannot be the name of a policy: use lower-case letters, digits and hyphens")
        return ClickPolicy(name, function, " ".join((function.__doc__ or "").partition("\n\n")[0].split()))

    return make
