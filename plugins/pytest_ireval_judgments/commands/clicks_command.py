"""``ireval clicks``: judgments and preferences between documents, from click logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
import numpy as np

from pytest_ireval import InputError, IrevalError, Queries, read_queries, write_judgments, write_queries
from pytest_ireval.cli.options import (
    ProgressBar,
    format_options,
    load_command_registry,
    refuse_same_file,
    suites_option,
    svg_option,
)
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets, sheet_format
from pytest_ireval.plugin_api import Curve, CurvePanel, Problem, did_you_mean, draw_curves, format_count
from pytest_ireval.tables import write_files, write_table
from pytest_ireval_judgments.arrays import Floats
from pytest_ireval_judgments.click_logs import ClickLog, read_clicks
from pytest_ireval_judgments.click_models import MODELS, hold_out, make_judgments, measure_fit, predict_clicks
from pytest_ireval_judgments.click_policies import ClickPolicy
from pytest_ireval_judgments.clicks import (
    Searches,
    collect_preferences,
    expect_clicks_of_ranks,
    select_queries,
    sum_by_pair,
)
from pytest_ireval_judgments.sampling import normalize

SHOWN_RANKS = 10
TABLES, TREC = (".tsv", ".csv", ".jsonl"), (".txt", ".trec", ".qrels")


def _read_thresholds(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, ...]:
    """Ascending numbers above 0, separated by commas."""
    try:
        found = tuple(map(float, text.split(","))) if text is not None else ()
    except ValueError:
        found = (0.0,)
    if not all(low < high for low, high in zip((0.0, *found), (*found, float("inf")), strict=True) if found):
        raise click.BadParameter(f"{text!r} is not a list of ascending numbers above 0, as 0.02,0.1", param=parameter)
    return found


class _Options(NamedTuple):
    """The files and figures that are made of the searches."""

    model: str | None
    policy: ClickPolicy | None
    target: str | None
    queries_to: str | None
    min_impressions: int
    min_support: int
    min_deviation: float | None
    deviations: int
    prior: float
    thresholds: tuple[float, ...]
    holdout: float
    seed: int


@click.command(name="clicks", context_settings={"show_default": True})
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--model", type=click.Choice(list(MODELS)), help="Make judgments by this click model.")
@click.option("--policy", metavar="NAME", help="Make preferences by this policy, such as skip-above.")
@click.option("--to", "target", metavar="FILE", help="The file to write: .tsv, .csv or .jsonl; judgments also .txt.")
@click.option(
    "--queries", metavar="FILE", help="Use only searches of these queries, by text or id, and write their ids."
)
@click.option("--queries-to", metavar="FILE", help="Write the queries, with their number of searches.")
@click.option(
    "--min-impressions",
    default=10,
    type=click.IntRange(1),
    help="Leave out documents shown less often; for judgments, shown and examined, as the model estimates.",
)
@click.option("--min-support", default=2, type=click.IntRange(1), help="Leave out preferences of fewer searches.")
@click.option(
    "--min-deviation",
    type=click.FloatRange(-1, 1),
    help="With --policy: ignore clicks on documents whose click rate exceeds that of their ranks by less.",
)
@click.option(
    "--deviations",
    default=0,
    metavar="N",
    type=click.IntRange(0),
    help="Print the N documents whose clicks deviate most from those expected: by their ranks, or by the model.",
)
@click.option(
    "--prior",
    default=3.0,
    type=click.FloatRange(0, 1e9),
    help="With --model: add this number of impressions without a click to each document.",
)
@click.option(
    "--thresholds",
    metavar="NUMBERS",
    callback=_read_thresholds,
    help="The lowest estimates of grades 1, 2, …, with commas.",
)
@click.option(
    "--holdout",
    default=0.1,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The share of searches by which models are compared.",
)
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the choice of these searches.")
@click.option(
    "--invalid",
    default="error",
    type=click.Choice(["error", "drop"]),
    help="Wrong lines: an error, or dropped and counted.",
)
@svg_option("Write the click rates by rank as a picture.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@suites_option
@sheet_format
@format_options("queries")
def command(
    logs: tuple[str, ...],
    queries: str | None,
    queries_format: str | None,
    invalid: str,
    svg: str | None,
    force: bool,
    suites: Path | None,
    form: str,
    policy: str | None,
    model: str | None,
    target: str | None,
    queries_to: str | None,
    min_impressions: int,
    min_support: int,
    min_deviation: float | None,
    deviations: int,
    prior: float,
    thresholds: tuple[float, ...],
    holdout: float,
    seed: int,
) -> None:
    """Make judgments or preferences of the clicks in LOGs, and describe the logs.

    A log has a line for each search (query, documents, clicks, session, time), or a line for each document shown
    (query, session, document, rank, clicked): CSV, TSV or JSON lines. --model estimates how attractive and satisfying
    documents are, and grades them. --policy reads which document users preferred to another.
    """
    if model is not None and policy is not None:
        raise click.UsageError("--model makes judgments, --policy preferences: give one of them")
    if model is None and policy is None and (target is not None or queries_to is not None):
        raise click.UsageError("--to and --queries-to need --model or --policy")
    if queries is not None and queries_to is not None:
        raise click.UsageError("--queries-to writes the queries of the log: it has no effect with --queries")
    targets = {"--to": target, "--queries-to": queries_to, "--svg": svg}
    refuse_same_file([*logs, queries], targets)
    _refuse_targets(target, TABLES if model is None else TABLES + TREC, [*targets.values()], force)
    found = None if policy is None else _find_policy(policy, suites)
    numbers = (min_impressions, min_support, min_deviation, deviations, prior, thresholds, holdout, seed)
    wanted = _Options(model, found, target, queries_to, *numbers)
    with ProgressBar() as progress:
        log = read_clicks(logs, drop_invalid=invalid == "drop", progress=progress)
        searches, lacking = log.searches, list[str]()
        left_out: list[Row] = [each._asdict() for each in log.left_out]
        if queries is not None:
            named_queries = read_queries(queries, format=queries_format, registry=load_command_registry(None))
            known = _map_ids(named_queries, searches.queries)
            searches, others = select_queries(searches, known)
            lacking = [query for query in named_queries.ids if query not in known.values()]
            if others:
                left_out.append(
                    {"reason": f"searches of queries that are not in {queries}", "number": others, "first": ""}
                )
        sessions = log.sessions if queries is None else None
        sheets = [Sheet("log", [{"searches": 0, "sessions": sessions, **searches.figures}]), _make_rank_sheet(searches)]
        notes = _describe_log(log)
        if lacking:
            notes.append(f"{format_count(len(lacking), 'query')} of {queries} not in the log: {list_first(lacking)}")
        if deviations and model is None:
            sheets.append(_make_deviation_sheet(searches, expect_clicks_of_ranks(searches), wanted))
        if model is not None or found is not None:
            make = _write_judgments if model is not None else _write_preferences
            sheets += make(searches, wanted, left_out, notes, progress)
    if svg is not None:
        notes.append(_draw_rates(searches, svg))
    sheets.insert(2, Sheet("left_out", left_out, "Left out:"))
    print_sheets(sheets, notes, form)


def _refuse_targets(target: str | None, endings: Sequence[str], files: Sequence[str | None], force: bool) -> None:
    """Refuse files that cannot be written, before a long log is read."""
    if target is not None and Path(target).suffix.lower() not in endings:
        raise IrevalError(Problem(f"--to {target}: unknown format", allowed=f"endings: {', '.join(endings)}"))
    for file in filter(None, files):
        if Path(file).exists() and not force:
            raise IrevalError(Problem(f"would overwrite {file}", suggestion="--force overwrites"))
        if not Path(file).absolute().parent.is_dir():
            raise IrevalError(Problem(f"there is no folder for {file}", suggestion="create it, or choose another one"))


def _find_policy(name: str, suites: Path | None) -> ClickPolicy:
    policies = load_command_registry(suites).collect("ireval_click_policies", ClickPolicy, "click_policy")
    if name not in policies:
        allowed = f"--policy is one of {', '.join(policies)}"
        raise IrevalError(Problem(f"unknown policy {name!r}", suggestion=did_you_mean(name, policies), allowed=allowed))
    return policies[name]


def _map_ids(named_queries: Queries, names: Sequence[str]) -> dict[str, str]:
    """For queries of a log the ids that a file gives them, by id or else by text."""
    by_text: dict[str, str] = {}
    for query, text in zip(named_queries.ids, map(normalize, named_queries.text), strict=True):
        if text and by_text.setdefault(text, query) != query:
            complaint = f"queries {by_text[text]!r} and {query!r} have the same text, so a search could be of both"
            raise InputError(Problem(complaint, named_queries.origin, suggestion="remove one of them"))
    known = {name: name if name in named_queries.position else by_text.get(normalize(name), "") for name in names}
    return {name: query for name, query in known.items() if query}


def _make_rank_sheet(searches: Searches) -> Sheet:
    rows: list[Row] = [
        {"rank": rank, "shown": times, "clicks": clicks, "click_rate": clicks / times if times else 0.0}
        for rank, (times, clicks) in enumerate(zip(*(each.tolist() for each in searches.by_rank), strict=True), 1)
    ]
    about = f"The first {SHOWN_RANKS} of {len(rows)} ranks:" if len(rows) > SHOWN_RANKS else ""
    return Sheet("ranks", rows, about, shown=rows[:SHOWN_RANKS])


def _make_deviation_sheet(searches: Searches, expected: Floats, wanted: _Options) -> Sheet:
    """The documents, of those shown often enough, whose clicks are farthest from the ``expected`` ones."""
    pairs = searches.pairs
    deviation = (pairs.clicks - expected) / pairs.shown
    often = np.flatnonzero(pairs.shown >= wanted.min_impressions)
    places = often[np.argsort(-np.abs(deviation[often]), kind="stable")][: wanted.deviations]
    rows: list[Row] = [
        {
            "query": searches.queries[int(pairs.query[place])],
            "document": searches.documents[int(pairs.document[place])],
            "shown": int(pairs.shown[place]),
            "clicks": int(pairs.clicks[place]),
            "expected": float(expected[place]),
            "deviation": float(deviation[place]),
        }
        for place in places.tolist()
    ]
    by = "the click rates of their ranks" if wanted.model is None else f"the model {wanted.model}"
    about = f"Clicks that deviate most from those expected by {by} (deviation: difference for each time shown):"
    return Sheet("deviations", rows, about)


def _describe_log(log: ClickLog) -> list[str]:
    notes = [f"read {format_count(log.lines, 'line')}"]
    if log.span is not None:
        days = (datetime.fromtimestamp(each, timezone.utc).date().isoformat() for each in log.span)
        notes[0] += f", from {' to '.join(dict.fromkeys(days))}"
    if log.repeated:
        notes.append(
            f"{format_count(log.repeated, 'search')} repeated in a session; each counts once, with all its clicks"
        )
    if not log.exact:
        notes.append("the number of sessions is an estimate, 0.6% off on average")
    return notes


def _write_judgments(
    searches: Searches, wanted: _Options, left_out: list[Row], notes: list[str], progress: ProgressBar
) -> Iterator[Sheet]:
    """The judgments, written; tables of models and grades."""
    seen, unseen = hold_out(searches, wanted.holdout, wanted.seed)
    number = int(unseen.count.sum())
    if number and seen.count.any():
        known = seen.pairs.shown > 0
        fits = [measure_fit(fit(seen, wanted.prior, progress).with_means(known), unseen) for fit in MODELS.values()]
        if new := int((~known & (unseen.pairs.shown > 0)).sum()):
            pairs = format_count(new, "document")
            notes.append(
                f"{pairs} of held-out searches in no others of the same query: each model takes its mean there"
            )
        best = min(fits, key=lambda each: each.perplexity)
        if best.model != wanted.model:
            notes.append(f"{best.model} predicts clicks better than {wanted.model} here")
        rows: list[Row] = [each._asdict() for each in fits]
        yield Sheet(
            "models", rows, f"Models on {format_count(number, 'search')} that were held out (perplexity: 1 is perfect):"
        )
    else:
        notes.append("models are not compared: too few searches to hold some out")
    model = MODELS[str(wanted.model)](searches, wanted.prior, progress)
    if wanted.deviations:
        yield _make_deviation_sheet(searches, sum_by_pair(searches, predict_clicks(model, searches)), wanted)
    found = make_judgments(searches, model, wanted.thresholds, wanted.min_impressions)
    if found.rare:
        reason = f"documents that users examined fewer than {format_count(wanted.min_impressions, 'time')} for a query"
        left_out.append({"reason": reason, "number": found.rare, "first": ""})
    if found.rows:
        times = Counter(grade for _, _, grade, *_ in found.rows)
        grades = range(len(found.thresholds) + 1)
        yield Sheet("grades", [{"grade": g, "documents": times[g], "share": times[g] / times.total()} for g in grades])
        notes.append(f"grades begin at {','.join(f'{each:.4g}' for each in found.thresholds)}; --thresholds keeps them")
    if model.name == "dbn":
        chance = f"{model.continuation:.4f}"
        notes.append(f"continuation: unsatisfied users go on to the next document with a chance of {chance}")
    _refuse_nothing(wanted, "judgment", found.rows, left_out)
    if wanted.target is not None and Path(wanted.target).suffix.lower() in TABLES:
        names = ("query", "document", "grade", "estimate", "impressions", "examined", "clicks")
        write_table(names, found.rows, wanted.target)
    elif wanted.target is not None:
        by_query: dict[str, dict[str, int]] = {}
        for query, document, grade, *_ in found.rows:
            by_query.setdefault(query, {})[document] = grade
        write_judgments(by_query, wanted.target)
    _note_written(wanted, "judgment", [query for query, *_ in found.rows], searches, notes)


def _write_preferences(
    searches: Searches, wanted: _Options, left_out: list[Row], notes: list[str], progress: ProgressBar
) -> Iterator[Sheet]:
    """The preferences, written; a table of them in figures."""
    policy = wanted.policy
    if policy is None:
        return
    limits = {"min_support": wanted.min_support, "min_shown": wanted.min_impressions}
    found = collect_preferences(searches, policy, **limits, min_deviation=wanted.min_deviation, progress=progress)
    rows = found.rows(searches)
    kept: Row = {
        "policy": policy.name,
        "pairs": found.found,
        "kept": len(rows),
        "queries": len({query for query, *_ in rows}),
        "median_support": float(median(support for *_, support in rows)) if rows else None,
    }
    yield Sheet("preferences", [kept])
    reasons = {
        "preferences with as many searches against them as for them": found.undecided,
        f"preferences about documents with fewer than {format_count(wanted.min_impressions, 'impression')}": found.rare,
        f"preferences with the support of fewer than {format_count(wanted.min_support, 'search')}": found.weak,
    }
    left_out += [{"reason": reason, "number": number, "first": ""} for reason, number in reasons.items() if number]
    clicked = searches.figures["searches"] - searches.figures["searches_without_clicks"]
    why = f"{policy.name} reads none from {format_count(clicked, 'search')} with clicks" if not found.found else ""
    why += "; --min-deviation may ignore some" if why and wanted.min_deviation is not None else ""
    _refuse_nothing(wanted, "preference", rows, left_out, why, policy.summary if clicked else "")
    if wanted.target is not None:
        write_table(("query", "better", "worse", "support"), rows, wanted.target)
    _note_written(wanted, "preference", [query for query, *_ in rows], searches, notes)


def _refuse_nothing(
    wanted: _Options, what: str, named: Sequence[object], left_out: Sequence[Row], why: str = "", rule: str = ""
) -> None:
    """Refuse to write files without content, with the reason and what was left out."""
    if not named and (wanted.target, wanted.queries_to) != (None, None):
        reasons = "; ".join(f"{each['number']:,} {each['reason']}" for each in left_out)
        suggestion = f"left out: {reasons}" if reasons else "" if why else "there are no searches"
        complaint = f"there are no {what}s to write" + (f": {why}" if why else "")
        raise IrevalError(Problem(complaint, suggestion=suggestion, allowed=rule if why else ""))


def _note_written(wanted: _Options, what: str, named: Sequence[str], searches: Searches, notes: list[str]) -> None:
    """Say what was written; write the queries."""
    names = list(dict.fromkeys(named))
    if not names:
        notes.append(f"no {what}s")
    if wanted.target is not None:
        notes.append(f"wrote {wanted.target}: {format_count(len(named), what)} of {format_count(len(names), 'query')}")
    if wanted.queries_to is not None:
        columns = {"searches": tuple(str(searches.asked[name]) for name in names)}
        write_queries(Queries(tuple(names), tuple(names), columns), wanted.queries_to)
        notes.append(f"wrote {wanted.queries_to}: {format_count(len(names), 'query')}")


def _draw_rates(searches: Searches, svg: str) -> str:
    """Write the picture; a note for the user."""
    shown, clicks = searches.by_rank
    if not shown.sum():
        return f"nothing to draw: {svg} not written"
    rates = [clicked / max(1, among) for clicked, among in zip(clicks.tolist(), shown.tolist(), strict=True)]
    facts = f"{format_count(int(clicks.sum()), 'click')} on {shown[0]:,} lists"
    curve = Curve([*enumerate(rates, 1)], marks=True)
    panel = CurvePanel("all queries", facts, "rank", [curve], (1, max(2, len(rates))), (0, max(rates)))
    summary = f"From {rates[0]:.1%} at rank 1 to {rates[-1]:.1%} at rank {len(rates)}."
    picture = draw_curves("Click rate by rank", "clicks, as a share of impressions", [panel], summary)
    write_files({Path(svg): [picture]})
    return f"wrote {svg}"
