"""What these tests need, and what happens where it lacks."""

import os

import pytest

REQUIRED = os.environ.get("IREVAL_BROWSER") == "required"


def without(what):
    """Skips, unless a browser is a must here."""
    if REQUIRED:
        pytest.fail(f"{what}, but IREVAL_BROWSER=required", pytrace=False)
    pytest.skip(what)
