"""A run as ``to_judge.tsv``: the documents to judge first, a line each, with an empty last column for the grade."""

from __future__ import annotations

import re

from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.results.to_judge import ToJudge

HEADER = (
    "suite",
    "query",
    "document",
    "text",
    "metric",
    "effect",
    "rank_now",
    "rank_baseline",
    "grade",
)
BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""What ends a cell or a line, for one program or another."""


def to_judge_text(run: RunResult) -> str:
    """The same text for equal runs, suite by suite, the most influential first; empty if there is nothing to judge.

    A pair whose ids a table without quotes cannot hold is left out: a grade would never find back to it.
    """
    lines = ["\t".join(_cells(suite, each)) for suite in run.suites for each in suite.to_judge if _fits(each)]
    return "".join(f"{line}\n" for line in ("\t".join(HEADER), *lines)) if lines else ""


def _cells(suite: SuiteResult, each: ToJudge) -> tuple[str, ...]:
    ranks = ("" if rank is None else str(rank) for rank in (each.now, each.baseline))
    text = " ".join(BREAKS.sub(" ", each.text).split())
    return (
        BREAKS.sub(" ", suite.name),
        each.query,
        each.document,
        text,
        each.metric,
        f"{each.effect:+.6f}",
        *ranks,
        "",
    )


def _fits(each: ToJudge) -> bool:
    return not any(BREAKS.search(name) or name != name.strip() or _quoted(name) for name in (each.query, each.document))


def _quoted(name: str) -> bool:
    return len(name) > 1 and name[0] == name[-1] == '"'
