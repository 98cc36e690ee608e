"""A comparison as text and as a page: leaderboard, pairs, extremes, and notes below them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from string import ascii_letters
from typing import Any

from pytest_ireval.cli.contingency import Contingency, make_contingency_rows
from pytest_ireval.cli.evaluate_command import describe_policies, describe_queries, describe_relevance, format_figure
from pytest_ireval.results.comparison import Change, Comparison, MetricComparison, Pair
from pytest_ireval.results.evaluation import UNITS, describe_ties
from pytest_ireval.text_table import escape_unprintable, format_stacked_tables, format_table, measure_width
from pytest_ireval.words import format_count, pluralize


@dataclass
class View:
    """Settings of a text: the order of rankings, the width, and the parts to show."""

    order: Sequence[str]
    width: int = 80
    per_query: bool = False
    every_pair: bool = False
    contingency: Mapping[str, Contingency] = field(default_factory=dict)
    """By ranking, its counts of documents, if they are to be shown."""


def format_comparison(comparison: Comparison, view: View) -> str:
    """Everything below each other, the leaderboard first."""
    parts = [
        _format_leaderboard(comparison, view),
        _format_contingency(comparison, view),
        _format_pairs(comparison, view),
        _format_extremes(comparison, view),
    ]
    if view.per_query:
        parts += [_format_values(comparison, metric, view) for metric in comparison.metrics]
    parts.append(
        "\n".join(map(escape_unprintable, collect_comparison_notes(comparison, best="*", every_pair=view.every_pair)))
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def format_title(metric: MetricComparison) -> str:
    """The metric's name, with its aggregate unless that is the mean."""
    return metric.name if metric.aggregate == "mean" else f"{metric.name} ({metric.aggregate})"


def format_ranking_name(comparison: Comparison, name: str) -> str:
    """A ranking's name, with a word for the baseline."""
    return f"{name} (baseline)" if name == comparison.baseline else name


def _format_leaderboard(comparison: Comparison, view: View) -> str:
    signs = assign_letters(comparison)
    columns = [_format_column(comparison, metric, view.order) for metric in comparison.metrics]
    names = [format_ranking_name(comparison, name) for name in view.order]
    cells = zip(*(column[1:] for column in columns), strict=True)
    rows = [[signs[n], name, *row] for n, name, row in zip(view.order, names, cells, strict=True)]
    return format_stacked_tables(["", "ranking", *(column[0] for column in columns)], rows, (), 2, view.width)


def _format_contingency(comparison: Comparison, view: View) -> str:
    header, *rows = make_contingency_rows(view.contingency, assign_letters(comparison))
    return format_table(header, rows, (3, 4)) if rows else ""


def _format_column(comparison: Comparison, metric: MetricComparison, order: Sequence[str]) -> list[str]:
    """Header and cells of one metric, all equally wide: the figures aligned to the right, their marks behind."""
    marked = mark_beaten(comparison, metric)
    figures = [
        ("*" if name in metric.best else "") + format_figure(metric.values[name], metric.aggregate) for name in order
    ]
    heads = [format_title(metric), *figures]
    tails = ["", *(marked[name] for name in order)]
    head, tail = max(map(measure_width, heads)), max(map(measure_width, tails))
    return [
        " " * (head - measure_width(one)) + one + (" " + other + " " * (tail - measure_width(other)) if tail else "")
        for one, other in zip(heads, tails, strict=True)
    ]


def _format_pairs(comparison: Comparison, view: View) -> str:
    header, *rows = make_pair_rows(comparison, every=view.every_pair)
    return format_stacked_tables(header, rows, range(2, len(header)), 2, view.width) if rows else ""


def make_pair_rows(comparison: Comparison, *, every: bool) -> Iterator[list[str]]:
    """The pairs to be shown, a metric's name only in its first row; the header first."""
    interval = f"{100 * (1 - comparison.alpha):g}% interval"
    yield ["metric", "pair", "diff", "change", interval, "sd", "t", "p", "+/=/-"]
    for metric in comparison.metrics:
        for number, pair in enumerate(_select_pairs(comparison, metric, every=every)):
            yield ["" if number else format_title(metric), _name_pair(comparison, pair), *_format_pair(pair)]


def _name_pair(comparison: Comparison, pair: Pair) -> str:
    """``b-a``: differences are b's values less a's."""
    signs = assign_letters(comparison)
    return f"{signs[pair.ranking]}-{signs[pair.other]}"


def _format_pair(pair: Pair) -> list[str]:
    return [
        f"{pair.difference:+.4f}",
        "-" if pair.relative is None else f"{100 * pair.relative:+.1f}%",
        "-" if pair.low is None or pair.high is None else f"{pair.low:+.4f} to {pair.high:+.4f}",
        format_figure(pair.sd),
        "-" if pair.t is None else f"{pair.t:.2f}",
        format_p(pair.p_adjusted),
        f"{pair.wins}/{pair.ties}/{pair.losses}",
    ]


