"""What packages of plugins use beside the names of ``pytest_ireval``: kinds of plugins, readers, errors, statistics.

A metric, a rule or a source in a ``conftest.py``, and a package of metrics, need ``pytest_ireval`` alone. Commands also
use the names of ``pytest_ireval.tables``, ``pytest_ireval.cli.options`` and ``pytest_ireval.cli.sheets``.
"""

from __future__ import annotations

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.formats.reader import Reader
from pytest_ireval.data.join import find_returned_judgments
from pytest_ireval.data.judgments import drop_judgments
from pytest_ireval.data.pairs import Pairs, number_pairs
from pytest_ireval.data.views import keep_first_documents
from pytest_ireval.errors import (
    Mistakes,
    Problem,
    did_you_mean,
    format_inline,
    last_lines,
    make_exception_problem,
    quote,
)
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.plugin_types import DiagnosisKind, RuleKind, SourceKind
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress, Stopwatch
from pytest_ireval.report.charts.panels import Curve, CurvePanel, draw_curves
from pytest_ireval.report.markdown_text import escape_markdown, format_markdown_table
from pytest_ireval.report.results_file import list_report_folders, read_run
from pytest_ireval.results.comparison import MetricComparison
from pytest_ireval.results.policies import Grades
from pytest_ireval.results.run_folder import is_run_folder
from pytest_ireval.rules.metric_change import compute_slice_figures
from pytest_ireval.sources.programs import end_program, end_programs_on_signals
from pytest_ireval.statistics.binomial import heads_at_most, share_limits
from pytest_ireval.statistics.mean_evidence import MeanEvidence, mean_evidence
from pytest_ireval.statistics.orders import compare_orders
from pytest_ireval.statistics.student import beta_quantile, t_quantile
from pytest_ireval.text_table import escape_unprintable, format_table, truncate, wrap_text
from pytest_ireval.words import format_count

__all__ = [
    "SILENT",
    "Acceptance",
    "Curve",
    "CurvePanel",
    "DiagnosisKind",
    "Grades",
    "InputFile",
    "MeanEvidence",
    "MetricComparison",
    "Mistakes",
    "Pairs",
    "Problem",
    "Progress",
    "Reader",
    "Registry",
    "ReportSection",
    "RuleKind",
    "SourceKind",
    "Stopwatch",
    "beta_quantile",
    "compare_orders",
    "compute_slice_figures",
    "did_you_mean",
    "draw_curves",
    "drop_judgments",
    "end_program",
    "end_programs_on_signals",
    "escape_markdown",
    "escape_unprintable",
    "find_returned_judgments",
    "format_count",
    "format_inline",
    "format_markdown_table",
    "format_table",
    "heads_at_most",
    "is_run_folder",
    "keep_first_documents",
    "last_lines",
    "list_report_folders",
    "make_exception_problem",
    "mean_evidence",
    "number_pairs",
    "quote",
    "read_run",
    "share_limits",
    "t_quantile",
    "truncate",
    "wrap_text",
]
