"""What is measured on each data set, by which tools, and what comes of it: costs, values, readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agreement import Agreement, compare_reports, read_report
from commands import TOOLS, TOOLS_FOR_FURTHER_RANKINGS, Programs, end_to_end, further_rankings, ireval_variants
from datasets import files_of
from interleave import Summary, measure_interleaved, measure_printed_seconds

FASTEST = ("ireval", "trec_eval", "plain_pass")
TOOLS_OF = {"multi": FASTEST, "shuffled": FASTEST, "deep": FASTEST}  # all tools on data sets not named here
WITH_FURTHER_RANKINGS = ("robust",)
WITH_VARIANTS = ("marco",)


@dataclass(frozen=True)
class Measured:
    """What one data set gave: costs by contestant, seconds per further ranking by tool, and who failed."""

    costs: Mapping[str, Summary]
    further: Mapping[str, float]
    failed: Sequence[str]


def measure(
    data: str, tools: Sequence[str], programs: Programs, folder: Path, rounds: int, tell: Callable[[str], None]
) -> Measured:
    """Every tool has evaluated the data set in interleaved rounds; its values lie in `outputs_of`."""
    files, outputs = files_of(data, folder), outputs_of(data, folder)
    chosen = [tool for tool in tools if tool in TOOLS_OF.get(data, TOOLS)]
    contestants = [end_to_end(tool, programs, files, outputs) for tool in chosen]
    if data in WITH_VARIANTS and "ireval" in chosen:
        contestants += ireval_variants(programs, files, outputs)
    again = [tool for tool in TOOLS_FOR_FURTHER_RANKINGS if tool in chosen and data in WITH_FURTHER_RANKINGS]
    repeaters = [further_rankings(tool, programs, files, outputs) for tool in again]
    costs = measure_interleaved(contestants, rounds, lambda text: tell(f"{data}: {text}"))
    further = measure_printed_seconds(repeaters, rounds, lambda text: tell(f"{data}, again: {text}"))
    failed = [contestant.name for contestant in contestants if contestant.name not in costs]
    return Measured(costs, further, failed + [f"{tool} again" for tool in again if tool not in further])


def outputs_of(data: str, folder: Path) -> Path:
    """Where the values lie that the tools wrote for a data set."""
    return folder / "values" / data


def compare_values(data: str, measured: Measured, folder: Path) -> dict[str, list[Agreement]]:
    """For every tool that wrote values, its agreement with the first one; not those of our variants."""
    tools = [name for name in measured.costs if name in TOOLS]
    if len(tools) < 2:
        return {}
    first, *others = (read_report(outputs_of(data, folder) / f"{tool}.txt") for tool in tools)
    return {tool: compare_reports(first, report, tool) for tool, report in zip(tools[1:], others, strict=True)}


def readings_of(results: Mapping[str, Measured]) -> dict[str, float]:
    """All measurements under the names that the targets use."""
    readings = {}
    for data, measured in results.items():
        for name, summary in measured.costs.items():
            readings[f"{data}/{name}/wall"] = summary.wall_seconds
            readings[f"{data}/{name}/cpu"] = summary.cpu_seconds
            readings[f"{data}/{name}/peak"] = summary.peak_mebibytes
        for name, seconds in measured.further.items():
            readings[f"{data}/{name}/further"] = seconds
    return readings
