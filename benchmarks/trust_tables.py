"""The figures of 20 generated systems in docs/trust.md: ``python benchmarks/trust_tables.py``.

It writes the collection of ``tests/lab/collections_of_systems.py``, runs ``ireval stress`` and ``ireval reliability``
on it, and prints the table and the sentence of the page. ``--check`` ends with exit code 1 if the page differs.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "trust.md"
LEFT = "30"
"""Percent of the judgments that are left."""


def rows(*arguments: str) -> list[dict[str, str]]:
    """What a command prints as CSV."""
    command = [sys.executable, "-m", "pytest_ireval", *arguments, "--format", "csv"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    return list(csv.DictReader(io.StringIO(found.stdout)))


def table(stress: list[dict[str, str]]) -> str:
    """Condensed lists beside whole ones, with few judgments."""
    found = {(row["table"], row["metric"], row["level"]): row for row in stress}
    metrics = list(dict.fromkeys(row["metric"] for row in stress))
    lines = [["", *(name.replace("(judged_only=True)", "'") for name in metrics)], ["---", *["---:"] * len(metrics)]]
    lines.append(["tau", *(f"{float(found['tau', name, LEFT]['tau']):.2f}" for name in metrics)])
    shares = {of: [float(found["power", name, of]["power"]) for name in metrics] for of in (LEFT, "100")}
    both = zip(shares[LEFT], shares["100"], strict=True)
    lines.append(["significant pairs (at 100%)", *(f"{few:.0%} ({all_of:.0%})" for few, all_of in both)])
    lines.append(["other decisions", *(f"{float(found['flips', name, LEFT]['flips']):.0%}" for name in metrics)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("|  |", "| |")


def sentences(reliability: list[dict[str, str]]) -> str:
    """How many queries a stable order takes."""
    found = {(row["metric"], row["criterion"]): row for row in reliability if row["table"] == "needed"}
    names = ("nDCG@10", "AP", "RR")
    first, second, third = (
        f"{row['needed']} queries with {row['metric']} ({row['needed_low']} to {row['needed_high']})"
        for row in (found[name, "Erho2 0.95"] for name in names)
    )
    tau = [found[name, "tau 0.9"]["needed"] for name in names]
    return f"{first}, {second} and {third}. For a tau of 0.9 they need {tau[0]}, {tau[1]} and {tau[2]}."


def main() -> None:
    """Print what the page shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with docs/trust.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "tests" / "lab" / "collections_of_systems.py"
        subprocess.run([sys.executable, str(script), folder], check=True)
        judgments = f"{folder}/judgments.txt"
        systems = [str(path) for path in sorted(Path(folder).glob("*.trec"))]
        shown = table(rows("stress", judgments, *systems, "--levels", LEFT))
        metrics = [word for name in ("nDCG@10", "AP", "RR") for word in ("-m", name)]
        told = sentences(rows("reliability", judgments, *systems, *metrics))
    print(shown, told, sep="\n\n")
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    if chosen.check and not all(" ".join(text.split()) in page for text in (shown, told)):
        raise SystemExit(f"{PAGE} has other figures")


if __name__ == "__main__":
    main()
