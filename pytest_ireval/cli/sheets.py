"""Tables of figures as text, JSON or CSV: the output of commands about judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from pytest_ireval.text_table import escape_unprintable, format_table

__all__ = ["Row", "Sheet", "list_first", "print_sheets", "sheet_format"]

Value = str | int | float | None
Row = Mapping[str, Value]


MAX_LISTED = 3


class Sheet(NamedTuple):
    """One table; each row has the same columns."""

    name: str
    rows: Sequence[Row]
    about: str = ""
    """The line above it, in text."""
    headers: Mapping[str, str] = {}
    """Names of columns in text; the others are as in JSON, with blanks."""
    shown: Sequence[Row] | None = None
    """The rows in text, if others; none: the table is for programs only."""
    hidden: Sequence[str] = ()
    """Columns that text leaves out."""


sheet_format = click.option(
    "--format", "form", default="table", type=click.Choice(["table", "json", "csv"]), help="The output format."
)


def print_sheets(sheets: Sequence[Sheet], notes: Sequence[str], form: str) -> None:
    """Print the tables that have rows; notes are below them, and in JSON."""
    filled = [each for each in sheets if each.rows]
    if form == "json":
        import json

        content = {"format": 1, **{each.name: each.rows for each in filled}, "notes": list(notes)}
        click.echo(json.dumps(content))
    elif form == "csv":
        click.echo(_format_csv(filled), nl=False)
    else:
        texts = [_format_text(each) for each in filled if each.shown is None or each.shown]
        click.echo("\n\n".join([*texts, *(["\n".join(map(escape_unprintable, notes))] if notes else [])]))


def list_first(names: Sequence[str]) -> str:
    """The first three, and the number of the others."""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{', '.join(names[:MAX_LISTED])}{more}"


def _format_csv(sheets: Sequence[Sheet]) -> str:
    """All tables below each other; the first column says which; cells that do not apply are empty."""
    import csv
    import io

    text = io.StringIO()
    columns = dict.fromkeys(column for each in sheets for column in each.rows[0])
    writer = csv.DictWriter(text, ["table", *columns], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({"table": each.name, **row} for each in sheets for row in each.rows)
    return text.getvalue()


def _format_text(sheet: Sheet) -> str:
    rows = sheet.rows if sheet.shown is None else sheet.shown
    columns = [column for column in rows[0] if column not in sheet.hidden]
    header = [sheet.headers.get(column, column.replace("_", " ")) for column in columns]
    numbers = [i for i, column in enumerate(columns) if not any(isinstance(row[column], str) for row in rows)]
    lines = [sheet.about] if sheet.about else []
    lines.append(format_table(header, [[_format_cell(row[column]) for column in columns] for row in rows], numbers))
    return "\n".join(lines)


def _format_cell(value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, float) and round(value, 4) == 0:
        value = 0.0  # without a minus
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
