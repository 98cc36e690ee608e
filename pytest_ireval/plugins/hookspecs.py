"""The hooks of a pytest-ireval plugin; read this file from top to bottom, and you can write one.

A plugin is a module (or any object) with functions named as below, each marked with ``@hookimpl``::

    from pytest_ireval import hookimpl, per_query_metric

    @per_query_metric(name="TopGrade", range=(0, 1))
    def top_grade(ranking, *, cutoff: int) -> float:
        \"\"\"Share of the first documents that carry the top grade.\"\"\"
        return float((ranking.grades[:cutoff] == ranking.top_grade).mean())

    @hookimpl
    def ireval_metrics():
        return [top_grade]

It is found in one of three places:

* a ``conftest.py``: it serves the suites of its own folder and those below, nothing else;
* a module given to pytest with ``-p``: it serves the whole run;
* an installed distribution with an entry point in the group ``pytest_ireval``: it serves every run. In its
  ``pyproject.toml``::

      [project.entry-points.pytest_ireval]
      acme = "acme_metrics"          # the name must be yours alone; the value is the module with the hooks

      [project.entry-points.pytest_ireval_suites]
      acme = "acme_metrics.rules"    # only sources, rules and diagnoses

      [project.entry-points.pytest_ireval_commands]
      acme = "acme_metrics.commands"  # commands of ireval, and what else takes no time to import

  A module in the second group is imported when the first suite is read. Options of sources and rules are pydantic
  models, which take longer to import than an evaluation takes. A module in the third group is imported by
  ``ireval --help``, which imports nothing of the other two: metrics need NumPy.

Hooks *return* their additions, or observe (the last three), and must not change anything else. Two plugins that bring
one name are an error, never an override; so is a function whose name begins with ``ireval_`` and is not listed here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pluggy

from pytest_ireval.errors import PluginError
from pytest_ireval.plugins.plugin_types import KIND_NAME

if TYPE_CHECKING:
    from pytest_ireval.baseline.record import Acceptance
    from pytest_ireval.data.formats.reader import Reader
    from pytest_ireval.metrics.catalog import MetricResolver
    from pytest_ireval.metrics.elsewhere import Elsewhere
    from pytest_ireval.metrics.metric import Metric
    from pytest_ireval.plugins.plugin_types import DiagnosisKind, RuleKind, SourceKind
    from pytest_ireval.results.suite_result import RunResult, SuiteResult


PROJECT = "ireval"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def ireval_metrics() -> Iterable[Metric]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return the metrics this plugin adds.

    Called once, when the registry of a run is built; no judgments or rankings exist yet. ``@per_query_metric`` makes a
    metric of a function of one ranking, ``@metric`` of a function that scores all queries at once over arrays. Names
    must differ from all others in more than letter case.

    Since 0.1.
    """


@hookspec
def ireval_resolve_metric() -> Iterable[MetricResolver]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return resolvers: each makes metrics by their names, when a suite or a command names one.

    Called once, when the registry of a run is built. ``MetricResolver(names={"Fresh": ["fresh_{cutoff}"]}, …)`` lists
    names of metrics that are read as those of ``ireval_metrics``, so that the module of Fresh is imported only if Fresh
    is named. ``MetricResolver(prefix="irm", …)`` has no list: it is asked for ``Judged@10`` of ``irm:Judged@10``. Names
    and prefixes are claimed like the names of metrics.

    Since 0.1.
    """


@hookspec
def ireval_names_elsewhere() -> Iterable[Elsewhere]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return names that other packages have for metrics, also for metrics of other plugins.

    Called when ``ireval metrics --for`` asks for them, or an unknown name may be one of them.
    ``Elsewhere("ranx", "fresh@{cutoff}", "Fresh@{cutoff}")`` says that values are equal, unless ``differs`` or
    ``but_for`` says where not.

    Since 0.1.
    """


@hookspec
def ireval_readers() -> Iterable[Reader]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return the readers of file formats this plugin adds.

    Called once, when the registry of a run is built. A reader decides which files it fits: if two of them fit one file,
    the user is asked which is meant. Two readers for the same content (queries, judgments or rankings) need two names.

    Since 0.1.
    """


@hookspec
def ireval_sources() -> Iterable[SourceKind]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return the kinds of sources this plugin adds: where a suite's rankings may come from.

    Called when the first suite of a run is read. ``@source(name=…, options=…)`` makes a kind of a function that takes
    its options and a ``Request`` and returns rankings. Its name is the key under ``source:`` in a suite.

    Since 0.1.
    """