def _format_extremes(comparison: Comparison, view: View) -> str:
    header, *rows = make_extreme_rows(comparison)
    return format_stacked_tables(header, rows, (2, 3, 4, 6, 7, 8), 2, view.width, together=4) if rows else ""


def make_extreme_rows(comparison: Comparison) -> Iterator[list[str]]:
    """Gains on the left, drops on the right, the greatest first; the header first."""
    yield ["metric", "pair", "gain", "from", "to", "query", "drop", "from", "to", "query"]
    for metric in comparison.metrics:
        for pair in _select_pairs(comparison, metric, every=False):
            head, name = format_title(metric), _name_pair(comparison, pair)
            for number in range(max(len(pair.gains), len(pair.drops))):
                sides = (_format_change(comparison, pair, side, number) for side in (pair.gains, pair.drops))
                yield [head, name, *(cell for side in sides for cell in side)]
                head = name = ""


def _format_change(comparison: Comparison, pair: Pair, changes: Sequence[Change], number: int) -> list[str]:
    """One change, with a note if a ranking lacks the query."""
    if number >= len(changes):
        return ["", "", "", ""]
    change = changes[number]
    signs = assign_letters(comparison)
    lacking = [signs[n] for n in (pair.ranking, pair.other) if change.query in comparison.rankings[n].missing]
    query = change.query + (f" (not in {', '.join(lacking)})" if lacking else "")
    return [f"{change.difference:+.4f}", format_figure(change.other), format_figure(change.value), query]


def _format_values(comparison: Comparison, metric: MetricComparison, view: View) -> str:
    header, *rows = make_value_rows(comparison, metric, view.order)
    return format_stacked_tables(header, rows, range(1, len(header)), 1, view.width)


def make_value_rows(comparison: Comparison, metric: MetricComparison, order: Sequence[str]) -> Iterator[list[str]]:
    """Every query (or session) of one metric, a column a ranking; the header first."""
    signs = assign_letters(comparison)
    values = [comparison.rankings[name][metric.name].values for name in order]
    yield [f"{metric.name} by {metric.unit}", *(signs[name] for name in order)]
    for unit in dict.fromkeys(unit for of_ranking in values for unit in of_ranking):
        yield [unit, *(format_figure(of_ranking.get(unit)) for of_ranking in values)]


BETTER, WORSE = "▲", "▼"


def assign_letters(comparison: Comparison) -> dict[str, str]:
    """A short sign for each ranking: a letter, or a number when there are more rankings than letters."""
    count = len(comparison.rankings)
    signs: Sequence[str] = ascii_letters if count <= len(ascii_letters) else [str(i + 1) for i in range(count)]
    return dict(zip(comparison.rankings, signs, strict=False))


def mark_beaten(comparison: Comparison, metric: MetricComparison) -> dict[str, str]:
    """For each ranking its mark: better or worse than the baseline, or the letters of those it is better than."""
    if comparison.baseline is None:
        return {name: _list_beaten(comparison, metric, name) for name in comparison.rankings}
    better = {pair.ranking: BETTER if pair.better == pair.ranking else WORSE for pair in metric.pairs if pair.better}
    return {name: better.get(name, "") for name in comparison.rankings}


def _list_beaten(comparison: Comparison, metric: MetricComparison, name: str) -> str:
    beaten = {({pair.ranking, pair.other} - {name}).pop() for pair in metric.pairs if pair.better == name}
    places = [i for i, other in enumerate(comparison.rankings) if other in beaten]
    return join_letters(places, list(assign_letters(comparison).values()))


def join_letters(places: Sequence[int], signs: Sequence[str]) -> str:
    """The signs at some places, three or more neighbours put together: ``ace-h``, or ``1,3-7`` if signs are numbers."""
    stretches: list[list[int]] = []
    for place in places:
        if stretches and place == stretches[-1][-1] + 1:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    texts: list[str] = []
    for stretch in stretches:
        names = [signs[place] for place in stretch]
        texts += [f"{names[0]}-{names[-1]}"] if len(names) >= 3 else names
    return ("" if all(len(sign) == 1 for sign in signs) else ",").join(texts)


def _select_pairs(comparison: Comparison, metric: MetricComparison, *, every: bool) -> list[Pair]:
    """The pairs to print: all, those with the baseline, or only that of the best two."""
    if every or comparison.baseline is not None:
        return list(metric.pairs)
    return [pair for pair in metric.pairs if {pair.ranking, pair.other} == set(metric.leaders)]


