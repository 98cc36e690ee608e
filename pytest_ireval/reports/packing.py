"""Parts of a page that take no room until somebody looks at them: deflated, and unpacked by ``packed.js``."""

from __future__ import annotations

import base64
import zlib


def packed(text: str) -> str:
    """The text, deflated and in base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def unpacked(text: str) -> str:
    """What :func:`packed` was given."""
    return zlib.decompress(base64.b64decode(text)).decode()
