"""Rankings in large CSV, TSV and JSONL files, in chunks: the rows of unjudged documents are not kept.

Where anything is in doubt, the answer is None: the reader of whole files takes over, and names all mistakes.
"""

from __future__ import annotations

import csv

from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.scan import DelimitedRankings, JsonRankings, JudgedRows, scan_judged_rows
from pytest_ireval.data.tables import Table
from pytest_ireval.errors import InputError

IN_DOUBT = (InputError, ValueError, csv.Error, RecursionError)


def read_judged_in_table(file: InputFile, judgments: Judgments, how: Reading) -> list[JudgedRows] | None:
    """The judged documents of the rankings in CSV or TSV, or None."""
    try:
        return _scan(file, DelimitedRankings(file), judgments, how)
    except IN_DOUBT:
        return None


def read_judged_in_json_lines(file: InputFile, judgments: Judgments, how: Reading) -> list[JudgedRows] | None:
    """The judged documents of the rankings in JSONL, or None."""
    try:
        rankings = JsonRankings(file)
        rows = _scan(file, rankings, judgments, how)
        Table(dict.fromkeys(rankings.names, ()), file.name, str)  # refuses names that are alike
    except IN_DOUBT:
        return None
    return rows


def _scan(
    file: InputFile, rankings: DelimitedRankings | JsonRankings, judgments: Judgments, how: Reading
) -> list[JudgedRows]:
    index, position = judgments.index, judgments.position
    return scan_judged_rows(file.bytes, rankings.layout, index, position, how.progress, by_id=how.by_id)
