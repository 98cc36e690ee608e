"""``ireval sample``: a set of queries from a log that stands for its traffic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from pytest_ireval.cli.options import LateBar, format_options, registry_at
from pytest_ireval.cli.sheets import Row, Sheet, first_of, sheet_format, show
from pytest_ireval.errors import InputError, IrevalError, Problem
from pytest_ireval.intake.reading import read_judgments, read_queries
from pytest_ireval.judging.sampling import STRATA, Asked, Drawn, Sample, asked_in, id_of_query, normal_text, sampled
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.writers import write_tables
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.statistics.estimate import weighting
from pytest_ireval.text_table import counted

OURS = ("stratum", "weight", "searches")
"""Columns that this command writes; others of an earlier set are kept."""


def _numbers(most: int) -> Any:
    """Whole numbers with commas between them: one for each stratum, or one for all."""

    def read(context: click.Context, parameter: click.Parameter, value: str) -> list[int]:  # noqa: ARG001 - of click
        numbers: list[int] = []
        with suppress(ValueError):
            numbers = [int(part) for part in value.removesuffix("%").replace("%,", ",").split(",")]
        if len(numbers) == 1 and most > 100:
            numbers *= len(STRATA)
        shares_fit = most > 100 or sum(numbers) == 100
        if len(numbers) != len(STRATA) or not all(0 <= number <= most for number in numbers) or not shares_fit:
            sums = "" if most > 100 else " that come to 100"
            raise click.BadParameter(f"write one number for each of {', '.join(STRATA)}{sums}, such as 50,30,20")
        return numbers

    return read


@click.command(name="sample", context_settings={"show_default": True})
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(exists=True, dir_okay=False))
@click.option("--to", "target", default="queries.tsv", help="The file to write: .tsv, .csv or .jsonl.")
@click.option(
    "--size", "sizes", default="50", callback=_numbers(10**9), help="Queries from each stratum: 50, or 100,50,50."
)
@click.option(
    "--strata",
    default="40,30,30",
    callback=_numbers(100),
    help="Shares of searches in head, torso and tail, in percent.",
)
@click.option(
    "--least", default=5, type=click.IntRange(1), help="Leave out queries asked less often: they may name people."
)
@click.option("--holdout", default="0%", help="The share of queries for a second file, the holdout: 20%.")
@click.option("--by", default="search", type=click.Choice(["search", "session"]), help="Count a query once a session.")
@click.option("--keep-case", is_flag=True, help="Queries that differ in letter case alone are different.")
@click.option("--refresh", metavar="FILE", help="An earlier set; its queries are kept.")
@click.option(
    "--judged", metavar="FILE", help="Judgments; --refresh then keeps queries that are judged or drawn again."
)
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the random choice.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@sheet_format
@format_options("queries", "judgments")
def command(
    logs: tuple[str, ...],
    target: str,
    sizes: list[int],
    strata: list[int],
    least: int,
    holdout: str,
    by: str,
    keep_case: bool,
    refresh: str | None,
    judged: str | None,
    seed: int,
    force: bool,
    form: str,
    queries_format: str | None,
    judgments_format: str | None,
) -> None:
    """Draw a set of queries from LOG that stands for its searches.

    The most frequent queries are the head, the next ones the torso, the others the tail; from each some are drawn, the
    frequent ones with a higher chance. The column weight is the share of searches that a query stands for.
    """
    share = _share(holdout)
    if judged is not None and refresh is None:
        raise click.UsageError("--judged needs --refresh")
    files = [Path(target), _holdout_of(Path(target))] if share else [Path(target)]
    if there := [str(file) for file in files if file.exists() and not force]:
        raise IrevalError(Problem(f"would overwrite {', '.join(there)}", suggestion="--force overwrites"))
    registry = registry_at(None)
    with LateBar() as progress:
        asked = asked_in(logs, by_session=by == "session", keep_case=keep_case, progress=progress)
    if not asked.names:
        raise InputError(Problem("has no queries", place=", ".join(logs)))
    earlier: list[Queries] = []
    if refresh is not None:
        before = [Path(refresh), *(file for file in [_holdout_of(Path(refresh))] if share and file.exists())]
        earlier = [read_queries(file, format=queries_format, registry=registry) for file in before]
    kept = _kept(earlier, keep_case)
    drawn = sampled(asked, sizes, [each / 100 for each in strata], least=least, holdout=share, seed=seed, kept=kept)
    left: list[str] = []
    if judged is not None:
        known = set(read_judgments(judged, format=judgments_format, registry=registry).queries)
        ids = _ids(earlier, keep_case)
        left = [each.text for each in drawn.drawn if not each.weight and ids[each.name] not in known]
        drawn = drawn._replace(drawn=tuple(e for e in drawn.drawn if e.weight or ids[e.name] in known))
    if not any(each.weight for each in drawn.drawn):
        complaint = f"no query is asked {least} times or more, so there is nothing to draw"
        raise InputError(Problem(complaint, place=", ".join(logs), suggestion="lower --least"))
    sheet = _sheet(drawn, kept)
    notes = [*_notes(asked, drawn, logs, least), *_written(drawn, earlier, files, keep_case)]
    if left:
        notes.append(f"left out: {counted(len(left), 'query')} of {refresh} without judgments: {first_of(left)}")
    show([sheet], notes, form)


def _share(text: str) -> float:
    number = -1.0
    with suppress(ValueError):
        number = float(text.removesuffix("%")) / 100
    if not 0 <= number < 1 or not text.endswith("%"):
        raise click.BadParameter("write a share from 0% to less than 100%, such as 20%", param_hint="--holdout")
    return number


def _holdout_of(path: Path) -> Path:
    return path.with_suffix(f".holdout{path.suffix}")


def _ids(earlier: Sequence[Queries], keep_case: bool) -> dict[str, str]:
    """The ids of earlier queries by normal text."""
    return {
        normal_text(text, keep_case=keep_case): query
        for each in earlier
        for query, text in zip(each.ids, each.text, strict=True)
    }


def _kept(earlier: Sequence[Queries], keep_case: bool) -> dict[str, tuple[str, bool]]:
    """By normal text, the spelling of earlier queries and whether they are held out."""
    found: dict[str, tuple[str, bool]] = {}
    first: dict[str, str] = {}
    for number, each in enumerate(earlier):
        for row, (query, text) in enumerate(zip(each.ids, each.text, strict=True)):
            name = normal_text(text, keep_case=keep_case)
            if not name:
                raise InputError(Problem(f"query {query!r} has no text", place=each.place(row)))
            if name in found:
                complaint = f"query {query!r} has the same text as {first[name]}"
                raise InputError(Problem(complaint, place=each.place(row), suggestion="remove one of them"))
            found[name], first[name] = (text, bool(number)), f"{query!r} of {each.origin}"
    return found


def _sheet(sample: Sample, kept: Mapping[str, object]) -> Sheet:
    rows: list[Row] = []
    for name in (*STRATA, "all"):
        parts = [each for each in sample.strata if name in (each.name, "all")]
        drawn = [each for each in sample.drawn if each.weight and name in (each.stratum, "all")]
        searches = sum(each.searches for each in parts)
        rows.append(
            {
                "stratum": name,
                "queries": sum(each.queries for each in parts),
                "searches": searches,
                "share": sum(each.share for each in parts),
                "drawn": len(drawn),
                "held_out": sum(each.held_out for each in drawn),
                "known": sum(each.name in kept for each in drawn),
                "asked": sum(each.searches for each in drawn) / searches if searches else None,
                "worth": _worth(each.weight for each in drawn if not each.held_out),
            }
        )
    hidden = [
        name
        for name, there in (("held_out", any(e.held_out for e in sample.drawn)), ("known", bool(kept)))
        if not there
    ]
    headers = {"known": "in the earlier set", "asked": "share drawn", "worth": "worth in queries"}
    return Sheet("strata", rows, "", headers, hidden=hidden)


def _worth(weights: Iterable[float]) -> int:
    found = np.array(list(weights))
    return weighting(found, found.size).worth if found.size else 0


def _notes(asked: Asked, sample: Sample, logs: Sequence[str], least: int) -> Iterator[str]:
    blank = f"; {counted(asked.blank, 'line')} without a query" if asked.blank else ""
    yield f"log: {', '.join(logs)}: {asked.searches:,} searches for {counted(len(asked.names), 'query')}{blank}"
    yield (
        "share: of these searches; share drawn: of the searches of a stratum, those for the queries that were drawn; "
        "worth in queries: as many equally weighted ones say as much"
    )
    if sample.rare:
        share = sample.rare_searches / asked.searches
        yield (
            f"left out: {counted(sample.rare, 'query')} asked fewer than {least} times, {share:.1%} of all searches: "
            "the set does not stand for them"
        )
    only_kept = [each for each in sample.drawn if not each.weight]
    gone = [each.text for each in only_kept if not each.searches]
    if only_kept:
        yield f"kept with weight 0: {counted(len(only_kept), 'query')} of the earlier set, not drawn again"
    if gone:
        yield f"not in the log any more: {counted(len(gone), 'query')}: {first_of(gone)}"
    for name in STRATA:
        for held_out, where in ((False, "the set"), (True, "the holdout")):
            inside = [each.held_out for each in sample.drawn if each.weight and each.stratum == name]
            if any(each.held_out for each in sample.drawn) and inside and held_out not in inside:
                yield f"{where} has no query of the {name}: its weighted means say nothing about the {name}"


def _written(sample: Sample, earlier: Sequence[Queries], files: Sequence[Path], keep_case: bool) -> Iterator[str]:
    """Write the set and the holdout."""
    ids = _ids(earlier, keep_case)
    extra = list(dict.fromkeys(name for each in earlier for name in each.columns if name not in OURS))
    of_earlier = {query: (each, row) for each in earlier for row, query in enumerate(each.ids)}
    taken = set(of_earlier)
    for each in sample.drawn:
        if each.name not in ids:
            ids[each.name] = id_of_query(each.name)
            if ids[each.name] in taken:
                raise InputError(Problem(f"id {ids[each.name]!r} of query {each.text!r} is taken by another query"))
            taken.add(ids[each.name])
    tables: dict[FilePath, list[list[str]]] = {}
    told = []
    for held_out, path in enumerate(files):
        part = [each for each in sample.drawn if each.held_out == bool(held_out)]
        rows = [[*_cells(each, ids[each.name]), *_extra(of_earlier.get(ids[each.name]), extra)] for each in part]
        tables[path] = rows
        stands = sum(each.weight for each in part)
        last = " (the holdout: keep it for the last test)" if held_out else ""
        told.append(f"wrote {path}: {counted(len(part), 'query')}, weights come to {stands:.4f}{last}")
    write_tables(["id", "text", *OURS, *extra], tables)
    yield from told


def _cells(each: Drawn, query: str) -> list[str]:
    return [query, each.text, each.stratum, f"{each.weight:.6g}", str(each.searches)]


def _extra(known: tuple[Queries, int] | None, names: Sequence[str]) -> list[str]:
    if known is None:
        return [""] * len(names)
    queries, row = known
    return [queries.columns[name][row] if name in queries.columns else "" for name in names]
