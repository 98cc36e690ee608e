"""``ireval interleave``: two rankings compared by the clicks of users, in an experiment or in a simulation."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path

import click

from pytest_ireval import IrevalError, Judgments, Rankings, read_judgments, read_rankings
from pytest_ireval.cli.options import (
    METRICS,
    LateBar,
    format_options,
    grades_option,
    metric_option,
    named_files,
    registry_at,
)
from pytest_ireval.cli.sheets import Row, Sheet, first_of, sheet_format, show
from pytest_ireval.plugin_api import Curve, CurvePanel, Grades, Problem, draw_curves, format_count
from pytest_ireval.tables import read_table, write_files, write_table
from pytest_ireval_lab.interleaving import (
    NO_TEAM,
    MeanPreference,
    Preference,
    Search,
    by_query,
    drafts,
    mean_preference,
    preference,
    read_searches,
)
from pytest_ireval_lab.online import (
    KINDS,
    Decisions,
    Method,
    Offline,
    Outcomes,
    Users,
    decisions,
    draws_needed,
    methods,
    offline,
    simulated_outcomes,
)

LISTED = 10
SEARCHES = (100, 1_000, 10_000)

Files = Mapping[str, Rankings]
"""The two rankings by name: A, then B."""


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
@click.option("--svg", metavar="FILE", help="Draw how often experiments of each size find the better ranking.")
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
    registry = registry_at(None)
    with LateBar() as progress:
        most = depth + 1 if log is None and judgments is None else None
        found = {
            name: read_rankings(path, most, format=rankings_format, registry=registry, progress=progress)
            for name, path in named_files([a, b]).items()
        }
    one, other = found.values()
    if log is not None:
        with LateBar() as progress:
            lists = _lists(one), _lists(other)
            searches = read_searches(read_table(log), *lists, ignore_same_rank=ignore_same_rank, progress=progress)
        show(*_evaluated(searches, found, alpha), form)
    elif judgments is not None:
        known = read_judgments(judgments, format=judgments_format, grades=grades, registry=registry)
        kind = KINDS[users]._replace(patience=patience, by_position=by_position)
        with LateBar() as progress:
            online = simulated_outcomes(
                _lists(one),
                _lists(other),
                _grades(known),
                kind,
                depth=depth,
                highest=known.highest_grade,
                ignore_same_rank=ignore_same_rank,
                seed=seed,
                progress=progress,
            )
        decided = decisions(online, sizes or SEARCHES, experiments, alpha, seed)
        compared = offline(known, one, other, metrics or METRICS, alpha, registry)
        rows = methods(online, alpha)
        notes = [*_words(known, found, users, kind, depth, alpha)]
        if svg is not None:
            notes.append(_drawn(svg, online, rows, experiments, alpha, seed))
        show(_simulated(rows, [*decided], [*compared], found), notes, form)
    else:
        _write(found, depth, draws, seed, target, form, force=force)


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


def _lists(rankings: Rankings) -> dict[str, list[str]]:
    documents, first = rankings.documents.texts(), rankings.first.tolist()
    return {query: documents[first[i] : first[i + 1]] for i, query in enumerate(rankings.queries)}


def _grades(judgments: Judgments) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {query: {} for query in judgments.queries}
    rows = zip(judgments.query.tolist(), judgments.documents.texts(), judgments.grade.tolist(), strict=True)
    for query, document, grade in rows:
        found[judgments.queries[query]][document] = grade
    return found


def _write(found: Files, depth: int, draws: int, seed: int, target: str, form: str, *, force: bool) -> None:
    """Write the lists, and show how much the rankings leave to compare."""
    if Path(target).exists() and not force:
        raise IrevalError(Problem(f"would overwrite {target}", suggestion="--force overwrites"))
    a, b = map(_lists, found.values())
    lists = [*drafts(a, b, depth, draws, seed)]
    texts = [json.dumps(each.documents, ensure_ascii=False) for _, _, each in lists]
    if Path(target).suffix.lower() == ".jsonl":
        rows = (
            json.dumps(
                {"query": query, "draw": draw, "documents": each.documents, "teams": each.teams}, ensure_ascii=False
            )
            for query, draw, each in lists
        )
        write_files({target: (f"{row}\n" for row in rows)})
    else:
        cells = ((query, draw, text, each.teams) for (query, draw, each), text in zip(lists, texts, strict=True))
        write_table(("query", "draw", "documents", "teams"), cells, target)
    teams = Counter(letter for _, _, each in lists for letter in each.teams)
    same = sum(a.get(query, [])[:depth] == b.get(query, [])[:depth] for query in {*a, *b})
    row = {"queries": len({*a, *b}), "same_list": same, "lists": len(lists)}
    row |= {"team_a": teams["A"], "team_b": teams["B"], "no_team": teams[NO_TEAM]}
    headers = {
        "same_list": "same in both",
        **{f"team_{x}": f"documents of {n}" for x, n in zip("ab", found, strict=True)},
    }
    notes = [
        f"wrote {target}: {format_count(len(lists), 'list')} of {format_count(len({*a, *b}), 'query')}",
        *_only_one(found),
    ]
    show([Sheet("lists", [row], headers=headers)], notes, form)


def _only_one(found: Files) -> Iterator[str]:
    """A note for each ranking with queries that the other one lacks."""
    sides = {name: {q for q, documents in _lists(each).items() if documents} for name, each in found.items()}
    for (name, mine), (other, theirs) in permutations(sides.items(), 2):
        if left := sorted(mine - theirs):
            yield (
                f"{other} has no documents for {format_count(len(left), 'query')} of {name}: {first_of(left)}; "
                "interleaving cannot compare them, because their documents have no team"
            )


def _evaluated(searches: Sequence[Search], found: Files, alpha: float) -> tuple[list[Sheet], list[str]]:
    """The tables of an experiment, and the verdict."""
    one, other = found
    whole, queries = preference(searches, 1 - alpha), by_query(searches)
    mean = mean_preference(queries, alpha)
    tests = [
        _test("sign test of searches", whole.searches, whole, whole.share),
        _test("paired test of queries", mean.queries, mean, mean.mean),
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
        *_verdict(whole, mean, found, alpha),
        f"figure of searches: the share of searches with a preference that prefer {other}, with its interval; "
        f"preference (half of the ties to each side, less one half): {whole.delta:+.4f}",
        f"figure of queries: the mean difference of credit, {other} less {one}; each query counts once",
        f"clicked documents: {clicks[0]:,} of {one}, {clicks[1]:,} of {other}, {clicks[2]:,} without credit",
        *_only_one(found),
    ]
    return sheets, notes


def _test(name: str, units: int, found: Preference | MeanPreference, figure: float | None) -> Row:
    row: Row = {"test": name, "units": units, "a": found.a, "b": found.b, "ties": found.ties, "figure": figure}
    return {**row, "low": found.low, "high": found.high, "p": found.p}


def _verdict(whole: Preference, mean: MeanPreference, found: Files, alpha: float) -> Iterator[str]:
    one, other = found
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
    needed = draws_needed(whole.a / whole.searches, whole.b / whole.searches, alpha)
    if needed is not None:
        yield f"if users prefer {better} as much as here, about {needed:,} searches show it in 80% of cases"


def _simulated(
    rows: Sequence[Method], decided: Sequence[Decisions], compared: Sequence[Offline], found: Files
) -> list[Sheet]:
    """The tables of a simulation."""
    one, other = found
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
        for each in rows
    ]
    better = {"A": f"{one} is better", "B": f"{other} is better", "": "inconclusive"}
    verdicts: list[Row] = [
        {
            "metric": each.metric,
            "a": each.a,
            "b": each.b,
            "difference": each.difference,
            "p": each.p,
            "verdict": "not tested" if each.p is None else better[each.better],
            **{of.method if of.method == "interleaving" else of.measured: _agrees(each, of) for of in rows},
        }
        for each in compared
    ]
    headers = {**names, "searches": "searches for 80%"}
    decides = {"a": f"for {one}", "b": f"for {other}"}
    return [
        Sheet(
            "online", online, "Simulated users: shares of searches, and the searches that find the difference:", headers
        ),
        Sheet(
            "decisions", [each._asdict() for each in decided], "Shares of simulated experiments that decide:", decides
        ),
        Sheet("offline", verdicts, "Judgments, and whether online tests point the same way:", names),
    ]


POINTS = 25
MOST_DRAWN = 10**7
"""Searches; a test that needs more is not drawn to its end."""


def _drawn(svg: str, online: Outcomes, rows: Sequence[Method], experiments: int, alpha: float, seed: int) -> str:
    """Draw the share of experiments that decide for the better ranking, by their size, a panel for each method."""
    needed = [each.needed for each in rows if each.needed is not None]
    if not needed:
        return f"nothing to draw, because no test finds a difference: {svg} not written"
    most = math.log10(min(MOST_DRAWN, max(100, 2 * max(needed))))
    sizes = sorted({round(10 ** (1 + (most - 1) * step / (POINTS - 1))) for step in range(POINTS)})
    found = [*decisions(online, sizes, experiments, alpha, seed)]
    panels = []
    for each in rows:
        own = [of for of in found if (of.method, of.measured) == (each.method, each.measured)]
        shares = [(math.log10(of.searches), of.b if each.b > each.a else of.a) for of in own]
        label = each.method if each.method == "interleaving" else f"{each.method}: {each.measured}"
        facts = "no difference" if each.needed is None else f"{each.needed:,} searches for 80%"
        curves = [Curve([(1, 0.8), (most, 0.8)], dashed=True), Curve(shares, marks=True)]
        panels.append(CurvePanel(label, facts, "searches", curves, (1, most), powers=True))
    heading = "Which test finds the better ranking sooner?"
    about = "share of simulated experiments that decide for it, by their searches; dashes: 80%"
    write_files({Path(svg): [draw_curves(heading, about, panels)]})
    return f"wrote {svg}"


def _agrees(of: Offline, method: Method) -> str:
    """Tell whether the better ranking online is that of the metric."""
    if method.needed is None or not of.leads:
        return "no difference"
    same = (method.b > method.a) == (of.leads == "B")
    if not of.better:
        return "same direction" if same else "other direction"
    return "agrees" if same else "disagrees"


def _words(known: Judgments, found: Files, users: str, kind: Users, depth: int, alpha: float) -> Iterator[str]:
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
    yield from _only_one(found)
