"""``ireval trec_eval``: the command line, the names and the three columns of trec_eval 10."""

from __future__ import annotations

import getopt
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, NoReturn

import click

import pytest_ireval
from pytest_ireval import IrevalError, JudgedRankings, Metric, condensed
from pytest_ireval.cli.options import LateBar, registry_at
from pytest_ireval.data.coerce import some
from pytest_ireval.data.formats.input_file import InputFile, input_file
from pytest_ireval.data.side_data import SideData
from pytest_ireval.data.views import cut_to_depth, unjudged_below_0
from pytest_ireval.errors import MetricNameError, did_you_mean
from pytest_ireval.evaluating.evaluation import set_up
from pytest_ireval.metrics.lookup import look_up
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.metrics.score import SMALLEST_FACTOR, score
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.policies import Policies
from pytest_ireval_metrics.vocabulary import Mask

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
OF_ALL_ALONE = {"runid", "num_q", *GEOMETRIC}
NEGATIVE_IS_UNJUDGED = {"unj", "rbp_resid"}
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
LEADING_POINT = re.compile(r"(?<![0-9])\.(?=[0-9])")
TAIL = 1 << 16
"""The bytes at the end of a file that have its last line."""


@dataclass
class _Asked:
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
    asked = _asked(given)
    registry = registry_at(None)
    for name, parameters in asked.measures.items():
        if name not in MEASURES:
            _quit(1, _unknown(name, parameters, registry.vocabulary))
    rows = [row for name in MEASURES if name in asked.measures for row in _rows(name, asked, registry.vocabulary)]
    if asked.help:
        click.echo(USAGE + HELP + "\n" * bool(rows) + "".join(_definitions(rows)), nl=False)
        return
    if len(files) != 2 or files[0] == "-":
        _quit(1, f"name two files, QRELS and RUN, of which RUN may be -; named: {', '.join(files) or 'none'}\n{USAGE}")
    try:
        judged, tag = _read(files[0], files[1], asked, rows, registry)
    except (IrevalError, OSError) as error:
        _quit(2, str(error))
    missing = [query for query, there in zip(judged.queries, judged.present.tolist(), strict=True) if not there]
    if missing and not asked.complete:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        _quit(4, f"{files[1]} has no documents for query {missing[0]!r}{more}; -c counts such queries as 0")
    try:
        lines = list(_lines(rows, judged, tag, asked))
    except IrevalError as error:
        _quit(4, str(error))
    click.echo("".join(lines), nl=False)


def _quit(code: int, complaint: str) -> NoReturn:
    click.echo(f"ireval trec_eval: {complaint}", err=True)
    sys.exit(code)


def _asked(given: Sequence[tuple[str, str]]) -> _Asked:
    asked = _Asked()
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
            _mark(value, asked.measures)
        elif option in ("-q", "-c", "-J", "-h"):
            setattr(asked, {"-q": "per_query", "-c": "complete", "-J": "judged_only", "-h": "help"}[option], True)
        elif option == "-n":
            asked.summary = False
    if not asked.measures and not asked.help:
        _mark("official", asked.measures)
    return asked


def _mark(text: str, measures: dict[str, str | None]) -> None:
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


def _rows(name: str, asked: _Asked, vocabulary: Vocabulary) -> Iterator[_Row]:
    """The rows of a measure with its parameters."""
    given = asked.measures[name]
    takes, default = MEASURES[name]
    if given is not None and not takes:
        _quit(1, f"-m {name}.{given}: {name} has no parameters")
    title = name if given is None else f"{name}_{given}"
    text = LEADING_POINT.sub("0.", given or default)
    numbers = [_number(name, each) for each in text.split(",")] if text and takes != "pairs" else []
    if name in ("runid", "relstring"):
        yield _Row(name, title, (), max(0, *map(int, numbers or [1])))
    elif takes in ("cutoffs", "levels"):
        ends = sorted(int(each) if takes == "cutoffs" else each for each in numbers)
        if len(set(ends)) < len(ends):
            _quit(1, f"-m {name}.{given}: a parameter is given twice")
        for end in ends:
            shown = str(end) if takes == "cutoffs" else f"{end:3.2f}"
            yield _row(name, f"{name}_{shown}", [f"{name}_{end}"], asked, vocabulary)
    elif name == "11pt_avg" and numbers:
        yield _row(name, title, [f"iprec_at_recall_{each}" for each in numbers], asked, vocabulary)
    else:
        yield _row(name, title, [f"{name}_{text}" if text else name], asked, vocabulary)


