"""Asks a source, as often as its suite says: whatever it answers becomes rankings, whatever goes wrong has its line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_ireval.errors import IrevalError, Problem, SourceError
from pytest_ireval.plurals import counted
from pytest_ireval.progress import SILENT
from pytest_ireval.retrieval.doors import as_rankings, some
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import first_documents, of_queries
from pytest_ireval.secrets import hidden
from pytest_ireval.sources.foreign_text import Request, raised_at, told, within
from pytest_ireval.suites.suite import SourceAsked

UNPLACED = ("", "rankings")
"""The places of problems that were found in what Python returned."""


class _Answer(NamedTuple):
    """What came of one asking."""

    rankings: Rankings
    """Of queries that were asked; at most ``depth`` documents of each, unless all were wanted."""
    not_asked: tuple[str, ...]
    """Queries that it ranked besides; their rankings are left out."""


def asked_source(source: SourceAsked, request: Request) -> tuple[Rankings, ...]:
    """The rankings of every asking, in order."""
    return tuple(answer.rankings for answer in answers(source, request))


def answers(source: SourceAsked, request: Request) -> tuple[_Answer, ...]:
    """The same with what was answered besides."""
    return tuple(_answer(source, replace(request, repetition=number)) for number in range(1, source.repeat + 1))


def _answer(source: SourceAsked, request: Request) -> _Answer:
    name = described_source(source, request.folder)
    with _blamed(source, request):
        found = _rankings(_fetched(source, request), request)
        rankings, others = of_queries(replace(found, origin=name), request.queries.position.__contains__)
        if not len(rankings):
            raise SourceError(_of_nothing_asked(others, request))
        return _Answer(rankings if request.keep_all else first_documents(rankings, request.depth), others)


def _fetched(source: SourceAsked, request: Request) -> Any:
    """What the kind's function returns; it may be an async one."""
    found = source.kind.fetch(source.options, request)
    if not inspect.isawaitable(found):
        return found
    from pytest_ireval.sources.threads import in_background  # brings asyncio

    outcome = in_background(found, SILENT)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _rankings(found: Any, request: Request) -> Rankings:
    if found is None:
        raise SourceError("it returned None: is a return missing?")
    if isinstance(found, str):
        found = request.folder / found
    depth = None if request.keep_all else request.depth
    how = Reading(depth=depth, by_id=request.by_id, progress=request.progress)
    return as_rankings(found, request.readers, None, how)


def _of_nothing_asked(others: tuple[str, ...], request: Request) -> Problem:
    number = counted(len(request.queries), "query")
    if not others:
        return Problem(f"it returned no ranking at all, for {number}")
    return Problem(
        f"it ranks none of the queries that it was asked for ({number} of {request.queries.origin})",
        suggestion=f"it ranks {some(others)}; asked were {some(request.queries.ids)}",
    )


@contextmanager
def _blamed(source: SourceAsked, request: Request) -> Iterator[None]:
    """Whatever goes wrong becomes an error that names the source and its line, unless it names a better place."""
    try:
        yield
    except IrevalError as error:
        if error.problems and error.problems[0].place not in UNPLACED:
            raise
        problems = [_placed(problem, source) for problem in error.problems]
        raise SourceError(*problems) from error.__cause__
    except KeyboardInterrupt:
        raise
    # A foreign function may raise anything; sys.exit() and a test's skip are no Exceptions, and would end a run green.
    except BaseException as error:
        problem = Problem(f"it raised {told(error)}", suggestion=raised_at(error, request.folder))
        raise SourceError(_placed(problem, source)) from error


def _placed(problem: Problem, source: SourceAsked) -> Problem:
    """The problem on the suite's line, with who brings the source, if that is somebody else."""
    if problem.place not in UNPLACED or problem.complaint.startswith("…"):
        return problem
    kind = source.kind
    brought = "" if kind.fetch.__module__.startswith(f"{__package__}.") else f"the source comes from {kind.source}"
    allowed = "\n  ".join(filter(None, (problem.allowed, brought)))
    place = str(source.place) if source.place.file else ""
    return replace(problem, place=place, path=("source", kind.name, *problem.path), allowed=allowed)


LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
"""Name and password in the address of a service."""


def described_source(source: SourceAsked, folder: Path | None = None) -> str:
    """The kind with its options that are not at their defaults: ``python: shop:search, mode: all``.

    Paths are relative to ``folder``, that of the suite unless given. Options made with ``Field(…, repr=False)`` are
    left out: secrets, and what makes no difference to the answer, such as a time limit. Values of variables that may be
    secrets are shown as they are written.
    """
    folder = folder or Path(source.place.file).absolute().parent
    fields = type(source.options).model_fields
    names = [source.kind.name, *(name for name in fields if name != source.kind.name)]
    said = []
    for name in names:
        value = getattr(source.options, name)
        if name == source.kind.name or (
            fields[name].repr and value != fields[name].get_default(call_default_factory=True)
        ):
            said.append(f"{name}: {_text(value, folder)}")
    return hidden(", ".join(said))


def _text(value: Any, folder: Path) -> str:
    if isinstance(value, Path):
        return within(value, folder)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(each, folder)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        texts = [_text(each, folder) for each in value]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    text = " ".join(f"{value:g}".split() if isinstance(value, float) else str(value).split())
    return LOGIN.sub("", text.replace(f"{folder}/", ""))
