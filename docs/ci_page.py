"""Puts the recipes of ``examples/ci`` into ``ci.md``, each where the page shows it."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
RECIPE = re.compile(r'^(```\w+ title="(examples/ci/[^"]+)"\n).*?^(```)$', re.MULTILINE | re.DOTALL)


def page() -> str:
    """The page, with every recipe as it is now."""
    return RECIPE.sub(
        lambda block: block[1] + (HERE.parent / block[2]).read_text(encoding="utf-8") + block[3],
        (HERE / "ci.md").read_text(encoding="utf-8"),
    )


if __name__ == "__main__":
    (HERE / "ci.md").write_text(page(), encoding="utf-8")
