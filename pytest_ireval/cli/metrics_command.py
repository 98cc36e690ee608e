"""``ireval metrics``: the installed metrics and their definitions."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from pytest_ireval.cli.options import complete_metric_names, get_terminal_width, load_command_registry, suites_option
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.join import join_judgments
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.side_data import join_side_data
from pytest_ireval.errors import IrevalError, MetricError, MetricNameError, Problem
from pytest_ireval.explaining import RANKS, measure_behaviour
from pytest_ireval.metrics.elsewhere import PACKAGES, Elsewhere, list_counterparts, list_without_counterpart
from pytest_ireval.metrics.lookup import NameMeaning, look_up
from pytest_ireval.metrics.metric import SOURCES, Metric
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.metrics.parameters import HOLE, Parameter, format_value
from pytest_ireval.metrics.score import compute_values
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.text_table import align_rows, format_table

_ALSO = {
    "sklearn": "scikit-learn",
    "ndeval": "pyndeval",
    "cwl": "cwl-eval",
    "cwl_eval": "cwl-eval",
    "pytrec_eval": "trec_eval",
    "ir-measures": "ir_measures",
    "pyntcireval": "ntcireval",
}
"""Other names of packages."""


@click.command(name="metrics")
@click.argument("names", nargs=-1, shell_complete=complete_metric_names)
@click.option(
    "--for",
    "package",
    type=click.Choice([*PACKAGES, *_ALSO], case_sensitive=False),
    metavar="PACKAGE",
    help=f"What another package calls them: {', '.join(PACKAGES)}.",
)
@suites_option
def command(names: tuple[str, ...], package: str | None, suites: Path | None) -> None:
    """List the metrics that are installed, or explain those with the given NAMES.

    With --suites also those that conftest.py files bring. With --for it lists the names of another package, ours, and
    whether the values are equal. NAMES are then names of that package, as ndcg_cut_10, or ours.
    """
    registry = load_command_registry(suites)
    package = _ALSO.get(package, package) if package else None
    problems: list[Problem] = []
    if package and not registry.vocabulary.elsewhere:
        missing = "; ".join(f"the package {name} is not installed" for name in registry.vocabulary.missing)
        raise IrevalError(Problem("no plugin has names of other packages", suggestion=missing))
    if package and names:
        blocks, problems = _translate_names(package, names, registry.vocabulary)
    elif package:
        rows = registry.vocabulary.elsewhere
        blocks = [_format_table(package, list_counterparts(rows, package))]
        blocks += [_format_without(names_without, why) for why, names_without in group_reasons(rows, package)]
    elif names:
        blocks, problems = _explain_metrics(names, registry)
        if not suites:
            more = "metrics of conftest.py files are known with --suites DIR"
            problems = [replace(each, allowed="\n  ".join(filter(None, (each.allowed, more)))) for each in problems]
    else:
        blocks = [*_list_metrics(registry), "ireval metrics NAME explains one."]
    if blocks:
        click.echo("\n\n".join(blocks))
    if problems:
        raise MetricNameError(*problems)


def _translate_names(package: str, names: Sequence[str], vocabulary: Vocabulary) -> tuple[list[str], list[Problem]]:
    """Blocks of text about the names that are known, and the problems of the others."""
    meanings: list[NameMeaning] = []
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        try:
            meanings.append(look_up(name, package, vocabulary))
        except MetricNameError as error:
            problems += error.problems
    rows = list(dict.fromkeys(row for meaning in meanings for row in meaning.rows))
    blocks = [_format_table(package, rows)] if rows else []
    absent = dict.fromkeys(meaning.absent for meaning in meanings if meaning.absent)
    blocks += [_format_without(names, why) for why, names in _group_by_reason(absent)]
    nameless = [meaning.ours.name for meaning in meanings if meaning.ours and not meaning.absent]
    blocks += [f"{PACKAGES[package]} has no name for it: {name}" for name in dict.fromkeys(nameless)]
    return blocks, problems


def _format_without(names: Sequence[str], why: str) -> str:
    return f"no counterpart: {', '.join(names)}\n  {why}"


def _format_table(package: str, rows: Iterable[Elsewhere]) -> str:
    return format_table([PACKAGES[package], "pytest-ireval", "equal"], [[*row.names, row.equal] for row in rows])


def _group_by_reason(every: Iterable[Elsewhere]) -> list[tuple[str, list[str]]]:
    by_why: dict[str, list[str]] = {}
    for absent in every:
        by_why.setdefault(absent.differs, []).append(absent.name)
    return list(by_why.items())


def group_reasons(rows: Iterable[Elsewhere], package: str) -> list[tuple[str, list[str]]]:
    """The reasons why names of a package have no counterpart, each with its names."""
    return _group_by_reason(list_without_counterpart(rows, package))


def _explain_metrics(names: tuple[str, ...], registry: Registry) -> tuple[list[str], list[Problem]]:
    """Blocks of text about the metrics that are known, and the problems of the other names."""
    blocks: list[str] = []
    problems: list[Problem] = []
    width = get_terminal_width()
    for name in names:
        try:
            family = registry.vocabulary.family(name)
            head = registry.vocabulary.meaning(name.strip())  # a bare name may lack its cutoff
            asked = [_fill_usual_arguments(head[0](**head[1]))] if head else registry.vocabulary.parse(name)
            lines = [*_describe_metric(family, width), *(line for each in asked for line in _describe_behaviour(each))]
            blocks.append("\n".join(lines))
        except MetricNameError as error:
            problems += error.problems
    return blocks, problems


def _describe_metric(metric: Metric, width: int) -> Iterator[str]:
    """The whole description of a metric, in lines of at most ``width`` where words allow."""
    yield format_signature(metric)
    for line in _list_facts(metric):
        yield textwrap.fill(
            line, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )


def _describe_behaviour(metric: Metric | None) -> Iterator[str]:
    """The drawing of how much a rank counts, and the changes of a list that the metric notices."""
    if metric is None:
        return
    try:
        behaviour = measure_behaviour(metric)
    except MetricError:  # it fails on made-up lists: it is still described
        return
    if behaviour is None:
        return
    yield f"  {metric} of a list with one relevant document, by its rank"
    least = min(0.0, *(curve.min() for curve in behaviour.curves.values()))
    most = max(curve.max() for curve in behaviour.curves.values())
    rows = [["of", f"rank 1 to {RANKS}", *map(str, _RANKS_SHOWN)]]
    for relevant, curve in behaviour.curves.items():
        bars = "".join(_draw_bar((value - least) / (most - least) if most > least else 0.0) for value in curve)
        rows.append([f"{relevant} relevant", bars, *(f"{curve[rank - 1]:.4f}" for rank in _RANKS_SHOWN)])
    yield from (f"    {line}" for line in align_rows(rows, right=range(2, len(rows[0]))))
    for title, changes in (
        ("rises", behaviour.rises),
        ("falls", behaviour.falls),
        ("stays the same", behaviour.ignores),
    ):
        if changes:
            yield f"  {title} if"
            yield from (f"    {change}" for change in changes)


_RANKS_SHOWN = (1, 2, 5, 10, RANKS)


def _draw_bar(share: float) -> str:
    """A bar of that share of the height; a value that is not 0 can be seen."""
    return "·▁▂▃▄▅▆▇█"[math.ceil(share * 8 - 1e-9)]


def _list_facts(metric: Metric) -> Iterator[str]:
    yield metric.info.summary
    for title, text in (
        ("formula", metric.info.formula),
        ("reference", metric.info.reference),
        ("example", metric.info.example),
        ("use", f"ireval evaluate judgments.txt rankings.txt {format_option(metric)}"),
        ("range", format_range(metric)),
        ("better", metric.direction),
        ("sums up as", metric.aggregate),
        ("scores", metric.unit),
        ("no relevant documents", describe_without_relevant(metric)),
        ("also called", ", ".join(list_other_names(metric))),
        ("version", str(metric.version)),
        ("from", metric.origin),
    ):
        if text:
            yield f"{title}: {text}"
    for need in sorted(metric.needs):
        yield f"needs {need}: {SOURCES[need]}"
    for promise, reason in metric.info.not_promised.items():
        yield f"does not promise {promise}: {reason}"
    for parameter in metric.parameters:
        yield f"{parameter.name}: {describe_parameter(parameter)}"


def format_range(metric: Metric) -> str:
    """Least and greatest value under default arguments."""
    if callable(metric.range) and metric.missing:
        return "depends on the arguments"
    low, high = metric.bounds
    return f"{low:g} to {high:g}"


def describe_without_relevant(metric: Metric) -> str:
    """The score of a query without relevant documents."""
    if metric.unit != "query" or not metric.judged:
        return ""
    value = _score_without_relevant(metric)
    if value is None:
        return "depends on the ranking"
    return f"{value:g}" if metric.no_relevant is not None else f"{value:g}, by the formula"


def list_other_names(metric: Metric) -> list[str]:
    """Other names; each that means more than the bare metric with what it stands for."""
    every = ((name, format_meaning(metric, name)) for name in sorted(metric.info.spellings, key=str.lower))
    return [name if meant == metric.name else f"{name} = {meant}" for name, meant in every]


def format_meaning(metric: Metric, spelling: str) -> str:
    """The meaning of a spelling, in the grammar of names: ``nDCG(gain='exp')``, ``nDCG@{cutoff}``."""
    given = metric(**metric.info.spellings[spelling]).arguments
    defaults = {p.name: p.default for p in metric.parameters}
    parts = {name: format_value(value) for name, value in given.items() if value != defaults[name]}
    parts |= {hole["parameter"]: f"{{{hole['parameter']}}}" for hole in HOLE.finditer(spelling)}
    at = f"@{parts.pop(metric.at)}" if metric.at in parts and metric.at else ""
    inside = ", ".join(f"{name}={value}" for name, value in sorted(parts.items()))
    return f"{metric.name}{f'({inside})' if inside else ''}{at}"


def format_option(metric: Metric) -> str:
    """An example of how to ask for it: ``-m 'nDCG@10'``."""
    inside = ", ".join(f"{p.name}={_find_sample(p)}" for p in metric.parameters if p.required and p.name != metric.at)
    at = metric.parameter(metric.at) if metric.at else None
    name = metric.name + (f"({inside})" if inside else "") + (f"@{_find_sample(at)}" if at else "")
    quoted = f'"{name}"' if "'" in name else f"'{name}'"
    options = {"collection": "--collection N", "fields": "--fields FILE", "timings": "--timings FILE"}
    return " ".join([f"-m {quoted}", *(option for need, option in options.items() if need in metric.needs)])


def _fill_usual_arguments(metric: Metric) -> Metric | None:
    """The metric with a usual value of each argument that must be given; None if no value is usual."""
    if any(p.required and p.kind not in _PLACES for p in metric.parameters):
        return None
    return metric(**{p.name: _PLACES[p.kind] for p in metric.parameters if p.name in metric.missing})


def _find_sample(parameter: Parameter) -> str:
    """A value that makes sense, as far as the parameter tells."""
    for value in (10, 0.5, 1, True, *(parameter.choices or ("…",)), {1: 1, 2: 3}):
        try:
            return format_value(parameter.check(value))
        except ValueError:  # not of this type, or out of its bounds
            continue
    return "…"


def describe_parameter(parameter: Parameter) -> str:
    """The meaning of a parameter, its allowed values and its default."""
    default = "required" if parameter.required else f"default {format_value(parameter.default)}"
    allowed = " or ".join(map(repr, parameter.choices)) or parameter.bounds
    aliases = ", ".join(f"also {name}=" for name in parameter.about.aliases)
    return "; ".join(part for part in (parameter.about.meaning, allowed, default, aliases) if part)


def format_signature(metric: Metric) -> str:
    """The name with what must follow it."""
    needed = [p.name for p in metric.parameters if p.required and p.name != metric.at]
    inside = f"({', '.join(f'{name}=…' for name in needed)})" if needed else ""
    parameter = metric.parameter(metric.at) if metric.at else None
    at = "" if parameter is None else f"@{parameter.name}" if parameter.required else f"[@{parameter.name}]"
    return f"{metric.name}{inside}{at}"


def _list_metrics(registry: Registry) -> list[str]:
    """A table for each distribution that brings metrics or could."""
    tables = []
    for distribution in registry.distributions:
        own = (metric for metric in registry.metrics.values() if metric.origin == distribution)
        metrics = sorted(own, key=lambda metric: metric.name.lower())
        rows = [[format_signature(metric), metric.info.summary] for metric in metrics]
        resolvers = (each for each in registry.vocabulary.prefixes if each.origin == distribution)
        rows += [[f"{each.prefix}:…", each.summary] for each in resolvers]
        tables.append(format_table([distribution, ""], rows))
    return tables


_PLACES = {"int": 10, "float": 0.5}


def _score_without_relevant(metric: Metric) -> float | None:
    """The value without relevant documents; None if it depends on the ranking or is unknown."""
    if metric.no_relevant is not None or metric.unit != "query":
        return metric.no_relevant
    if (given := _fill_usual_arguments(metric)) is None:
        return None
    try:
        values = compute_values(given, _make_lists_without_relevant())
    except MetricError:  # it needs more than rankings: its value is unknown
        return None
    return float(values[0]) if math.isfinite(values[0]) and (values == values[0]).all() else None


def _make_lists_without_relevant() -> JudgedRankings:
    judgments = {"a": {"x": 0, "y": -1}, "b": {"x": 0}, "c": {"x": 0, "y": 0, "z": 0}, "d": {"x": 0}}
    rankings = {"a": ["x", "y"], "b": ["z"], "c": ["z", "w", "x", "y"]}
    return join_side_data(join_judgments(convert_judgments(judgments), convert_rankings(rankings)), collection=1000)
