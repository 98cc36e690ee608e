"""``ireval stress``: which metrics keep the order of systems, and gates their verdicts, under fewer judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import click

from pytest_ireval import IrevalError, Judgments, Metric
from pytest_ireval.cli.options import ProgressBar, numbers_option, rel_option, tests_option
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets
from pytest_ireval.plugin_api import Curve, CurvePanel, draw_curves, format_count
from pytest_ireval.tables import write_files
from pytest_ireval_judgments.verdicts import run_suites_under
from pytest_ireval_lab.stress import (
    ALL,
    StressPlan,
    StressResult,
    draw_orders,
    reduce_judgments,
    stress_metrics,
    with_condensed_forms,
)
from pytest_ireval_lab.systems import Systems, note_doubts, systems_command


@systems_command(
    "stress",
    click.option(
        "--condensed/--no-condensed",
        default=True,
        help="Score each metric also without unjudged documents, if it can be.",
    ),
    numbers_option(
        "--levels",
        least=1,
        most=ALL,
        default="100,90,80,70,60,50,40,30,20,10",
        help="Percent of the judgments that are left.",
    ),
    click.option("--repeats", default=5, type=click.IntRange(1, 1000), help="The number of random draws."),
    click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the draws."),
    rel_option,
    tests_option,
    click.option(
        "--suite",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="A file of suites: show how often their verdicts change. Their sources are asked each time.",
    ),
    metrics=("AP", "nDCG", "Q", "Bpref"),
)
def command(
    systems: Systems,
    condensed: bool,
    levels: tuple[int, ...],
    repeats: int,
    seed: int,
    rel: float,
    test: Literal["t", "sign-flip"],
    alpha: float,
    suite: Path | None,
    svg: str | None,
    form: str,
) -> None:
    """Score RANKINGS again with fewer and fewer JUDGMENTS, drawn at random.

    Of each query the same share of its relevant and of its other documents is left, and one relevant document in any
    case. A robust metric keeps the order of systems and its decisions about pairs. Name ten or more systems that
    differ.
    """
    plan = StressPlan(tuple(sorted({ALL, *levels}, reverse=True)), repeats, seed, rel, test, alpha)
    sheets: list[Sheet] = []
    notes: list[str] = []
    with ProgressBar() as progress:
        judgments = systems.read_judgments(progress)
        if systems.rankings:
            results, notes = _stress(systems, judgments, condensed, plan, progress)
            sheets += _make_sheets(results, plan.levels)
            if svg is not None:
                notes.append(_draw(results, svg))
    if suite is not None:
        sheets.append(_count_verdicts(judgments, suite, plan))
    print_sheets(sheets, [*notes, *_describe_draws(judgments, plan)], form)


Results = Mapping[Metric, Sequence[StressResult]]
"""Each metric at all levels."""


def _stress(
    systems: Systems, judgments: Judgments, condensed: bool, plan: StressPlan, progress: ProgressBar
) -> tuple[Results, list[str]]:
    """The results of each metric that judgments can change; and notes."""
    metrics = systems.registry.in_dialect(systems.policies.dialect).parse_metrics(systems.metrics)
    if condensed and systems.policies.unjudged != "removed":
        metrics = with_condensed_forms(metrics)
    reasons = {metric: _why_left_out(metric) for metric in metrics}
    left_out = [f"{metric} is left out: {reason}" for metric, reason in reasons.items() if reason]
    metrics = [metric for metric, reason in reasons.items() if not reason]
    if not metrics:
        raise IrevalError("\n".join(["no metric is left", *left_out]))
    whole = systems.compare(progress, judgments, metrics, test=plan.test, alpha=plan.alpha)
    results = stress_metrics(systems, judgments, metrics, whole.metrics, plan, progress)
    notes = [
        f"{len(whole.rankings)} systems, {format_count(whole.queries, 'query')}; "
        f"pairs: {plan.test} test, alpha {plan.alpha:g}, each pair by itself",
        *(["': without unjudged documents (condensed lists, judged_only=True)"] * any(map(_is_condensed, metrics))),
        *_describe_spread([each for levels in results for each in levels], plan),
        *left_out,
        *note_doubts(whole, whole.metrics),
    ]
    return dict(zip(metrics, results, strict=True)), notes


def _why_left_out(metric: Metric) -> str:
    if not metric.reads_judgments or "preferences" in metric.needs:
        return "it does not use grades of documents"
    return "neither higher nor lower values are better" if metric.direction == "neither" else ""


def _describe_spread(results: Sequence[StressResult], plan: StressPlan) -> Iterator[str]:
    if plan.repeats == 1:
        yield "one draw shows no spread; use more --repeats"
        return
    spread = [(each.tau_sd, each) for each in results if each.tau_sd is not None and each.level < ALL]
    if spread:
        sd, most = max(spread, key=lambda pair: pair[0])
        at = f"{most.metric} at {most.level}%"
        yield f"means over {plan.repeats} draws; greatest standard deviation of tau: {sd:.3f} ({at})"


def _describe_draws(judgments: Judgments, plan: StressPlan) -> Iterator[str]:
    relevant = int((judgments.grade >= plan.rel).sum())
    yield (
        f"{format_count(len(judgments), 'judgment')} of {format_count(len(judgments.queries), 'query')}, "
        f"{relevant:,} relevant (grade {plan.rel:g} or more); {format_count(plan.repeats, 'draw')}, seed {plan.seed}"
    )
    if not relevant:
        yield "no document is relevant: nothing is known about the metrics"
    if relevant == len(judgments):
        yield "no judged document is not relevant: condensed lists are perfect, and Bpref is the share that was found"
    lowest = plan.levels[-1]
    left = int(next(draw_orders(judgments, plan.rel, plan.seed, 1)).select(lowest).sum())
    if abs(left - lowest * len(judgments) / ALL) > 0.005 * len(judgments):
        yield (
            f"left at {lowest}%: {format_count(left, 'judgment')} ({left / len(judgments):.0%}), "
            "because numbers of each query are rounded, and one relevant document stays"
        )


def _is_condensed(metric: Metric) -> bool:
    return bool(metric.settings.get("judged_only"))


def _whole_form(metric: Metric) -> Metric:
    return metric(judged_only=False) if _is_condensed(metric) else metric


def _short_name(metric: Metric) -> str:
    return f"{_whole_form(metric)}'" if _is_condensed(metric) else str(metric)


FIGURES = {
    "tau": "Kendall's tau with the order of systems under all judgments, by percent of judgments left:",
    "power": "Share of pairs of systems with a significant difference:",
    "flips": "Share of pairs with another decision (better, worse, not significant) than under all judgments:",
}
MORE = {
    "tau": ("tau", "tau_sd", "tau_ap", "tau_ap_sd"),
    "power": ("power", "power_sd"),
    "flips": ("flips", "flips_sd", "lost", "gained", "reversed"),
}


def _make_sheets(results: Results, levels: Sequence[int]) -> Iterator[Sheet]:
    for figure, about in FIGURES.items():
        columns = ("metric", "level", "judgments", *MORE[figure])
        rows = [{name: asdict(each)[name] for name in columns} for of_metric in results.values() for each in of_metric]
        shown: list[Row] = []
        for metric, of_metric in results.items():
            cells = {
                str(each.level): _format_cell(getattr(each, figure))
                for each in of_metric
                if figure == "power" or each.level < ALL
            }
            shown.append({"metric": _short_name(metric), **cells})
        yield Sheet(figure, rows, about, shown=shown if figure == "power" or len(levels) > 1 else ())


def _format_cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _draw(results: Results, svg: str) -> str:
    """Write the picture: three panels for each metric, both forms of it in one panel."""
    least = next(iter(results.values()))[-1].level
    taus = [each.tau for of_metric in results.values() for each in of_metric if each.tau is not None]
    lowest = min(taus, default=0.0)
    panels = []
    for plain in dict.fromkeys(map(_whole_form, results)):
        forms = [metric for metric in results if _whole_form(metric) == plain]
        for figure, name, start in (
            ("tau", "tau", lowest),
            ("power", "significant", 0.0),
            ("flips", "other decisions", 0.0),
        ):
            curves, facts = [], []
            for metric in forms:
                points = [(ALL - each.level, y) for each in results[metric] if (y := getattr(each, figure)) is not None]
                dashed = len(forms) > 1 and metric == plain
                curves.append(Curve(points, dashed, marks=not dashed))
                facts.append(f"{'condensed ' * (metric != plain)}{_format_cell(points[-1][1] if points else None)}")
            about = f"at {least}%: {', '.join(facts)}"
            panels.append(CurvePanel(f"{plain}: {name}", about, "% removed", curves, (0, ALL - least), (start, 1)))
    about = "solid: the metric on condensed lists, or its only form; dashes: unjudged documents are not relevant"
    write_files({Path(svg): [draw_curves("Systems under fewer judgments", about, panels)]})
    return f"wrote {svg}"


def _count_verdicts(judgments: Judgments, path: Path, plan: StressPlan) -> Sheet:
    """The share of draws in which the verdict of a suite differs from that under all judgments."""
    variants = {f"{each.level}/{each.draw}": each.judgments for each in reduce_judgments(judgments, plan)}
    with ProgressBar() as progress:
        verdicts = [*run_suites_under(path, {str(ALL): judgments, **variants}, progress)]
    whole = {each.suite: each for each in verdicts if each.variant == str(ALL)}
    if broken := [each.why for each in whole.values() if each.verdict == "error"]:
        raise IrevalError("\n".join(broken))
    rows: list[Row] = []
    for suite in whole:
        for level in plan.levels:
            here = [each for each in verdicts if each.suite == suite and each.variant.split("/")[0] == str(level)]
            counts = Counter(each.verdict for each in here)
            rows.append(
                {
                    "suite": suite,
                    "level": level,
                    "draws": len(here),
                    "flips": 1 - counts[whole[suite].verdict] / len(here),
                    "verdicts": ", ".join(f"{verdict} {count}" for verdict, count in counts.most_common()),
                    "red": list_first(list(dict.fromkeys(each.why for each in here if each.why))),
                }
            )
    about = "Share of draws with another verdict than under all judgments:"
    return Sheet("verdicts", rows, about, {"level": "% left"})
