"""A text of parts that never is longer than allowed: what matters least is told in fewer words, then left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """What is told, whole or in fewer words; a part is never cut in the middle."""

    forms: tuple[tuple[int, str], ...]
    """From the longest to the shortest, each with what it is worth: what is worth least is given up first."""
    counts: bool = False
    """Whether it is one of those that are counted when they are left out."""
    flush: bool = False
    """Whether its last form is a line of a list, which stands close to the one before it."""


@dataclass(frozen=True)
class Fit:
    """How much of the counted parts is there."""

    shortened: int = 0
    omitted: int = 0
    others: int = 0
    """Other parts of which something is missing."""


def size(text: str) -> int:
    """Characters as a code host counts them: those beyond the first 65,536 of Unicode are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitted(parts: Sequence[Part], limit: int, notice: Callable[[Fit], str]) -> str:
    """As many parts as there is room for, in their order, then what ``notice`` says of the others.

    Something of the first part always stays.
    """
    shown = [0] * len(parts)
    room = limit - sum(size(part.forms[0][1]) + 2 for part in parts)
    steps = sorted(_steps(parts))
    if room < 0:
        room -= max(size(notice(Fit(999_999, 999_999, 999_999))), 0) + 2
    for _, negative, form in steps:
        if room >= 0:
            break
        number = -negative
        if form != shown[number]:
            continue  # a form that is worth more than the one before it goes with it
        shown[number] = form + 1
        room += size(parts[number].forms[form][1]) - size(_text(parts[number], form + 1))
    return _joined(parts, shown, notice)


def _steps(parts: Sequence[Part]) -> Iterator[tuple[int, int, int]]:
    """What can be given up, by its worth; of equals, the last in the text first."""
    for number, part in enumerate(parts):
        for form in range(len(part.forms) if number else len(part.forms) - 1):
            yield part.forms[form][0], -number, form


def _text(part: Part, form: int) -> str:
    return part.forms[form][1] if form < len(part.forms) else ""


def _joined(parts: Sequence[Part], shown: Sequence[int], notice: Callable[[Fit], str]) -> str:
    """Paragraphs apart; lines of a list below each other."""
    text, in_list = "", False
    for part, form in zip(parts, shown, strict=True):
        told = _text(part, form)
        if not told:
            continue
        line = part.flush and form == len(part.forms) - 1
        text += ("\n" if line and in_list else "\n\n" if text else "") + told
        in_list = line
    missing = _missing(parts, shown)
    return f"{text}\n\n{notice(missing)}\n" if missing != Fit() else f"{text}\n"


def _missing(parts: Sequence[Part], shown: Sequence[int]) -> Fit:
    counted = [(form, len(part.forms)) for part, form in zip(parts, shown, strict=True) if part.counts and form]
    others = sum(1 for part, form in zip(parts, shown, strict=True) if form and not part.counts)
    omitted = sum(form == forms for form, forms in counted)
    return Fit(len(counted) - omitted, omitted, others)
