"""The types of options: text of a suite, and the value that is read from it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetPydanticSchema, WithJsonSchema

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.suites import editor_types, finding, quantities, reading
from pytest_ireval.suites.quantities import Amount, Bound, Tolerance, Tolerances
from pytest_ireval.suites.reading import Reference


def typed(read: Callable[..., Any], schema: editor_types.Schema) -> GetPydanticSchema:
    """A type of ours that ``read`` makes of a suite's value; ``schema`` is for editors.

    Pydantic must not look into the type, and so cannot apply constraints such as ``ge`` to it. Numbers, text and the
    like are read first and then left to pydantic.
    """
    return _read_as(Annotated[Any, BeforeValidator(read)], schema)


def _read_as(kind: Any, schema: editor_types.Schema) -> GetPydanticSchema:
    """A type that pydantic reads as another one."""
    return GetPydanticSchema(
        lambda _source, handler: handler.generate_schema(kind), lambda _schema, _handler: dict(schema)
    )


Text = Annotated[str, BeforeValidator(reading.text), WithJsonSchema(editor_types.TEXT)]
"""Any text."""
SecretText = Annotated[Text, BeforeValidator(reading.secret)]
"""Text that no output shows: a password, a token. At least 8 characters, or empty."""
Cell = Annotated[str, BeforeValidator(reading.cell), WithJsonSchema(editor_types.TEXT)]
"""A value of a column of queries."""
Texts = Annotated[tuple[Text, ...], BeforeValidator(reading.read_list), WithJsonSchema(editor_types.TEXTS)]
"""One text or a list of them."""
Flag = Annotated[bool, BeforeValidator(reading.flag), WithJsonSchema(editor_types.FLAG)]
"""``true`` or ``false``."""
Whole = Annotated[int, BeforeValidator(reading.read_whole), WithJsonSchema(editor_types.WHOLE)]
"""A whole number from 1."""
Count = Annotated[int, BeforeValidator(lambda value: reading.read_whole(value, 0)), WithJsonSchema(editor_types.COUNT)]
"""A whole number from 0."""
Number = Annotated[float, BeforeValidator(reading.read_number), WithJsonSchema(editor_types.NUMBER)]
"""A finite number."""
Cells = Annotated[tuple[Cell, ...], BeforeValidator(reading.read_list), WithJsonSchema(editor_types.TEXTS)]
"""One of them or a list of them."""
Filter = Annotated[dict[Text, Cells], BeforeValidator(reading.a_filter), WithJsonSchema(editor_types.FILTER)]
"""Columns, each with the values that count."""
PathText = Annotated[Path, BeforeValidator(reading.path), WithJsonSchema(editor_types.PATH)]
"""An absolute path; a suite writes it relative to its file."""
PathTexts = Annotated[tuple[PathText, ...], BeforeValidator(reading.read_some), WithJsonSchema(editor_types.PATHS)]
"""One path or a list of them."""
Watches = Annotated[
    tuple[Annotated[Any, BeforeValidator(finding.watch)], ...],
    BeforeValidator(reading.read_some),
    WithJsonSchema(editor_types.GLOBS),
]
"""Globs of files that a suite depends on; ``!`` before one takes files out again."""
MetricText = Annotated[Metric, typed(reading.one_metric, editor_types.METRIC)]
"""One metric; the validation's context has the registry that knows it."""
MetricTexts = Annotated[
    tuple[Metric, ...],
    _read_as(
        Annotated[
            tuple[Annotated[Any, BeforeValidator(reading.metrics_of)], ...],
            BeforeValidator(reading.read_some),
            AfterValidator(reading.flat),
        ],
        editor_types.METRICS,
    ),
]
"""Metrics, each once; ``P@[5, 10]`` is two."""
BoundText = Annotated[Bound, typed(quantities.read_bound, editor_types.BOUND)]
"""``>= 0.85``."""
FigureText = Annotated[float, typed(quantities.read_figure, editor_types.FIGURE)]
"""A value of a metric: ``0.85``; of one in milliseconds also ``150ms`` or ``0.15s``."""
ToleranceText = Annotated[Tolerance, typed(quantities.tolerance, editor_types.TOLERANCE)]
"""``1%`` of the baseline, or ``{absolute: 0.01}``."""
TolerancesText = Annotated[
    Tolerances,
    _read_as(
        Annotated[dict[Cell, ToleranceText], BeforeValidator(reading.by_value), AfterValidator(reading.tolerances)],
        editor_types.TOLERANCES,
    ),
]
"""A tolerance, or one for each value of ``per``: ``{head: 1%, default: 3%}``."""
AmountText = Annotated[Amount, typed(quantities.amount, editor_types.AMOUNT)]
"""``2``, or ``5%`` of all."""
ShareText = Annotated[float, typed(quantities.share, editor_types.SHARE)]
"""``60%``, above 0."""
SizesText = Annotated[
    dict[str, int], _read_as(Annotated[dict[Cell, Whole], BeforeValidator(reading.sizes)], editor_types.SIZES)
]
"""A number under the name "", or one for each value: ``1000``, ``{head: 1000, tail: 50000}``."""
DurationText = Annotated[float, BeforeValidator(reading.duration), WithJsonSchema(editor_types.DURATION)]
"""Seconds: ``30s``, ``500ms``, ``2m``."""
DayText = Annotated[date, BeforeValidator(reading.day), WithJsonSchema(editor_types.DAY)]
"""``2027-04-01``."""
Against = Annotated[Reference, typed(reading.against, editor_types.AGAINST)]
"""A reference to compare with."""