def _number(name: str, text: str) -> float:
    if not NUMBER.fullmatch(text):
        _quit(1, f"-m {name}: the parameter {text!r} is not a number")
    return float(text)


def _row(measure: str, title: str, names: Sequence[str], asked: _Asked, vocabulary: Vocabulary) -> _Row:
    try:
        metrics = [metric for each in names for metric in vocabulary.parse(each)]
    except MetricNameError as error:
        complaint = error.problems[0].complaint
        kind = MEASURES[measure][0]
        sample = f"as in -m {measure}.{SAMPLES.get(measure, SAMPLES[kind])}"
        fault = "these parameters do not fit" if "unknown metric" in complaint else complaint
        _quit(1, f"-m {measure}.{asked.measures[measure]}: {fault}; write them {sample}")
    return _Row(measure, title, [_with_level(metric, asked.level) for metric in metrics])


def _with_level(metric: Metric, level: int) -> Metric:
    relevant = metric.parameter("rel")
    return metric if relevant is None or relevant.default is None else metric(rel=level)


def _unknown(name: str, parameters: str | None, vocabulary: Vocabulary) -> str:
    """The complaint about a measure, with the reason why it is not offered or with the measure that is meant."""
    text = name if parameters is None else f"{name}.{parameters}"
    try:
        found = look_up(text, "trec_eval", vocabulary)
    except MetricNameError:
        found = None
    if found and found.absent:
        return f"-m {text}: the measure is not offered: {found.absent.differs}"
    meant = [re.sub(r"_(?=[-+]?[0-9.])", ".", row.names[0], count=1) for row in found.rows] if found else []
    hint = f"did you mean {meant[0]!r}?" if meant else did_you_mean(name, [*MEASURES, *NICKNAMES])
    return f"-m {text}: the measure is unknown; {hint or 'ireval metrics --for trec_eval lists all'}"


def _definitions(rows: Sequence[_Row]) -> Iterator[str]:
    for row in rows:
        meaning = " and ".join(f"{metric}: {metric.info.summary}" for metric in row.metrics) or "text, not a number"
        yield f"  {row.name} = {meaning}\n"


def _read(qrels: str, run: str, asked: _Asked, rows: Sequence[_Row], registry: Registry) -> tuple[JudgedRankings, str]:
    """The judged rankings as the options ask for them, and the run's tag if a row shows it."""
    metrics: list[str | Metric] = [metric for row in rows for metric in row.metrics] or ["NumQ"]
    policies = Policies(missing_queries="zero", depth=asked.depth)
    with input_file(run) as file, LateBar() as progress:
        setting = set_up(qrels, metrics, policies, registry, progress, "trec", "trec")
        documents = True if any(row.measure == "relstring" for row in rows) else None
        try:
            judged, _, unjudged = setting.brought(file.path, SideData(collection=asked.collection), documents=documents)
        except IrevalError as error:  # the bytes of a pipe have a path of their own
            copied = file.path.name != Path(file.name).name
            raise IrevalError(str(error).replace(str(file.path), file.name) if copied else str(error)) from None
        tag = _tag(file) if any(row.measure == "runid" for row in rows) else ""
    if unjudged:
        click.echo(f"ireval trec_eval: not judged, so they do not count: queries {some(unjudged)}", err=True)
    if asked.depth:
        judged = cut_to_depth(judged, asked.depth)
    return condensed(unjudged_below_0(judged)) if asked.judged_only else judged, tag


