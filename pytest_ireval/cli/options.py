"""Shared parts of commands: options for formats, policies and suites, files under names, and a progress bar."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial, wraps
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import click

from pytest_ireval.errors import InputError, IrevalError, Problem, SuiteError, did_you_mean
from pytest_ireval.results.policies import Dialect, Grades, MissingQueries, NoRelevant, Policies, Ties, Unjudged

if TYPE_CHECKING:
    from pytest_ireval.data.formats.reader import Content
    from pytest_ireval.plugins.conftests import Conftests
    from pytest_ireval.plugins.registry import Registry
    from pytest_ireval.suite.suite import Suite

__all__ = [
    "METRICS",
    "ProgressBar",
    "format_options",
    "grades_option",
    "load_command_registry",
    "metric_option",
    "metrics_option",
    "name_files",
    "numbers_option",
    "policy_options",
    "refuse_same_file",
    "rel_option",
    "suites_option",
    "svg_option",
]


def format_options(*contents: Content) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--judgments-format NAME`` and so on, for the inputs of a command."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for content in reversed(contents):
            click.option(
                f"--{content}-format",
                metavar="NAME",
                help=f"The format of the {content}; the default is to detect it from the content.",
            )(function)
        return function

    return decorated


METRICS = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")
"""The metrics that are shown by default."""

Command = TypeVar("Command", bound=Callable[..., Any])


def complete_metric_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names that a shell completes; letter case does not count."""
    from pytest_ireval.plugins.manager import load_installed_registry

    vocabulary = load_installed_registry(skip_broken=True).vocabulary
    resolved = (f"{each.prefix}:{name}" for each in vocabulary.prefixes for name in each.known)
    return [name for name in (*vocabulary.metrics, *resolved) if name.lower().startswith(incomplete.lower())]


def metrics_option(default: Sequence[str]) -> Callable[[Command], Command]:
    """``-m NAME``, several times."""
    return click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_metric_names,
        help=f"A metric, such as nDCG@10, AP or map; repeatable. The default is {', '.join(default)}.",
    )


metric_option = metrics_option(METRICS)

_TIES = click.option(
    "--ties",
    default="trec",
    type=click.Choice(get_args(Ties)),
    help="The order of equal scores: by document id descending, or as in the file.",
)
_MISSING = click.option(
    "--missing",
    "missing_queries",
    default="zero",
    type=click.Choice(get_args(MissingQueries)),
    help="A judged query that the rankings lack scores the worst value and is listed, is an error, or is left out.",
)
_NO_RELEVANT = click.option(
    "--no-relevant",
    default="zero",
    type=click.Choice(get_args(NoRelevant)),
    help="How to treat a query without relevant documents.",
)
rel_option = click.option("--rel", default=1.0, help="The lowest grade that is relevant.")
grades_option = click.option(
    "--grades", default="integer", type=click.Choice(get_args(Grades)), help="The type of grades."
)
_VIEWS = (
    click.option(
        "--unjudged",
        default="irrelevant",
        type=click.Choice(get_args(Unjudged)),
        help="Unjudged documents are not relevant, or are removed first (condensed lists).",
    ),
    click.option("--depth", type=click.IntRange(1), help="Use only this many documents of each ranking, from the top."),
    click.option("--scale", type=float, help="The top grade; the default is the highest of the judgments."),
    click.option(
        "--collection",
        type=click.IntRange(1),
        metavar="N",
        help="The number of documents in the collection; FallOut and some others need it.",
    ),
    click.option(
        "--dialect",
        type=click.Choice(get_args(Dialect)),
        help="Names of metrics mean what they mean in this package; the default is their meaning here.",
    ),
    grades_option,
)


_DATA = (
    click.option(
        "--fields",
        metavar="FILE",
        help="Fields of documents (CSV, TSV, JSON lines, Parquet), such as price; some metrics need them.",
    ),
    click.option(
        "--queries", metavar="FILE", help="Queries with columns; metrics of sessions and some others need them."
    ),
    click.option(
        "--preferences",
        metavar="FILE",
        help="Pairs of documents: columns query, better, worse; some metrics need them.",
    ),
)
_REFERENCE = click.option(
    "--reference",
    metavar="RANKINGS",
    help="Other rankings of the same queries; metrics of two lists, such as KendallTau and RBO, compare with them.",
)
_TIMINGS = "with columns query and seconds, or query and milliseconds"


timings_option = click.option("--timings", metavar="FILE", help=f"The time of each query, {_TIMINGS}.")
timings_of_each_option = click.option(
    "--timings",
    "timings_of_each",
    metavar="FILE",
    multiple=True,
    help=f"The time of each query, {_TIMINGS}; one for each of RANKINGS, in order.",
)


def view_options(command: Command) -> Command:
    """As :func:`policy_options`, without the policies that concern several queries."""
    return _apply_options((_TIES, *_VIEWS, *_DATA, _REFERENCE), _build_values(command))


