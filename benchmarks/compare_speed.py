"""How fast `ireval evaluate` is beside trec_eval, pytrec_eval, ir_measures, ranx and a plain pass of C.

    python benchmarks/compare_speed.py                  all data sets but "deep", all tools that are installed
    python benchmarks/compare_speed.py small robust     these data sets alone

Prints the costs of every data set, whether all tools report the same values, and which targets hold.
The exit code is 1 if a command failed, a tool disagrees or a target that must hold is missed. Read
README.md, in this folder, before quoting a number.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import tables
from agreement import Agreement
from commands import HERE, TOOLS, Programs, compile_plain_pass, why_missing
from contest import Measured, compare_values, measure, readings_of
from datasets import DEFAULT_FOLDER, SHAPES
from targets import Judgement, judge

Results = Mapping[str, Measured]
Agreements = Mapping[str, Mapping[str, Sequence[Agreement]]]  # data set -> tool -> one a metric


def main() -> int:
    """Measure, compare, judge; 0 if nothing failed, all tools agree and all that must hold is held."""
    options = read_options()
    programs = find_programs(options)
    tools = find_tools(options.tools, programs)
    write_data_sets(options.data, options.folder)
    results = {}
    for data in options.data:
        results[data] = measure(data, tools, programs, options.folder, options.rounds, tell)
        print_costs(data, results[data])
    agreements = {data: compare_values(data, results[data], options.folder) for data in results}
    judgements = judge(readings_of(results))
    print_verdicts(results, agreements, judgements)
    if options.json:
        write_json(options.json, results, agreements, judgements)
    return int(any_failed(results, agreements, judgements))


def tell(text: str) -> None:
    """Progress goes to standard error, so that standard output is the result alone."""
    print(text, file=sys.stderr, flush=True)


def read_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Compare the speed of ireval with that of its peers.")
    add = parser.add_argument
    add("data", nargs="*", metavar="DATA", help=f"{', '.join(SHAPES)}; default: all but deep")
    add("--rounds", type=int, default=3, help="rounds after the first, which is dropped; default: 3")
    add("--tools", nargs="+", choices=TOOLS, default=TOOLS, metavar="TOOL", help=", ".join(TOOLS))
    add("--folder", type=Path, default=DEFAULT_FOLDER, help="of the data; default: benchmarks/data")
    add("--ireval", default=str(Path(sys.executable).with_name("ireval")), help="the command to measure")
    add("--peers-python", default=sys.executable, help="the interpreter that has the peers' packages")
    add("--json", type=Path, metavar="FILE", help="write all numbers there, too")
    options = parser.parse_args()
    options.data = options.data or [name for name in SHAPES if name != "deep"]
    if unknown := sorted(set(options.data) - SHAPES.keys()):
        parser.error(f"no such data set: {', '.join(unknown)}; there are {', '.join(SHAPES)}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if "ireval" in options.tools and not shutil.which(options.ireval):
        parser.error(f"no such command: {options.ireval}; give --ireval, or name the other tools with --tools")
    return options


def find_programs(options: argparse.Namespace) -> Programs:
    """Where the tools are; the plain pass has been compiled if there is a C compiler."""
    return Programs(
        ireval=options.ireval,
        peers_python=options.peers_python,
        trec_eval=shutil.which("trec_eval") or "",
        plain_pass=compile_plain_pass(options.folder),
        compiled_code=options.folder / "numba",
    )


def find_tools(wanted: Sequence[str], programs: Programs) -> list[str]:
    """The tools that can run here, in the order of TOOLS; the others are told."""
    missing = {tool: why_missing(tool, programs) for tool in TOOLS if tool in wanted}
    for tool, reason in missing.items():
        if reason:
            tell(f"left out: {tool} ({reason})")
    return [tool for tool, reason in missing.items() if not reason]


def write_data_sets(names: Sequence[str], folder: Path) -> None:
    """The data sets exist; a process of its own writes them, whose memory nobody's peak inherits."""
    subprocess.run([sys.executable, str(HERE / "datasets.py"), *names, "--folder", str(folder)], check=True)


def print_costs(data: str, measured: Measured) -> None:
    """The tables of one data set, as soon as it is measured."""
    if measured.costs:
        print(tables.cost_table(data, measured.costs, next(iter(measured.costs))), "", sep="\n", flush=True)
    if measured.further:
        first = next(iter(measured.further))
        print(tables.further_table(data, measured.further, first), "", sep="\n", flush=True)


def print_verdicts(results: Results, agreements: Agreements, judgements: Sequence[Judgement]) -> None:
    """Who agrees with whom, what failed, and which targets hold."""
    for data, per_tool in agreements.items():
        if per_tool:
            first = next(iter(results[data].costs))
            print(tables.agreement_table(data, first, per_tool), *tables.remarks(per_tool), "", sep="\n")
    for data, measured in results.items():
        for name in measured.failed:
            print(f"FAILED: {name} on {data}")
    if judgements:
        print(tables.target_table(judgements))


def write_json(path: Path, results: Results, agreements: Agreements, judgements: Sequence[Judgement]) -> None:
    """Everything that was printed, and the single rounds, as one JSON file."""
    machine = {"cores": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version()}
    content = {
        "machine": machine,
        "data": {data: asdict(measured) for data, measured in results.items()},
        "agreements": {
            data: {tool: list(map(asdict, found)) for tool, found in per_tool.items()}
            for data, per_tool in agreements.items()
        },
        "targets": [
            {**asdict(found.target), "measured": found.measured, "held": found.held, "aim_reached": found.aim_reached}
            for found in judgements
        ],
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def any_failed(results: Results, agreements: Agreements, judgements: Sequence[Judgement]) -> bool:
    """Whether a command failed, a tool disagrees, or a target that must hold is missed."""
    per_metric = [found for per_tool in agreements.values() for every in per_tool.values() for found in every]
    return (
        any(measured.failed for measured in results.values())
        or any(found.verdict == "DISAGREES" for found in per_metric)
        or any(judgement.held is False for judgement in judgements)
    )


if __name__ == "__main__":
    raise SystemExit(main())
