"""Rankings that several machines read: each joins a part with the judgments, and one evaluates all parts."""

from __future__ import annotations

from pytest_ireval.evaluating.setting import check_policies
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Grades, Policies, Ties
from pytest_ireval.retrieval.doors import JudgmentsLike, RankingsLike, as_judgments, part_in
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.parts import JudgedPart
from pytest_ireval.retrieval.rankings import Rankings


def judged_part(
    rankings: FilePath | Rankings | RankingsLike,
    judgments: FilePath | Judgments | JudgmentsLike,
    *,
    ties: Ties = "trec",
    grades: Grades = "integer",
    judgments_format: Format = None,
    rankings_format: Format = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> JudgedPart:
    """The judged documents of some queries' rankings, for ``evaluate(judgments, [part, …])``.

    The rankings are a file or any Python form, as in ``evaluate``. The rows of a query may be anywhere in a part, but
    all of them are in one part. A part is small, and any process can make it: it holds arrays, and can be pickled.
    """
    check_policies(Policies(ties, "ignore", "zero", "irrelevant", grades=grades))
    readers = (registry or installed()).readers
    how = Reading(grades, by_id=ties != "input", progress=progress)
    judged_by = as_judgments(judgments, readers, judgments_format, how)
    return part_in(judged_by, rankings, readers, rankings_format, how)
