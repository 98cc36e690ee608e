"""The end of a run, in the one process that writes: what was reported, what is accepted, files, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

import pytest_ireval
from pytest_ireval.errors import BaselineError, IrevalError, one_line
from pytest_ireval.gate.last_run import rankings_of_run
from pytest_ireval.gate.material import written
from pytest_ireval.gate.weakened import find_missing_suites
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.pytest_plugin.accepting import Accepting
from pytest_ireval.pytest_plugin.files import RunFiles, only_looks, with_problem, with_sections
from pytest_ireval.pytest_plugin.left_out import (
    NamedPlaces,
    PlacesSeen,
    absent,
    look_at,
    named_places,
    refused_selection,
)
from pytest_ireval.pytest_plugin.planned_suite import Collected, Evaluated, PlannedSuite
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins
from pytest_ireval.pytest_plugin.selection import (
    BASE,
    REPORTED,
    VERDICTS_OF_GATES,
    Affected,
    branch_of,
    claim,
    nobody,
    relaxed_setting,
    with_unaffected,
)
from pytest_ireval.pytest_plugin.terminal import (
    append_step_summary,
    as_one,
    colour,
    recorded,
    summarise,
    tell_code_host,
    width_of,
)
from pytest_ireval.report.red_checks import suite_text
from pytest_ireval.repositories.git import read_commit_state, short_ref
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.results.outcome import Outcome, Verdict, worst_of
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult
from pytest_ireval.secrets import hidden, hidden_in
from pytest_ireval.words import format_count


class _Found(Protocol):
    """The source of the run's findings: this process, or its workers."""

    def collected(self) -> Collected:
        """The suites."""

    def found(self, name: str) -> Evaluated | None:
        """The result of a suite; None if it was not evaluated."""


