"""The commands of this package; `ireval --help` imports this file."""

from __future__ import annotations

from pytest_ireval import CommandSpec, hookimpl


@hookimpl
def ireval_commands() -> list[CommandSpec]:
    """The command line of trec_eval."""
    summary = "Score as trec_eval 10 does, with its options and output."
    return [CommandSpec("trec_eval", summary, "pytest_ireval_more_metrics.trec_eval_command:command")]
