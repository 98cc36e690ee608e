"""Text of users inside a markup: every character that the markup would obey is spelled out."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_ireval.text_table import printable

MARKDOWN = {character: f"\\{character}" for character in "\\`*_[]<>|#~&$"}
LATEX = {character: f"\\{character}" for character in "_&%#${}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "\\texttt{\\char34}",  # in other fonts of LaTeX's old encoding this place holds a closing quote
    "▲": "$\\uparrow$",
    "▼": "$\\downarrow$",
}
"""What LaTeX would obey, or show as something else."""


def escaped(text: str, escapes: Mapping[str, str]) -> str:
    """``text`` with each character as ``escapes`` has it."""
    return "".join(escapes.get(character, character) for character in printable(text))
