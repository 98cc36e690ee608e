"""A red run that documents without a grade could explain, and ``ireval judge --last`` over it, for tests of both."""

import re
import subprocess
import sys
from contextlib import contextmanager

from suite_files import write_judgments, write_queries, write_rankings, write_suite

RULE = "no_regression: {metric: nDCG@5, tolerance: 5%, against: {run: before.txt}}"
BEFORE = ["brass", "screw", "u1", "glass", "cable", "u2"]
NOW = ["u3", "brass", "u1", "u4", "glass", "u2"]
ID = "no_regression::nDCG_5.all"


def write_lamp_shop(folder, **keys):
    """One query, whose new first document nobody has graded: a grade for it turns the fall into a rise."""
    write_queries(folder / "queries.tsv", ["q1"], text=["reading lamp"])
    write_judgments(folder / "judgments.txt", {"q1": {"brass": 1, "cable": 0, "glass": 1, "screw": 0}})
    write_rankings(folder / "before.txt", {"q1": BEFORE})
    write_rankings(folder / "rankings.txt", {"q1": NOW})
    (folder / "documents.csv").write_text("id,title,price\n" + "".join(f"{d},Lamp {d},9\n" for d in {*NOW, *BEFORE}))
    keys = {"queries": "queries.tsv", "depth": "10", "documents": "{fields: documents.csv}", **keys}
    return write_suite(folder, RULE, suite="lamps", **keys)


@contextmanager
def start_judging(folder, *options):
    """The command in a process of its own: its address, and a function that waits for its end and returns its text."""
    command = [sys.executable, "-m", "pytest_ireval", "judge", "--no-browser", "--judge", "ann", *options]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    lines = []
    while not lines or (lines[-1] and "http://" not in lines[-1]):
        lines.append(running.stdout.readline())

    def wait():
        return "".join(lines) + running.communicate(timeout=30)[0]

    try:
        yield re.search(r"http://\S+|$", lines[-1])[0], wait
    finally:
        running.kill()
        running.wait()
