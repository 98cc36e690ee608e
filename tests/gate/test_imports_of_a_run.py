"""A run imports what it needs: most of its time goes into imports."""

import importlib.util
import subprocess
import sys

from monorepo import set_environment

UNUSED = (
    "pytest_ireval.sources.python",
    "pytest_ireval.sources.command",
    "pytest_ireval.sources.sql",
    "pytest_ireval.gate.check_merge_base",
    "pytest_ireval.gate.weaker_suite",
    "pytest_ireval.gate.what_if",
    "pytest_ireval.cli",
)
LIST_MODULES = """
import sys, pytest
ended = pytest.main(["--ireval", "--ireval-update-new", "-p", "no:cacheprovider"])
print(*sorted(name for name in sys.modules if name.startswith("pytest_ireval.")))
sys.exit(ended)
"""


def test_sources_and_comparisons_that_no_suite_asks_for_are_not_imported(shop_in, tmp_path, monkeypatch):
    set_environment(monkeypatch)
    shop_in(tmp_path)

    run = subprocess.run([sys.executable, "-c", LIST_MODULES], cwd=tmp_path, capture_output=True, text=True, check=True)

    imported = run.stdout.splitlines()[-1].split()
    assert "pytest_ireval.sources.run" in imported
    assert not [name for name in imported if name.startswith("pytest_ireval.sources.live.")]
    assert all(map(importlib.util.find_spec, UNUSED))  # else a renamed module would never be found again
    assert not {*imported} & {*UNUSED}
