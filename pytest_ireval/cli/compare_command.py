"""``ireval compare``: one leaderboard over two or more rankings files."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any, get_args

import click

from pytest_ireval.cli.comparison_formats import FORMATS
from pytest_ireval.cli.comparison_text import BETTER, WORSE, View
from pytest_ireval.cli.options import METRICS, LateBar, format_options, metric_option, policy_options, terminal_width
from pytest_ireval.comparing.comparison import Test, compare
from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.plugins.registry import load_registry
from pytest_ireval.results.comparison import Comparison
from pytest_ireval.results.evaluation import MissingQueries


@click.command(name="compare", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings", nargs=-1, required=True, metavar="RANKINGS RANKINGS...")
@metric_option
@click.option("--baseline", metavar="NAME", help="Compare with this ranking only (first: the first), not every pair.")
@click.option("--test", default="t", type=click.Choice(get_args(Test)), help="Paired t, or the exact sign-flip test.")
@click.option(
    "--alpha", default=0.05, type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Level of significance."
)
@click.option("--sort", metavar="NAME", help="Best first by this metric; unless given, the order of the arguments.")
@click.option("--pairs", is_flag=True, help="Show every pair, not only the best two of each metric.")
@click.option("--extremes", default=3, type=click.IntRange(0), help="List so many of the greatest gains and drops.")
@click.option("--per-query", is_flag=True, help="Show the values of every query.")
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="How to print it.")
@format_options("judgments", "rankings")
@policy_options
def command(
    judgments: str,
    rankings: tuple[str, ...],
    metrics: tuple[str, ...],
    missing: MissingQueries,
    form: str,
    per_query: bool,
    pairs: bool,
    sort: str | None,
    **options: Any,
) -> None:
    """Compare two or more RANKINGS under JUDGMENTS, in any format that is installed.

    Each ranking is called as its file, or as you like with NAME=path. One of the files may be - for standard input.
    """
    named = named_rankings(rankings)
    if len(named) < 2:
        raise click.UsageError("two RANKINGS or more are compared")
    if judgments == _STANDARD_INPUT and _STANDARD_INPUT in named.values():
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    wanted = metrics or METRICS
    first = _sorted_by(sort, wanted)
    with LateBar() as progress:
        comparison = compare(judgments, named, wanted, missing_queries=missing, progress=progress, **options)
    view = View(_in_order(comparison, first), terminal_width(), per_query=per_query, every_pair=pairs)
    click.echo(_encodable(FORMATS[form](comparison, view)), nl=False)


def _sorted_by(sort: str | None, metrics: Sequence[str]) -> str | None:
    """The canonical name of the metric to sort by, if there is to be one."""
    if sort is None:
        return None
    registry = load_registry()
    compared = list(map(str, registry.parse_metrics(metrics)))
    (wanted, *more) = map(str, registry.parse_metrics([sort]))
    if more or wanted not in compared:
        allowed = f"compared: {', '.join(compared)}"
        complaint = f"{sort!r} is none of the metrics that are compared"
        raise IrevalError(Problem(complaint, "--sort", suggestion=did_you_mean(sort, compared), allowed=allowed))
    return wanted


def _in_order(comparison: Comparison, first: str | None) -> list[str]:
    """The rankings, best first by one metric (those without a figure last), or as they were given."""
    names = list(comparison.rankings)
    if first is None:
        return names
    values = comparison[first].values
    sign = 1 if comparison[first].direction == "lower" else -1
    return sorted(names, key=lambda name: inf if (value := values[name]) is None else sign * value)


def _encodable(text: str) -> str:
    """The text with plain marks where standard output knows no triangles."""
    try:
        (BETTER + WORSE).encode(_encoding())
    except UnicodeEncodeError:
        return text.replace(BETTER, "^").replace(WORSE, "v")
    return text


def _encoding() -> str:
    return sys.stdout.encoding or "ascii"


_STANDARD_INPUT = "-"
COMPRESSED = {".gz", ".zst"}


def named_rankings(arguments: Sequence[str]) -> dict[str, str]:
    """The path of each ranking by its name: the given one (``NAME=path``), or as short a part of the path as tells."""
    split = [_name_and_path(argument) for argument in arguments]
    paths = [path for _, path in split]
    _refuse_repetitions(paths)
    given = [name for name, _ in split if name]
    names = _short_names([path for name, path in split if not name], taken=given)
    named = [(name or names[path], path) for name, path in split]
    repeated = [name for name, times in Counter(given).items() if times > 1]
    if repeated:
        places = ", ".join(path for name, path in split if name == repeated[0])
        raise InputError(Problem(f"the name {repeated[0]!r} is given twice", place=places))
    return dict(named)


def _name_and_path(argument: str) -> tuple[str, str]:
    """A name, empty if none is given, and a path; a path that exists is a path even if it has a ``=``."""
    if argument == _STANDARD_INPUT or "=" not in argument or os.path.exists(argument):
        return "", argument
    places = [i for i, character in enumerate(argument) if character == "="]
    there = [i for i in places if argument[i + 1 :] == _STANDARD_INPUT or os.path.exists(argument[i + 1 :])]
    at = (there or places)[0]
    name, path = argument[:at].strip(), argument[at + 1 :]
    if not name or not path:
        missing = "name in front of" if not name else "path behind"
        raise InputError(Problem(f"there is no {missing} the =", place=argument, suggestion="write NAME=path"))
    return name, path


def _refuse_repetitions(paths: Sequence[str]) -> None:
    """One file under two names would look like two rankings that agree on everything."""
    for one, other in combinations(paths, 2):
        if one == other or (os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)):
            same = "is given twice" if one == other else f"is the same file as {one}"
            raise InputError(
                Problem(same, place=other, suggestion="a ranking is compared with others, not with itself")
            )


def _short_names(paths: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for paths, each the shortest form that none of the others has."""
    names: dict[str, str] = {}
    for form in _forms(max((len(Path(path).parts) for path in paths), default=0)):
        left = [path for path in paths if path not in names]
        counts = Counter(form(path) for path in left) + Counter(taken) + Counter(names.values())
        names |= {path: form(path) for path in left if counts[form(path)] == 1}
    return names | {path: path for path in paths if path not in names}


def _forms(depth: int) -> Iterator[Callable[[str], str]]:
    """Ways to name a file: without and with its ending, then with ever more folders."""
    for parts in range(1, depth + 1):
        yield partial(_last_parts, parts=parts, ending=False)
        yield partial(_last_parts, parts=parts, ending=True)


def _last_parts(path: str, parts: int, *, ending: bool) -> str:
    if path == _STANDARD_INPUT:
        return "stdin"
    whole = Path(path)
    folders = whole.parent.parts
    name = whole.name if ending else _without_ending(whole)
    return Path(*folders[max(0, len(folders) - parts + 1) :], name).as_posix()


def _without_ending(path: Path) -> str:
    """Without what says how it is packed and written; the 5 of ``model-1.5`` is no ending."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return bare.stem if bare.suffix[1:2].isalpha() else bare.name
