"""Asks the code of a merge base for its rankings: its files in a temporary folder, its setup, ``ireval rank`` in it."""

from pytest_ireval.versus.ask import AskedBase, ask_merge_base
from pytest_ireval.versus.programs import run_setup

__all__ = ["AskedBase", "ask_merge_base", "run_setup"]