def describe_tests(comparison: Comparison) -> str:
    """The test, its correction over a family, and its level."""
    test = {"t": "paired t test", "sign-flip": "sign-flip test"}[comparison.test]
    count = len(comparison.rankings)
    pairs = count - 1 if comparison.baseline is not None else count * (count - 1) // 2
    over = f"the {pairs} pairs with {comparison.baseline}" if comparison.baseline is not None else f"all {pairs} pairs"
    family = f"Holm's correction over {over} of each metric" if pairs > 1 else "one pair per metric, so no correction"
    first = "each ranking" if comparison.baseline is not None else "the first of a pair"
    side = {
        "two-sided": "two-sided",
        "greater": f"one-sided ({first} has greater values; intervals stay two-sided)",
        "less": f"one-sided ({first} has lower values; intervals stay two-sided)",
    }[comparison.alternative]
    return f"{test}, {side}, p < {comparison.alpha:g}; {family}; metrics are not corrected for each other"


def format_p(p: float | None) -> str:
    """Four decimals, two digits where those would be 0, and no more than a bound below a millionth."""
    if p is None:
        return "-"
    if p < 1e-6:
        return "< 1e-6"
    return f"{p:.4f}" if p >= 5e-5 else f"{p:.1e}"


def collect_comparison_notes(comparison: Comparison, *, best: str, every_pair: bool) -> Iterator[str]:
    """All notes; ``best`` marks the best figures, ``every_pair`` is true if all pairs are shown."""
    first = next(iter(comparison.rankings.values()))
    yield f"judgments: {first.judgments} ({format_count(first.queries, 'query')}); rankings: " + "; ".join(
        f"{sign} {comparison.rankings[name].rankings}" for name, sign in assign_letters(comparison).items()
    )
    yield describe_policies(first)
    if comparison.queries < first.queries:
        queries = format_count(first.queries, "query")
        yield f"compared over {comparison.queries} of {queries}: those that all rankings have"
    yield from _describe_marks(comparison, best=best, every_pair=every_pair)
    yield from _describe_untested(comparison)
    yield from _describe_rankings(comparison)


def _describe_marks(comparison: Comparison, *, best: str, every_pair: bool) -> Iterator[str]:
    if any(metric.best for metric in comparison.metrics):
        yield f"{best}: the best figure of its column"
    lower = [metric.name for metric in comparison.metrics if metric.direction == "lower"]
    if lower:
        yield f"lower is better: {', '.join(lower)}"
    if not any(metric.pairs for metric in comparison.metrics):
        return
    if comparison.baseline is not None:
        yield f"{BETTER} {WORSE}: significantly better, worse than {comparison.baseline}: {describe_tests(comparison)}"
    else:
        yield f"letters after a figure: significantly better than those rankings: {describe_tests(comparison)}"
    pairs = max(len(metric.pairs) for metric in comparison.metrics)
    some = comparison.baseline is None and pairs > 1 and not every_pair
    yield (f"pairs: the best two of each metric (--pairs shows all {pairs}); " if some else "pairs: ") + (
        "p is corrected, intervals (by t) are not; +/=/-: queries where the first of the pair is better, equal, worse"
    )


def _describe_untested(comparison: Comparison) -> Iterator[str]:
    by_units: dict[str, list[str]] = {}
    for metric in comparison.metrics:
        if metric.pairs:
            unit = metric.unit if metric.units == 1 else pluralize(metric.unit)
            by_units.setdefault(f"{metric.units} {unit}", []).append(metric.name)
    for units, names in by_units.items():
        which = f" ({', '.join(names)})" if len(names) < len(comparison.metrics) else ""
        yield f"paired: {units}{which}" + ("; one alone cannot show significance" if units.startswith("1 ") else "")
    for metric in comparison.metrics:
        if metric.untested:
            yield f"not tested: {metric.name}: {metric.untested}"
    pairs = [pair for metric in comparison.metrics for pair in metric.pairs]
    if any(pair.p is not None for pair in pairs) and not any(pair.better for pair in pairs):
        yield "no difference is statistically significant; a difference may still exist"
    yield from _describe_doubts(comparison)


