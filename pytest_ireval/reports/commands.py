"""Commands that a reader may paste into a shell."""

from __future__ import annotations

import shlex

from pytest_ireval.results.suite_result import SuiteResult


def accept_command(suite: SuiteResult, *, new: bool) -> str:
    """Accepts what was measured; ``new`` where there is no baseline yet."""
    how = "--ireval-update-new" if new else '--ireval-update --ireval-reason "..."'
    return f"pytest --ireval {_shell_path(node_path(suite))} {how}"


def why_command(suite: SuiteResult, metric: str, query: str) -> str:
    """Shows the arithmetic of a metric on a query."""
    named = f" --named {shell_word(suite.name)}" if suite.matrix else ""
    return f"ireval why {shell_word(metric)} --suite {_shell_path(suite.path)}{named} --query {shell_word(query)}"


def node_path(suite: SuiteResult) -> str:
    """The suite as pytest is asked for it: its file, and of a matrix its values."""
    return f"{suite.path}::{'.'.join(suite.matrix.values())}" if suite.matrix else suite.path


def _shell_path(path: str) -> str:
    """A path as one word, which no program takes for an option."""
    return shell_word(f"./{path}" if path.startswith("-") else path)


def shell_word(text: str) -> str:
    """A text as one word; control characters spelled out as bash and zsh read them."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.encode("unicode_escape").decode().replace("'", "\\'")
    return f"$'{escaped}'"
