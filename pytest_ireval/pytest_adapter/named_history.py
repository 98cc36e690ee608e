"""The history that the ini file names: for a run, and for commands in the folder where a run would start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_ireval.errors import HistoryError, IrevalError, Problem
from pytest_ireval.history.database import USUAL
from pytest_ireval.history.shared import HistoryPlace, history_place

INI, OFF = "ireval_history", "none"


def named_place(config: pytest.Config) -> HistoryPlace | None:
    """The places that the ini file names, None if it wants no history; an error if it names none."""
    told = str(config.getini(INI)).strip()
    if not told:
        raise IrevalError(Problem(f"{INI} is empty", allowed=f"{INI} = {OFF} remembers no run"))
    try:
        return None if told == OFF else history_place(told, config.rootpath)
    except HistoryError as error:
        raise IrevalError(*(Problem(each.complaint, INI, allowed=each.allowed) for each in error.problems)) from error


class NamedHere(NamedTuple):
    """The history of a run that would start in the current folder."""

    place: HistoryPlace | None
    usual: bool
    """No file is chosen, so that it is the usual one below rootdir."""
    by: str
    """The words for the setting: ``ireval_history of pytest.ini``."""

    @property
    def path(self) -> Path | None:
        """The file; None if a run keeps no history."""
        return None if self.place is None else self.place.path


_QUICKLY = ("-o", "addopts=", "--disable-plugin-autoload", "-p", "ireval")
"""Neither options of the project nor its other plugins: they may be slow, or write files."""


def named_here() -> NamedHere:
    """Ask pytest for it, which finds rootdir and reads the ini file, and is stopped before it does more."""
    stopper, told = _Stopper(), "pytest cannot read its ini file"
    try:
        pytest.main([*_QUICKLY], plugins=[stopper])  # an error of the ini file is printed there
    except _ReadError as read:
        place, ini = named_place(read.config), read.config.inipath
        usual = place is None or place.path == read.config.rootpath / USUAL
        return NamedHere(place, usual, f"{INI} of {ini.name}" if ini else INI)
    except pytest.fail.Exception as error:
        told = str(error)
    raise HistoryError(Problem(told, suggestion="--history FILE names a history, and then the ini file is not read"))


class _ReadError(Exception):
    """Not an error: it stops pytest."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__()
        self.config = config


class _Stopper:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Iterator[None]:
        raise _ReadError(early_config)
        yield
