"""What the page of many queries costs: its size, the time to write it, and how soon a browser lets it be used.

    python benchmarks/report_speed.py                             7,000 queries x 6 metrics, the documents of 1,000
    python benchmarks/report_speed.py --queries 60 --suites 5     the small one
    python benchmarks/report_speed.py --results results.json      of a run of your own

Needs playwright, and chromium (IREVAL_CHROMIUM, or what is installed). Times are the median of --rounds; those in the
browser include drawing what a reader sees.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Page, sync_playwright

from pytest_ireval.report.page import render_page
from pytest_ireval.report.query_data import format_query_data
from pytest_ireval.report.results_file import format_results, parse_run
from pytest_ireval.results.suite_result import RunResult

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
DRAWN = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
FILTER = f"""async () => {{
  const field = document.querySelector(".explorer .words"), start = performance.now();
  field.value = "kettle b";
  field.dispatchEvent(new Event("input"));
  {DRAWN}
  return performance.now() - start;
}}"""
SORT = f"""async () => {{
  const start = performance.now();
  document.querySelector(".explorer thead button").click();
  {DRAWN}
  return performance.now() - start;
}}"""
CLEAR = """() => {
  const field = document.querySelector(".explorer .words");
  field.value = "";
  field.dispatchEvent(new Event("input"));
}"""


def main() -> int:
    """Sizes and times, a line each."""
    options = read_options()
    run = run_to_show(options)
    start = time.perf_counter()
    text = render_page(run)
    written = time.perf_counter() - start
    print(f"results.json:      {len(format_results(run).encode()) / 1e6:8.2f} MB")
    print(f"page:              {len(text.encode()) / 1e6:8.2f} MB, of these data of queries {size_of_data(run):.2f} MB")
    print(f"to write the page: {written:8.2f} s")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "index.html"
        file.write_text(text, encoding="utf-8")
        for name, seconds in measured(file, options.rounds).items():
            print(f"{name + ':':18} {seconds:8.2f} s")
    return 0


def read_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure what the page of many queries costs.")
    add = parser.add_argument
    add("--queries", type=int, default=7000, help="of each suite; default: 7000")
    add("--metrics", type=int, default=6, help="at most 6; default: 6")
    add("--suites", type=int, default=1, help="default: 1")
    add("--documents", type=int, default=1000, help="the documents of so many queries are kept; default: 1000")
    add("--results", type=Path, help="the results.json of a run to show instead")
    add("--rounds", type=int, default=5, help="default: 5")
    return parser.parse_args()


def run_to_show(options: argparse.Namespace) -> RunResult:
    """The run of a file, or one that is made up."""
    if options.results is not None:
        return parse_run(options.results.read_text(encoding="utf-8"), str(options.results))
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from importlib import import_module

    made: Any = import_module("report.full_run")
    run: RunResult = made.full_run(options.suites, options.queries, options.metrics, options.documents)
    return run


def size_of_data(run: RunResult) -> float:
    return len(format_query_data(run).encode()) / 1e6


def measured(file: Path, rounds: int) -> dict[str, float]:
    """Medians of what a reader waits for, in seconds."""
    times: dict[str, list[float]] = {}
    with sync_playwright() as driver:
        path = os.environ.get("IREVAL_CHROMIUM") or shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        for _ in range(rounds):
            page = browser.new_page()
            for name, seconds in waits(page, file):
                times.setdefault(name, []).append(seconds)
            page.close()
        browser.close()
    return {name: statistics.median(each) for name, each in times.items()}


def waits(page: Page, file: Path) -> list[tuple[str, float]]:
    """From opening the page until its table can be used; then a filter, a sort, and a query that is opened."""
    start = time.perf_counter()
    page.goto(file.as_uri(), wait_until="commit")
    page.locator(".explorer tr.query-row").first.wait_for(state="attached")
    page.evaluate(f"async () => {{ {DRAWN} }}")
    usable = time.perf_counter() - start
    filtered, again = page.evaluate(FILTER) / 1000, page.evaluate(FILTER) / 1000
    page.evaluate(CLEAR)
    by_id = page.evaluate(SORT) / 1000
    start = time.perf_counter()
    page.locator(".explorer .opener").first.evaluate("each => each.click()")
    page.locator(".view-row article.query").wait_for(state="attached")
    opened = time.perf_counter() - start
    return [
        ("until it is usable", usable),
        ("first filter", filtered),
        ("another filter", again),
        ("sort", by_id),
        ("first query opened", opened),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
