"""``ireval sample``: a set of queries from a log that stands for its traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from pytest_ireval import InputError, IrevalError, Queries, read_judgments, read_queries
from pytest_ireval.cli.options import ProgressBar, format_options, load_command_registry, refuse_same_file
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets, sheet_format
from pytest_ireval.plugin_api import Mistakes, Problem, format_count
from pytest_ireval.tables import FilePath, normalize_name, write_tables
from pytest_ireval_judgments.sampling import (
    STRATA,
    EarlierQuery,
    Sample,
    SearchLog,
    count_effective,
    draw_sample,
    normalize,
    read_log,
)

OURS = ("stratum", "weight", "searches")
"""Columns that this command writes; others of an earlier set are kept."""


def _read_numbers(form: str, fits: Callable[[list[int]], bool]) -> Callable[..., list[int]]:
    """A reader of whole numbers with commas between them, one for each stratum."""

    def read(_ctx: click.Context, parameter: click.Parameter, value: str) -> list[int]:
        numbers: list[int] = []
        with suppress(ValueError):
            numbers = [int(part.removesuffix("%")) for part in value.split(",")]
        if len(numbers) == 1:
            numbers *= len(STRATA)
        if len(numbers) != len(STRATA) or min(numbers) < 0 or not fits(numbers):
            raise click.BadParameter(f"write {form} for {', '.join(STRATA)}", param=parameter)
        return numbers

    return read


def _read_share(_ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    number = -1.0
    with suppress(ValueError):
        number = float(value.removesuffix("%")) / 100
    if not 0 <= number < 1 or not value.endswith("%"):
        raise click.BadParameter("write a share from 0% to less than 100%, such as 20%", param=parameter)
    return number


_sizes = _read_numbers("one number, or three numbers such as 100,50,50", any)
_shares = _read_numbers("three shares that come to 100, such as 50,30,20", lambda shares: sum(shares) == 100)


@click.command(name="sample", context_settings={"show_default": True})
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--to", "target", default="queries.tsv", help="The file to write: .tsv, .csv or .jsonl.")
@click.option("--size", "sizes", default="50", callback=_sizes, help="Queries from each stratum: 50, or 100,50,50.")
@click.option("--strata", default="40,30,30", callback=_shares, help="Percent of searches in head, torso and tail.")
@click.option("--least", default=5, type=click.IntRange(1), help="Leave out queries that are asked less often.")
@click.option(
    "--holdout", default="0%", callback=_read_share, help="The share of queries for a second file, the holdout: 20%."
)
@click.option("--by", default="search", type=click.Choice(["search", "session"]), help="Count a query once a session.")
@click.option("--keep-case", is_flag=True, help="Letter case makes two queries different.")
@click.option("--refresh", metavar="FILE", help="An earlier set; its queries are kept.")
@click.option(
    "--judged", metavar="FILE", help="Judgments: --refresh keeps only queries that are judged, or drawn again."
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
    holdout: float,
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

    The most frequent queries are the head, the next ones the torso, the others the tail. A frequent query has a higher
    chance to be drawn. The column weight is the share of searches that a query stands for.
    """
    if judged is not None and refresh is None:
        raise click.UsageError("--judged needs --refresh")
    files = [Path(target), _name_holdout(target)] if holdout else [Path(target)]
    refuse_same_file([*logs, judged], {"--to": target})
    if there := [str(file) for file in files if file.exists() and not force]:
        raise IrevalError(Problem(f"would overwrite {', '.join(there)}", suggestion="--force overwrites"))
    registry = load_command_registry(None)
    earlier: list[Queries] = []
    if refresh is not None:
        before = [Path(refresh), *(file for file in [_name_holdout(refresh)] if file.exists())]
        if len(before) > len(files):
            complaint = f"{before[1]} exists: without a holdout its queries would join the set"
            raise IrevalError(Problem(complaint, suggestion="add --holdout, or move the file away"))
        earlier = [read_queries(file, format=queries_format, registry=registry) for file in before]
    kept = _map_earlier(earlier, keep_case)
    known = {each.id for each in kept.values()}
    if judged is not None:
        known &= set(read_judgments(judged, format=judgments_format, grades="float", registry=registry).queries)
        if not known:
            raise InputError(Problem(f"no query of {refresh} is judged; do the ids match?", place=judged))
    with ProgressBar() as progress:
        log = read_log(logs, by_session=by == "session", keep_case=keep_case, progress=progress)
    found = draw_sample(log, sizes, strata, least=least, holdout=holdout, seed=seed, kept=kept)
    if not any(each.weight for each in found.drawn):
        raise _explain_nothing(log, logs, least)
    for held_out, path in enumerate(files):
        if not any(found.part(name, held_out=bool(held_out)) for name in STRATA):
            raise IrevalError(Problem(f"{path} would have no query", suggestion="raise --size, or change --holdout"))
    left = [each.kept.text for each in found.drawn if not each.weight and each.kept.id not in known]
    found = found._replace(drawn=tuple(each for each in found.drawn if each.weight or each.kept.id in known))
    notes = [*_describe_sample(log, found, logs, least, files), *_write_sample(found, earlier, files)]
    if left:
        notes.append(f"left out: {format_count(len(left), 'query')} of {refresh} without judgments: {list_first(left)}")
    print_sheets([_make_sheet(found, kept)], notes, form)


