"""Runs the setup of a side and ``ireval rank``, and keeps what they wrote for an error."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.errors import IrevalError, Problem, last_lines
from pytest_ireval.sources.programs import end_program, end_programs_on_signals

END = 1 << 16
"""The number of bytes at the end of the output that are read."""


class ProgramEnd(NamedTuple):
    """The end of a program."""

    code: int
    output: str
    """The last lines."""

    def make_error(self, complaint: str, *suggestions: str) -> IrevalError:
        """Make an error with the last lines of the output."""
        lines = f"the end of its output:\n  {self.output}" if self.output else "it wrote nothing"
        return IrevalError(
            Problem(f"{complaint} (exit code {self.code})", suggestion=lines, allowed="\n  ".join(suggestions))
        )


def run_setup(
    setup: str, folder: Path, side: str, head_folder: Path, environment: Mapping[str, str] = os.environ
) -> None:
    """Run the line ``ireval_versus_setup`` in the folder of a side, base or head; IrevalError if it fails."""
    own = {"IREVAL_SIDE": side, "IREVAL_HEAD_FOLDER": str(head_folder)}
    end = run_program(setup, folder, {**environment, **own})
    if end.code:
        raise end.make_error(f"ireval_versus_setup failed for the {side} side: {setup}")


def run_program(command: str | Sequence[str], folder: Path, environment: Mapping[str, str]) -> ProgramEnd:
    """Run a program to its end; a text is a line of the shell. If we are ended, all that it started is ended first."""
    with end_programs_on_signals(), tempfile.TemporaryFile() as output:
        program = subprocess.Popen(  # noqa: S603 - running what the project says is what this is for
            command,
            shell=isinstance(command, str),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**environment, "PWD": str(folder)},
            start_new_session=True,
        )
        try:
            program.wait()
        finally:
            if program.returncode is None:
                end_program(program)
        output.seek(max(0, output.seek(0, os.SEEK_END) - END))
        return ProgramEnd(program.returncode, last_lines(output.read().decode("utf-8", "replace")))
