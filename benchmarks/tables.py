"""How the benchmark's results look in the terminal: plain text tables, numbers to the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agreement import KNOWN_DIFFERENCES, Agreement
from interleave import Summary
from targets import Judgement

MARKS = {"agrees": " ", "explained": "*", "DISAGREES": "!"}


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their header; the first column to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])


def cost_table(data: str, summaries: Mapping[str, Summary], reference: str) -> str:
    """Wall, CPU, memory and spread of every contestant, its wall time over the reference's."""
    base = summaries[reference].wall_seconds
    rows = [
        [
            name,
            f"{summary.wall_seconds:.3f}",
            f"{summary.cpu_seconds:.3f}",
            f"{summary.peak_mebibytes:.0f}",
            f"{summary.spread:.0%}",
            f"{summary.wall_seconds / base:.2f}",
        ]
        for name, summary in summaries.items()
    ]
    return aligned([f"{data}, end to end", "wall s", "CPU s", "MiB", "spread", f"wall / {reference}"], rows)


def further_table(data: str, seconds: Mapping[str, float], reference: str) -> str:
    """The time per further ranking in one process, and as a multiple of the reference's."""
    rows = [[name, f"{value:.4f}", f"{value / seconds[reference]:.2f}"] for name, value in seconds.items()]
    return aligned([f"{data}, per further ranking", "wall s", f"wall / {reference}"], rows)


def agreement_table(data: str, reference: str, agreements: Mapping[str, Sequence[Agreement]]) -> str:
    """One row a tool, one column a metric: the largest difference, marked unless it agrees."""
    metrics = [found.metric for found in next(iter(agreements.values()))]
    rows = [[tool, *map(_difference, per_metric)] for tool, per_metric in agreements.items()]
    return aligned([f"{data}, largest difference from {reference}", *metrics], rows)


def _difference(found: Agreement) -> str:
    return f"{found.largest_difference:.1e}{MARKS[found.verdict]}"


def remarks(agreements: Mapping[str, Sequence[Agreement]]) -> list[str]:
    """For every tool that does not agree: on how many queries, and why where that is known."""
    return [
        f"{tool}: {_counts(per_metric)}{_reason(tool, per_metric)}"
        for tool, per_metric in agreements.items()
        if any(found.verdict != "agrees" for found in per_metric)
    ]


def _counts(per_metric: Sequence[Agreement]) -> str:
    counts = [
        f"{found.metric}{MARKS[found.verdict]} on {found.differing_queries + found.not_a_number}"
        for found in per_metric
        if found.verdict != "agrees"
    ]
    return f"differs in {', '.join(counts)} of {max(found.queries for found in per_metric)} queries"


def _reason(tool: str, per_metric: Sequence[Agreement]) -> str:
    explained = any(found.verdict == "explained" for found in per_metric)
    return f"; * it {KNOWN_DIFFERENCES[tool].reason}" if explained else ""


def target_table(judgements: Sequence[Judgement]) -> str:
    """One row a target: what was measured, what must hold, what is aimed at."""
    return aligned(["target", "measured", "by CPU", "must hold", "aim", "verdict"], list(map(_target_row, judgements)))


def _target_row(judgement: Judgement) -> list[str]:
    target = judgement.target
    verdict = {True: "held", False: "MISSED", None: "no limit"}[judgement.held]
    return [
        target.claim,
        f"{judgement.measured:.2f} {target.unit}",
        f"{judgement.cpu:.2f} x" if judgement.cpu is not None else "-",
        _limit(target.must_hold, target.at_least),
        _limit(target.aim, target.at_least) + (" (reached)" if judgement.aim_reached else ""),
        verdict,
    ]


def _limit(value: float | None, at_least: bool) -> str:
    if value is None:
        return "-"
    return f"{'>=' if at_least else '<='} {value:g}"
