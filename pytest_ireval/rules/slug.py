"""Parts of the ids of tests, made of names of metrics and slices."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata

from pytest_ireval.data.queries import normalize_text


def slug(text: str, *, at: bool = True) -> str:
    """``nDCG@10`` is ``nDCG_10``; a name that loses more than its ``at`` sign ends in a short hash of the whole.

    Letters of all scripts stay, in their composed form.
    """
    plain = text.replace("@", "_") if at else text
    fits = _fits_environment(plain)
    letters = normalize_text(plain) if fits else plain.encode("ascii", "replace").decode()
    kept = re.sub(" +", "_", "".join(letter if _is_kept(letter) else " " for letter in letters))
    if plain and kept == plain:
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{kept.strip('_')}-{digest}".strip("-")


def _is_kept(character: str) -> bool:
    """Marks are parts of letters, such as vowels of Hindi and Thai."""
    return character in "_.-" or character.isalnum() or unicodedata.category(character).startswith("M")


def _fits_environment(text: str) -> bool:
    """Tell whether a variable of the environment can hold it; pytest puts the id of each test into one."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
