"""What so many queries can show, in words: the smallest change, and how many queries would show the tolerance."""

from __future__ import annotations

from pytest_ireval.plurals import counted, magnitude, roughly
from pytest_ireval.results.outcome import SliceFigures

MOST = 10**9
"""More queries than that are none that anybody has."""


def sight_words(each: SliceFigures, moved: str) -> str:
    """``12 queries can show a drop of 0.34 or more (80% power); 1,900 would show one of 0.027``; nothing if unknown.

    ``moved`` is what the change is called: a drop, a rise, a change.
    """
    if each.resolution is None:
        return ""
    within = "" if each.clusters is None else f" in {counted(each.clusters, 'cluster')}"
    queries = f"{counted(each.queries, 'query')}{within}"
    if each.hopeless:
        said = f"{queries} cannot show any {moved} that there could be"
    else:
        article = "an" if moved[0] in "aeiou" else "a"
        said = f"{queries} can show {article} {moved} of {magnitude(each.resolution)} or more (80% power)"
    if each.needed is None or not each.tolerance or not each.queries < each.needed < MOST:
        return said
    return f"{said}; {roughly(each.needed):,} would show one of {magnitude(each.tolerance)}"
