"""A suite's beginning, and a registry with kinds that a test makes."""

from dataclasses import replace

from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.registry import GivenHooks

BEGINNING = "ireval: 1\nsuite: shop\nsource: {run: c.trec}\n"


def with_kinds(registry, rules, sources):
    """The registry with other kinds than the installed ones."""
    origin = Origin("toys", "toys", "1.0")
    hooks = GivenHooks(ireval_sources=[(origin, sources)], ireval_rules=[(origin, rules)])
    return replace(registry, hooks=hooks)
