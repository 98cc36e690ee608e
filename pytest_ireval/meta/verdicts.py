"""Verdicts of suites under other judgments than their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.run import run_gate
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.writers import write_judgments
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.suites.loading import load_suites


class JudgedVerdict(NamedTuple):
    """The verdict of a suite under one set of judgments, and its red rules or its error."""

    suite: str
    judged_by: str
    verdict: str
    red: str


def verdicts_under(
    path: Path, variants: Mapping[str, Judgments | None], progress: Progress = SILENT
) -> Iterator[JudgedVerdict]:
    """The verdicts of all suites in a file under each variant of judgments; None: under their own."""
    registry = Conftests().registry_for(path)
    suites = load_suites(path, registry)
    if without := [suite for suite in suites if suite.judgments is None]:
        raise InputError(*(Problem("has no judgments", str(suite.place)) for suite in without))
    progress.expect(len(suites) * len(variants), "running suites")
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: Path(folder, f"{i}.jsonl") for i, (name, each) in enumerate(variants.items()) if each is not None
        }
        for name, file in files.items():
            write_judgments(variants[name], file)
        for suite in suites:
            for name in variants:
                given, asked = suite, suite.judgments
                if name in files and asked is not None:
                    own = replace(asked, file=replace(asked.file, path=files[name], format="jsonl"), lock=False)
                    given = replace(suite, judgments=own, policies=replace(suite.policies, grades="float"))
                result = run_gate(given, registry=registry)
                red = ", ".join(each.id for each in result.outcomes if each.verdict in ("fail", "error"))
                yield JudgedVerdict(suite.name, name, result.verdict, " ".join(result.error.split()) or red)
                progress.advance(1)
