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
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""What ends a cell or a line, for one program or another."""


def to_judge_text(run: RunResult) -> str:
    """The same text for equal runs, suite by suite, the most influential first; empty if there is nothing to judge.

    A pair whose ids a table without quotes cannot hold is left out, and so is one whose id a spreadsheet would take for
    a formula: a grade would never find back to it. Other texts are made to be none.
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
        f"'{text}" if _is_formula(text) else text,
        each.metric,
        f"{each.effect:+.6f}",
        *ranks,
        "",
    )


def _fits(each: ToJudge) -> bool:
    ids = (each.query, each.document)
    return not any(BREAKS.search(name) or name != name.strip() or _quoted(name) or _is_formula(name) for name in ids)


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would calculate it, and run what it names; a number with a sign is none."""
    return text.startswith(FORMULA) and not NUMBER.fullmatch(text)


def _quoted(name: str) -> bool:
    return len(name) > 1 and name[0] == name[-1] == '"'
