"""What Git LFS leaves in the place of a file whose content it keeps elsewhere."""

from __future__ import annotations

POINTER = b"version https://git-lfs.github.com/spec/"


def is_pointer(data: bytes) -> bool:
    """Whether this is no content, but says where one is."""
    return data.startswith(POINTER)
