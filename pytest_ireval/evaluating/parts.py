"""Rankings that several machines read: each joins a part with the judgments, as workers of a Dask cluster do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_ireval.errors import InputError, IrevalError, Problem, told
from pytest_ireval.evaluating.evaluation import check_policies
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Grades, Policies, Ties
from pytest_ireval.retrieval.doors import JudgedPart, JudgmentsLike, RankingsLike, as_judgments, part_in
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.secrets import shown_address


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
