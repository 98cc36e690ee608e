"""Fingerprints of what figures depend on, by which a baseline tells what changed since it was accepted."""

from __future__ import annotations

from pytest_ireval.baseline.fingerprints import (
    fingerprint,
    fingerprint_judgments,
    fingerprint_policies,
    fingerprint_queries,
    fingerprint_text,
)
from pytest_ireval.baseline.record import Fingerprints, JudgmentPrints
from pytest_ireval.data.formats.input_file import shorten_path
from pytest_ireval.gate.collection import Collection
from pytest_ireval.gate.needs import read_kind_of_times
from pytest_ireval.suite.suite import Suite


def compute_fingerprints(collection: Collection, source: str, judged: JudgmentPrints | None) -> Fingerprints:
    """The fingerprints of everything but the rankings that may change; ``source`` describes the source in words."""
    suite = collection.suite
    lowest = suite.judgments.relevant_from if suite.judgments else None
    policies = fingerprint_policies(suite.policies, suite.documents.size)
    engine = read_kind_of_times(suite.source) == "engine" and any("timings" in metric.needs for metric in suite.metrics)
    return Fingerprints(
        queries=fingerprint_queries(collection.population.queries),
        judgments="" if judged is None else judged.whole,
        source=fingerprint_text(source),
        policies=policies if lowest is None else fingerprint_text(f"{policies} relevant from {lowest:g}"),
        documents=", ".join(filter(None, (suite.documents.definition, "times: engine" if engine else ""))),
        side_files=_fingerprint_side_files(suite),
    )


def _fingerprint_side_files(suite: Suite) -> str:
    """Of the files that name documents anew and of preferences; empty for a suite without them."""
    named = [suite.documents.aliases, suite.documents.collapse_file, suite.judgments and suite.judgments.preferences]
    paths = [shorten_path(each.path) if each else None for each in named]
    # the line ends of a checkout on Windows change nothing; a pipe was read already, and is empty now
    contents = [path.read_bytes().replace(b"\r\n", b"\n") if path and path.is_file() else b"" for path in paths]
    parts = [*map(fingerprint, contents), suite.documents.collapse_pattern]
    return fingerprint_text("\n".join(parts)) if any(paths) or suite.documents.collapse_pattern else ""


def fingerprint_suite_judgments(collection: Collection) -> JudgmentPrints | None:
    """The fingerprints of the judgments as they are written; None for a suite without judgments."""
    written = collection.written_judgments
    return None if written is None else fingerprint_judgments(written)
