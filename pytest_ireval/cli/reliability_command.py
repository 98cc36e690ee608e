"""``ireval reliability``: how many queries give a stable order of systems."""

from __future__ import annotations
