"""Step 1: read and fetch what a suite names. Nothing is scored here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_ireval.baseline.files import anchor_name, find_committed_baseline
from pytest_ireval.baseline.fingerprints import (
    fingerprint,
    fingerprint_judgments,
    fingerprint_policies,
    fingerprint_queries,
    fingerprint_text,
)
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import Baseline, Fingerprints, JudgmentPrints, Search
from pytest_ireval.clock import read_date
from pytest_ireval.data.formats.input_file import shorten_path
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.threads import return_freed_memory
from pytest_ireval.errors import BaselineError, IrevalError
from pytest_ireval.gate.fetching import FetchedRankings, fetch_rankings, fetch_sample_again, refuse_missing_queries
from pytest_ireval.gate.needs import read_kind_of_times
from pytest_ireval.gate.planning import compares_with_baseline
from pytest_ireval.gate.queries_and_judgments import Collection, read_collection
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.sources.describing import describe_source, fingerprint_source_files, make_options_tree
from pytest_ireval.suite.suite import OFFLINE, SourceSpec, Suite

if TYPE_CHECKING:
    from pytest_ireval.gate.merge_base import MergeBaseBaseline

MANY_DOCUMENTS = 1 << 17
"""Reading more documents leaves memory behind that is worth returning."""
SAMPLE = 50
"""The most queries that are asked a second time."""


class StoredReference(NamedTuple):
    """A baseline or an anchor as it is stored in a file; without one, both are None."""

    baseline: Baseline | None = None
    problem: BaselineError | None = None
    """The reason why the file cannot be read."""
    deleted: Path | None = None
    """The file that the last commit has, where there is none here."""
    versus: str = ""
    """The rankings of another commit in words, if it is no file of a baseline: ``3f2a1c9, asked 4 minutes ago``."""


class OtherReference(NamedTuple):
    """The answer of a source that rules compare with, or the reason why there is none."""

    source: SourceSpec
    rule_indexes: tuple[int, ...]
    """The indexes of these rules in the suite."""
    answer: FetchedRankings | None = None
    problem: IrevalError | None = None


@dataclass(eq=False)
class Inputs:
    """Everything that the verdicts on a suite rest on."""

    collection: Collection
    today: date
    current: FetchedRankings
    source: str
    """The source of the current rankings, in words."""
    missing_queries: tuple[str, ...]
    """Queries that count and have no ranking, if the suite allows that."""
    stored: StoredReference
    anchor: StoredReference | None
    """The pinned release; None where no rule compares with it."""
    others: tuple[OtherReference, ...]
    merge_base: MergeBaseBaseline | None
    """The baseline where the branch began; None where no base was given."""
    fingerprints: Fingerprints
    judgment_prints: JudgmentPrints | None
    """None for a suite without judgments."""
    search: Search
    second_answer: FetchedRankings | None = None
    """A second answer for some queries, to see whether the source is stable; None where that does not matter."""
    notes: tuple[str, ...] = ()
    versus: StoredReference | None = None
    """The rankings of another commit that rules compare with in place of the stored baseline."""

    @property
    def suite(self) -> Suite:
        """The suite that they are the inputs of."""
        return self.collection.suite

    @property
    def reference(self) -> StoredReference:
        """What rules compare with that name no reference of their own."""
        return self.stored if self.versus is None else self.versus


def collect_inputs(
    suite: Suite,
    registry: Registry | None = None,
    today: date | None = None,
    progress: Progress = SILENT,
    *,
    queries: Queries | None = None,
    base: BaseRef | None = None,
    versus: StoredReference | None = None,
) -> Inputs:
    """Read queries, judgments and stored baselines, and fetch the rankings of all sources.

    ``today`` decides whether waivers have ended. ``queries`` are given where they were read already; ``base`` asks for
    the baseline at the merge base with it. With ``versus``, rules compare with that in place of the stored baseline.
    """
    registry, today = registry or installed_registry(), today or read_date()
    if suite.source is None:
        raise IrevalError(f"{suite.place}: names no source of rankings")
    collection = read_collection(suite, registry, today, progress, queries)
    current = fetch_rankings(suite.source, collection, progress)
    others = tuple(_fetch_other_references(collection, progress))
    if len(current.rankings[0].documents) > MANY_DOCUMENTS:
        return_freed_memory()
    missing = refuse_missing_queries(suite.source, collection, current.rankings)
    stored = read_stored_reference(suite, suite.name)
    second: FetchedRankings | None = None
    notes: tuple[str, ...] = ()
    if _may_be_unstable(suite, suite.source, stored if versus is None else versus):
        if os.environ.get(OFFLINE):
            notes = ("the source was not asked a second time: the run is offline",)
        else:
            second = fetch_sample_again(suite.source, collection, progress, size=SAMPLE)
    merge_base: MergeBaseBaseline | None = None
    if base is not None:
        from pytest_ireval.gate.merge_base import read_merge_base_baseline  # most runs are compared with no base

        merge_base = read_merge_base_baseline(suite, base, stored.baseline)
    search = describe_search(suite, current)
    judgment_prints = fingerprint_suite_judgments(collection)
    return Inputs(
        collection=collection,
        today=today,
        current=current,
        source=search.source,
        missing_queries=missing,
        stored=stored,
        anchor=read_anchor(suite),
        others=others,
        merge_base=merge_base,
        fingerprints=compute_fingerprints(collection, search.source, judgment_prints),
        judgment_prints=judgment_prints,
        search=search,
        second_answer=second,
        notes=notes,
        versus=versus,
    )


def describe_search(suite: Suite, answer: FetchedRankings) -> Search:
    """Describe the source of a suite, which gave this answer."""
    assert suite.source is not None  # noqa: S101 - it was asked
    folder = suite.path.parent
    return Search(
        describe_source(suite.source, folder),
        make_options_tree(suite.source, folder),
        fingerprint_source_files(suite.source, folder),
        answer.index,
    )


def read_stored_reference(suite: Suite, name: str) -> StoredReference:
    """Read the baseline of that name beside the suite; a file that cannot be read is a problem of its rules alone."""
    try:
        baseline = read_baseline(suite.baselines, name)
    except BaselineError as error:
        return StoredReference(problem=error)
    if baseline is not None:
        return StoredReference(baseline)
    return StoredReference(deleted=find_committed_baseline(suite.baselines, name))


def read_anchor(suite: Suite) -> StoredReference | None:
    """Read the anchor; None where no rule compares with it."""
    compares = any(rule.traits.reference.anchored for rule in suite.rules)
    return read_stored_reference(suite, anchor_name(suite.name)) if compares else None


def list_other_sources(suite: Suite) -> list[tuple[SourceSpec, tuple[int, ...]]]:
    """The sources that rules compare with, and the indexes of these rules; equal ones are shared.

    Two sources may differ in nothing but an option that no report shows, such as a header.
    """
    rules_by_source: list[tuple[SourceSpec, list[int]]] = []
    for rule in suite.rules:
        source = rule.traits.reference.source
        if source is None:
            continue
        for known, rule_indexes in rules_by_source:
            if (known.kind, known.options) == (source.kind, source.options):
                rule_indexes.append(rule.index)
                break
        else:
            rules_by_source.append((source, [rule.index]))
    return [(source, tuple(rule_indexes)) for source, rule_indexes in rules_by_source]


def _fetch_other_references(collection: Collection, progress: Progress) -> Iterator[OtherReference]:
    """Fetch the sources that rules compare with."""
    for number, (source, rule_indexes) in enumerate(list_other_sources(collection.suite), 1):
        try:
            answer = fetch_rankings(source, collection, progress, reference=number)
        except IrevalError as error:
            yield OtherReference(source, rule_indexes, problem=error)
        else:
            yield OtherReference(source, rule_indexes, answer)


def _may_be_unstable(suite: Suite, source: SourceSpec, stored: StoredReference) -> bool:
    """Tell whether the noise of a single answer would become the baseline, or look like a change of the branch."""
    if not stored.versus and (stored.baseline is not None or stored.problem is not None):
        return False
    return source.options.asks_each_query and source.repeat == 1 and any(map(compares_with_baseline, suite.rules))


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
    """The fingerprint of aliases, of the rule that collapses documents, and of preferences; empty without them."""
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