def _tag(file: InputFile) -> str:
    """The sixth column of the last line with content."""
    kept, buffer = b"", bytearray(TAIL)
    with file.bytes.open(max(0, file.bytes.size - TAIL) if file.bytes.is_plain else 0) as stream:
        while got := stream.readinto(memoryview(buffer)):
            kept = (kept + buffer[:got])[-TAIL:]
    lines = [line.split() for line in kept.decode("utf-8", "replace").split("\n") if line.strip()]
    return next((words[5] for words in reversed(lines) if len(words) > 5 and not words[0].startswith("#")), "")


def _lines(rows: Sequence[_Row], judged: JudgedRankings, tag: str, asked: _Asked) -> Iterator[str]:
    """The lines of each query by id, then those of all queries."""
    values = [_values(row, judged, asked.level) for row in rows]
    order = sorted(range(judged.count), key=lambda number: judged.queries[number].encode())
    for number in order if asked.per_query else ():
        for row, of_row in zip(rows, values, strict=True):
            if row.measure == "relstring":
                yield _line(row.name, judged.queries[number], f"'{_relevance(judged, number, row.text)}'")
            elif row.measure not in OF_ALL_ALONE:
                yield _line(row.name, judged.queries[number], _figure(row, of_row[number]))
    for row, of_row in zip(rows, values, strict=True):
        if row.measure == "runid":
            yield from [_line(row.name, "all", tag)] if asked.summary else ()
        elif row.measure != "relstring" and asked.summary:
            yield _line(row.name, "all", _figure(row, _summed_up(row, [of_row[number] for number in order])))


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


def _figure(row: _Row, value: float) -> str:
    return str(int(value)) if row.measure in COUNTS else f"{value:6.4f}"


def _values(row: _Row, judged: JudgedRankings, level: int) -> list[float]:
    """The value of every query; one without a ranking is taken for an empty list."""
    view = unjudged_below_0(judged) if row.measure in NEGATIVE_IS_UNJUDGED else judged
    ranked = replace(view, present=view.retrieved >= 0, _memory=view._memory)
    parts = [score(metric, ranked).values.tolist() for metric in row.metrics]
    found = [math.fsum(each) / len(each) for each in zip(*parts, strict=True)] or [0.0] * judged.count
    if row.measure == "rbp":
        tops = judged.ideal.grade[judged.first_ideal[:-1]].tolist()
        return [value * judged.highest_grade / max(1.0, top) for value, top in zip(found, tops, strict=True)]
    zero = _zero(row.measure, view, level) or [False] * judged.count
    return [0.0 if none else value for value, none in zip(found, zero, strict=True)]


def _zero(measure: str, judged: JudgedRankings, level: int) -> list[bool]:
    """A mark for the queries that trec_eval gives 0 against the definition of a measure; none for most measures."""
    marks: list[Mask] = []
    if measure in ("utility", "unj", "rbp_resid"):
        marks.append(~judged.present)
    if measure == "rbp_resid":
        marks.append(judged.retrieved == judged.first[1:] - judged.first[:-1])  # every document is judged
    if measure == "Rndcg":
        marks.append(judged.relevant_count(level) == 0)
    return [any(each) for each in zip(*(mark.tolist() for mark in marks), strict=True)]


def _summed_up(row: _Row, values: Sequence[float]) -> float:
    """The figure of all queries, added up one by one as trec_eval does: the last digit depends on it."""
    total = 0.0
    for value in values:
        total += math.log(max(value, SMALLEST_FACTOR)) if row.measure in GEOMETRIC else value
    if row.measure in COUNTS:
        return total
    return math.exp(total / len(values)) if row.measure in GEOMETRIC else total / len(values)


def _relevance(judged: JudgedRankings, query: int, count: int) -> str:
    """A character for each of the first documents: its grade, - without a judgment, . with a grade below 0."""
    documents = judged.documents
    grades = documents.grade[documents.of(query)][:count].tolist() if documents else []
    signs = ("-" if math.isnan(each) else "." if each < 0 else ">" if each > 9 else f"{each:.0f}" for each in grades)
    return "".join(signs)