@hookspec
def ireval_rules() -> Iterable[RuleKind]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return the kinds of rules this plugin adds: they decide about a change.

    Called when the first suite of a run is read. ``@rule(name=…, options=…)`` makes a kind of a function
    that takes its options and a ``RuleContext``, and returns a ``RuleResult``. Its name is a key under ``rules:`` in a
    suite.

    Since 0.1.
    """


@hookspec
def ireval_diagnoses() -> Iterable[DiagnosisKind]:  # type: ignore[empty-body]  # a hook's specification has no body
    """Return the diagnoses this plugin adds: plain causes of a change, which are named before any figure.

    Called when the first suite of a run is read. ``@diagnosis(name=…)`` makes a diagnosis of a function that takes a
    ``RankingChange`` (all rankings on both sides, and the loss of each query) and returns a ``Symptom`` or None. It
    changes no verdict. A diagnosis of less than 2% of the queries, or of less than a fifth of the loss, is not shown.

    Since 0.1.
    """


@hookspec
def ireval_report_sections() -> Iterable[ReportSection]:  # type: ignore[empty-body]  # as above: it has no body
    """Return the sections this plugin adds to the report, beside the gate's own figures.

    Called when the registry of a run is built. ``@report_section(name=…, title=…, template=…)`` makes a section of a
    function that takes the run as plain data and returns plain data. The function is called once, when the run has
    ended, in the process that writes files; its result fills in the template, a file beside its module. Without data
    there is no section. It decides nothing: if it cannot be shown, the report gives the reason, and the verdict stays.

    Since 0.1.
    """


@hookspec
def ireval_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]  # as above: it has no body
    """Return the commands this plugin adds to ``ireval``.

    Called in modules of the entry-point group ``pytest_ireval_commands``, when ``ireval`` lists its commands or is
    asked for one that is not its own. ``CommandSpec("shelves", "Show what is on sale.", "acme_metrics.shelves:main")``
    names a command of click, whose module is imported when a user calls it.

    Since 0.1.
    """


@hookspec
def ireval_hookspecs() -> Iterable[object]:  # type: ignore[empty-body]  # as above: it has no body
    """Return modules with hooks of your own, which your commands call and other plugins implement.

    Called in modules of the entry-point group ``pytest_ireval_commands``, before any other plugin is loaded. Each
    function of such a module that is marked with ``@hookspec`` is a hook; its name begins with ``ireval_``. A command
    gets what plugins return from ``registry.collect(name, kind, made_by)``.

    Since 0.1.
    """


@hookspec
def ireval_baseline_accepted(suite: SuiteResult, acceptance: Acceptance, file: Path) -> None:
    """Observe that the rankings of a suite were accepted: ``file`` holds the new baseline.

    Called at the end of a run with ``--ireval-update`` or ``--ireval-update-new``, once for each baseline written.
    Returns nothing. An exception is an error of the run, also in the next hook; the baseline stays.

    Since 0.1.
    """


@hookspec
def ireval_run_ended(run: RunResult, folder: Path | None) -> None:
    """Observe the end of a run: all of its suites, for a conftest.py those that it serves.

    Called once, after the files were written to ``folder`` (None: the run writes no files), also where no suite could
    be read. Returns nothing.

    Since 0.1.
    """


@dataclass
class CommandSpec:
    """A command of ``ireval`` that a package brings."""

    name: str
    summary: str
    """One line, for ``ireval --help``."""
    target: str
    """``module:attribute`` of a click command; the module is imported when the command is called."""


@dataclass
class ReportSection:
    """A section of the report; made by :func:`report_section`."""

    name: str
    """Its name in the results."""
    title: str
    data: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """``data(run)`` gets the run as ``results.json`` has it, and returns the values for the template."""
    folder: Path
    """The folder of the module of ``data``, and of the template."""
    template: str
    """The name of a Jinja template there."""
    style: str = ""
    """The name of a file with CSS there; empty: it has no style of its own."""
    origin: str = ""

    @property
    def source(self) -> str:
        """The plugin that brings it, for messages."""
        return self.origin or f"{self.data.__module__} (not registered)"


def report_section(
    *, name: str, title: str, template: str, style: str = ""
) -> Callable[[Callable[[Mapping[str, Any]], Mapping[str, Any]]], ReportSection]:
    """Make a section of ``function(run) -> data``; ``template`` and ``style`` are files beside its module."""

    def make(function: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> ReportSection:
        if not isinstance(name, str) or not KIND_NAME.fullmatch(name):
            raise PluginError(f"{name!r} cannot be the name of a section: use lower-case letters, digits and _")
        if not isinstance(title, str) or not title.strip():
            raise PluginError(f"section {name!r}: its title is empty; readers of the report see the title")
        folder = _folder_of(function, name)
        for file in filter(None, (template, style)):
            _refuse_lost(file, folder, name)
        if not template:
            raise PluginError(f"section {name!r}: it names no template; add template=")
        return ReportSection(name, title, function, folder, template, style)

    return make


def _folder_of(function: Callable[..., Any], name: str) -> Path:
    try:
        return Path(inspect.getfile(inspect.unwrap(function))).absolute().parent
    except (TypeError, ValueError):
        raise PluginError(
            f"section {name!r}: {function!r} is not a function of a module, so it has no folder"
        ) from None


def _refuse_lost(file: str, folder: Path, name: str) -> None:
    """Refuse a file that is not below the folder, or is missing: a wheel may have been built without it."""
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts:
        raise PluginError(f"section {name!r}: {file!r} is not a path of a file below {folder}")
    if not (folder / path).is_file():
        raise PluginError(f"section {name!r}: there is no file {file!r} in {folder}; was the package built without it?")
