"""A text made of parts, of which the least important are shortened or left out where there is no room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class SummaryPart(NamedTuple):
    """A part of the summary, in one or more forms; it is never cut in the middle."""

    forms: tuple[tuple[int, str], ...]
    """From the longest to the shortest, each with what it is worth: what is worth least is given up first."""
    counts: bool = False
    """True if it is counted when it is left out."""
    flush: bool = False
    """True if its last form is a line of a list, directly below the one before it."""


class Fit(NamedTuple):
    """The number of counted parts that are shortened or left out."""

    shortened: int = 0
    omitted: int = 0
    others: int = 0
    """Other parts of which something is missing."""


def count_characters(text: str) -> int:
    """Characters as a code host counts them: those beyond the first 65,536 of Unicode are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fit_parts(parts: Sequence[SummaryPart], limit: int, notice: Callable[[Fit], str]) -> str:
    """As many parts as there is room for, in their order, then what ``notice`` says of the others.

    Something of the first part always stays.
    """
    shown = [0] * len(parts)
    room = limit - sum(count_characters(part.forms[0][1]) + 2 for part in parts)
    if room < 0:
        room -= count_characters(notice(Fit(999_999, 999_999, 999_999))) + 2
    for _, negative, form in sorted(_list_steps(parts)):
        if room >= 0:
            break
        number = -negative
        if form != shown[number]:
            continue  # a form that is worth more than the one before it goes with it
        shown[number] = form + 1
        room += count_characters(parts[number].forms[form][1]) - count_characters(_get_form(parts[number], form + 1))
    return _join_parts(parts, shown, notice)


def _list_steps(parts: Sequence[SummaryPart]) -> Iterator[tuple[int, int, int]]:
    """The parts that can be given up, by their worth; of equals, the last in the text first."""
    for number, part in enumerate(parts):
        for form in range(len(part.forms) if number else len(part.forms) - 1):
            yield part.forms[form][0], -number, form


def _get_form(part: SummaryPart, form: int) -> str:
    return part.forms[form][1] if form < len(part.forms) else ""


def _join_parts(parts: Sequence[SummaryPart], shown: Sequence[int], notice: Callable[[Fit], str]) -> str:
    """Paragraphs apart; lines of a list below each other."""
    text, in_list = "", False
    for part, form in zip(parts, shown, strict=True):
        told = _get_form(part, form)
        if not told:
            continue
        line = part.flush and form == len(part.forms) - 1
        text += ("\n" if line and in_list else "\n\n" if text else "") + told
        in_list = line
    counted = [(form, len(part.forms)) for part, form in zip(parts, shown, strict=True) if part.counts and form]
    others = sum(1 for part, form in zip(parts, shown, strict=True) if form and not part.counts)
    omitted = sum(form == forms for form, forms in counted)
    missing = Fit(len(counted) - omitted, omitted, others)
    return f"{text}\n\n{notice(missing)}\n" if missing != Fit() else f"{text}\n"
