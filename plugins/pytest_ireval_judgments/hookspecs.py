"""The hook of this package, which other plugins may implement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_ireval import hookspec

if TYPE_CHECKING:
    from pytest_ireval_judgments.click_policies import ClickPolicy


@hookspec
def ireval_click_policies() -> Iterable[ClickPolicy]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return the policies this plugin adds: ways to read preferences between documents from clicks.

    Called when ``ireval clicks`` needs a policy. ``@click_policy(name=…)`` makes a policy of a function that takes a
    ``ClickedSearch`` and returns pairs of ranks, that of the better document first.

    Since 0.1.
    """