@dataclass(eq=False, repr=False)
class RunEnd:
    """Registered as a pytest plugin; with ``-n`` in the process that runs no test itself."""

    config: pytest.Config
    accepting: Accepting
    moment: datetime
    files: RunFiles
    found: _Found
    affected: Affected
    plugins: RunPlugins
    collected: Collected = field(default_factory=Collected)
    uncollected: dict[str, str] = field(default_factory=dict)
    """The text of what could not be collected, by node."""
    claimed: set[str] = field(default_factory=set)
    """Baselines of suites that Python tests have gated."""
    red_gates: dict[str, dict[str, str]] = field(default_factory=dict)
    """By Python test, the suites that it has gated with a red verdict."""
    unwritten: str = ""
    unsaid: str = ""
    misused: str = ""
    """The reason why pytest refused its options, if that ended the run before any suite was evaluated."""
    lost: tuple[str, ...] = ()
    unfolded: dict[str, list[pytest.TestReport]] = field(default_factory=dict)
    """The failures as pytest counts them, while it shows those of a suite as one."""
    same: dict[str, list[pytest.TestReport]] = field(default_factory=dict)
    """By suite, the errors that say again what the first one says."""
    result: RunResult | None = None

    def __post_init__(self) -> None:
        self.reported = _Reported()

    def pytest_report_header(self) -> list[str]:
        """The changes, if only affected suites take part."""
        return self.affected.header()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember all that could not be collected, a suite or a Python file: the run is then not a pass."""
        if report.failed:
            self.uncollected[report.nodeid or "the session"] = report.longreprtext

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a verdict once its report is here, before it is shown."""
        self.reported.take(report)
        self.claimed.update(getattr(report, REPORTED, ()))
        red = {name: verdict for name, verdict in getattr(report, VERDICTS_OF_GATES, ()) if verdict in AGAINST}
        if red:
            self.red_gates[report.nodeid] = red
        colour(report)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Accept baselines and write files; a run without a suite is never a pass, even if Python tests passed."""
        self.collected = self.found.collected()
        if self._no_gate():
            self.files.withdraw()
            return
        if only_looks(self.config.option):
            if not self.collected.found and exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
            if self._nobody(exitstatus):
                session.exitstatus = pytest.ExitCode.OK
            return
        begun = any(self.found.found(suite.name) for suite in self.collected.suites)
        if exitstatus == pytest.ExitCode.USAGE_ERROR and not begun:
            self.misused = str(sys.exc_info()[1] or "a wrong option")
        if self.accepting.asked:
            self.accepting.accept(self.collected.suites, self._ending, self.moment)
        places = named_places(self.config) if self._is_collected(session, exitstatus) else NamedPlaces()
        seen = look_at(places, {suite.path for suite in self.collected.suites}, self._claims())
        gone, (base, fails) = (*self._missing_suites(places.folders, seen), *self._narrower()), branch_of(self.config)
        missing = dict(each for folder in places.folders for each in absent(folder))
        self.lost = (*self._lost(), *seen.unclaimed, *(said for said, ours in missing.items() if ours))
        self.lost += gone if fails else ()
        if base and fails:
            self.lost += tuple(filter(None, [refused_selection(self.config, self.collected.suites, seen.hidden)]))
        unasserted = tuple(self._unasserted())
        warnings = (
            *(said for said, ours in missing.items() if not ours),
            *(() if fails else gone),
            *unasserted,
            *self._relaxed(places),
        )
        ended = {suite: self._ended(suite) for suite in self.collected.suites if suite.selected}
        self.lost += tuple(dict.fromkeys(self._observed(ended)))
        problems = (*self.uncollected.values(), *self.lost, *self.accepting.problems)
        suites = list(ended.values())
        took_part = [file for suite in self.collected.suites if suite.selected for file in suite.files]
        failed = self.reported.failed_tests(self.collected.suites)
        of_tests: tuple[Verdict, ...] = ("fail",) if failed else ()
        verdict = worst_of((*(suite.verdict for suite in suites), *of_tests))
        accepted = tuple(self.accepting.written)
        commit, branch, dirty = read_commit_state(self.files.root, took_part)
        result = RunResult(
            version=pytest_ireval.__version__,
            date=written(self.moment),
            verdict="error" if problems or not suites else verdict,
            suites=tuple(suites),
            commit=commit,
            branch=branch,
            dirty=dirty,
            problems=tuple(map(hidden, problems)),
            failed_tests=failed,
            accepted=accepted,
            reason=self.accepting.reason.strip() if accepted else "",
            warnings=warnings,
            base=short_ref(base),
            not_selected=self._not_selected(seen),
            unasserted=unasserted,
        )
        self.result = with_unaffected(result, self.affected.since, self.collected.suites)
        if self.files.folder is not None:
            planned = self.collected.suites
            self.result, self.files.templates = with_sections(self.result, planned, self.plugins)
            sections = (
                replace(each, data=hidden_in(each.data), problem=hidden(each.problem)) for each in self.result.sections
            )
            self.result = replace(self.result, sections=tuple(sections))
            evaluated = (self.found.found(suite.name) for suite in planned if suite.selected)
            rankings = [each.rankings for each in evaluated if each is not None and each.rankings is not None]
            self.files.rankings = rankings_of_run(self.result, rankings)
        self.unwritten = self.files.write(self.result)
        if troubles := tuple(map(hidden, self._end_observed(self.result, ended))):
            self.lost += troubles
            self.result = replace(self.result, verdict="error", problems=(*self.result.problems, *troubles))
            self.unwritten = self.files.write(self.result)
        self.unsaid = append_step_summary(self.files.summary, with_problem(self.result, self.unwritten))
        if exitstatus == pytest.ExitCode.OK or self._nobody(exitstatus):
            session.exitstatus = self._exit_status(self.result)

    def _observed(self, ended: Mapping[PlannedSuite, SuiteResult]) -> Iterator[str]:
        """Tell observers of accepted baselines; yields the complaints about those that raise."""
        for suite, result in ended.items():
            try:
                self.plugins.adopt_beside(suite.path, ACCEPTED.encode(), ENDED.encode())
            except IrevalError as error:
                yield one_line(error)
            if suite.name not in self.accepting.written:
                continue
            acceptance, file = self.accepting.written[suite.name]
            for origin, observe in self.plugins.observers(ACCEPTED, suite.path):
                call = partial(observe, suite=result, acceptance=acceptance, file=file)
                yield from self.plugins.troubles(ACCEPTED, origin, call)

    def _end_observed(self, run: RunResult, ended: Iterable[PlannedSuite]) -> Iterator[str]:
        """Tell observers that the run has ended, each of the suites that it serves."""
        served: dict[Origin, tuple[Callable[..., object], set[str]]] = {}
        for path, names in [(self.files.root, set[str]()), *((suite.path, {suite.name}) for suite in ended)]:
            for origin, observe in self.plugins.observers(ENDED, path):
                served.setdefault(origin, (observe, set()))[1].update(names)
        for origin, (observe, names) in served.items():
            seen = replace(run, suites=tuple(suite for suite in run.suites if suite.name in names))
            call = partial(observe, run=seen, folder=self.files.folder)
            yield from self.plugins.troubles(ENDED, origin, call)

    def _no_gate(self) -> bool:
        """Tell whether the ini option alone asked for suites, and the run has none."""
        return not (self.config.getoption("ireval") or self.collected.suites or self.uncollected)

    def _nobody(self, exitstatus: int) -> bool:
        """Tell whether nothing was run because no change concerns any suite."""
        return exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and nobody(self.collected.suites)

    def _ending(self, suite: PlannedSuite) -> tuple[Evaluated | None, Collection[str]]:
        evaluated = self.found.found(suite.name)
        return evaluated, self.reported.verdicts(suite) - self.reported.disturbed(suite, evaluated)

    def _ended(self, suite: PlannedSuite) -> SuiteResult:
        """The reported verdicts of a suite, as accepted if its baseline was written.

        A missing verdict is an error, and so is one whose test failed for another reason: pytest is red then.
        """
        evaluated, reported = self._ending(suite)
        if evaluated is None:
            why = hidden(f": {self.misused}") if self.misused else ""
            error, planned = f"the run ended before this suite was evaluated{why}", suite.planned
            return SuiteResult(
                suite.name, suite.shown, "error", (), suite.owner, suite.values, planned=planned, error=error
            )
        result, disturbed = evaluated.result, self.reported.disturbed(suite, evaluated)
        written = suite.name in self.accepting.written
        unreported = [each for each in suite.selected if each not in reported]
        outcomes = tuple(
            replace(each, verdict="pass", accepted=True) if written and each.acceptable else each
            for each in result.outcomes
            if each.id in reported
        )
        broken = result.error or not outcomes or unreported
        late = [each for each in unreported if each not in disturbed]
        notes = [f"the run ended before {len(late)} of its verdicts were reported"] if late else []
        if disturbed:
            notes.append(f"failed for a reason other than the verdict: {', '.join(sorted(disturbed))}")
        return replace(
            result,
            outcomes=outcomes,
            verdict="error" if broken else worst_of(tuple(each.verdict for each in outcomes)),
            metrics=tuple(_judged_by(metric, outcomes) for metric in result.metrics),
            notes=(*result.notes, *notes),
        )

    def _lost(self) -> Iterator[str]:
        """Suites that the command line names whole, and that pytest collected in part."""
        folder, option = self.config.invocation_params.dir, self.config.option
        if self.uncollected or getattr(option, "lf", False):  # --lf collects less, and does not say what
            return
        named = [Path(os.path.abspath(folder / each)) for each in self.config.args if "::" not in each]
        for suite in self.collected.suites:
            missing = set(suite.planned) - set(suite.selected) - suite.deselected
            if missing and any(each in (suite.path, *suite.path.parents) for each in named):
                count = format_count(len(missing), "verdict")
                yield f"{suite.name}: {count} neither run nor deselected, although the command line names all of it"

    def _is_collected(self, session: pytest.Session, exitstatus: int) -> bool:
        """Tell whether everything that was asked for was collected, so that what is missing was left out."""
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        return ended and not (self.uncollected or session.shouldstop or session.shouldfail)

    def _claims(self) -> set[str]:
        """The baselines of suites that were collected or gated by Python tests."""
        return self.claimed | {claim(suite.baselines, suite.name) for suite in self.collected.suites}

    def _not_selected(self, seen: PlacesSeen) -> tuple[str, ...]:
        """The suites of the named places that no check was selected of."""
        suites = self.collected.suites
        begun = any(suite.selected for suite in suites)  # a run that ended early has selected nothing
        names = [
            suite.name
            for suite in suites
            if suite.affected_by is not None and not suite.selected and (begun or suite.deselected)
        ]
        return tuple(dict.fromkeys((*names, *(name for each in seen.hidden for name in each.names))))

    def _unasserted(self) -> Iterator[str]:
        """The red gates of Python tests that did not fail."""
        for node, gates in sorted(self.red_gates.items()):
            if node not in self.reported.failed:
                for name, verdict in gates.items():
                    yield (
                        f"suite {name} is {verdict} in {node}, and this test did not fail: it does not assert the "
                        "verdict"
                    )

    def _relaxed(self, places: NamedPlaces) -> Iterator[str]:
        """Say what an ini file at the merge base refuses, and this run does not."""
        if branch_of(self.config).base:
            folders = (*places.folders, *places.beside)
            yield from filter(None, [relaxed_setting(self.config, self._base(), folders)])

    def _base(self) -> BaseRef:
        """The answers of git about the base so far; with ``-n`` only workers have asked."""
        return self.config.stash.get(BASE, None) or BaseRef(branch_of(self.config).base or self.affected.since or "")

    def _narrower(self) -> Iterator[str]:
        """Say that --ireval-changed-since begins elsewhere than --ireval-base: it may be set to miss what changed."""
        ref, since = branch_of(self.config).base, self.affected.since
        if not ref or since is None:
            return
        for root, changes in self.affected.repositories.changes.items():
            with suppress(BaselineError):  # each suite says that there is no base
                base = self._base().find_tree(root).base
                if base.commit != changes.base.commit:
                    yield (
                        f"--ireval-changed-since {since} begins at {changes.base.short}, and --ireval-base {ref} at "
                        f"{base.short}: suites that the branch concerns may be left out; give both the same ref"
                    )

    def _missing_suites(self, folders: Sequence[Path], seen: PlacesSeen) -> Iterator[str]:
        """The suites of the base that are gone, in folders that were run whole."""
        if not (branch_of(self.config).base or self.affected.since):
            return
        names: dict[Path, set[str]] = {each.path: set(each.names) for each in seen.hidden}
        for suite in self.collected.suites:
            names.setdefault(suite.path, set()).add(suite.name)
        base, told = self._base(), dict[str, None]()
        for folder in folders:
            try:
                missing = find_missing_suites(base.find_tree(folder), folders, names, self.plugins.registry_for)
                told |= dict.fromkeys(missing)
            except BaselineError as error:
                reason = one_line(error)
                told[f"missing suites could not be determined: {reason}"] = None
        yield from told

    def _exit_status(self, result: RunResult) -> pytest.ExitCode:
        """Of a run in which no test failed: whatever made pytest content, a run without a pass is not green."""
        if self.unwritten or result.problems:
            return pytest.ExitCode.TESTS_FAILED
        if not result.suites and not nobody(self.collected.suites):
            return pytest.ExitCode.NO_TESTS_COLLECTED
        return pytest.ExitCode.TESTS_FAILED if result.verdict in ("fail", "error") else pytest.ExitCode.OK

    @pytest.hookimpl(specname="pytest_terminal_summary", wrapper=True, tryfirst=True)
    def pytest_one_block_for_each_suite(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
        """Have pytest show several red checks of a suite as one block; it still counts and names each of them."""
        stats = terminalreporter.stats
        self.unfolded = {key: stats[key] for key in ("failed", "error") if key in stats}
        brief = self.config.get_verbosity() <= 0
        if brief and self.config.getoption("tbstyle") not in ("line", "no"):
            stats.update({key: self._folded(reports) for key, reports in self.unfolded.items()})
        self.same = dict(self._same_errors()) if brief else {}
        yield
        stats.update(self.unfolded)
        for name, reports in self.same.items() if terminalreporter.hasopt("E") else ():
            terminalreporter.write_line(
                f"… and {format_count(len(reports), 'more check')} of {name}, for the same reason"
            )

    @pytest.hookimpl(specname="pytest_terminal_summary", trylast=True)
    def pytest_one_line_for_broken_inputs(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Have pytest list one of the checks that broken inputs keep from being made."""
        away = [id(each) for reports in self.same.values() for each in reports]
        errors = terminalreporter.stats.get("error", [])
        terminalreporter.stats.update({"error": [each for each in errors if id(each) not in away]} if away else {})

    def _same_errors(self) -> Iterator[tuple[str, list[pytest.TestReport]]]:
        """By suite with broken inputs, all but the check that has the whole error."""
        for suite in self.collected.suites:
            evaluated = self.found.found(suite.name)
            ours = [each for each in self.unfolded.get("error", ()) if each.nodeid in suite.nodes]
            ours.sort(key=lambda each: suite.nodes[each.nodeid] != suite.selected[0])
            if evaluated is not None and evaluated.result.error and ours[1:]:
                yield suite.name, ours[1:]

    def _folded(self, reports: Sequence[pytest.TestReport]) -> list[pytest.TestReport]:
        """One report in place of those of a suite, where there are several."""
        shown = list(reports)
        for suite in self.collected.suites:
            ours = [each for each in shown if each.nodeid in suite.nodes]
            evaluated = self.found.found(suite.name)
            if len({each.nodeid for each in ours}) > 1 and evaluated is not None:
                told = {suite.nodes[each.nodeid] for each in ours}
                result = evaluated.result
                text = suite_text(
                    [each for each in result.outcomes if each.id in told],
                    result,
                    date=written(self.moment),
                    width=width_of(self.config),
                    report=self.files.report(result),
                )
                one = as_one(ours, suite.name, text)
                if one is not None:
                    shown = [one if each is ours[0] else each for each in shown if each not in ours[1:]]
        return shown

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A row for each suite and metric, what was accepted, and why the exit code is not 0."""
        terminalreporter.stats.update(self.unfolded)
        if self._no_gate():
            return
        say = terminalreporter.write_line
        if not self.collected.found:
            say("--ireval: no suite was collected (*.ireval.yaml, or a line ireval: 1); this does not count as a pass")
        elif self.result is not None:
            if not self.result.suites and not self.result.problems and not nobody(self.collected.suites):
                say("--ireval: no verdict of a suite was selected; this does not count as a pass")
            uncollected = tuple(f"{node} could not be collected" for node in self.uncollected)
            shown = replace(self.result, problems=uncollected)  # pytest has shown the texts
            summarise(terminalreporter, self.config, shown, self.accepting, self.files.written)
            for problem in filter(None, (*self.lost, self.unwritten)):
                say(f"problem: {problem}", red=True)
        tell_code_host(terminalreporter, self.config, self.result, self.unsaid)


ACCEPTED, ENDED = "ireval_baseline_accepted", "ireval_run_ended"
"""The hooks of observers."""

PHASES = ("setup", "call", "teardown")
"""Reports about anything else tell of a worker that died."""
AGAINST = ("fail", "error")


@dataclass
class _Reported:
    """The reports of all tests, those of Python functions among them."""

    nodes: set[str] = field(default_factory=set)
    failed: dict[str, set[str]] = field(default_factory=dict)
    """By node, the verdicts that the failed test recorded."""

    def take(self, report: pytest.TestReport) -> None:
        if report.when in PHASES and (report.when == "call" or report.failed):
            self.nodes.add(report.nodeid)
        if report.failed:
            told = recorded(report, "ireval_verdict")
            self.failed.setdefault(report.nodeid, set()).update(map(str, told))

    def verdicts(self, suite: PlannedSuite) -> set[str]:
        """The ids of what was reported."""
        return {check for node, check in suite.nodes.items() if node in self.nodes}

    def failed_tests(self, suites: Iterable[PlannedSuite]) -> tuple[str, ...]:
        """The failed tests that are not verdicts of a suite."""
        ours = {node for suite in suites for node in suite.nodes}
        return tuple(sorted(node for node in self.failed if node not in ours))

    def disturbed(self, suite: PlannedSuite, evaluated: Evaluated | None) -> set[str]:
        """Those of them whose test failed though the verdict is not against the change: something else failed."""
        found = () if evaluated is None else evaluated.result.outcomes
        red = {outcome.id for outcome in found if outcome.verdict in AGAINST}
        return {
            check
            for node, check in suite.nodes.items()
            if node in self.nodes and node in self.failed and not (check in red and self.failed[node] & {*AGAINST})
        }


def _judged_by(metric: MetricFigures, outcomes: tuple[Outcome, ...]) -> MetricFigures:
    about: tuple[Verdict, ...] = tuple(each.verdict for each in outcomes if each.metric == metric.name)
    return replace(metric, verdict=worst_of(about) if about else None)