def policy_options(command: Command) -> Command:
    """Options for policies and side data; the command gets ``policies`` and ``side_data`` that hold them."""
    return _apply_options((_MISSING, _TIES, _NO_RELEVANT, *_VIEWS, *_DATA, _REFERENCE), _build_values(command))


POLICY_NAMES = tuple(each.name for each in fields(Policies))
SIDE_DATA_NAMES = ("collection", "fields", "preferences", "queries", "reference", "timings")


def _build_values(command: Command) -> Command:
    @wraps(command)
    def build_values(**options: Any) -> Any:
        from pytest_ireval.data.side_data import SideData  # imports NumPy, which not every command needs

        policies = {name: options.pop(name) for name in POLICY_NAMES if name in options}
        side_data = {name: options.pop(name) for name in SIDE_DATA_NAMES if name in options}
        return command(policies=Policies(**policies), side_data=SideData(**side_data), **options)

    return cast("Command", build_values)


_TESTS = (
    click.option("--test", default="t", type=click.Choice(["t", "sign-flip"]), help="Paired t, or the sign-flip test."),
    click.option(
        "--alpha",
        default=0.05,
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Level of significance.",
    ),
)


def tests_option(command: Command) -> Command:
    """The command with the test of each pair of systems."""
    return _apply_options(_TESTS, command)


def svg_option(about: str) -> Callable[[Command], Command]:
    """``--svg FILE``: a file of another name could be one of the inputs, and would be lost."""

    def check_ending(_ctx: click.Context, _parameter: click.Parameter, file: str | None) -> str | None:
        if file is not None and not file.lower().endswith(".svg"):
            raise click.BadParameter(f"the name of a picture ends in .svg, not {file}")
        return file

    return click.option("--svg", metavar="FILE", callback=check_ending, help=about)


