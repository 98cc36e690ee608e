"""Styles and scripts inside the page, and the policy that lets a browser run these and nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_ireval.errors import Problem, ReportError

STYLES = ("report.css", "charts.css", "queries.css")
SCRIPTS = (
    "packed.js",
    "report.js",
    "query_view.js",
    "query_curve.js",
    "query_data.js",
    "query_choice.js",
    "queries.js",
    "query_keys.js",
)
"""In this order: each uses what those before it made."""


@dataclass(frozen=True)
class Asset:
    """The text of one ``<style>`` or ``<script>``, and the fingerprint that the policy lets pass."""

    name: str
    text: str

    @property
    def fingerprint(self) -> str:
        """As a policy names it: ``'sha256-…'``."""
        digest = hashlib.sha256(self.text.encode("utf-8", "replace")).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def lean(text: str) -> str:
    """Without indentation and comments that have a line of their own; for texts without strings of several lines."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


def asset(name: str, text: str) -> Asset:
    """A text that may stand inside the page: nothing in it ends the element it stands in."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")  # a browser does the same before it takes a fingerprint
    ending = "</script" if name.endswith(".js") else "</style"
    if ending in unified.lower():
        raise ReportError(Problem(f"holds {ending}, which would end it", place=name))
    return Asset(name, unified)


def policy(styles: Sequence[Asset], scripts: Sequence[Asset]) -> str:
    """Nothing is loaded, nothing is sent anywhere, and only what is inside the page is run."""

    def these(assets: Sequence[Asset]) -> str:
        return " ".join(each.fingerprint for each in assets) or "'none'"

    return "; ".join(
        (
            "default-src 'none'",
            f"style-src {these(styles)}",
            f"script-src {these(scripts)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
