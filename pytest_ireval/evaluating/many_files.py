"""Evaluations of many files: rankings that processes share among them, and parts of one that machines read."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from pytest_ireval.errors import InputError, IrevalError, Problem, told
from pytest_ireval.evaluating.evaluation import Companions, Setting, check_policies, evaluated, refuse_missing, set_up
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Evaluation, Grades, Policies, Ties
from pytest_ireval.retrieval.doors import Brought, JudgedPart, JudgmentsLike, RankingsLike, as_judgments, part_in
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.ids import most_threads
from pytest_ireval.retrieval.judged import Mask
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.secrets import shown_address

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


def judged_part(
    rankings: FilePath | Rankings | RankingsLike,
    judgments: FilePath | Judgments | JudgmentsLike,
    *,
    ties: Ties = "trec",
    grades: Grades = "integer",
    judgments_format: Format = None,
    rankings_format: Format = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> JudgedPart:
    """The judged documents of some queries' rankings, for ``evaluate(judgments, [part, …])``.

    The rankings are a file or any Python form, as in ``evaluate``. The rows of a query may be anywhere in a part, but
    all of them are in one part. A part is small, and any process can make it: it holds arrays, and can be pickled.
    """
    check_policies(Policies(ties, "ignore", "zero", "irrelevant", grades=grades))
    readers = (registry or installed()).readers
    how = Reading(grades, by_id=ties != "input", progress=progress)
    judged_by = as_judgments(judgments, readers, judgments_format, how)
    return part_in(judged_by, rankings, readers, rankings_format, how)


EXTRA = "pip install 'pytest-ireval[dask]'"
PATIENCE = 10
"""Seconds to wait for the scheduler."""
MEMORY_KEPT = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
"""Dask lets workers give back their memory at once, and to get it again takes more time than to read a file."""
ALLOWED = "allowed: dask (this machine's cores), dask://host:port (a scheduler)"


def parts_on(
    address: str, files: Sequence[str], judgments: Judgments, *, progress: Progress = SILENT, **how: Any
) -> list[JudgedPart]:
    """The parts of all files; ``how`` is for :func:`judged_part`. Files that cannot be read are one error.

    The workers need the same version of this package, and reach the files at the same paths or addresses. If a worker
    is lost, the cluster gives its files to others.
    """
    with _client(address) as client:
        from dask import config
        from distributed import as_completed

        with config.set({"distributed.admin.large-graph-warning-threshold": "10GB"}):
            held = client.submit(_same, judgments, pure=False)  # if all workers are lost, the scheduler still has them
        asked = {client.submit(judged_part, file, held, pure=False, **how): file for file in files}
        progress.expect(len(files), "files")
        problems: list[Problem] = []
        parts: dict[str, JudgedPart] = {}
        for batch in as_completed([*asked], loop=client.loop).batches():
            failed = {asked[future]: future.exception() for future in batch if future.status == "error"}
            made = {file: future for future in batch if (file := asked.pop(future)) not in failed}
            parts |= client.gather(made)  # a worker that is lost later does not lose them
            for file, error in failed.items():
                said = [Problem(f"a worker could not read it: {told(error)}", place=file)]
                problems += error.problems if isinstance(error, IrevalError) else said
            progress.advance(len(batch))
        if problems:
            raise InputError(*sorted(problems, key=lambda problem: problem.place))
        return [parts[file] for file in files]


def _same(judgments: Judgments) -> Judgments:
    return judgments


def _client(address: str) -> Any:
    scheme, _, place = address.partition("://")
    if scheme != "dask" or (not place and address != "dask"):
        raise IrevalError(Problem(f"{shown_address(address)!r} is not a cluster", place="--on", allowed=ALLOWED))
    if "@" in place:
        complaint = "the address of a scheduler has no login; certificates are in the settings of Dask"
        raise IrevalError(Problem(complaint, place="--on", allowed=ALLOWED))
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise IrevalError(Problem("Dask is not installed", place="--on", suggestion=EXTRA)) from None
    from dask import config

    try:
        with config.set(MEMORY_KEPT):  # for the workers that start here
            where = {"address": f"tcp://{place}"} if place else {"dashboard_address": ":0"}  # 8787 may be taken
            if place:
                get_address_host_port(where["address"])  # a client that fails of it waits, and prints a traceback
            return Client(**where, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        complaint = f"no scheduler of Dask answers at {address}: {told(error)}"
        raise IrevalError(Problem(complaint, place="--on")) from error
