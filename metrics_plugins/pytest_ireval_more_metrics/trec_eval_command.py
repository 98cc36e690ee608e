"""``ireval trec_eval``: the command line, the names and the three columns of trec_eval 10."""

from __future__ import annotations

import getopt
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import click
import numpy as np

import pytest_ireval
from pytest_ireval import (
    IrevalError,
    Judgments,
    Metric,
    Policies,
    Rankings,
    SideData,
    evaluate,
    read_judgments,
    read_rankings,
)
from pytest_ireval.cli.options import ProgressBar, load_command_registry
from pytest_ireval.cli.sheets import list_first
from pytest_ireval.plugin_api import InputFile, Registry, did_you_mean, drop_judgments
from pytest_ireval.tables import open_input
from pytest_ireval_more_metrics.other_packages import list_names_elsewhere

USAGE = "usage: ireval trec_eval [-q] [-c] [-n] [-l N] [-J] [-M N] [-N N] [-m MEASURE[.PARAMETERS]]... QRELS RUN"
HELP = """
Prints what trec_eval 10 prints. QRELS and RUN are TREC files; RUN may be - for standard input.

  -m, --measure NAME                 a measure, or official (the default), all_trec, set; repeatable. Parameters
                                     follow a point: -m P.5,10 -m ndcg.1=3,2=9 -m rbp.p=0.8
  -q, --query_eval_wanted            values of every query before those of all
  -n, --nosummary                    no values of all
  -c, --complete_rel_info_wanted     a judged query that RUN lacks counts 0; without -c it is an error
  -l, --level_for_rel N              grades from N on are relevant (default 1)
  -J, --Judged_docs_only             remove documents without a judgment, or with a grade below 0, first
  -M, --Max_retrieved_per_topic N    use only the first N documents of each query
  -N, --Number_docs_in_coll N        the number of documents in the collection, for utility
  -v, --version
  -h, --help                         with -m: the definitions of these measures

Exit codes: 1 for a wrong option or measure, 2 for a wrong file, 4 for values that cannot be computed.
"""
SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
LONG = (
    "help version query_eval_wanted measure= complete_rel_info_wanted level_for_rel= nosummary Debug_level= "
    "Judged_docs_only Number_docs_in_coll= Max_retrieved_per_topic= Rel_info_format= Results_format= "
    "Output_old_results_format= Zscore="
)
SHORT_OF = {f"--{name.rstrip('=')}": f"-{name[0]}" for name in LONG.split()} | {
    "--Results_format": "-T",
    "--Output_old_results_format": "-o",
}
NOT_OFFERED = {
    "-D": "prints no steps of its arithmetic: use ireval why",
    "-o": "has no layout of old versions",
    "-Z": "has no z-scores: compare two runs with ireval compare",
}
FORMATS = {"-R": "qrels", "-T": "trec_results"}

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
LEVELS = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"
MULTIPLES = ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"
MEASURES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec"), ("", "")),
    **dict.fromkeys(("bpref", "recip_rank"), ("", "")),
    "iprec_at_recall": ("levels", LEVELS),
    "P": ("cutoffs", CUTOFFS),
    "relstring": ("numbers", "10"),
    "recall": ("cutoffs", CUTOFFS),
    "infAP": ("", ""),
    "gm_bpref": ("", ""),
    "Rprec_mult": ("levels", MULTIPLES),
    "utility": ("numbers", ""),
    "11pt_avg": ("numbers", ""),
    "binG": ("", ""),
    **dict.fromkeys(("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg"), ("pairs", "")),
    "ndcg_cut": ("cutoffs", CUTOFFS),
    "map_cut": ("cutoffs", CUTOFFS),
    "relative_P": ("cutoffs", CUTOFFS),
    "success": ("cutoffs", "1,5,10"),
    **dict.fromkeys(("set_P", "set_relative_P", "set_recall", "set_map"), ("", "")),
    "set_F": ("numbers", ""),
    **dict.fromkeys(("num_nonrel_judged_ret", "yaap"), ("", "")),
    **dict.fromkeys(("rbp", "rbp_resid"), ("pairs", "p=0.9")),
    "unj": ("cutoffs", "5,10,20"),
}
"""Every measure in the order of rows, with the kind of its parameters and their default."""
NICKNAMES = {
    "official": list(MEASURES)[:12],
    "all_trec": [name for name in MEASURES if name not in ("dcg", "ideal_dcg", "yaap")],
    "set": [*list(MEASURES)[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"],
}
SAMPLES = {
    "": "",
    "cutoffs": "5,10",
    "levels": "0.5,1",
    "numbers": "0.5",
    "pairs": "1=3,2=9",
    "utility": "1,-1,0,0",
    **dict.fromkeys(("rbp", "rbp_resid"), "p=0.8"),
}
"""Parameters by their kind, or of one measure, for messages."""
COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
GEOMETRIC = {"gm_map", "gm_bpref"}
SMALLEST_FACTOR = 0.00001
"""Of a geometric mean."""
OF_ALL_ALONE = {"runid", "num_q", *GEOMETRIC}
NEGATIVE_IS_UNJUDGED = {"unj", "rbp_resid"}
"""Measures for which documents with a grade below 0 are not judged; -J takes them out for all measures."""
ZEROS = {"rbp_resid": "Judged", "Rndcg": "NumRel"}
"""Measures that are 0 against their definition: where every document is judged, and without a relevant one."""
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
LEADING_POINT = re.compile(r"(?<![0-9])\.(?=[0-9])")
TAIL = 1 << 16
"""The bytes at the end of a file that have its last line."""


@dataclass
class _Options:
    """The options of one call."""

    measures: dict[str, str | None] = field(default_factory=dict)
    """The parameters of each measure as they were given; None for its own."""
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    level: int = 1
    depth: int | None = None
    collection: int | None = None
    help: bool = False


class _Row(NamedTuple):
    """A line of the output for each query. Several metrics are averaged; ``text`` is a measure without metric."""

    measure: str
    name: str
    metrics: Sequence[Metric] = ()
    text: int = 0
    zero: Metric | None = None
    """The metric that shows where trec_eval gives 0; see ZEROS."""


@click.command(
    name="trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> None:
    """Evaluate RUN with QRELS as trec_eval does: its options, its names, its digits."""
    try:
        given, files = getopt.gnu_getopt(list(words), SHORT, LONG.split())
    except getopt.GetoptError as error:
        _quit(1, f"{error.msg}\n{USAGE}")
    asked = _read_options(given)
    registry = load_command_registry(None)
    for name, parameters in asked.measures.items():
        if name not in MEASURES:
            _quit(1, _describe_unknown(name, parameters))
    rows = [row for name in MEASURES if name in asked.measures for row in _find_rows(name, asked, registry)]
    if asked.help:
        click.echo(USAGE + HELP + "\n" * bool(rows) + "".join(_format_definitions(rows)), nl=False)
        return
    if len(files) != 2 or files[0] == "-":
        _quit(1, f"name two files, QRELS and RUN, of which RUN may be -; named: {', '.join(files) or 'none'}\n{USAGE}")
    try:
        inputs = _read(files[0], files[1], asked, rows, registry)
    except (IrevalError, OSError) as error:
        _quit(2, str(error))
    ranked = set(inputs.rankings.queries)
    missing = [query for query in inputs.judgments.queries if query not in ranked]
    if missing and not asked.complete:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        _quit(4, f"{files[1]} has no documents for query {missing[0]!r}{more}; -c counts such queries as 0")
    try:
        lines = list(_format_lines(rows, inputs, asked, registry))
    except IrevalError as error:
        _quit(4, str(error))
    click.echo("".join(lines), nl=False)


def _quit(code: int, complaint: str) -> NoReturn:
    click.echo(f"ireval trec_eval: {complaint}", err=True)
    sys.exit(code)


def _read_options(given: Sequence[tuple[str, str]]) -> _Options:
    asked = _Options()
    for name, value in given:
        option = SHORT_OF.get(name, name)
        if option == "-v":
            click.echo(
                f"ireval trec_eval: pytest-ireval {pytest_ireval.__version__}, with the measures of trec_eval 10",
                err=True,
            )
            sys.exit(0)
        if option in NOT_OFFERED:
            _quit(1, f"{name} is not offered; it {NOT_OFFERED[option]}")
        if option in FORMATS and value != FORMATS[option]:
            _quit(2, f"{name} {value}: the format is not offered; allowed: {FORMATS[option]}")
        if option in ("-l", "-M", "-N"):
            whole = int(value) if re.fullmatch(r"[0-9]{1,15}", value) else 0
            if not whole:
                _quit(1, f"{name} {value}: this is not a whole number above 0")
            setattr(asked, {"-l": "level", "-M": "depth", "-N": "collection"}[option], whole)
        elif option == "-m":
            _add_measure(value, asked.measures)
        elif option in ("-q", "-c", "-J", "-h"):
            setattr(asked, {"-q": "per_query", "-c": "complete", "-J": "judged_only", "-h": "help"}[option], True)
        elif option == "-n":
            asked.summary = False
    if not asked.measures and not asked.help:
        _add_measure("official", asked.measures)
    return asked


def _add_measure(text: str, measures: dict[str, str | None]) -> None:
    """Add a measure, or those of a nickname, to those that are asked for."""
    name, point, parameters = text.partition(".")
    if point and name in NICKNAMES:
        _quit(1, f"-m {text}: {name} has no parameters; give them to one of its measures, as in -m P.5,10")
    if point and not parameters:
        _quit(1, f"-m {text}: parameters are missing after the point, as in -m P.5,10")
    for each in NICKNAMES.get(name, [name]):
        if point and measures.get(each):
            _quit(1, f"-m {text}: {each} has its parameters already ({measures[each]}); write them in one list")
        if point or each not in measures:
            measures[each] = parameters or None


def _find_rows(name: str, asked: _Options, registry: Registry) -> Iterator[_Row]:
    """The rows of a measure with its parameters."""
    given = asked.measures[name]
    takes, default = MEASURES[name]
    if given is not None and not takes:
        _quit(1, f"-m {name}.{given}: {name} has no parameters")
    title = name if given is None else f"{name}_{given}"
    text = LEADING_POINT.sub("0.", given or default)
    numbers = [_parse_number(name, each) for each in text.split(",")] if text and takes != "pairs" else []
    if name in ("runid", "relstring"):
        yield _Row(name, title, (), max(0, *map(int, numbers or [1])))
    elif takes in ("cutoffs", "levels"):
        ends = sorted(int(each) if takes == "cutoffs" else each for each in numbers)
        if len(set(ends)) < len(ends):
            _quit(1, f"-m {name}.{given}: a parameter is given twice")
        for end in ends:
            shown = str(end) if takes == "cutoffs" else f"{end:3.2f}"
            yield _make_row(name, f"{name}_{shown}", [f"{name}_{end}"], asked, registry)
    elif name == "11pt_avg" and numbers:
        yield _make_row(name, title, [f"iprec_at_recall_{each}" for each in numbers], asked, registry)
    else:
        yield _make_row(name, title, [f"{name}_{text}" if text else name], asked, registry)


def _parse_number(name: str, text: str) -> float:
    if not NUMBER.fullmatch(text):
        _quit(1, f"-m {name}: the parameter {text!r} is not a number")
    return float(text)


def _make_row(measure: str, title: str, names: Sequence[str], asked: _Options, registry: Registry) -> _Row:
    try:
        metrics = [metric for each in names for metric in registry.parse_metrics([each])]
    except IrevalError as error:
        complaint = error.problems[0].complaint
        kind = MEASURES[measure][0]
        sample = f"as in -m {measure}.{SAMPLES.get(measure, SAMPLES[kind])}"
        fault = "these parameters do not fit" if "unknown metric" in complaint else complaint
        _quit(1, f"-m {measure}.{asked.measures[measure]}: {fault}; write them {sample}")
    zero = registry.parse_metrics([ZEROS[measure]])[0] if measure in ZEROS else None
    leveled = [_set_level(metric, asked.level) for metric in metrics]
    return _Row(measure, title, leveled, zero=zero and _set_level(zero, asked.level))


def _set_level(metric: Metric, level: int) -> Metric:
    relevant = metric.parameter("rel")
    return metric if relevant is None or relevant.default is None else metric(rel=level)


def _describe_unknown(name: str, parameters: str | None) -> str:
    """The complaint about a measure, with the reason why it is not offered or with the measure that is meant."""
    text = name if parameters is None else f"{name}.{parameters}"
    for row in list_names_elsewhere():
        if row.package == "trec_eval" and row.name == name and not row.ours:
            return f"-m {text}: the measure is not offered: {row.differs}"
    with_point = re.sub(r"_(?=[-+]?[0-9.]+$)", ".", name, count=1)  # ndcg_cut_10 is its name in the output
    hint = did_you_mean(name, [*MEASURES, *NICKNAMES])
    if with_point.partition(".")[0] in MEASURES:
        hint = f"did you mean {with_point!r}?"
    return f"-m {text}: the measure is unknown; {hint or 'ireval metrics --for trec_eval lists all'}"


def _format_definitions(rows: Sequence[_Row]) -> Iterator[str]:
    for row in rows:
        meaning = " and ".join(f"{metric}: {metric.info.summary}" for metric in row.metrics) or "text, not a number"
        yield f"  {row.name} = {meaning}\n"


class _Inputs(NamedTuple):
    judgments: Judgments
    rankings: Rankings
    tag: str
    """That of the run; empty if no row shows it."""


def _read(qrels: str, run: str, asked: _Options, rows: Sequence[_Row], registry: Registry) -> _Inputs:
    with open_input(run) as file, ProgressBar() as progress:
        judgments = read_judgments(qrels, format="trec", registry=registry, progress=progress)
        try:
            rankings = read_rankings(file.path, format="trec", registry=registry, progress=progress)
        except IrevalError as error:  # the bytes of a pipe have a path of their own
            copied = file.path.name != Path(file.name).name
            raise IrevalError(str(error).replace(str(file.path), file.name) if copied else str(error)) from None
        tag = _read_tag(file) if any(row.measure == "runid" for row in rows) else ""
    if not_judged := sorted(set(rankings.queries) - set(judgments.queries)):
        named = list_first(list(map(repr, not_judged)))
        click.echo(f"ireval trec_eval: not judged, so they do not count: queries {named}", err=True)
    return _Inputs(_without_negative(judgments) if asked.judged_only else judgments, rankings, tag)


def _without_negative(judgments: Judgments) -> Judgments:
    negative = np.flatnonzero(judgments.grade < 0)
    return drop_judgments(judgments, negative) if negative.size else judgments


def _read_tag(file: InputFile) -> str:
    """The sixth column of the last line with content."""
    kept, buffer = b"", bytearray(TAIL)
    with file.bytes.open(max(0, file.bytes.size - TAIL) if file.bytes.is_plain else 0) as stream:
        while got := stream.readinto(memoryview(buffer)):
            kept = (kept + buffer[:got])[-TAIL:]
    lines = [line.split() for line in kept.decode("utf-8", "replace").split("\n") if line.strip()]
    return next((words[5] for words in reversed(lines) if len(words) > 5 and not words[0].startswith("#")), "")


def _format_lines(rows: Sequence[_Row], inputs: _Inputs, asked: _Options, registry: Registry) -> Iterator[str]:
    """The lines of each query by id, then those of all queries."""
    values = _score(rows, inputs, asked, registry)
    order = sorted(inputs.judgments.queries, key=str.encode)
    grades = _map_grades(inputs.judgments) if any(row.measure == "relstring" for row in rows) else {}
    lists = _map_lists(inputs.rankings) if grades else {}
    for query in order if asked.per_query else ():
        for row, by_query in zip(rows, values, strict=True):
            if row.measure == "relstring":
                documents = list(lists.get(query, ()))[: asked.depth]
                signs = _format_relevance(documents, grades[query], row.text, judged_only=asked.judged_only)
                yield _format_line(row.name, query, f"'{signs}'")
            elif row.measure not in OF_ALL_ALONE:
                yield _format_line(row.name, query, _format_figure(row, by_query[query]))
    for row, by_query in zip(rows, values, strict=True):
        if row.measure == "runid":
            yield from [_format_line(row.name, "all", inputs.tag)] if asked.summary else ()
        elif row.measure != "relstring" and asked.summary:
            yield _format_line(row.name, "all", _format_figure(row, _sum_up(row, [by_query[query] for query in order])))


def _format_line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


def _format_figure(row: _Row, value: float) -> str:
    return str(int(value)) if row.measure in COUNTS else f"{value:6.4f}"


Values = Mapping[str, float]
"""By query."""


def _score(rows: Sequence[_Row], inputs: _Inputs, asked: _Options, registry: Registry) -> list[Values]:
    """The values of each row for every query."""
    policies = Policies(depth=asked.depth, unjudged="removed" if asked.judged_only else "irrelevant")
    side_data = SideData(collection=asked.collection)
    rankings: Rankings | dict[str, dict[str, float]] = inputs.rankings
    if missing := set(inputs.judgments.queries).difference(inputs.rankings.queries):
        rankings = _map_lists(inputs.rankings) | {query: {} for query in missing}  # trec_eval scores an empty list
    scored: dict[tuple[bool, str], Values] = {}
    for without_negative in (False, True):
        metrics = [
            metric
            for row in rows
            if (row.measure in NEGATIVE_IS_UNJUDGED) == without_negative
            for metric in (*row.metrics, *filter(None, [row.zero]))
        ]
        if metrics:
            evaluation = evaluate(
                _without_negative(inputs.judgments) if without_negative else inputs.judgments,
                rankings,
                list(dict.fromkeys(metrics)),
                policies=policies,
                side_data=side_data,
                registry=registry,
            )
            scored |= {(without_negative, metric.name): metric.values for metric in evaluation.metrics}
    return [_find_values(row, scored, inputs, asked) for row in rows]


def _find_values(row: _Row, scored: Mapping[tuple[bool, str], Values], inputs: _Inputs, asked: _Options) -> Values:
    queries, without_negative = inputs.judgments.queries, row.measure in NEGATIVE_IS_UNJUDGED
    parts = [scored[without_negative, str(metric)] for metric in row.metrics]
    values = {query: math.fsum(part[query] for part in parts) / len(parts) if parts else 0.0 for query in queries}
    if row.measure == "rbp":
        tops = np.ones(len(queries))
        np.maximum.at(tops, inputs.judgments.query, inputs.judgments.grade)
        highest = inputs.judgments.highest_grade
        return {query: values[query] * highest / top for query, top in zip(queries, tops.tolist(), strict=True)}
    zero: set[str] = set()
    if row.measure in ("utility", "unj", "rbp_resid"):
        zero.update(set(queries).difference(inputs.rankings.queries))
    if row.measure == "rbp_resid" and asked.judged_only:
        zero.update(queries)
    elif row.zero is not None:
        wanted = 1.0 if row.measure == "rbp_resid" else 0.0
        zero.update(query for query, value in scored[without_negative, str(row.zero)].items() if value == wanted)
    return {query: 0.0 if query in zero else value for query, value in values.items()}


def _sum_up(row: _Row, values: Sequence[float]) -> float:
    """The figure of all queries, added up one by one as trec_eval does: the last digit depends on it."""
    total = 0.0
    for value in values:
        total += math.log(max(value, SMALLEST_FACTOR)) if row.measure in GEOMETRIC else value
    if row.measure in COUNTS:
        return total
    return math.exp(total / len(values)) if row.measure in GEOMETRIC else total / len(values)


def _map_grades(judgments: Judgments) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {query: {} for query in judgments.queries}
    rows = zip(judgments.query.tolist(), judgments.documents.texts(), judgments.grade.tolist(), strict=True)
    for query, document, grade in rows:
        grades[judgments.queries[query]][document] = grade
    return grades


def _map_lists(rankings: Rankings) -> dict[str, dict[str, float]]:
    """The documents of each query with their scores, best first."""
    rows = list(zip(rankings.documents.texts(), rankings.score.tolist(), strict=True))
    first = rankings.first.tolist()
    return {query: dict(rows[first[i] : first[i + 1]]) for i, query in enumerate(rankings.queries)}


def _format_relevance(documents: Sequence[str], grades: Mapping[str, float], count: int, *, judged_only: bool) -> str:
    """A character for each of the first documents: its grade, - without a judgment, . with a grade below 0."""
    known = [grades.get(document) for document in documents]
    if judged_only:
        known = [grade for grade in known if grade is not None]
    return "".join(
        "-" if grade is None else "." if grade < 0 else ">" if grade > 9 else f"{grade:.0f}" for grade in known[:count]
    )
