"""Folders as BEIR lays them out: ``queries.jsonl``, and judgments as ``qrels/<split>.tsv``."""

from __future__ import annotations

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.formats.delimited import table
from pytest_ireval.retrieval.formats.input_file import InputFile, input_file
from pytest_ireval.retrieval.formats.json_text import json_lines
from pytest_ireval.retrieval.tables import Table


def queries(file: InputFile) -> Table:
    """All queries of the folder, those of every split."""
    with input_file(file.path / "queries.jsonl") as inside:
        return json_lines(inside)


def judgments(file: InputFile) -> Table:
    """The judgments of the only split; where there are several, one must be named."""
    splits = sorted((file.path / "qrels").glob("*.tsv"))
    if len(splits) != 1:
        found = ", ".join(str(split) for split in splits)
        complaint = f"has {len(splits)} splits of judgments: {found}" if splits else "has no judgments in qrels/*.tsv"
        suggestion = f"name the file: {splits[0]}" if splits else ""
        raise InputError(Problem(complaint, place=file.name, suggestion=suggestion))
    with input_file(splits[0]) as inside:
        return table(inside)
