"""Tables of rankings with both ranks and scores: the scores count, and a note says where the two disagree."""

import json

import pytest

from pytest_ireval import evaluate
from pytest_ireval.reading import read_rankings

NAMES = ("query", "document", "score", "rank")
AGREED = [("a", "d1", 2.0, 1), ("a", "d2", 1.0, 2)]
ROWS = [*AGREED, ("q", "d1", 3.0, 3), ("q", "d2", 2.0, 2), ("z", "d1", 2.0, 9), ("z", "d2", 1.0, 10)]
JUDGMENTS = {query: {"d1": 1} for query in "aqz"}


def write_parquet(rows, path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))), path)


def format_lines(rows, names=NAMES, separator=",", cell=str):
    return "".join(f"{separator.join(map(cell, row))}\n" for row in [names, *rows])


FORMATS = {
    "a.csv": format_lines,
    "quoted.csv": lambda rows: format_lines(rows, cell=lambda value: f'"{value}"'),
    "blanks.csv": lambda rows: format_lines(rows, cell=lambda value: f" {value} "),
    "rank_first.tsv": lambda rows: format_lines([row[::-1] for row in rows], NAMES[::-1], "\t"),
    "row_by_row.csv": lambda rows: format_lines([*rows, ('"x""y"', "d1", 1.0, "")]),
    "a.jsonl": lambda rows: "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows),
    "texts.jsonl": lambda rows: "".join(
        json.dumps(dict(zip(NAMES, (*row[:3], str(row[3])), strict=True))) + "\n" for row in rows
    ),
    "a.json": lambda rows: json.dumps([dict(zip(NAMES, row, strict=True)) for row in rows]),
}


@pytest.mark.parametrize("name", [*FORMATS, "a.parquet"])
@pytest.mark.parametrize("scattered", [False, True])
def test_ranks_that_contradict_the_scores_are_counted_in_every_table(tmp_path, name, scattered):
    path = tmp_path / name
    rows = sorted(ROWS, key=lambda row: row[1]) if scattered else ROWS
    if name == "a.parquet":
        write_parquet(rows, path)
    else:
        path.write_text(FORMATS[name](rows), encoding="utf-8")

    assert read_rankings(path).contradicted == ("q",)
    assert read_rankings(path).ranking("q") == ["d1", "d2"]
    assert evaluate(JUDGMENTS, path, ["RR"]).contradicted == 1


@pytest.mark.parametrize(
    "rows",
    [
        AGREED,
        [("a", "d1", 2.0, 2), ("a", "d2", 2.0, 1)],
        [(*row[:3], "") for row in ROWS],
        [(*row[:3], "  ") for row in ROWS],
        [(*row[:3], f"{row[3]}st") for row in ROWS],
    ],
    ids=["in order", "equal scores", "empty", "blank", "words"],
)
def test_ranks_that_agree_or_are_no_numbers_are_not_mentioned(tmp_path, rows):
    path = tmp_path / "rankings.csv"
    path.write_text(format_lines(rows), encoding="utf-8")

    assert read_rankings(path).contradicted == ()
    assert evaluate({query: {"d1": 1} for query, *_ in rows}, path, ["RR"]).contradicted == 0
