"""Names of anything as parts of test ids: letters, digits, ``_``, ``.`` and ``-``, nothing that needs quoting."""

from __future__ import annotations

import hashlib
import re

STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")


def slug(text: str, *, at: bool = True) -> str:
    """``nDCG@10`` is ``nDCG_10``; a name that loses more than its ``at`` sign ends in a short hash of the whole."""
    plain = text.replace("@", "_") if at else text
    if plain and not STRANGE.search(plain):
        return plain
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{STRANGE.sub('_', plain).strip('_')}-{digest}".strip("-")
