"""Results in a notebook: HTML that it shows, and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from html import escape
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, NoReturn, get_args

import pytest_ireval
from pytest_ireval.cli.comparison_views import (
    View,
    assign_letters,
    collect_comparison_notes,
    format_comparison,
    format_ranking_name,
    format_title,
    make_pair_rows,
    mark_beaten,
)
from pytest_ireval.cli.evaluate_command import FORMATS as EVALUATION_TEXTS
from pytest_ireval.cli.evaluate_command import collect_notes, format_figure, tabulate_figures
from pytest_ireval.cli.why_text import FORMATS as WHY_TEXTS
from pytest_ireval.cli.why_text import Grid, make_blocks
from pytest_ireval.clock import format_moment, read_clock
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.report.formatting import name_verdict
from pytest_ireval.report.page import render_page
from pytest_ireval.report.terminal_summary import format_summary
from pytest_ireval.results.comparison import Comparison
from pytest_ireval.results.evaluation import Evaluation, Library
from pytest_ireval.results.explanation import Explanation
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.text_table import escape_unprintable

LARGEST = 8_000_000
"""Characters of a page; a notebook with a larger one is slow to open and to save."""

Columns = Mapping[str, Sequence[Any]]


@singledispatch
def render_html(result: object) -> str:
    """The HTML of a result: one element that needs no style sheet and no script of the notebook."""
    _refuse(result)


@singledispatch
def render_text(result: object) -> str:
    """The text that the command line would print."""
    _refuse(result)


@singledispatch
def collect_values(result: object) -> Columns:
    """The columns of the data frame of a result, each with one entry for each row."""
    _refuse(result)


def _refuse(result: object) -> NoReturn:
    raise TypeError(f"{type(result).__name__} is not a result")


def make_frame(result: object, library: Library | None = None) -> Any:
    """The data frame of a result."""
    known: tuple[Library, ...] = get_args(Library)
    if library is not None and library not in known:
        raise IrevalError(
            Problem(f"{library!r} is not a library of data frames", allowed=f"allowed: {', '.join(known)}")
        )
    there = [each for each in (known if library is None else (library,)) if find_spec(each)]
    if not there:
        lacking = f"needs {library or ' or '.join(known)}, which is not installed"
        raise IrevalError(Problem(f"to_frame() {lacking}", suggestion=f"pip install {library or known[0]}"))
    columns = collect_values(result)
    frames = import_module(there[0])
    return frames.DataFrame({name: list(values) for name, values in columns.items()})


@render_html.register
def _(result: Evaluation) -> str:
    return _wrap_element(_format_table(*tabulate_figures(result)), *_format_notes(collect_notes(result)))


@render_text.register
def _(result: Evaluation) -> str:
    return EVALUATION_TEXTS["table"](result, False).rstrip()


@collect_values.register
def _(result: Evaluation) -> Columns:
    several = [metric for metric in result.metrics if metric.unit != "run"]
    first = " or ".join(dict.fromkeys(metric.unit for metric in several)) or "query"
    names = list(dict.fromkeys(chain.from_iterable(metric.values for metric in several)))
    return {first: names, **{metric.name: [metric.values.get(name) for name in names] for metric in several}}


@render_html.register
def _(result: Comparison) -> str:
    signs = assign_letters(result)
    rows = [
        [
            signs[name],
            format_ranking_name(result, name),
            *(_format_figure(result, place, name) for place in range(len(result.metrics))),
        ]
        for name in result.rankings
    ]
    header, *pairs = make_pair_rows(result, every=False)
    parts = [
        _format_table(["", "ranking", *map(format_title, result.metrics)], rows, range(2, 2 + len(result.metrics)))
    ]
    parts += [_format_table(header, pairs, range(2, len(header)))] if pairs else []
    return _wrap_element(*parts, *_format_notes(collect_comparison_notes(result, best="bold", every_pair=False)))


@render_text.register
def _(result: Comparison) -> str:
    return format_comparison(result, View(list(result.rankings))).rstrip()


def _format_figure(result: Comparison, place: int, name: str) -> str | _Bold:
    metric = result.metrics[place]
    text = f"{format_figure(metric.values[name], metric.aggregate)} {mark_beaten(result, metric)[name]}".strip()
    return _Bold(text) if name in metric.best else text


@collect_values.register
def _(result: Comparison) -> Columns:
    """A row for each metric and query, with a column for each ranking."""
    rows: list[list[Any]] = []
    for metric in result.metrics:
        values = {name: found[metric.name].values for name, found in result.rankings.items()}
        queries = dict.fromkeys(chain.from_iterable(values.values()))
        rows += [[metric.name, query, *(each.get(query) for each in values.values())] for query in queries]
    header = ["metric", "query", *result.rankings]
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)) if rows else dict.fromkeys(header, ())


@render_html.register
def _(result: Explanation) -> str:
    parts = []
    for block in make_blocks(result, None):
        if isinstance(block, Grid):
            parts.append(_format_table(block.header, block.rows, block.right))
        else:
            parts.append("<p>" + "<br>".join(map(_escape, block)) + "</p>")
    return _wrap_element(*parts)


@render_text.register
def _(result: Explanation) -> str:
    return WHY_TEXTS["table"](result, None).rstrip()


@collect_values.register
def _(result: Explanation) -> Columns:
    """A row for each document that the metric looks at, of the first ranking."""
    steps = result.first.steps
    every = (*steps.columns, *([steps.shares] if steps.shares else []))
    return {
        **({"query": steps.positions} if steps.positions else {}),
        "rank": steps.ranks,
        "document": steps.documents,
        "grade": steps.grades,
        **{column.name: column.values for column in every},
    }


@render_html.register
def _(result: SuiteResult) -> str:
    """The verdicts as a table, which every notebook can show, and the page of the report below it."""
    rows = [[name_verdict(each), each.id, each.headline] for each in result.outcomes]
    page = render_page(_run(result))
    page = page.replace("<head>", '<head><base href="about:srcdoc">', 1)  # or links in it would open the notebook in it
    below = f'<iframe srcdoc="{escape(page)}" title="report of {_escape(result.name)}" {_FRAME}></iframe>'
    if len(page) > LARGEST:
        size = f"{len(page) / 1_000_000:.0f} MB"
        below = f"<p>Its page is too large for a notebook ({size}): pytest --ireval writes it to a file.</p>"
    head = f"<p><b>{_escape(result.name)}: {result.verdict}</b></p>"
    told = [f"<p>{_escape(result.error)}</p>"] if result.error else []
    return _wrap_element(head, *told, _format_table(["verdict", "check", "finding"], rows), below)


@render_text.register
def _(result: SuiteResult) -> str:
    return "\n".join(format_summary(_run(result)))


def _run(result: SuiteResult) -> RunResult:
    return RunResult(pytest_ireval.__version__, format_moment(read_clock()), result.verdict, (result,))


_FRAME = 'sandbox="allow-scripts" style="width: 100%; height: 40em; border: 1px solid #8888; resize: vertical"'


@collect_values.register
def _(result: SuiteResult) -> Columns:
    """A row for each query: its text and columns, and every metric now and in the baseline."""
    queries = result.queries
    columns: dict[str, Sequence[Any]] = {"query": queries.ids, "text": queries.texts, **queries.columns}
    if queries.weights is not None:
        columns["weight"] = queries.weights
    for metric, values in queries.now.items():
        columns[metric] = values
        if metric in queries.baseline:
            columns[f"{metric} (baseline)"] = queries.baseline[metric]
    return columns


class _Bold(str):
    __slots__ = ()


def _wrap_element(*parts: str) -> str:
    return f"<div>{''.join(parts)}</div>"


def _format_notes(notes: Iterable[str]) -> Iterator[str]:
    yield "".join(f"<br>{_escape(note)}" for note in notes).removeprefix("<br>").join(["<p><small>", "</small></p>"])


def _escape(text: str) -> str:
    return escape(escape_unprintable(text))


def _format_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table; columns in ``right`` are numbers."""
    sides = ["right" if place in set(right) else "left" for place in range(len(header))]

    def row(cells: Sequence[str], tag: str) -> str:
        texts = (f"<b>{_escape(cell)}</b>" if isinstance(cell, _Bold) else _escape(cell) for cell in cells)
        return "".join(
            f'<{tag} style="text-align: {side}">{text}</{tag}>' for text, side in zip(texts, sides, strict=True)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(header, 'th')}</tr></thead><tbody>{body}</tbody></table>"
