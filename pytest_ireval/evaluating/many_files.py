"""Evaluations of many rankings files, which processes share among them, and which a folder keeps."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from pytest_ireval.errors import InputError, IrevalError, Problem
from pytest_ireval.evaluating.evaluation import Companions, Setting, evaluated, refuse_missing, set_up
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Evaluation, Policies
from pytest_ireval.retrieval.doors import Brought
from pytest_ireval.retrieval.ids import most_threads
from pytest_ireval.retrieval.judged import Mask

SEVERAL = 32 << 20
"""Bytes of rankings that are worth the start of other processes."""


class Sweep(NamedTuple):
    """The data that all rankings of a sweep share, as another process gets them; companions are files."""

    judgments: str
    metrics: tuple[str, ...]
    policies: Policies
    companions: Companions = Companions()
    judgments_format: str | None = None
    rankings_format: str | None = None
    folder: Path | None = None
    """Keeps the values of each file by its content, so that an interrupted sweep goes on; None: they are not kept."""


def swept(
    sweep: Sweep,
    rankings: Mapping[str, str],
    registry: Registry | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> dict[str, Evaluation]:
    """The evaluation of each rankings file by its name, in their order; the problems of all files are one error.

    Up to ``jobs`` processes share the work if it is large enough. They use the installed plugins.
    """
    if sweep.folder is not None:
        _make(sweep.folder)
    size = {name: os.stat(path).st_size if os.path.isfile(path) else 0 for name, path in rankings.items()}
    evaluator = _Evaluator(sweep, registry, progress)
    progress.expect(sum(size.values()), "evaluating rankings")
    found: dict[str, Evaluation | tuple[Problem, ...]] = {}
    several = min(jobs, len(rankings)) > 1 and sum(size.values()) >= SEVERAL
    for name, result in _in_processes(sweep, rankings, jobs) if several else evaluator.all_of(rankings):
        found[name] = result
        progress.advance(size[name])
    problems = [problem for name in rankings for problem in _problems(found[name])]
    if problems:
        raise InputError(*dict.fromkeys(problems))
    results = {name: found[name] for name in rankings}
    return {name: each for name, each in results.items() if isinstance(each, Evaluation)}


def _problems(result: Evaluation | tuple[Problem, ...]) -> tuple[Problem, ...]:
    return () if isinstance(result, Evaluation) else result


class _Evaluator:
    """The setting of a sweep in one process."""

    def __init__(self, sweep: Sweep, registry: Registry | None, progress: Progress = SILENT) -> None:
        self.sweep = sweep
        named = sweep.judgments_format, sweep.rankings_format
        self.setting = set_up(sweep.judgments, sweep.metrics, sweep.policies, registry, progress, *named)
        self.setting = replace(self.setting, how=self.setting.how._replace(progress=SILENT))
        self.print = "" if sweep.folder is None else _print_of(sweep, self.setting)

    def all_of(self, rankings: Mapping[str, str]) -> Iterator[tuple[str, Evaluation | tuple[Problem, ...]]]:
        """The result of each file; problems in place of an evaluation."""
        for name, path in rankings.items():
            yield name, self.result(path)

    def result(self, path: str) -> Evaluation | tuple[Problem, ...]:
        """The kept evaluation of a file, or a new one, which is kept."""
        try:
            if self.sweep.folder is None:
                return self._evaluation(path)
            named = json.dumps([self.print, *(part for part in Path(path).parts if "=" in part)])  # as in query=q1/
            kept = self.sweep.folder / f"{_digest(named.encode(), path)}.json"
            known = _read(kept)
            if known is None:
                known = self._evaluation(path)
                _write(kept, known)
            return replace(known, judgments=self.setting.judgments.origin, rankings=path, asked=self.setting.asked)
        except InputError as error:
            return error.problems

    def _evaluation(self, path: str) -> Evaluation:
        found = self.setting.brought(path, self.sweep.companions)
        refuse_missing([found], self.setting.policies)
        return evaluated_at(self.setting, found)


def evaluated_at(setting: Setting, found: Brought, counting: Mask | None = None) -> Evaluation:
    """The metrics of rankings; an error names them."""
    try:
        return evaluated(setting, found, counting)
    except IrevalError as error:
        raise type(error)(*(_placed(problem, found.origin) for problem in error.problems)) from error


def _placed(problem: Problem, origin: str) -> Problem:
    return replace(problem, place=origin if problem.place in ("", origin) else f"{origin}: {problem.place}")


def _print_of(sweep: Sweep, setting: Setting) -> str:
    """Changes with everything that values depend on, but for the rankings."""
    files = [sweep.judgments, *(str(each) for each in sweep.companions if each)]
    if elsewhere := [path for path in files if not os.path.isfile(path)]:
        complaint = "is not a file on this machine, so a change of it would not be noticed"
        raise InputError(Problem(complaint, elsewhere[0], suggestion="copy it, or leave --resume out"))
    metrics = [(str(metric), metric.version, metric.origin) for metric in setting.metrics]
    facts = [_digest(b"", path) for path in files]
    named = [sweep.judgments_format, sweep.rankings_format]
    return json.dumps([facts, metrics, asdict(sweep.policies), named, setting.registry.distributions])


def _digest(begin: bytes, path: str) -> str:
    digest = sha256(begin)
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", path)) from error
    return digest.hexdigest()


def _read(path: Path) -> Evaluation | None:
    """The kept evaluation; None where there is none, or where writing it was interrupted."""
    try:
        return Evaluation.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, InputError):
        return None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(Problem(f"cannot be made: {error.strerror or error}", str(folder))) from error


def _write(path: Path, evaluation: Evaluation) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_text(json.dumps(evaluation.to_dict()), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", str(path.parent))) from error


_here: list[_Evaluator] = []
"""The evaluator of a process that works for another one."""


def _in_processes(
    sweep: Sweep, rankings: Mapping[str, str], jobs: int
) -> Iterator[tuple[str, Evaluation | tuple[Problem, ...]]]:
    """The results as they come."""
    with _pool(sweep, min(jobs, len(rankings))) as pool:
        names = {pool.submit(_result, path): name for name, path in rankings.items()}
        try:
            for each in as_completed(names):
                yield names.pop(each), each.result()
        except BrokenProcessPool:
            complaint = "a process that evaluates rankings has ended; perhaps there was too little memory"
            raise IrevalError(Problem(complaint, suggestion="use fewer processes, such as --jobs 1")) from None


@contextmanager
def _pool(sweep: Sweep, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that do not begin further files when this one is interrupted."""
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (sweep,))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(sweep: Sweep) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one ends it
    most_threads(1)
    _here.append(_Evaluator(sweep, None))


def _result(path: str) -> Any:
    return _here[0].result(path)