def numbers_option(*names: str, least: int, most: int, default: str, **about: Any) -> Callable[[Command], Command]:
    """An option of whole numbers with commas between them, which are sorted, each once."""

    def numbers(_ctx: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
        chosen = {int(part) if part.strip().isdecimal() else -1 for part in text.split(",")}
        if not all(least <= number <= most for number in chosen):
            allowed = f"whole numbers from {least} to {most:,} with commas between them"
            raise click.BadParameter(f"{text!r} is not a list of {allowed}", param=parameter)
        return tuple(sorted(chosen))

    return click.option(*names, default=default, metavar="N,N,…", callback=numbers, **about)


def _apply_options(options: Sequence[Callable[[Any], Any]], command: Command) -> Command:
    for option in reversed(options):  # click shows the last one first
        command = option(command)
    return command


def load_chosen_suites(
    paths: Iterable[Path], named: str | None = None, conftests: Conftests | None = None
) -> list[Suite]:
    """The suites at some paths, in the order of their files; ``named`` chooses one. An error if there is none."""
    from pytest_ireval.plugins.conftests import Conftests
    from pytest_ireval.suite.finding import find_suites, is_shared
    from pytest_ireval.suite.loading import load_suites

    conftests = conftests or Conftests()
    files = [path for path in find_suites(tuple(paths)) if not is_shared(path.name)]
    suites = [suite for path in files for suite in load_suites(path, conftests.registry_for(path))]
    if not suites:
        raise click.UsageError("no suite was found (*.ireval.yaml, or YAML with a line that begins with ireval:)")
    if named is None:
        return suites
    chosen = [suite for suite in suites if suite.name == named]
    if not chosen:
        names = [suite.name for suite in suites]
        allowed = f"--named is one of {', '.join(names)}"
        raise SuiteError(Problem(f"unknown suite {named!r}", "", (), did_you_mean(named, names), allowed))
    return chosen


suites_option = click.option(
    "--suites",
    metavar="DIR",
    type=click.Path(exists=True, path_type=Path),
    help="A folder of suites; the additions of its conftest.py files are used, too.",
)


def load_command_registry(suites: Path | None, *, kinds: bool = False) -> Registry:
    """The registry of installed plugins, and of the conftest.py files of that folder and of those above it.

    With ``kinds`` the plugins that only suites need are loaded as well.
    """
    from pytest_ireval.plugins.conftests import Conftests
    from pytest_ireval.plugins.manager import load_installed_registry

    if suites is None:
        registry = load_installed_registry(skip_broken=True)
        if kinds:
            _ = registry.rules
        for each in registry.broken:
            click.echo(f"warning: nothing of this plugin is shown: {each}", err=True)
        return registry
    return Conftests().registry_for(suites.absolute())


PATIENCE = 1.0
"""Seconds of silence before a bar appears."""


class ProgressBar:
    """Counts from the start, and shows a bar on a terminal's standard error once the work has taken a second."""

    def __init__(self) -> None:
        self.watched = sys.stderr.isatty()
        self.started = time.monotonic()
        self.expected = 0
        self.done = 0
        self.what = ""
        self.shown = -1
        self.lock = Lock()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown >= 0:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def expect(self, amount: int, what: str) -> None:
        """Add an amount of work, in bytes."""
        with self.lock:
            self.expected += amount
            self.what = what

    def advance(self, amount: int) -> None:
        """Report bytes that are done."""
        if not self.watched:
            return
        with self.lock:
            self.done += amount
            if time.monotonic() - self.started <= PATIENCE:
                return
            done = min(self.done, self.expected)  # of a compressed file only the packed size is known
            share = 100 * done // max(self.expected, 1)
            if share != self.shown:
                self.shown = share
                bar = "#" * (share // 4)
                print(f"\r\x1b[2K{self.what} [{bar:<25}] {share}%", end="", file=sys.stderr, flush=True)


WIDTH = 80
"""Columns of text that does not go to a terminal."""


def get_terminal_width() -> int:
    """Columns of the terminal, if there is one."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


STANDARD_INPUT = "-"
COMPRESSED = {".gz", ".zst"}


def refuse_same_file(inputs: Iterable[str | Path | None], targets: Mapping[str, str | Path | None]) -> None:
    """Refuse to write a file twice, or over a file that is read; targets are named by their options."""
    taken = {Path(file).resolve(): f"the input {file}" for file in inputs if file is not None}
    for option, target in targets.items():
        if target is None:
            continue
        path = Path(target).resolve()
        if path in taken:
            complaint = f"{option} {target} is the same file as {taken[path]}"
            raise IrevalError(Problem(complaint, suggestion="choose another name"))
        taken[path] = f"{option} {target}"


def name_files(
    arguments: Sequence[str], why_once: str = "a ranking is compared with others, not with itself"
) -> dict[str, str]:
    """The path of each file by its name; ``why_once`` is the reason that no file may be given twice."""
    split = [_split_name(argument) for argument in arguments]
    paths = [path for _, path in split]
    _refuse_repetitions(paths, why_once)
    given = [name for name, _ in split if name]
    names = _shorten_names([path for name, path in split if not name], taken=given)
    named = [(name or names[path], path) for name, path in split]
    repeated = [name for name, times in Counter(given).items() if times > 1]
    if repeated:
        places = ", ".join(path for name, path in split if name == repeated[0])
        raise InputError(Problem(f"duplicate name {repeated[0]!r}", place=places))
    return dict(named)


def _split_name(argument: str) -> tuple[str, str]:
    """A name, empty if none is given, and a path; a path that exists is a path even if it has a ``=``."""
    if argument == STANDARD_INPUT or "=" not in argument or os.path.exists(argument):
        return "", argument
    places = [i for i, character in enumerate(argument) if character == "="]
    there = [i for i in places if argument[i + 1 :] == STANDARD_INPUT or os.path.exists(argument[i + 1 :])]
    at = (there or places)[0]
    name, path = argument[:at].strip(), argument[at + 1 :]
    if not name or not path:
        missing = "name before" if not name else "path after"
        raise InputError(Problem(f"missing {missing} the =", place=argument, suggestion="write NAME=path"))
    return name, path


def _refuse_repetitions(paths: Sequence[str], why_once: str) -> None:
    """One file under two names would look like two rankings, or two judges, that agree on everything."""
    first: dict[object, str] = {}
    for path in paths:
        facts = os.stat(path) if os.path.isfile(path) else None
        key = (facts.st_dev, facts.st_ino) if facts else path
        if key in first:
            same = "is given twice" if first[key] == path else f"is the same file as {first[key]}"
            raise InputError(Problem(same, place=path, suggestion=why_once))
        first[key] = path


def _shorten_names(paths: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for paths, each the shortest form that none of the others has."""
    names: dict[str, str] = {}
    depth = max((len(Path(path).parts) for path in paths), default=0)
    # without and with its ending, then with ever more folders
    for form in (
        partial(_take_last_parts, parts=i + 1, ending=ending) for i in range(depth) for ending in (False, True)
    ):
        left = [path for path in paths if path not in names]
        counts = Counter(form(path) for path in left) + Counter(taken) + Counter(names.values())
        names |= {path: form(path) for path in left if counts[form(path)] == 1}
    return names | {path: path for path in paths if path not in names}


def _take_last_parts(path: str, parts: int, *, ending: bool) -> str:
    if path == STANDARD_INPUT:
        return "stdin"
    whole = Path(path)
    folders = whole.parent.parts
    name = whole.name if ending else _strip_endings(whole)
    return Path(*folders[max(0, len(folders) - parts + 1) :], name).as_posix()


def _strip_endings(path: Path) -> str:
    """The name without the endings of its compression and its format; the 5 of ``model-1.5`` is not an ending."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return bare.stem if bare.suffix[1:2].isalpha() else bare.name
