"""The scanner: rankings and judgments from text, without a Python object for each line. A sealed room.

Half of the time of an evaluation would be spent on making strings, numbers and tuples of a million lines, most of
which are documents that nobody has judged. So nothing is made of a line until it is known to matter:

* **Pieces.** ``pieces.py`` reads a file into a buffer of 2 MiB, which stays in the cache, and cuts it at the last line
  end, on several threads if the file is large: NumPy lets other threads run. No query is split between two pieces, so
  each piece is finished by itself, and memory stays flat. A file with the lines of a query in several places is found
  out, and read again as a whole.
* **Columns.** ``columns.py`` finds all separators of a piece with one comparison of bytes. In a regular file the
  columns are then strided slices of their offsets. ``cells.py``, ``delimited.py`` and ``json_lines.py`` do the same
  for CSV, TSV and JSON lines whose rows are written alike. Whatever is written in another way is left to a slower
  reader, which reads row by row: fast ways answer only where they are sure.
* **Numbers.** ``numbers.py`` reads eight digits with three multiplications. Up to 2^53 the value is exact; longer
  numbers are marked, and read again by ``float()`` only where that can change an order or is kept.
* **Keys.** ``keys.py`` turns each id into 64 bits, eight bytes at a time. ``pairs.py`` looks them up in a table of the
  judged pairs of query and document, most of which end at one byte in the cache. Equal keys are compared byte by byte,
  so the result never depends on luck. If two different pairs have one key, another hash function is taken.
* **Rows.** ``rows.py`` sorts only queries that are not in order, and equal scores by id only where a judged document
  is among them. It keeps the judged documents, or the first ones of each query, and copies their ids (``ids.py``) out
  of the buffer, which is then written over.

The names below are the door. Other modules of ``data/`` use nothing else, and only ``data/`` uses the door:
import-linter holds both. Tests compare each part with a slow, obvious reader.
"""

from pytest_ireval.data.scan.chunks import BadLines
from pytest_ireval.data.scan.delimited import DelimitedRankings
from pytest_ireval.data.scan.ids import Ids, concatenate_ids
from pytest_ireval.data.scan.json_lines import JsonRankings
from pytest_ireval.data.scan.pairs import CollidingIdsError, PairIndex, number_pairs, order_by_ids
from pytest_ireval.data.scan.pieces import ScatteredQueryError, add_new_queries, scan_first_rows, scan_judged_rows
from pytest_ireval.data.scan.rows import (
    FirstRows,
    JudgedRows,
    RankedRows,
    gather_rows,
    keep_first_of_columns,
    keep_judged_rows,
)
from pytest_ireval.data.scan.trec import JUDGMENT_COLUMNS, MSMARCO_RANKINGS, TREC_RANKINGS, JudgmentColumns

__all__ = [
    "JUDGMENT_COLUMNS",
    "MSMARCO_RANKINGS",
    "TREC_RANKINGS",
    "BadLines",
    "CollidingIdsError",
    "DelimitedRankings",
    "FirstRows",
    "Ids",
    "JsonRankings",
    "JudgedRows",
    "JudgmentColumns",
    "PairIndex",
    "RankedRows",
    "ScatteredQueryError",
    "add_new_queries",
    "concatenate_ids",
    "gather_rows",
    "keep_first_of_columns",
    "keep_judged_rows",
    "number_pairs",
    "order_by_ids",
    "scan_first_rows",
    "scan_judged_rows",
]
