"""What packages of plugins use beside the names of ``pytest_ireval``: kinds of plugins, readers, baselines.

A metric, a rule or a source in a ``conftest.py``, and a package of metrics, need ``pytest_ireval`` alone. This module
imports what rules and baselines need, which ``ireval evaluate`` does not wait for.
"""

from __future__ import annotations

from pytest_ireval.baselines.record import Acceptance
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.kinds import ClickedSearch, ClickPolicy, DiagnosisKind, RuleKind, SourceKind, click_policy
from pytest_ireval.retrieval.formats.input_file import InputFile
from pytest_ireval.retrieval.formats.reader import Reader
from pytest_ireval.rules.question import slice_figures
from pytest_ireval.statistics.mean_evidence import MeanEvidence, mean_evidence

__all__ = [
    "Acceptance",
    "ClickPolicy",
    "ClickedSearch",
    "DiagnosisKind",
    "InputFile",
    "MeanEvidence",
    "Reader",
    "ReportSection",
    "RuleKind",
    "SourceKind",
    "click_policy",
    "mean_evidence",
    "slice_figures",
]
