"""``to_judge.tsv``: the unjudged documents that matter most, as a table to grade."""

from __future__ import annotations

import re

from pytest_ireval.results.suite_result import RunResult, SuiteResult, ToJudge

HEADER = (
    "suite",
    "query",
    "document",
    "text",
    "title",
    "metric",
    "effect",
    "rank_now",
    "rank_baseline",
    "grades",
    "grade",
)
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Characters that end a cell or a line, for one program or another."""


def format_to_judge(run: RunResult) -> str:
    """The same text for equal runs, suite by suite, the most influential first; empty if there is nothing to judge.

    A pair whose ids a table without quotes cannot hold is left out, and so is one whose id a spreadsheet would take for
    a formula: a grade would never find back to it. Other texts are made to be none.
    """
    lines = [
        "\t".join(_format_cells(suite, each))
        for suite in run.suites
        for each in suite.to_judge
        if _is_representable(each)
    ]
    return "".join(f"{line}\n" for line in ("\t".join(HEADER), *lines)) if lines else ""


def _format_cells(suite: SuiteResult, each: ToJudge) -> tuple[str, ...]:
    ranks = ("" if rank is None else str(rank) for rank in (each.now, each.baseline))
    plain = (" ".join(BREAKS.sub(" ", words).split()) for words in (each.text, each.title))
    texts = (f"'{words}" if _is_formula(words) else words for words in plain)
    about = (BREAKS.sub(" ", suite.name), each.query, each.document, *texts, each.metric)
    return (*about, f"{each.effect:+.6f}", *ranks, BREAKS.sub(" ", suite.grades), "")


def _is_representable(each: ToJudge) -> bool:
    ids = (each.query, each.document)
    return not any(BREAKS.search(name) or name != name.strip() or _is_quoted(name) or _is_formula(name) for name in ids)


def _is_formula(text: str) -> bool:
    """Tell whether a spreadsheet would calculate it, and run what it names; a number with a sign is harmless."""
    return text.startswith(FORMULA) and not NUMBER.fullmatch(text)


def _is_quoted(name: str) -> bool:
    return len(name) > 1 and name[0] == name[-1] == '"'
