"""How much a plugin's rules slow `ireval evaluate` down: in each entry-point group, beside a run without the plugin.

The plugin's module imports pydantic at its top, as modules with options of rules do. Processes take turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RULES = """\
from pydantic import Field

from pytest_ireval import RuleResult, hookimpl, rule
from pytest_ireval.options import RuleOptions, Whole


class FewOptions(RuleOptions):
    at_most: Whole = Field(0, description="How many.")


@rule(name="few", options=FewOptions)
def few(options, seen):
    '''A rule.'''
    return RuleResult("pass", "fine")


@hookimpl
def ireval_rules():
    return [few]
"""
GROUPS = ("no plugin", "pytest_ireval_suites", "pytest_ireval")
CODE = "import sys; from pytest_ireval.cli import main; sys.argv[0] = 'ireval'; main()"


def installed(folder: Path, group: str) -> Path:
    """A folder for PYTHONPATH that has the plugin in this group."""
    metadata = folder / group / "acme_rules-1.0.dist-info"
    metadata.mkdir(parents=True)
    if group != GROUPS[0]:
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{group}]\nacme = acme_rules\n")
        (folder / group / "acme_rules.py").write_text(RULES)
    return folder / group


def cpu_seconds(command: list[str], path: Path) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judgments, rankings = folder / "judgments.txt", folder / "rankings.txt"
        judgments.write_text("q 0 a 1\n")
        rankings.write_text("q Q0 a 1 1 x\n")
        command = [sys.executable, "-c", CODE, "evaluate", str(judgments), str(rankings)]
        paths = {group: installed(folder, group) for group in GROUPS}
        taken: dict[str, list[float]] = {group: [] for group in GROUPS}
        for number in range(rounds + 1):
            for group, path in paths.items():
                seconds = cpu_seconds(command, path)
                if number:  # the first round compiles modules
                    taken[group].append(seconds)
    least = statistics.median(taken[GROUPS[0]])
    for group, times in taken.items():
        print(f"{group:22} {statistics.median(times) / least:.2f} times the CPU time of {GROUPS[0]}")


if __name__ == "__main__":
    main()
