"""``ireval stress``: which metrics keep the order of systems, and gates their verdicts, under fewer judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from pytest_ireval import Policies, SideData
from pytest_ireval.cli.options import (
    LateBar,
    format_options,
    metrics_option,
    named_files,
    numbers_option,
    policy_options,
    registry_at,
    rel_option,
    tests_option,
)
from pytest_ireval.cli.sheets import Row, Sheet, first_of, sheet_format, show
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.errors import IrevalError
from pytest_ireval.plugin_api import Curve, CurvePanel, draw_curves, format_count
from pytest_ireval.reading import read_judgments
from pytest_ireval.tables import write_files
from pytest_ireval_lab.systems import (
    ALL,
    Stressed,
    StressPlan,
    Systems,
    condensed_of,
    doubts,
    draws,
    reduced,
    stressed,
    system_values,
    systems_of,
)

if TYPE_CHECKING:
    from pytest_ireval.comparing import Test
    from pytest_ireval.metrics.metric import Metric

STRESSED = ("AP", "nDCG", "Q", "Bpref")


@click.command(name="stress", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings", nargs=-1, metavar="RANKINGS RANKINGS...")
@metrics_option(STRESSED)
@click.option(
    "--condensed/--no-condensed", default=True, help="Score each metric also without unjudged documents, if it can be."
)
@numbers_option(
    "--levels",
    least=1,
    most=ALL,
    default="100,90,80,70,60,50,40,30,20,10",
    help="Percent of the judgments that are left.",
)
@click.option("--repeats", default=5, type=click.IntRange(1, 1000), help="The number of random draws.")
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the draws.")
@rel_option
@tests_option
@click.option(
    "--suite",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A file of suites: show how often their verdicts change. Their sources are asked each time.",
)
@click.option("--svg", metavar="FILE", help="Write the curves as a picture.")
@sheet_format
@format_options("judgments", "rankings")
@policy_options
def command(
    judgments: str,
    rankings: tuple[str, ...],
    metrics: tuple[str, ...],
    condensed: bool,
    levels: tuple[int, ...],
    repeats: int,
    seed: int,
    rel: float,
    test: str,
    alpha: float,
    suite: Path | None,
    svg: str | None,
    form: str,
    policies: Policies,
    side_data: SideData,
    judgments_format: str | None,
    rankings_format: str | None,
) -> None:
    """Score RANKINGS again with fewer and fewer JUDGMENTS, drawn at random.

    Of each query the same share of its relevant and of its other documents is left, and one relevant document in any
    case. A robust metric keeps the order of systems and its decisions about pairs. Name ten or more systems that
    differ.
    """
    if len(rankings) < 2 and (rankings or suite is None):
        raise click.UsageError("give at least two RANKINGS" if rankings else "give at least two RANKINGS, or --suite")
    plan = StressPlan(tuple(sorted({ALL, *levels}, reverse=True)), repeats, seed, rel, cast("Test", test), alpha)
    registry = registry_at(None)
    sheets: list[Sheet] = []
    notes: list[str] = []
    with LateBar() as progress:
        if rankings:
            systems = systems_of(
                judgments,
                named_files(rankings),
                metrics or STRESSED,
                policies,
                side_data,
                registry=registry,
                progress=progress,
                judgments_format=judgments_format,
                rankings_format=rankings_format,
            )
            known = systems.setting.judgments
            robust, notes = _robustness(systems, condensed, plan, progress)
            sheets += _sheets(robust, plan.levels)
            if svg is not None:
                notes.append(_drawn(robust, svg))
        else:
            known = read_judgments(
                judgments, format=judgments_format, grades=policies.grades, registry=registry, progress=progress
            )
    if suite is not None:
        sheets.append(_verdicts(known, suite, plan))
    show(sheets, [*notes, *_about_draws(known, plan)], form)


def _robustness(
    systems: Systems, condensed: bool, plan: StressPlan, progress: LateBar
) -> tuple[dict[Metric, list[Stressed]], list[str]]:
    """Each metric that judgments can change, at all levels; and notes."""
    policies = systems.setting.policies
    asked = systems.setting.metrics
    metrics = condensed_of(asked) if condensed and policies.unjudged != "removed" else [*asked]
    reasons = {metric: _why_left_out(metric) for metric in metrics}
    left_out = [f"{metric} is left out: {reason}" for metric, reason in reasons.items() if reason]
    metrics = [metric for metric, reason in reasons.items() if not reason]
    if not metrics:
        raise IrevalError("\n".join(["no metric is left", *left_out]))
    whole = system_values(metrics, systems.judged, policies)
    found = stressed(systems, metrics, whole, plan, progress)
    size = len(plan.levels)
    robust = {metric: found[i * size : (i + 1) * size] for i, metric in enumerate(metrics)}
    notes = [
        f"{len(systems.names)} systems, {format_count(systems.queries, 'query')}; "
        f"pairs: {plan.test} test, alpha {plan.alpha:g}, each pair by itself",
        *_about_forms(robust),
        *_about_spread(found, plan),
        *left_out,
        *doubts(systems, whole),
    ]
    return robust, notes


def _why_left_out(metric: Metric) -> str:
    if not metric.reads_judgments or "preferences" in metric.needs:
        return "it does not use grades of documents"
    return "neither higher nor lower values are better" if metric.direction == "neither" else ""


def _about_forms(robust: Mapping[Metric, Sequence[Stressed]]) -> Iterator[str]:
    if any(_is_condensed(metric) for metric in robust):
        yield "': without unjudged documents (condensed lists, judged_only=True)"


def _about_spread(found: Sequence[Stressed], plan: StressPlan) -> Iterator[str]:
    if plan.repeats == 1:
        yield "one draw shows no spread; use more --repeats"
        return
    spread = [(each.tau_sd, each) for each in found if each.tau_sd is not None and each.level < ALL]
    if spread:
        sd, most = max(spread, key=lambda pair: pair[0])
        at = f"{most.metric} at {most.level}%"
        yield f"means over {plan.repeats} draws; greatest standard deviation of tau: {sd:.3f} ({at})"


def _about_draws(judgments: Judgments, plan: StressPlan) -> Iterator[str]:
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
    left = int(next(draws(judgments, plan.rel, plan.seed, 1)).kept(lowest).sum())
    if abs(left - lowest * len(judgments) / ALL) > 0.005 * len(judgments):
        yield (
            f"left at {lowest}%: {format_count(left, 'judgment')} ({left / len(judgments):.0%}), "
            "because numbers of each query are rounded, and one relevant document stays"
        )


def _is_condensed(metric: Metric) -> bool:
    return bool(metric.settings.get("judged_only"))


def _plain(metric: Metric) -> Metric:
    return metric(judged_only=False) if _is_condensed(metric) else metric


def _short(metric: Metric) -> str:
    return f"{_plain(metric)}'" if _is_condensed(metric) else str(metric)


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


def _sheets(robust: Mapping[Metric, Sequence[Stressed]], levels: Sequence[int]) -> Iterator[Sheet]:
    for figure, about in FIGURES.items():
        rows = [
            {name: asdict(each)[name] for name in ("metric", "level", "judgments", *MORE[figure])}
            for found in robust.values()
            for each in found
        ]
        shown: list[Row] = [
            {
                "metric": _short(metric),
                **{
                    str(each.level): _cell(getattr(each, figure))
                    for each in found
                    if figure == "power" or each.level < ALL
                },
            }
            for metric, found in robust.items()
        ]
        yield Sheet(figure, rows, about, shown=shown if figure == "power" or len(levels) > 1 else ())


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _drawn(robust: Mapping[Metric, Sequence[Stressed]], svg: str) -> str:
    """Write the picture: three panels for each metric, both forms of it in one panel."""
    least = next(iter(robust.values()))[-1].level
    lowest = min((each.tau for found in robust.values() for each in found if each.tau is not None), default=0.0)
    panels = []
    for plain in dict.fromkeys(map(_plain, robust)):
        forms = [metric for metric in robust if _plain(metric) == plain]
        for figure, name, start in (
            ("tau", "tau", lowest),
            ("power", "significant", 0.0),
            ("flips", "other decisions", 0.0),
        ):
            curves, facts = [], []
            for metric in forms:
                points = [(ALL - each.level, y) for each in robust[metric] if (y := getattr(each, figure)) is not None]
                dashed = len(forms) > 1 and metric == plain
                curves.append(Curve(points, dashed, marks=not dashed))
                facts.append(f"{'condensed ' * (metric != plain)}{_cell(points[-1][1] if points else None)}")
            about = f"at {least}%: {', '.join(facts)}"
            panels.append(CurvePanel(f"{plain}: {name}", about, "% removed", curves, (0, ALL - least), (start, 1)))
    about = "solid: the metric on condensed lists, or its only form; dashes: unjudged documents are not relevant"
    write_files({Path(svg): [draw_curves("Systems under fewer judgments", about, panels)]})
    return f"wrote {svg}"


def _verdicts(judgments: Judgments, path: Path, plan: StressPlan) -> Sheet:
    """The share of draws in which the verdict of a suite differs from that under all judgments."""
    from pytest_ireval.gate.replay import verdicts_under

    fewer = {f"{level}/{number}": part for level, number, part in reduced(judgments, plan)}
    variants = {str(ALL): judgments, **fewer}
    with LateBar() as progress:
        found = [*verdicts_under(path, variants, progress)]
    rows: list[Row] = []
    wholes = {each.suite: each.verdict for each in found if each.judged_by == str(ALL)}
    if broken := [each.red for each in found if each.judged_by == str(ALL) and each.verdict == "error"]:
        raise IrevalError("\n".join(broken))
    for suite, whole in wholes.items():
        for level in plan.levels:
            here = [each for each in found if each.suite == suite and each.judged_by.split("/")[0] == str(level)]
            verdicts = Counter(each.verdict for each in here)
            red = dict.fromkeys(each.red for each in here if each.red)
            rows.append(
                {
                    "suite": suite,
                    "level": level,
                    "draws": len(here),
                    "flips": 1 - verdicts[whole] / len(here),
                    "verdicts": ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()),
                    "red": first_of(list(red)),
                }
            )
    about = "Share of draws with another verdict than under all judgments:"
    return Sheet("verdicts", rows, about, {"level": "% left"})
