"""The verdicts of suites under other judgments than their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_ireval import Judgments, load_registry, load_suites, run_gate, write_judgments
from pytest_ireval.plugin_api import Progress

__all__ = ["VariantVerdict", "run_suites_under"]


class VariantVerdict(NamedTuple):
    """The verdict of a suite under one variant of its judgments."""

    suite: str
    variant: str
    verdict: str
    why: str
    """The red checks, or the error."""


def run_suites_under(
    path: Path, variants: Mapping[str, Judgments | None], progress: Progress
) -> Iterator[VariantVerdict]:
    """Run all suites in a file under each variant of judgments; None: under their own.

    Their sources are asked each time.
    """
    registry = load_registry(path)
    suites = load_suites(path, registry)
    progress.expect(len(suites) * len(variants), "running suites")
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{number}.jsonl") for number, name in enumerate(variants)}
        for name, judgments in variants.items():
            if judgments is not None:
                write_judgments(judgments, files[name])
        judged = [
            (name, suite if variants[name] is None else suite.with_judgments(file))
            for suite in suites
            for name, file in files.items()
        ]
        for name, suite in judged:
            result = run_gate(suite, registry=registry)
            red = ", ".join(each.id for each in result.outcomes if each.verdict in ("fail", "error"))
            yield VariantVerdict(suite.name, name, result.verdict, " ".join(result.error.split()) or red)
            progress.advance(1)