def _name_holdout(path: str) -> Path:
    return Path(path).with_suffix(f".holdout{Path(path).suffix}")


def _explain_nothing(log: SearchLog, logs: Sequence[str], least: int) -> InputError:
    """The reason why no query is drawn."""
    complaint, suggestion = "the strata with a size above 0 have no queries", "change --size"
    if not log.names:
        complaint, suggestion = "there are no queries in the log", ""
    elif log.counts[0] < least:
        complaint, suggestion = f"every query is asked fewer than {least} times", "lower --least"
    return InputError(Problem(complaint, ", ".join(logs), suggestion=suggestion))


def _map_earlier(earlier: Sequence[Queries], keep_case: bool) -> dict[str, EarlierQuery]:
    """The queries of an earlier set and of its holdout, by normal text."""
    found: dict[str, EarlierQuery] = {}
    mistakes = Mistakes()
    for number, each in enumerate(earlier):
        for row, (query, text) in enumerate(zip(each.ids, each.text, strict=True)):
            name = normalize(text, keep_case=keep_case)
            if not name or name in found:
                same = f"has the same text as {found[name].id!r}" if name in found else "has no text"
                suggestion = "remove one of them" if name in found else ""
                mistakes.add(Problem(f"query {query!r} {same}", place=each.place(row), suggestion=suggestion))
                continue
            columns = {column: cells[row] for column, cells in each.columns.items()}
            found[name] = EarlierQuery(query, text, bool(number), columns)
    mistakes.refuse()
    return found


def _make_sheet(sample: Sample, kept: Mapping[str, EarlierQuery]) -> Sheet:
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
                "held_out": sum(each.kept.held_out for each in drawn),
                "known": sum(each.name in kept for each in drawn),
                "asked": sum(each.searches for each in drawn) / searches if searches else None,
                "worth": count_effective([each.weight for each in drawn if not each.kept.held_out]),
            }
        )
    hidden = [name for name in ("held_out", "known") if not rows[-1][name]]
    headers = {"known": "in the earlier set", "asked": "share drawn", "worth": "worth in queries"}
    return Sheet("strata", rows, "", headers, hidden=hidden)


def _describe_sample(
    log: SearchLog, sample: Sample, logs: Sequence[str], least: int, files: Sequence[Path]
) -> Iterator[str]:
    blank = f"; searches without a text: {log.blank:,}" if log.blank else ""
    yield f"{', '.join(logs)}: searches: {log.searches:,}; different queries: {len(log.names):,}{blank}"
    if sample.rare:
        yield (
            f"left out: {format_count(sample.rare, 'query')} asked fewer than {least} times, "
            f"{sample.rare_searches / log.searches:.1%} of all searches; the set does not stand for them"
        )
    only_kept = [each for each in sample.drawn if not each.weight]
    missing = [each.kept.text for each in only_kept if not each.searches]
    if only_kept:
        yield f"kept with weight 0: {format_count(len(only_kept), 'query')} of the earlier set, not drawn again"
    if missing:
        yield f"not in the log any more: {format_count(len(missing), 'query')}: {list_first(missing)}"
    for stratum in sample.strata:
        for held_out, path in enumerate(files):
            if stratum.queries and not sample.part(stratum.name, held_out=bool(held_out)):
                yield f"{path} has no query of the {stratum.name}: its weighted means leave out the {stratum.name}"


def _write_sample(sample: Sample, earlier: Sequence[Queries], files: Sequence[Path]) -> Iterator[str]:
    """Write the set and the holdout."""
    ids = Counter(each.kept.id for each in sample.drawn)
    if len(ids) < len(sample.drawn):
        raise InputError(Problem(f"two queries would have the id {ids.most_common(1)[0][0]!r}"))
    names = dict.fromkeys(name for each in earlier for name in each.columns if normalize_name(name) not in OURS)
    tables: dict[FilePath, list[list[str | float]]] = {}
    for held_out, path in enumerate(files):
        part = [each for each in sample.drawn if each.kept.held_out == bool(held_out)]
        tables[path] = [
            [
                *(each.kept.id, each.kept.text, each.stratum, float(f"{each.weight:.6g}"), each.searches),
                *(each.kept.columns.get(name, "") for name in names),
            ]
            for each in part
        ]
        last = " (the holdout: keep it for the last test)" if held_out else ""
        weights = sum(each.weight for each in part)
        yield f"wrote {path}: {format_count(len(part), 'query')}, weights come to {weights:.4f}{last}"
    write_tables(["id", "text", *OURS, *names], tables)
