"""Rankings from a program: it gets the queries, and its output is read in any format."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from pytest_ireval.data.coerce import coerce_rankings
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.writers import encode_queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import (
    InputError,
    IrevalError,
    Problem,
    SourceError,
    clean_lines,
    last_lines,
    quote,
    relative_path,
)
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.calls import suggest_longer_timeout
from pytest_ireval.sources.programs import end_program, end_programs_on_signals, make_temporary_folder
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suite.option_types import DurationText, Flag, PathText, Text, Texts
from pytest_ireval.suite.options import StagedSourceOptions
from pytest_ireval.suite.scalars import UnfitError


class CommandOptions(StagedSourceOptions):
    """The options of a program."""

    command: Texts = Field(description="The program and its arguments; {queries}, {rankings} and {depth} are replaced.")
    format: Text = Field("", description="The format of its output; needed only if several formats fit.")
    queries_format: Literal["tsv", "jsonl"] = Field("tsv", description="tsv: a line that names the columns; jsonl.")
    timeout: DurationText = Field(600.0, repr=False, description="Time limit of the program.")
    shell: Flag = Field(False, description="Run the command as one line in the shell.")
    folder: PathText | None = Field(None, description="The folder in which it runs; by default the suite's folder.")
    environment: dict[Text, Text] = Field(
        default_factory=dict, repr=False, description="Environment variables to add to those of pytest."
    )

    @model_validator(mode="after")
    def _check_command(self) -> CommandOptions:
        if not self.command or not self.command[0].strip():
            raise UnfitError("command is empty", "write command: [program, argument, …]")
        if self.shell and len(self.command) > 1:
            raise UnfitError("with shell: true, command must be one text", "write command: 'program argument | other'")
        return self

    def list_code_files(self, folder: Path) -> Iterator[Path]:
        """Everything in the command that may be the path of a file, options as ``--config=weights.json`` too."""
        words = self.command
        if self.shell:
            try:
                words = tuple(shlex.split(self.command[0]))
            except ValueError:  # quotes that the shell will complain of
                words = tuple(self.command[0].split())
        for word in words:
            for text in {word, word.rpartition("=")[2]}:
                if text and "\0" not in text and "{" not in text:
                    yield Path((self.folder or folder) / text)


@dataclass
class _Job:
    """One run of the program, with the files it is given."""

    options: CommandOptions
    request: Request
    files: Path

    @property
    def queries(self) -> Path:
        return self.files / f"queries.{self.options.queries_format}"

    @property
    def rankings(self) -> Path:
        return self.files / ("rankings" if self._has("{rankings}") else "output")

    @property
    def written_to(self) -> str:
        """The name of the file of rankings in messages."""
        return "{rankings}" if self._has("{rankings}") else "standard output"

    @property
    def reads(self) -> Path | None:
        """The file on its standard input."""
        return None if self._has("{queries}") else self.queries

    @property
    def command(self) -> list[str] | str:
        """The command with all placeholders filled in."""
        if self.options.shell:
            return self._fill(self.options.command[0], shlex.quote)
        return [self._fill(part, str) for part in self.options.command]

    def _has(self, name: str) -> bool:
        return any(name in part for part in self.options.command)

    def _fill(self, part: str, quoted: Any) -> str:
        values = {"{queries}": str(self.queries), "{rankings}": str(self.rankings), "{depth}": str(self.request.depth)}
        for name, value in values.items():
            part = part.replace(name, quoted(value))
        return part


@source(name="command", options=CommandOptions)
def command(options: CommandOptions, request: Request) -> Rankings | Answer:
    """Rankings that a program writes for the queries."""
    with end_programs_on_signals(), make_temporary_folder() as files:
        job = _Job(options, request, Path(files))
        _write_queries(job)
        _refuse_failure(job, _run(job))
        return _read_stages(job) if options.stages else _read(job)


def _read_stages(job: _Job) -> Answer:
    """The output as JSON: ``{stage: rankings}``."""
    where = f"{job.written_to} of {_format_command(job)}"
    wanted = (
        f"with stages, it is JSON: {{{', '.join(f'{quote(name)}: {{query: [id, …]}}' for name in job.options.stages)}}}"
    )
    try:
        found = json.loads(job.rankings.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SourceError(Problem(f"{where} is not JSON: {error}", allowed=wanted)) from None
    if not isinstance(found, dict) or {*found} != {*job.options.stages}:
        names = f"the keys {', '.join(map(quote, found))}" if isinstance(found, dict) else f"a {type(found).__name__}"
        raise SourceError(Problem(f"{where} has {names}", allowed=wanted))
    return Answer(found.pop(job.options.stages[-1]), stages=found)


def _write_queries(job: _Job) -> None:
    try:
        lines = encode_queries(job.request.queries, job.queries)
    except InputError as error:
        complaint = f"the queries cannot be written as {job.options.queries_format}: {error.problems[0].complaint}"
        suggestion = "" if job.options.queries_format == "jsonl" else "use queries_format: jsonl"
        raise SourceError(Problem(complaint, suggestion=suggestion)) from None
    job.queries.write_text("".join(lines), encoding="utf-8", newline="")


def _run(job: _Job) -> _ProgramEnd:
    folder = job.options.folder or job.request.folder
    if not os.path.isdir(folder):
        raise SourceError(f"there is no folder {relative_path(folder, job.request.folder)}, in which it should run")
    try:
        return _run_program(job, folder)
    except (OSError, ValueError) as error:
        raise SourceError(_describe_start_failure(job, error)) from None


def _describe_start_failure(job: _Job, error: OSError | ValueError) -> Problem:
    program = job.options.command[0]
    if isinstance(error, FileNotFoundError):
        split = f"write command: [{', '.join(program.split())}], or set shell: true" if " " in program else ""
        return Problem(f"program {program!r} not found", suggestion=split)
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Problem(f"{program!r} cannot be run: {reason}")


def _refuse_failure(job: _Job, end: _ProgramEnd) -> None:
    """Raise an error with the last output of a program that failed."""
    if not end.in_time:
        complaint = f"took longer than {job.options.timeout:g}s and was stopped, with all its child processes"
        raise SourceError(_describe_failure(job, complaint, end, suggest_longer_timeout(job.options.timeout)))
    if end.code:
        raise SourceError(_describe_failure(job, end.how, end))
    if not job.rankings.is_file():
        raise SourceError(_describe_failure(job, "did not write the file {rankings}", end))
    if not job.rankings.stat().st_size:
        raise SourceError(_describe_failure(job, f"wrote nothing to {job.written_to}", end))


def _describe_failure(job: _Job, complaint: str, end: _ProgramEnd, suggestion: str = "") -> Problem:
    lines = last_lines(end.complaint.decode("utf-8", "replace"))
    return Problem(
        f"{_format_command(job)} {complaint}",
        suggestion=suggestion,
        allowed=f"the end of its standard error:\n  {lines}" if lines else "it wrote nothing to standard error",
    )


def _format_command(job: _Job) -> str:
    parts = job.options.command
    line = parts[0] if job.options.shell else " ".join(part if "{" in part else shlex.quote(part) for part in parts)
    return " ".join(clean_lines(line))


def _read(job: _Job) -> Rankings:
    depth = None if job.request.keep_all else job.request.depth
    how = Reading(depth=depth, by_id=job.request.by_id, progress=job.request.progress)
    try:
        return coerce_rankings(job.rankings, job.request.readers, job.options.format or None, how, "format: …")
    except IrevalError as error:
        raise SourceError(*(_rename_file(problem, job) for problem in error.problems)) from error.__cause__


def _rename_file(problem: Problem, job: _Job) -> Problem:
    """The problem without the name of the temporary file, which is gone."""
    where = problem.place.replace(str(job.rankings), f"{job.written_to} of {_format_command(job)}")
    text = f"{where}: {problem.complaint}" if where else problem.complaint
    return replace(problem, place="", complaint=text.replace(str(job.rankings), job.written_to))


END = 1 << 16
"""The number of bytes at the end of its standard error that are read."""


class _ProgramEnd(NamedTuple):
    """The end of a program."""

    code: int
    """Its exit code; minus the number of the signal that ended it."""
    in_time: bool
    complaint: bytes
    """The end of what it wrote to standard error."""

    @property
    def how(self) -> str:
        if self.code >= 0:
            return f"ended with exit code {self.code}"
        with suppress(ValueError):
            return f"was stopped by signal {signal.Signals(-self.code).name}"
        return f"was stopped by signal {-self.code}"


def _run_program(job: _Job, folder: Path) -> _ProgramEnd:
    """Run the program to its end. Raises OSError if it cannot be started."""
    reads, writes, errors = job.reads or os.devnull, job.files / "output", job.files / "errors"
    with open(reads, "rb") as from_us, open(writes, "wb") as to_us, open(errors, "wb") as complaints:
        program = subprocess.Popen(  # noqa: S603 - running what the suite says is what this source is for
            job.command,
            shell=job.options.shell,
            stdin=from_us,
            stdout=to_us,
            stderr=complaints,
            cwd=folder,
            env={**os.environ, **job.options.environment},
            start_new_session=True,
        )
    in_time = True
    try:
        program.wait(job.options.timeout)
    except subprocess.TimeoutExpired:
        in_time = False
    finally:
        if program.returncode is None:
            end_program(program)
    with open(errors, "rb") as file:
        file.seek(max(0, errors.stat().st_size - END))
        return _ProgramEnd(program.returncode, in_time, file.read())
