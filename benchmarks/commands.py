"""Which command line each tool gets for a data set, and which tools are there at all.

All tools compute the same 7 metrics and print them for every query.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from datasets import Files
from interleave import Contestant
from peers import METRICS

HERE = Path(__file__).parent
PACKAGES = ("pytrec_eval", "ir_measures", "ranx")
TOOLS = ("ireval", "trec_eval", "plain_pass", *PACKAGES)  # the first that is there is what others are compared with
TOOLS_FOR_FURTHER_RANKINGS = ("ireval", "pytrec_eval", "ir_measures")
ROUNDS_IN_ONE_PROCESS = 5

TREC_EVAL_METRICS = ("ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100,1000", "bpref")

SIX_FAMILIES = ("nDCG", "AP", "RR", "P", "R", "Success")
TEN_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
SIX_METRICS = tuple(f"{family}@10" for family in SIX_FAMILIES)
SIXTY_METRICS = tuple(f"{family}@{cutoff}" for family in SIX_FAMILIES for cutoff in TEN_CUTOFFS)


@dataclass(frozen=True)
class Programs:
    """Where the programs are; `trec_eval` and `plain_pass` are empty if there are none."""

    ireval: str
    peers_python: str
    trec_eval: str
    plain_pass: str
    compiled_code: Path  # numba's cache, for ranx

    @property
    def ireval_python(self) -> str:
        """The interpreter of the environment that the command `ireval` is installed in."""
        beside = Path(self.ireval).with_name("python")
        return str(beside) if beside.exists() else sys.executable


def compile_plain_pass(folder: Path) -> str:
    """The path of the compiled C program, or nothing where there is no C compiler that takes it."""
    compiler = shutil.which("cc")
    target = folder / f"plain_pass-{platform.machine()}"
    source = HERE / "plain_pass.c"
    if compiler is None:
        return ""
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        command = [compiler, "-O3", "-march=native", "-o", str(target), str(source), "-lm"]
        if subprocess.run(command, check=False).returncode:
            return ""
    return str(target)


def why_missing(tool: str, programs: Programs) -> str:
    """Why the tool cannot run here, or nothing if it can."""
    if tool == "ireval":
        return "" if shutil.which(programs.ireval) else f"no such command: {programs.ireval}"
    if tool == "trec_eval":
        return "" if programs.trec_eval else "not on PATH"
    if tool == "plain_pass":
        return "" if programs.plain_pass else "no C compiler, or it failed"
    question = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({tool!r}) is None)"
    absent = subprocess.run([programs.peers_python, "-c", question], check=False).returncode
    return f"not installed for {programs.peers_python}" if absent else ""


def end_to_end(tool: str, programs: Programs, files: Files, outputs: Path) -> Contestant:
    """The tool evaluates the plain rankings file and writes the 7 metrics of every query."""
    judgments, rankings = str(files.judgments), str(files.rankings())
    output = outputs / f"{tool}.txt"
    if tool == "ireval":
        return ireval_variant("ireval", programs, files, outputs)
    if tool == "trec_eval":
        command = (programs.trec_eval, "-q", *_options(TREC_EVAL_METRICS), judgments, rankings)
        return Contestant(tool, command, output)
    if tool == "plain_pass":
        return Contestant(tool, (programs.plain_pass, judgments, rankings), output)
    command = (programs.peers_python, str(HERE / "peers.py"), tool, judgments, rankings)
    return Contestant(tool, command, output, {"NUMBA_CACHE_DIR": str(programs.compiled_code)})


def ireval_variant(
    name: str,
    programs: Programs,
    files: Files,
    outputs: Path,
    compression: str = "",
    metrics: Sequence[str] = METRICS,
    per_query: bool = True,
) -> Contestant:
    """`ireval evaluate` on a plain or compressed rankings file, any metrics, per query or means alone."""
    paths = (str(files.judgments), str(files.rankings(compression)))
    detail = ("--per-query",) if per_query else ()
    command = (programs.ireval, "evaluate", *paths, *_options(metrics), *detail, "--format", "trec")
    return Contestant(name, command, outputs / f"{name.replace(' ', '-')}.txt")


def _options(metrics: Sequence[str]) -> list[str]:
    return [word for metric in metrics for word in ("-m", metric)]


def ireval_variants(programs: Programs, files: Files, outputs: Path) -> list[Contestant]:
    """What only ours is asked to do: compressed rankings, and 60 metrics against 6."""
    return [
        ireval_variant("ireval gz", programs, files, outputs, compression=".gz"),
        ireval_variant("ireval zst", programs, files, outputs, compression=".zst"),
        ireval_variant("ireval 6 metrics", programs, files, outputs, metrics=SIX_METRICS),
        ireval_variant("ireval 60 metrics", programs, files, outputs, metrics=SIXTY_METRICS),
        ireval_variant("ireval 6 means", programs, files, outputs, metrics=SIX_METRICS, per_query=False),
        ireval_variant("ireval 60 means", programs, files, outputs, metrics=SIXTY_METRICS, per_query=False),
    ]


def further_rankings(tool: str, programs: Programs, files: Files, outputs: Path) -> Contestant:
    """The tool, in a process that has read the judgments, prints the seconds a further ranking takes."""
    python = programs.ireval_python if tool == "ireval" else programs.peers_python
    task = (str(HERE / "peers.py"), tool, str(files.judgments), str(files.rankings()))
    return Contestant(tool, (python, *task, "--again", str(ROUNDS_IN_ONE_PROCESS)), outputs / f"{tool}-again.txt")
