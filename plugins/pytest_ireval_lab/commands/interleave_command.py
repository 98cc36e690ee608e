"""``ireval interleave``: two rankings compared by the clicks of users, in an experiment or in a simulation."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import click

from pytest_ireval import IrevalError, Judgments, Rankings, read_judgments, read_rankings
from pytest_ireval.cli.options import (
    METRICS,
    ProgressBar,
    format_options,
    grades_option,
    load_command_registry,
    metric_option,
    name_files,
    refuse_same_file,
    svg_option,
)
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets, sheet_format
from pytest_ireval.plugin_api import Curve, CurvePanel, Grades, Problem, draw_curves, format_count
from pytest_ireval.tables import read_table, write_files, write_table
from pytest_ireval_lab.interleaving import (
    NO_TEAM,
    Lists,
    MeanPreference,
    Preference,
    Search,
    compare_queries,
    compare_searches,
    draw_lists,
    read_searches,
    sum_up_queries,
)
from pytest_ireval_lab.online import (
    KINDS,
    Decisions,
    Method,
    OfflineVerdict,
    Outcomes,
    Users,
    compare_methods,
    compare_offline,
    count_searches_needed,
    simulate_decisions,
    simulate_outcomes,
)

LISTED = 10
SEARCHES = (100, 1_000, 10_000)


class _TwoRankings(NamedTuple):
    """The documents of both rankings by query, and the names of the rankings."""

    a: Lists
    b: Lists
    names: tuple[str, ...]


@click.command(name="interleave", context_settings={"show_default": True})
@click.argument("a")
@click.argument("b")
@click.option("--depth", default=10, type=click.IntRange(1), help="Documents of each list.")
@click.option("--draws", default=1, type=click.IntRange(1), help="Lists for each query, each with its own coins.")
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of coins and of simulated experiments.")
@click.option("--to", "target", default="interleaved.jsonl", help="The file of lists to write: .jsonl, .tsv or .csv.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--clicks", "log", metavar="LOG", help="Evaluate a log of the experiment.")
@click.option("--simulate", "judgments", metavar="JUDGMENTS", help="Simulate users who like documents by their grades.")
@click.option(
    "--ignore-same-rank", is_flag=True, help="No credit for documents that both rankings have at the same rank."
)
@click.option(
    "--alpha", default=0.05, type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Level of significance."
)
@click.option("--users", default="navigational", type=click.Choice(list(KINDS)), help="The kind of simulated users.")
@click.option("--by-position", is_flag=True, help="Simulated users see a rank whatever they clicked before.")
@click.option("--patience", default=1.0, type=click.FloatRange(0, 1), help="The chance to go on to the next rank.")
@click.option(
    "--searches",
    "sizes",
    multiple=True,
    type=click.IntRange(2, 10**9),
    help="The size of simulated experiments; repeatable.",
)
@svg_option("Draw how often experiments of each size find the better ranking.")
@click.option("--experiments", default=2000, type=click.IntRange(1, 10**5), help="Simulated experiments of each size.")
@metric_option
@sheet_format
@format_options("rankings", "judgments")
@grades_option
def command(
    a: str,
    b: str,
    depth: int,
    draws: int,
    seed: int,
    target: str,
    force: bool,
    log: str | None,
    judgments: str | None,
    ignore_same_rank: bool,
    alpha: float,
    users: str,
    by_position: bool,
    patience: float,
    sizes: tuple[int, ...],
    svg: str | None,
    experiments: int,
    metrics: tuple[str, ...],
    form: str,
    rankings_format: str | None,
    judgments_format: str | None,
    grades: Grades,
) -> None:
    """Interleave the rankings A and B by team draft: users see one list, and their clicks tell which one they prefer.

    Without --clicks and --simulate it writes the lists of an experiment. With --clicks it evaluates a log, which has
    query, documents, teams and clicks for each search. With --simulate it shows how many searches interleaving and an
    A/B test need with simulated users, and whether they decide as the metrics do.
    """
    if log is not None and judgments is not None:
        raise click.UsageError("give --clicks or --simulate, not both")
    _refuse_unused("--clicks" if log else "--simulate" if judgments else "")
    if not math.isfinite(patience) or not math.isfinite(alpha):
        raise click.UsageError("all numbers must be finite")
    named, registry = name_files([a, b]), load_command_registry(None)
    refuse_same_file(named.values(), {"--to": target})
    with ProgressBar() as progress:
        most = depth + 1 if log is None and judgments is None else None
        rankings = {
            name: read_rankings(path, most, format=rankings_format, registry=registry, progress=progress)
            for name, path in named.items()
        }
    one, other = rankings.values()
    lists = _TwoRankings(_list_documents(one), _list_documents(other), tuple(rankings))
    if log is not None:
        with ProgressBar() as progress:
            table = read_table(log)
            searches = read_searches(table, lists.a, lists.b, ignore_same_rank=ignore_same_rank, progress=progress)
        _show_experiment(searches, lists, alpha, form)
    elif judgments is not None:
        known = read_judgments(judgments, format=judgments_format, grades=grades, registry=registry)
        kind = KINDS[users]._replace(patience=patience, by_position=by_position)
        with ProgressBar() as progress:
            outcomes = simulate_outcomes(
                lists.a,
                lists.b,
                _map_grades(known),
                kind,
                depth=depth,
                highest=known.highest_grade,
                ignore_same_rank=ignore_same_rank,
                seed=seed,
                progress=progress,
            )
        decisions = [*simulate_decisions(outcomes, sizes or SEARCHES, experiments, alpha, seed)]
        offline = [*compare_offline(known, one, other, metrics or METRICS, alpha, registry)]
        methods = compare_methods(outcomes, alpha)
        notes = [*_describe_simulation(known, lists, users, kind, depth, alpha)]
        if svg is not None:
            notes.append(_draw_decisions(svg, outcomes, methods, experiments, alpha, seed))
        print_sheets(_make_simulation_sheets(methods, decisions, offline, lists), notes, form)
    else:
        _write_lists(lists, depth, draws, seed, target, form, force=force)


WRITING = ("draws", "target", "force")
SIMULATING = (
    "users",
    "by_position",
    "patience",
    "sizes",
    "svg",
    "experiments",
    "metrics",
    "judgments_format",
    "grades",
)
UNUSED = {
    "--clicks": (*WRITING, *SIMULATING, "depth", "seed"),
    "--simulate": WRITING,
    "": (*SIMULATING, "alpha", "ignore_same_rank"),
}
"""The options without effect, by the option that chooses what the command does."""


def _refuse_unused(chosen: str) -> None:
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") == click.core.ParameterSource.COMMANDLINE
        if given and option.name in UNUSED[chosen]:
            where = f"with {chosen}" if chosen else "without --clicks or --simulate"
            raise click.UsageError(f"{option.opts[-1]} has no effect {where}")


def _list_documents(rankings: Rankings) -> dict[str, list[str]]:
    documents, first = rankings.documents.texts(), rankings.first.tolist()
    return {query: documents[first[i] : first[i + 1]] for i, query in enumerate(rankings.queries)}


def _map_grades(judgments: Judgments) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {query: {} for query in judgments.queries}
    rows = zip(judgments.query.tolist(), judgments.documents.texts(), judgments.grade.tolist(), strict=True)
    for query, document, grade in rows:
        grades[judgments.queries[query]][document] = grade
    return grades


def _write_lists(
    lists: _TwoRankings, depth: int, draws: int, seed: int, target: str, form: str, *, force: bool
) -> None:
    """Write the lists, and show how much the rankings leave to compare."""
    if Path(target).exists() and not force:
        raise IrevalError(Problem(f"would overwrite {target}", suggestion="--force overwrites"))
    drawn_lists = [*draw_lists(lists.a, lists.b, depth, draws, seed)]
    if Path(target).suffix.lower() == ".jsonl":
        rows = ({"query": each.query, "draw": each.draw, **each.interleaved._asdict()} for each in drawn_lists)
        write_files({target: (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)})
    else:
        cells = (
            (each.query, each.draw, json.dumps(each.interleaved.documents, ensure_ascii=False), each.interleaved.teams)
            for each in drawn_lists
        )
        write_table(("query", "draw", "documents", "teams"), cells, target)
    teams = Counter(letter for each in drawn_lists for letter in each.interleaved.teams)
    queries = {*lists.a, *lists.b}
    same = sum(lists.a.get(query, [])[:depth] == lists.b.get(query, [])[:depth] for query in queries)
    row = {"queries": len(queries), "same_list": same, "lists": len(drawn_lists)}
    row |= {"team_a": teams["A"], "team_b": teams["B"], "no_team": teams[NO_TEAM]}
    headers = {"same_list": "same in both"}
    headers |= {f"team_{side}": f"documents of {name}" for side, name in zip("ab", lists.names, strict=True)}
    written = f"wrote {target}: {format_count(len(drawn_lists), 'list')} of {format_count(len(queries), 'query')}"
    print_sheets([Sheet("lists", [row], headers=headers)], [written, *_note_missing_queries(lists)], form)


def _note_missing_queries(lists: _TwoRankings) -> Iterator[str]:
    """A note for each ranking with queries that the other one lacks."""
    ranked = [{query for query, documents in side.items() if documents} for side in (lists.a, lists.b)]
    for (name, queries), (other, others) in permutations(zip(lists.names, ranked, strict=True), 2):
        if missing := sorted(queries - others):
            yield (
                f"{other} has no documents for {format_count(len(missing), 'query')} of {name}: {list_first(missing)}; "
                "interleaving cannot compare them, because their documents have no team"
            )


def _show_experiment(searches: Sequence[Search], lists: _TwoRankings, alpha: float, form: str) -> None:
    one, other = lists.names
    whole, queries = compare_searches(searches, 1 - alpha), sum_up_queries(searches)
    mean = compare_queries(queries, alpha)
    tests = [
        _make_test_row("sign test of searches", whole.searches, whole, whole.share),
        _make_test_row("paired test of queries", mean.queries, mean, mean.mean),
    ]
    rows = [each._asdict() for each in queries]
    names = {"a": one, "b": other, "clicks_a": f"clicks {one}", "clicks_b": f"clicks {other}"}
    names |= {"clicks_neither": "no team"}
    listed = f", the {LISTED} with the largest differences of {len(rows)}" if len(rows) > LISTED else ""
    sheets = [
        Sheet("tests", tests, f"Searches and queries that prefer {one}, {other} or neither:", names),
        Sheet("queries", rows, f"Searches by query{listed}:", names, shown=rows[:LISTED]),
    ]
    clicks = [sum(each.credit[side] for each in searches) for side in range(3)]
    notes = [
        *_describe_preference(whole, mean, lists, alpha),
        f"figure of searches: the share of searches with a preference that prefer {other}, with its interval; "
        f"preference (half of the ties to each side, less one half): {whole.delta:+.4f}",
        f"figure of queries: the mean difference of credit, {other} less {one}; each query counts once",
        f"clicked documents: {clicks[0]:,} of {one}, {clicks[1]:,} of {other}, {clicks[2]:,} without credit",
        *_note_missing_queries(lists),
    ]
    print_sheets(sheets, notes, form)


def _make_test_row(name: str, units: int, tested: Preference | MeanPreference, figure: float | None) -> Row:
    row: Row = {"test": name, "units": units, "a": tested.a, "b": tested.b, "ties": tested.ties, "figure": figure}
    return {**row, "low": tested.low, "high": tested.high, "p": tested.p}


def _describe_preference(whole: Preference, mean: MeanPreference, lists: _TwoRankings, alpha: float) -> Iterator[str]:
    one, other = lists.names
    if whole.share is None:
        yield "no preference: no search gives one side more credit than the other"
        return
    better = other if whole.b > whole.a else one
    if whole.p < alpha:
        share = max(whole.share, 1 - whole.share)
        yield f"users prefer {better}: {share:.1%} of the searches with a preference, p {whole.p:.4f}"
        if mean.p >= alpha:
            yield f"the test of queries does not confirm it (p {mean.p:.4f}): it may depend on few queries"
        return
    yield f"no significant preference: p {whole.p:.4f}"
    needed = count_searches_needed(whole.a / whole.searches, whole.b / whole.searches, alpha)
    if needed is not None:
        yield f"if users prefer {better} as much as here, about {needed:,} searches show it in 80% of cases"


def _make_simulation_sheets(
    methods: Sequence[Method], decisions: Sequence[Decisions], offline: Sequence[OfflineVerdict], lists: _TwoRankings
) -> list[Sheet]:
    one, other = lists.names
    names = {"a": one, "b": other}
    online: list[Row] = [
        {
            "method": each.method,
            "measured": each.measured,
            "a": each.a,
            "b": each.b,
            "difference": each.b - each.a,
            "searches": each.needed,
        }
        for each in methods
    ]
    better = {"A": f"{one} is better", "B": f"{other} is better", "": "inconclusive"}
    verdicts: list[Row] = [
        {
            "metric": verdict.metric,
            "a": verdict.a,
            "b": verdict.b,
            "difference": verdict.difference,
            "p": verdict.p,
            "verdict": "not tested" if verdict.p is None else better[verdict.better],
            **{
                each.method if each.method == "interleaving" else each.measured: _describe_agreement(verdict, each)
                for each in methods
            },
        }
        for verdict in offline
    ]
    about_methods = "Simulated users: shares of searches, and the searches that find the difference:"
    about_decisions = "Shares of simulated experiments that decide:"
    about_judgments = "Judgments, and whether online tests point the same way:"
    decided = [each._asdict() for each in decisions]
    return [
        Sheet("online", online, about_methods, {**names, "searches": "searches for 80%"}),
        Sheet("decisions", decided, about_decisions, {"a": f"for {one}", "b": f"for {other}"}),
        Sheet("offline", verdicts, about_judgments, names),
    ]


def _describe_agreement(verdict: OfflineVerdict, method: Method) -> str:
    """Whether the better ranking online is that of the metric."""
    if method.needed is None or not verdict.leads:
        return "no difference"
    same = (method.b > method.a) == (verdict.leads == "B")
    if not verdict.better:
        return "same direction" if same else "other direction"
    return "agrees" if same else "disagrees"


POINTS = 25
MOST_DRAWN = 10**7
"""Searches; a test that needs more is not drawn to its end."""


def _draw_decisions(
    svg: str, outcomes: Outcomes, methods: Sequence[Method], experiments: int, alpha: float, seed: int
) -> str:
    """Draw the share of experiments that decide for the better ranking, by their size, a panel for each method."""
    needed = [method.needed for method in methods if method.needed is not None]
    if not needed:
        return f"nothing to draw, because no test finds a difference: {svg} not written"
    most = math.log10(min(MOST_DRAWN, max(100, 2 * max(needed))))
    sizes = sorted({round(10 ** (1 + (most - 1) * step / (POINTS - 1))) for step in range(POINTS)})
    decisions = [*simulate_decisions(outcomes, sizes, experiments, alpha, seed)]
    panels = []
    for method in methods:
        own = [each for each in decisions if (each.method, each.measured) == (method.method, method.measured)]
        shares = [(math.log10(each.searches), each.b if method.b > method.a else each.a) for each in own]
        label = method.method if method.method == "interleaving" else f"{method.method}: {method.measured}"
        facts = "no difference" if method.needed is None else f"{method.needed:,} searches for 80%"
        curves = [Curve([(1, 0.8), (most, 0.8)], dashed=True), Curve(shares, marks=True)]
        panels.append(CurvePanel(label, facts, "searches", curves, (1, most), powers=True))
    heading = "Which test finds the better ranking sooner?"
    about = "share of simulated experiments that decide for it, by their searches; dashes: 80%"
    write_files({Path(svg): [draw_curves(heading, about, panels)]})
    return f"wrote {svg}"


def _describe_simulation(
    known: Judgments, lists: _TwoRankings, users: str, kind: Users, depth: int, alpha: float
) -> Iterator[str]:
    seen = f"see rank r with the chance {kind.patience:g}^(r-1)"
    if not kind.by_position:
        seen = f"go on with the chance {kind.patience:g}"
    yield (
        f"{users} users of the first {depth} documents: they click on grade 0 with the chance {kind.click[0]:g}, "
        f"and on the highest grade {known.highest_grade:g} with {kind.click[1]:g}; a click satisfies them with "
        f"{kind.stop[0]:g} to {kind.stop[1]:g}; they {seen}"
    )
    yield f"tests are two-sided at alpha {alpha:g}; an A/B test gives each ranking half of the searches"
    yield (
        f"{format_count(len(known.queries), 'judged query')}, all searched equally often; documents without a judgment "
        "have grade 0"
    )
    yield "simulated users follow the judgments: they cannot show whether real users agree with the judges"
    yield from _note_missing_queries(lists)
