"""Step 4: find what stands behind the outcomes: causes, documents of the worst queries, and what to judge next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.diagnosing import describe_unknown_fields, diagnose_change
from pytest_ireval.gate.engine_explanations import ask_engine
from pytest_ireval.gate.query_documents import collect_query_documents, point_to_documents
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.to_judge import list_documents_to_judge
from pytest_ireval.results.outcome import Diagnosis, Outcome
from pytest_ireval.results.suite_result import EngineExplanation, QueryDocuments, ToJudge
from pytest_ireval.rules.planning import Check


@dataclass(frozen=True)
class ExplainedOutcomes:
    """The outcomes with the documents behind them, and why the figures changed."""

    outcomes: tuple[Outcome, ...]
    causes: tuple[Diagnosis, ...]
    documents: tuple[QueryDocuments, ...]
    engine: tuple[EngineExplanation, ...]
    to_judge: tuple[ToJudge, ...]
    notes: tuple[str, ...]


def explain_outcomes(
    inputs: Inputs, scores: Scores, checks: Sequence[Check], outcomes: Sequence[Outcome], last_run: Path | None
) -> ExplainedOutcomes:
    """Explain the outcomes of a suite; ``last_run`` holds the rankings of the run before."""
    run_diagnoses = diagnose_change(inputs, scores, checks, outcomes, last_run)
    with_facts, to_judge = list_documents_to_judge(scores, checks, outcomes, run_diagnoses.causes)
    documents = collect_query_documents(scores, with_facts)
    explained = point_to_documents(scores, with_facts, documents)
    engine, engine_notes = ask_engine(inputs, explained, documents)
    unknown = describe_unknown_fields(inputs.current.unknown_fields)
    named = any(unknown in cause.headline for cause in run_diagnoses.causes)
    return ExplainedOutcomes(
        outcomes=explained,
        causes=run_diagnoses.causes,
        documents=documents,
        engine=engine,
        to_judge=to_judge,
        notes=(*([unknown] if unknown and not named else []), *run_diagnoses.complaints, *engine_notes),
    )
