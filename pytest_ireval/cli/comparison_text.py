"""A comparison as text for people: leaderboard, pairs, extremes, and below them what all that rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_ireval.cli.comparison_marks import (
    letters,
    marks,
    p_text,
    relative_text,
    shown_pairs,
)
from pytest_ireval.cli.comparison_notes import notes
from pytest_ireval.cli.evaluation_text import figure
from pytest_ireval.results.comparison import Change, Comparison, MetricComparison, Pair
from pytest_ireval.text_table import blocks, printable, width


@dataclass(frozen=True)
class View:
    """How a comparison is to be shown: the order of its rankings, how wide, and how much of it."""

    order: Sequence[str]
    width: int = 80
    per_query: bool = False
    every_pair: bool = False


def as_table(comparison: Comparison, view: View) -> str:
    """Everything below each other, the leaderboard first."""
    parts = [_leaderboard(comparison, view), _pairs(comparison, view), _extremes(comparison, view)]
    if view.per_query:
        parts += [_values(comparison, metric, view) for metric in comparison.metrics]
    parts.append("\n".join(map(printable, notes(comparison, best="*", every_pair=view.every_pair))))
    return "\n\n".join(part for part in parts if part) + "\n"


def title(metric: MetricComparison) -> str:
    """The metric's name, and how it is summed up if not by the mean."""
    return metric.name if metric.aggregate == "mean" else f"{metric.name} ({metric.aggregate})"


def called(comparison: Comparison, name: str) -> str:
    """A ranking's name, with a word for the baseline."""
    return f"{name} (baseline)" if name == comparison.baseline else name


def _leaderboard(comparison: Comparison, view: View) -> str:
    signs = letters(comparison)
    columns = [_column(comparison, metric, view.order) for metric in comparison.metrics]
    names = [called(comparison, name) for name in view.order]
    cells = zip(*(column[1:] for column in columns), strict=True)
    rows = [[signs[n], name, *row] for n, name, row in zip(view.order, names, cells, strict=True)]
    return blocks(["", "ranking", *(column[0] for column in columns)], rows, (), 2, view.width)


def _column(comparison: Comparison, metric: MetricComparison, order: Sequence[str]) -> list[str]:
    """Header and cells of one metric, all equally wide: the figures aligned to the right, their marks behind."""
    marked = marks(comparison, metric)
    figures = [("*" if name in metric.best else "") + figure(metric.values[name], metric.aggregate) for name in order]
    heads = [title(metric), *figures]
    tails = ["", *(marked[name] for name in order)]
    head, tail = max(map(width, heads)), max(map(width, tails))
    return [
        " " * (head - width(one)) + one + (" " + other + " " * (tail - width(other)) if tail else "")
        for one, other in zip(heads, tails, strict=True)
    ]


def _pairs(comparison: Comparison, view: View) -> str:
    header, *rows = pair_rows(comparison, every=view.every_pair)
    return blocks(header, rows, range(2, len(header)), 2, view.width) if rows else ""


def pair_rows(comparison: Comparison, *, every: bool) -> Iterator[list[str]]:
    """The pairs to be shown, a metric's name where it is another than above; the header first."""
    interval = f"{100 * (1 - comparison.alpha):g}% interval"
    yield ["metric", "pair", "difference", "change", interval, "sd", "p", "+/=/-"]
    for metric in comparison.metrics:
        for number, pair in enumerate(shown_pairs(comparison, metric, every=every)):
            yield ["" if number else title(metric), pair_name(comparison, pair), *_pair_cells(pair)]


def pair_name(comparison: Comparison, pair: Pair) -> str:
    """``b-a``: differences are b's values less a's."""
    signs = letters(comparison)
    return f"{signs[pair.ranking]}-{signs[pair.other]}"


def _pair_cells(pair: Pair) -> list[str]:
    """The difference, its share, its interval, the spread, the corrected p, and on how many queries which is better."""
    interval = "-" if pair.low is None or pair.high is None else f"{pair.low:+.4f} to {pair.high:+.4f}"
    return [
        f"{pair.difference:+.4f}",
        relative_text(pair.relative),
        interval,
        figure(pair.sd),
        p_text(pair.p_adjusted),
        f"{pair.wins}/{pair.ties}/{pair.losses}",
    ]


def _extremes(comparison: Comparison, view: View) -> str:
    header, *rows = extreme_rows(comparison)
    return blocks(header, rows, (2, 3, 4, 6, 7, 8), 2, view.width, together=4) if rows else ""


def extreme_rows(comparison: Comparison) -> Iterator[list[str]]:
    """Gains on the left, drops on the right, the greatest first; the header first."""
    yield ["metric", "pair", "gain", "from", "to", "query", "drop", "from", "to", "query"]
    for metric in comparison.metrics:
        for pair in shown_pairs(comparison, metric, every=False):
            head, name = title(metric), pair_name(comparison, pair)
            for number in range(max(len(pair.gains), len(pair.drops))):
                sides = (_change(comparison, pair, side, number) for side in (pair.gains, pair.drops))
                yield [head, name, *(cell for side in sides for cell in side)]
                head = name = ""


def _change(comparison: Comparison, pair: Pair, changes: Sequence[Change], number: int) -> list[str]:
    """One change, and whether it comes from a ranking that lacks the query."""
    if number >= len(changes):
        return ["", "", "", ""]
    change = changes[number]
    signs = letters(comparison)
    lacking = [signs[n] for n in (pair.ranking, pair.other) if change.query in comparison.rankings[n].missing]
    query = change.query + (f" (not in {', '.join(lacking)})" if lacking else "")
    return [f"{change.difference:+.4f}", figure(change.other), figure(change.value), query]


def _values(comparison: Comparison, metric: MetricComparison, view: View) -> str:
    header, *rows = values_of(comparison, metric, view.order)
    return blocks(header, rows, range(1, len(header)), 1, view.width)


def values_of(comparison: Comparison, metric: MetricComparison, order: Sequence[str]) -> Iterator[list[str]]:
    """Every query (or session) of one metric, a column a ranking; the header first."""
    signs = letters(comparison)
    values = [comparison.rankings[name][metric.name].values for name in order]
    yield [f"{metric.name} by {metric.unit}", *(signs[name] for name in order)]
    for unit in dict.fromkeys(unit for found in values for unit in found):
        yield [unit, *(figure(found.get(unit)) for found in values)]
