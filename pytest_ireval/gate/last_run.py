"""The rankings of the last run, so that ``ireval why`` explains the same ones, and the gate sees repeated answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pytest_ireval.baseline.fingerprints import fingerprint, fingerprint_rankings, fingerprint_text
from pytest_ireval.baseline.rankings_file import CURRENT, VERSUS, KeptRankings, LastRun, pack_rankings, read_last_run
from pytest_ireval.baseline.record import Baseline, Fingerprints
from pytest_ireval.errors import InputError
from pytest_ireval.gate.acceptance import keep_used_data
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.references import needs_scores
from pytest_ireval.suite.suite import Suite


def keep_rankings(inputs: Inputs) -> KeptRankings:
    """All rankings of a suite that were scored, and the inputs that they were scored by."""
    suite, prints, judged = inputs.suite, inputs.fingerprints, inputs.judgment_prints
    record = {
        "source": inputs.source,
        "suite": _fingerprint_files(suite),
        "queries": prints.queries,
        "judgments": prints.judgments,
        "policies": prints.policies,
        "side_files": prints.side_files,
        "baseline": identify_baseline(inputs.stored.baseline),
        "anchor": identify_baseline(None if inputs.anchor is None else inputs.anchor.baseline),
        "depth": suite.depth,
    }
    sides = {CURRENT: inputs.current.rankings}
    if inputs.versus is not None and inputs.versus.baseline is not None:
        sides[VERSUS] = inputs.versus.baseline.rankings
        record["versus"] = inputs.versus.versus
    for number, other in enumerate(inputs.others, 1):
        if other.answer is not None:
            sides[name_reference(number)] = other.answer.rankings
    used = {side: keep_used_data(suite, askings) for side, askings in sides.items()}
    return pack_rankings(
        suite.name,
        used,
        suite.depth,
        record,
        scored=needs_scores(suite),
        grades=None if judged is None else judged.grades,
    )


def name_reference(number: int) -> str:
    """The part with the rankings of one of the sources that rules compare with."""
    return f"reference-{number}"


def list_changed_inputs(run: LastRun, suite: Suite, now: Fingerprints) -> Iterator[str]:
    """Name the inputs that changed since that run, so that its rankings would be judged in another way."""
    if run.record["suite"] != _fingerprint_files(suite):
        yield "the suite file"
    elif run.record["policies"] != now.policies:
        yield "a variable that the suite file names"
    if run.record["judgments"] != now.judgments:
        yield "the judgments"


def find_repeated_run(path: Path | None, inputs: Inputs) -> LastRun | None:
    """The run before this one, if its source was another one and its rankings were the same; None otherwise."""
    if path is None or not path.is_file():
        return None
    try:
        run = read_last_run(path, inputs.suite.name, unless_from=inputs.source)
    except InputError:  # it only gives a hint; `ireval why` reports a damaged file
        return None
    now = inputs.current.rankings[0]
    if run is None:
        return None
    depth = min(inputs.suite.depth, run.record["depth"])
    return run if fingerprint_rankings(run.rankings, depth) == fingerprint_rankings(now, depth) else None


def identify_baseline(stored: Baseline | None) -> str:
    """Identify a baseline by its acceptances."""
    return "" if stored is None else fingerprint_text(json.dumps([each.date for each in stored.acceptances]))


def _fingerprint_files(suite: Suite) -> str:
    # A checkout on Windows may have other line ends than that of a job.
    return fingerprint(b"\0".join(path.read_bytes() for path in suite.files or (suite.path,)).replace(b"\r\n", b"\n"))
