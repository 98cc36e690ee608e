"""What programs use beside the steps of the gate in ``pytest_ireval`` to try a suite on other rankings."""

from __future__ import annotations

from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.baseline.fingerprints import fingerprint_rankings
from pytest_ireval.data.ids import Ids, number_ids
from pytest_ireval.data.join import look_up_grades
from pytest_ireval.data.judged import is_relevant
from pytest_ireval.data.mixing import keep_documents, mix_rankings, take_documents
from pytest_ireval.data.rankings import rank_columns
from pytest_ireval.gate.apply import correct_p_values, prepare_checks
from pytest_ireval.gate.comparison import ComparedSides, ScoredReference
from pytest_ireval.gate.components import find_idle_components, switch_off
from pytest_ireval.gate.fetching import read_rankings_file
from pytest_ireval.gate.kept_run import CheckedAgain, KeptRun, open_kept_run
from pytest_ireval.gate.noise import list_repeated_metrics, measure_noise, measure_spread, measure_weighted_noise
from pytest_ireval.gate.planning import Check, RuleCheck, plan_checks, select_rule_checks
from pytest_ireval.gate.rank import rank_suite
from pytest_ireval.gate.run import make_plan
from pytest_ireval.gate.score_rankings import score_rankings, share_queries
from pytest_ireval.gate.what_if import mix, mix_sides
from pytest_ireval.sides.side import Side
from pytest_ireval.sides.slices import WHOLE, Slice
from pytest_ireval.sources.describing import describe_source
from pytest_ireval.statistics.differences import TIE, Floats, Mask
from pytest_ireval.statistics.noise import askings_needed, noise_floor, noise_share
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.loading import read_rule_text
from pytest_ireval.suite.suite import Component

__all__ = [
    "LEVEL",
    "TIE",
    "WHOLE",
    "Check",
    "CheckedAgain",
    "ComparedSides",
    "Component",
    "Floats",
    "Ids",
    "KeptRun",
    "Mask",
    "RuleCheck",
    "ScoredReference",
    "Side",
    "Slice",
    "askings_needed",
    "correct_p_values",
    "describe_source",
    "find_changed_queries",
    "find_idle_components",
    "fingerprint_rankings",
    "is_relevant",
    "keep_documents",
    "list_repeated_metrics",
    "look_up_grades",
    "make_plan",
    "measure_noise",
    "measure_spread",
    "measure_weighted_noise",
    "mix",
    "mix_rankings",
    "mix_sides",
    "noise_floor",
    "noise_share",
    "number_ids",
    "open_kept_run",
    "plan_checks",
    "prepare_checks",
    "rank_columns",
    "rank_suite",
    "read_rankings_file",
    "read_rule_text",
    "score_rankings",
    "select_rule_checks",
    "share_queries",
    "switch_off",
    "take_documents",
]
