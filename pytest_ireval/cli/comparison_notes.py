"""What stands below a comparison: how to read its signs, what was compared and tested, and what might mislead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pytest_ireval.cli.comparison_marks import BETTER, WORSE, how_tested, letters, p_text
from pytest_ireval.cli.evaluation_text import (
    note_on_tried_orders,
    notes_on_queries,
    notes_on_relevance,
    open_to,
    policies_note,
)
from pytest_ireval.plurals import counted, plural
from pytest_ireval.results.comparison import Comparison


def notes(comparison: Comparison, *, best: str, every_pair: bool | None) -> Iterator[str]:
    """All of them; ``best`` is how best figures are marked, ``every_pair`` whether all pairs are shown (None: none)."""
    first = next(iter(comparison.rankings.values()))
    yield f"judgments: {first.judgments} ({counted(first.queries, 'query')}); rankings: " + "; ".join(
        f"{sign} {comparison.rankings[name].rankings}" for name, sign in letters(comparison).items()
    )
    yield policies_note(first)
    if comparison.queries < first.queries:
        yield f"compared over {comparison.queries} of {counted(first.queries, 'query')}: those that all rankings have"
    yield from _legend(comparison, best=best, every_pair=every_pair)
    yield from _notes_on_tests(comparison)
    yield from _notes_on_rankings(comparison)


def _legend(comparison: Comparison, *, best: str, every_pair: bool | None) -> Iterator[str]:
    """What the signs mean, those only that can occur."""
    if any(metric.best for metric in comparison.metrics):
        yield f"{best}: the best figure of its column"
    lower = [metric.name for metric in comparison.metrics if metric.direction == "lower"]
    if lower:
        yield f"lower is better: {', '.join(lower)}"
    if not any(metric.pairs for metric in comparison.metrics):
        return
    if comparison.baseline is not None:
        yield f"{BETTER} {WORSE}: significantly better, worse than {comparison.baseline}: {how_tested(comparison)}"
    else:
        yield f"letters behind a figure: significantly better than those rankings: {how_tested(comparison)}"
    if every_pair is None:
        return
    pairs = max(len(metric.pairs) for metric in comparison.metrics)
    some = comparison.baseline is None and pairs > 1 and not every_pair
    yield (f"pairs: the best two of each metric (--pairs shows all {pairs}); " if some else "pairs: ") + (
        "p is corrected, intervals (by t) are not; +/=/-: queries where the first of the pair is better, equal, worse"
    )


def _notes_on_tests(comparison: Comparison) -> Iterator[str]:
    """How many queries stand behind the tests, and which tests there are not."""
    by_units: dict[str, list[str]] = {}
    for metric in comparison.metrics:
        if metric.pairs:
            unit = metric.unit if metric.units == 1 else plural(metric.unit)
            by_units.setdefault(f"{metric.units} {unit}", []).append(metric.name)
    for units, names in by_units.items():
        which = f" ({', '.join(names)})" if len(names) < len(comparison.metrics) else ""
        yield f"paired: {units}{which}" + ("; one alone says nothing of chance" if units.startswith("1 ") else "")
    for metric in comparison.metrics:
        if metric.untested:
            yield f"not tested: {metric.name}: {metric.untested}"
    pairs = [pair for metric in comparison.metrics for pair in metric.pairs]
    if any(pair.p is not None for pair in pairs) and not any(pair.better for pair in pairs):
        yield "no difference is significant; that is no proof that there is none"
    yield from _notes_on_doubts(comparison)


def _notes_on_doubts(comparison: Comparison) -> Iterator[str]:
    """Rankings that do not differ, and differences that t cannot judge or judges alone."""
    signs = letters(comparison)
    for one, other in combinations(comparison.rankings, 2):
        if all(_same(comparison, metric.name, one, other) for metric in comparison.metrics):
            yield f"{signs[one]} {one} and {signs[other]} {other} have the same values everywhere"
    for metric in comparison.metrics:
        for pair in metric.pairs:
            which = f"{metric.name} {signs[pair.ranking]}-{signs[pair.other]}"
            if pair.test != comparison.test:
                yield f"{which}: all differences are equal, so t is undefined; p is that of the exact sign-flip test"
            if pair.sign_flip_p_adjusted is not None and pair.sign_flip_p_adjusted >= comparison.alpha:
                corrected = ", corrected like that of t" if metric.family > 1 else ""
                yield (
                    f"{which}: significant by t, but only {pair.wins + pair.losses} {plural(metric.unit)} differ, "
                    f"and by the exact sign-flip test p is {p_text(pair.sign_flip_p_adjusted)}{corrected}"
                )


def _same(comparison: Comparison, metric: str, one: str, other: str) -> bool:
    values = [comparison.rankings[name][metric].values for name in (one, other)]
    return values[0] == values[1]


def _notes_on_rankings(comparison: Comparison) -> Iterator[str]:
    """What is known of each ranking alone."""
    signs = letters(comparison)
    for name, evaluation in comparison.rankings.items():
        yield from (f"{signs[name]} {name}: {note}" for note in notes_on_queries(evaluation))
    yield from notes_on_relevance(next(iter(comparison.rankings.values())))
    for name, evaluation in comparison.rankings.items():
        left_open = [f"{m.name} {open_to(m.ties)}" for m in evaluation.metrics if m.ties]
        if left_open:
            yield f"{signs[name]} {name}: equal scores leave open: {', '.join(left_open)}"
        yield from (f"{signs[name]} {name}: {note}" for note in note_on_tried_orders(evaluation))