def _describe_doubts(comparison: Comparison) -> Iterator[str]:
    """Rankings that do not differ, and differences that t cannot judge or judges alone."""
    signs = assign_letters(comparison)
    for one, other in combinations(comparison.rankings, 2):
        mine, others = comparison.rankings[one], comparison.rankings[other]
        if all(mine[metric.name].values == others[metric.name].values for metric in comparison.metrics):
            yield f"{signs[one]} {one} and {signs[other]} {other} have the same values everywhere"
    for metric in comparison.metrics:
        for pair in metric.pairs:
            which = f"{metric.name} {signs[pair.ranking]}-{signs[pair.other]}"
            if pair.test != comparison.test:
                yield f"{which}: all differences are equal, so t is undefined; p is that of the exact sign-flip test"
            if pair.sign_flip_p_adjusted is not None and pair.sign_flip_p_adjusted >= comparison.alpha:
                corrected = ", corrected like that of t" if metric.family > 1 else ""
                yield (
                    f"{which}: significant by t, but only {pair.wins + pair.losses} {pluralize(metric.unit)} differ, "
                    f"and by the exact sign-flip test p is {format_p(pair.sign_flip_p_adjusted)}{corrected}"
                )


def _describe_rankings(comparison: Comparison) -> Iterator[str]:
    signs = assign_letters(comparison)
    for name, evaluation in comparison.rankings.items():
        yield from (f"{signs[name]} {name}: {note}" for note in describe_queries(evaluation))
    yield from describe_relevance(next(iter(comparison.rankings.values())))
    for name, evaluation in comparison.rankings.items():
        if note := describe_ties(evaluation.tied, evaluation.policies):
            yield f"{signs[name]} {name}: {note}"


LETTERS = 52
"""More rankings have numbers. The page then counts those that a ranking is better than, and has no table of pairs."""


def render_page(comparison: Comparison, view: View) -> str:
    """One file that needs nothing else; values of queries are in it with ``view.per_query``."""
    from pytest_ireval.report.page import Asset
    from pytest_ireval.report.templates import get_environment, read_asset

    style, script = (Asset(read_asset(name)) for name in ("comparison.css", "comparison.js"))
    only = "base-uri 'none'; form-action 'none'"
    tables, signs = {}, assign_letters(comparison)
    notes = [*collect_comparison_notes(comparison, best="bold", every_pair=view.every_pair)]
    if len(comparison.rankings) <= LETTERS:
        pairs, queries = [*make_pair_rows(comparison, every=view.every_pair)], [*make_extreme_rows(comparison)]
        documents = [*make_contingency_rows(view.contingency, signs)]
        tables = {"Documents": documents, "Differences": pairs, "Queries that changed most": queries}
    else:
        notes.append("the page shows pairs of up to 52 rankings only; --format csv has all pairs")
    return (
        get_environment()
        .get_template("comparison.html.jinja")
        .render(
            policy=f"default-src 'none'; style-src {style.fingerprint}; script-src {script.fingerprint}; {only}",
            style=style,
            script=script,
            judgments=next(iter(comparison.rankings.values())).judgments,
            metrics=[{"title": format_title(each), "direction": each.direction} for each in comparison.metrics],
            rows=[*_make_rows(comparison, view)],
            values=_embed_json(comparison) if view.per_query else "",
            tables={heading: table for heading, table in tables.items() if table[1:]},
            notes=notes,
        )
    )


def _make_rows(comparison: Comparison, view: View) -> Iterator[dict[str, Any]]:
    signs, number = assign_letters(comparison), {name: at for at, name in enumerate(comparison.rankings)}
    marked = [_mark_row(comparison, each) for each in range(len(comparison.metrics))]
    for name in view.order:
        cells = [
            {
                "value": "" if (value := metric.values[name]) is None else repr(value),
                "text": format_figure(value, metric.aggregate),
                "best": name in metric.best,
                "mark": marked[at][name],
            }
            for at, metric in enumerate(comparison.metrics)
        ]
        yield {
            "number": number[name],
            "sign": signs[name],
            "name": format_ranking_name(comparison, name),
            "cells": cells,
        }


def _mark_row(comparison: Comparison, at: int) -> dict[str, str]:
    metric = comparison.metrics[at]
    if comparison.baseline is not None or len(comparison.rankings) <= LETTERS:
        return mark_beaten(comparison, metric)
    beaten = dict.fromkeys(comparison.rankings, 0)
    for pair in metric.pairs:
        if pair.better:
            beaten[pair.better] += 1
    return {name: f"> {count}" if count else "" for name, count in beaten.items()}


def _embed_json(comparison: Comparison) -> str:
    """By unit, the names of queries, and for each metric a row a ranking; four decimals."""
    tables = []
    for unit in UNITS:
        names = [metric.name for metric in comparison.metrics if metric.unit == unit]
        results = {name: [each[name].values for each in comparison.rankings.values()] for name in names}
        units = list(dict.fromkeys(key for rows in results.values() for row in rows for key in row))
        metrics = {
            name: [[None if key not in row else round(row[key], 4) for key in units] for row in rows]
            for name, rows in results.items()
        }
        if units:
            tables.append({"unit": unit, "names": units, "metrics": metrics})
    text = json.dumps(tables, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
