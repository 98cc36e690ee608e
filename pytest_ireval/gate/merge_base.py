"""The baseline where a branch began, read from git and scored beside that of the branch."""

from __future__ import annotations

from typing import NamedTuple

from pytest_ireval.baseline.at_base import BaselineAtBase, SuiteIdentity, find_baseline_at_base
from pytest_ireval.baseline.record import Baseline
from pytest_ireval.errors import BaselineError, BaselineMisfitError, Problem, format_inline
from pytest_ireval.gate.planning import compares_with_baseline
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.score_rankings import find_unknown_queries, score_rankings, share_queries, share_stage_judgments
from pytest_ireval.gate.stored_metrics import find_lacks, read_definition
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.sides.side import Side
from pytest_ireval.suite.suite import Suite

ON_ITS_OWN = "the two cannot be compared: make this change of the suite in a separate branch, without a base"


class MergeBaseBaseline(NamedTuple):
    """The baseline where the branch began, or the reason why it is not known."""

    at: BaselineAtBase | None = None
    problem: BaselineError | None = None


class MergeBaseScores(NamedTuple):
    """Two baselines of one suite, scored with the current judgments and metrics; None where one does not exist."""

    base: Side | None = None
    branch: Side | None = None


def read_merge_base_baseline(suite: Suite, base: BaseRef, stored: Baseline | None) -> MergeBaseBaseline:
    """The suite's baseline at the merge base; ``stored`` is the one of the branch."""
    ending = "".join(f".{value}" for value in suite.values.values())
    named = SuiteIdentity(suite.files, ending)
    try:
        return MergeBaseBaseline(find_baseline_at_base(base, suite.baselines, suite.name, stored, named))
    except BaselineError as error:
        return MergeBaseBaseline(problem=error)


def score_merge_base(collection: Collection, beginning: MergeBaseBaseline, stored: Baseline | None) -> MergeBaseScores:
    """Score both by every metric of the suite, and every one that a rule compares with the stored baseline."""
    suite = collection.suite
    compared = {
        str(part.metric): part.metric for asked in suite.rules if compares_with_baseline(asked) for part in asked.parts
    }
    compared |= {str(metric): metric for metric in suite.metrics} if compared else {}
    metrics = [metric for metric in compared.values() if metric is not None and not metric.compares_lists]
    at = beginning.at
    if at is None or at.baseline is None or stored is None or not metrics:
        return MergeBaseScores()
    branch = score_baseline(collection, stored, "the baseline of this branch", metrics)
    if at.unchanged:
        return MergeBaseScores(branch, branch)
    base = score_baseline(collection, at.baseline, f"the baseline at {at.base}", metrics)
    unknown = find_unknown_queries(collection, stored) | find_unknown_queries(collection, at.baseline)
    branch, base = share_queries(collection, branch, base, unknown)
    branch, base = share_stage_judgments(collection, branch, base, unknown)
    return MergeBaseScores(base, branch)


def score_baseline(collection: Collection, baseline: Baseline, origin: str, metrics: list[Metric]) -> Side:
    """Score a stored baseline under the judgments of ``collection``."""
    rankings = [collection.population.names.in_rankings(each) for each in baseline.rankings]
    unknown = find_unknown_queries(collection, baseline)
    return score_rankings(collection, rankings, origin, unknown=unknown, metrics=metrics).side


def refuse_too_little(suite: Suite, metric: Metric, at: BaselineAtBase, stored: Baseline) -> None:
    """Raise BaselineMisfitError where one of two different baselines keeps less than the suite looks at."""
    if at.unchanged or at.baseline is None:
        return
    cutoff = metric.settings.get("cutoff")
    wanted = min(cutoff, suite.depth) if isinstance(cutoff, int) else suite.depth
    documents = read_definition(stored.fingerprints.documents)
    for baseline, where in ((at.baseline, f"at {at.base}"), (stored, "of this branch")):
        then = read_definition(baseline.fingerprints.documents)
        if baseline.depth < wanted:
            complaint = (
                f"the baseline {where} holds {baseline.depth} documents of each query, and {metric} looks at {wanted}"
            )
        elif then != documents:
            complaint = f"the baseline {where} was accepted with {then}, and that of this branch otherwise"
        else:
            continue
        raise BaselineMisfitError(Problem(complaint, suggestion=ON_ITS_OWN))


def find_lack_at_base(metric: Metric, scores: MergeBaseScores, at: BaselineAtBase, stored: Baseline) -> str:
    """Why a metric cannot be compared in two baselines: one of them was accepted before a rule asked for it.

    Its rule is an error until it is accepted, and there was nothing yet that could be lowered.
    """
    name = str(metric)
    both = ((at.baseline, scores.base, f"at {at.base}"), (stored, scores.branch, "of this branch"))
    for baseline, side, where in both:
        if baseline is None or name in baseline.metrics:
            continue
        lack = next((lack for _, lack in find_lacks([metric], baseline, stored.fingerprints.documents)), "")
        if not lack and side is not None and name in side.errors:
            lack = f"was accepted without {name}, which fails on it: {format_inline(side.errors[name])}"
        if lack:
            return f"{name} is not compared: the baseline {where} {lack}"
    return ""
