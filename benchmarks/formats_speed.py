"""How long `ireval evaluate` takes on one rankings file in each format, beside TREC, and beside all peers in one run.

    python benchmarks/formats_speed.py                    marco: 7 million rows in each format
    python benchmarks/formats_speed.py robust --rounds 3  a quick look

The rows are those of the data set, with the columns query, document and score. trec_eval, pytrec_eval, ir_measures and
ranx evaluate the TREC file, with the same seven metrics, and print every query. DuckDB and polars do less: they read
the file, find the judged documents and count them; there are no ranks, no checks and no metrics. Peers that are not
installed are left out. The exit code is 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from commands import PACKAGES, Programs, end_to_end, why_missing
from datasets import DEFAULT_FOLDER, SHAPES, Files, files_of, write_missing
from interleave import Contestant, Summary, measure_interleaved
from tables import aligned

FORMATS = ("trec", "csv", "tsv", "jsonl", "parquet", "arrow")
PEERS = ("duckdb", "polars")
LIMITS = {"csv": 3.0, "tsv": 3.0, "jsonl": 3.0, "parquet": 1.3, "arrow": 1.3}
"""How many times the CPU time of TREC a format may take."""
MEMORY = 250
"""The most MiB for a format, with the judgments of marco."""
METRICS = ("nDCG@10", "AP", "RR", "P@10", "R@100", "R@1000", "Bpref")


def main() -> int:
    """Everything measured and printed; 0 if the limits are kept."""
    options = read_options()
    if options.peer:
        count_judged(*options.peer)
        return 0
    if options.write:
        write_formats(files_of(options.write, options.folder))
        return 0
    write_missing(options.data, options.folder)
    if os.spawnv(os.P_WAIT, sys.executable, [sys.executable, __file__, "--write", options.data, *folder(options)]):
        return 1  # the files are written in another process, since the memory of this one would count for all
    contestants = [ours(name, options) for name in FORMATS] + [
        peer(name, form, options) for name in PEERS if find_spec(name) for form in FORMATS[1:5] if form != "tsv"
    ]
    contestants += evaluators(options)
    summaries = measure_interleaved(contestants, options.rounds, tell)
    print(table(options.data, summaries))
    missed = [text for name in LIMITS if (text := verdict(name, summaries)).endswith("MISSED")]
    print("\n".join(verdict(name, summaries) for name in LIMITS))
    return int(bool(missed))


def read_options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure the formats of rankings.")
    parser.add_argument("data", nargs="?", default="marco", choices=sorted(SHAPES), help="the data set; default: marco")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; default: 5")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="of data sets and outputs")
    parser.add_argument("--peers-python", default=sys.executable, help="the interpreter that has the peers' packages")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def folder(options: argparse.Namespace) -> list[str]:
    """The option for the folder, for a process of its own."""
    return ["--folder", str(options.folder)]


def path_of(files: Files, form: str) -> Path:
    """Where the rankings lie in one format."""
    return files.rankings() if form == "trec" else files.folder / f"rankings.{form}"


def write_formats(files: Files) -> None:
    """The rankings exist in every format, and the judgments as Parquet for the peers."""
    from pyarrow import csv, feather, parquet, string

    def words(path: Path, names: list[str], wanted: list[str]) -> object:
        read = csv.ReadOptions(column_names=names)
        types = dict.fromkeys(("query", "document"), string())
        convert = csv.ConvertOptions(include_columns=wanted, column_types=types)
        return csv.read_csv(path, read, csv.ParseOptions(delimiter=" "), convert)

    judged = files.folder / "judgments.parquet"
    parquet.write_table(
        words(files.judgments, ["query", "0", "document", "grade"], ["query", "document", "grade"]), judged
    )
    if path_of(files, "arrow").exists():
        return
    names = ["query", "q0", "document", "rank", "score", "tag"]
    rows = words(files.rankings(), names, ["query", "document", "score"])
    parquet.write_table(rows, path_of(files, "parquet"))
    with ExitStack() as texts:
        lines = texts.enter_context(files.rankings().open())
        comma, tab, objects = (texts.enter_context(path_of(files, form).open("w")) for form in ("csv", "tsv", "jsonl"))
        comma.write("query,document,score\n")
        tab.write("query\tdocument\tscore\n")
        for line in lines:
            query, _, document, _, score, *_ = line.split()
            comma.write(f"{query},{document},{score}\n")
            tab.write(f"{query}\t{document}\t{score}\n")
            objects.write(f'{{"query": "{query}", "document": "{document}", "score": {score}}}\n')
    feather.write_feather(rows, path_of(files, "arrow"), chunksize=1 << 16)


def ours(form: str, options: argparse.Namespace) -> Contestant:
    """`ireval evaluate` of one format."""
    files = files_of(options.data, options.folder)
    metrics = [word for metric in METRICS for word in ("-m", metric)]
    program = str(Path(sys.executable).with_name("ireval"))
    command = (program, "evaluate", str(files.judgments), str(path_of(files, form)), *metrics, "--format", "csv")
    return Contestant(form, command, options.folder / "formats" / f"{form}.out")


def peer(name: str, form: str, options: argparse.Namespace) -> Contestant:
    """A peer that counts the judged documents of one format."""
    files = files_of(options.data, options.folder)
    task = ("--peer", name, str(path_of(files, form)), str(files.folder / "judgments.parquet"))
    return Contestant(
        f"{name} {form}", (sys.executable, __file__, *task), options.folder / "formats" / f"{name}-{form}.out"
    )


def evaluators(options: argparse.Namespace) -> list[Contestant]:
    """Other evaluators, on the TREC file."""
    trec_eval, outputs = shutil.which("trec_eval") or "", options.folder / "formats"
    programs = Programs("ireval", options.peers_python, trec_eval, "", options.folder / "numba")
    tools = [tool for tool in ("trec_eval", *PACKAGES) if not why_missing(tool, programs)]
    return [end_to_end(tool, programs, files_of(options.data, options.folder), outputs) for tool in tools]


def count_judged(name: str, rankings: str, judgments: str) -> None:
    """The number of judged documents, printed."""
    form = Path(rankings).suffix[1:]
    if name == "duckdb":
        import duckdb

        reader = {
            "csv": "read_csv(?, types={'query': 'VARCHAR', 'document': 'VARCHAR'})",
            "jsonl": "read_json(?, columns={'query': 'VARCHAR', 'document': 'VARCHAR', 'score': 'DOUBLE'})",
            "parquet": "read_parquet(?)",
        }[form]
        query = f"select count(*), sum(score) from {reader} join read_parquet(?) using (query, document)"
        print(*(duckdb.execute(query, [rankings, judgments]).fetchone() or ()))
        return
    import polars

    texts = {"query": polars.String, "document": polars.String}
    rows = {
        "csv": lambda: polars.scan_csv(rankings, schema_overrides=texts),
        "jsonl": lambda: polars.scan_ndjson(rankings),
        "parquet": lambda: polars.scan_parquet(rankings),
    }[form]()
    joined = rows.join(polars.scan_parquet(judgments), on=["query", "document"])
    print(*joined.select(polars.len(), polars.col("score").sum()).collect(engine="streaming").row(0))


def table(data: str, summaries: dict[str, Summary]) -> str:
    """One row for each contestant."""
    base = summaries["trec"].cpu_seconds
    rows = [
        [
            name,
            f"{s.wall_seconds:.2f}",
            f"{s.cpu_seconds:.2f}",
            f"{s.peak_mebibytes:.0f}",
            f"{s.cpu_seconds / base:.2f}",
        ]
        for name, s in summaries.items()
    ]
    return aligned([data, "wall s", "CPU s", "MiB", "CPU / trec"], rows)


def verdict(form: str, summaries: dict[str, Summary]) -> str:
    """Whether a format keeps its limits."""
    if form not in summaries:
        return f"{form}: MISSED"
    ratio, memory = summaries[form].cpu_seconds / summaries["trec"].cpu_seconds, summaries[form].peak_mebibytes
    kept = ratio <= LIMITS[form] and memory <= MEMORY
    text = f"{form}: {ratio:.2f} x the CPU time of TREC (limit {LIMITS[form]:g}), {memory:.0f} MiB (limit {MEMORY})"
    return f"{text}: {'held' if kept else 'MISSED'}"


def tell(text: str) -> None:
    """Progress goes to standard error, so that standard output is the result alone."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
