"""How the error rates of gates are laid out: a table for each profile, as text and as Markdown between two marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gates_compared import OURS, Shares
from populations import Profile

BEGIN, END = "<!-- tables: benchmarks/calibration.py -->", "<!-- end of tables -->"


Found = Mapping[tuple[str, str, str, int], Shares]
Spreads = Mapping[tuple[str, int], float]


def text_tables(
    found: Found, spreads: Spreads, profiles: Sequence[Profile], scenarios: Sequence[str], sizes: Sequence[int]
) -> str:
    """Aligned columns, for the terminal."""
    parts = []
    for profile in profiles:
        rows = list(_rows(found, profile, scenarios, sizes))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        parts.append("\n".join((_heading(profile, spreads, sizes), *lines)))
    return "\n\n".join(parts) + "\n"


def markdown_tables(
    found: Found, spreads: Spreads, profiles: Sequence[Profile], scenarios: Sequence[str], sizes: Sequence[int]
) -> str:
    """A heading, a line and a table for each profile."""
    parts = []
    for profile in profiles:
        first, *rows = _rows(found, profile, scenarios, sizes)
        lines = [f"| {' | '.join(row)} |" for row in (first, ["---"] * len(first), *rows)]
        parts.append("\n".join((f"### {profile.name}", "", _heading(profile, spreads, sizes), "", *lines)))
    return "\n\n".join(parts) + "\n"


def _heading(profile: Profile, spreads: Spreads, sizes: Sequence[int]) -> str:
    shown = " / ".join(f"{spreads[profile.name, queries]:.1%}" for queries in sizes)
    return f"{profile.what}; mean {profile.mean}, spread of differences {profile.sd}. Resolution: {shown} of the mean."


def _rows(found: Found, profile: Profile, scenarios: Sequence[str], sizes: Sequence[int]) -> Iterator[list[str]]:
    """Whole percents, those of all sizes in a cell."""
    yield ["% fail", *scenarios, "green at -2%"]
    for rule in dict.fromkeys(rule for name, rule, *_ in found if name == profile.name):
        yield [
            rule,
            *(_percents(found[profile.name, rule, scenario, n].fails for n in sizes) for scenario in scenarios),
            _percents(found[profile.name, rule, "-2%", n].passes for n in sizes),
        ]
    passes = [_percents(found[profile.name, OURS, scenario, n].passes for n in sizes) for scenario in scenarios]
    yield [f"{OURS}: % pass", *passes, ""]


def _percents(shares: Iterator[float]) -> str:
    return " ".join(f"{100 * share:.0f}" for share in shares)


def put_between_marks(page: Path, tables: str) -> None:
    """The page's tables are these."""
    text = page.read_text(encoding="utf-8")
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    page.write_text(marked.sub(lambda _: f"{BEGIN}\n\n{tables}\n{END}", text), encoding="utf-8")
