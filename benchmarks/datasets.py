"""Which data sets the benchmark uses, where their files lie, and how to write those that are missing.

    python benchmarks/datasets.py small robust marco --folder DIR

A data set is a folder: `DIR/marco/judgments.txt`, `DIR/marco/rankings.txt`, and for marco the same
rankings compressed, `rankings.txt.gz` and `rankings.txt.zst`. A file that exists is kept; a file
gets its final name only when it is complete.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

DEFAULT_FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Shape:
    """The shape of a data set; `judging` says how many documents a query has judged, "sparse" means 1.06."""

    queries: int
    depth: int
    collection: int
    judging: Literal["sparse"] | int
    document_ids: Literal["numbers", "news", "addresses"] = "numbers"
    scores: Literal["six decimals", "full precision"] = "six decimals"
    first_query: int | None = None
    shuffled: bool = False
    compressed: tuple[str, ...] = ()


MARCO = Shape(queries=6_980, depth=1_000, collection=8_841_823, judging="sparse", compressed=(".gz", ".zst"))

SHAPES = {
    "small": Shape(queries=50, depth=100, collection=100_000, judging=40),
    "robust": Shape(queries=250, depth=1_000, collection=528_155, judging=1_200, document_ids="news", first_query=301),
    "marco": MARCO,
    "multi": replace(MARCO, collection=100_000_000, document_ids="addresses", scores="full precision", compressed=()),
    "shuffled": replace(MARCO, shuffled=True, compressed=()),
    "deep": replace(MARCO, queries=70_000, compressed=()),
}


@dataclass(frozen=True)
class Files:
    """The files of one data set in a folder of data sets."""

    folder: Path

    @property
    def judgments(self) -> Path:
        """The TREC judgments (qrels format): query, 0, document, grade."""
        return self.folder / "judgments.txt"

    def rankings(self, compression: str = "") -> Path:
        """The rankings in TREC run format, plain or compressed (".gz", ".zst")."""
        return self.folder / f"rankings.txt{compression}"


def files_of(name: str, folder: Path) -> Files:
    """Where the data set `name` lies, or will lie, under `folder`."""
    return Files(folder / name)


def write_missing(name: str, folder: Path) -> list[Path]:
    """Every file of the data set exists afterwards; returns those that were written now."""
    shape, files = SHAPES[name], files_of(name, folder)
    files.folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    if not (files.judgments.exists() and files.rankings().exists()):
        written += _write_text(shape, files)
    for compression in shape.compressed:
        if written or not files.rankings(compression).exists():
            written.append(_write_compressed(files.rankings(), files.rankings(compression)))
    return written


def _write_text(shape: Shape, files: Files) -> list[Path]:
    from synthesis import write_data_set  # imports numpy, which a caller that only asks for paths must not pay for

    write_data_set(shape, _partial(files.judgments), _partial(files.rankings()))
    return [_complete(files.judgments), _complete(files.rankings())]


def _write_compressed(plain: Path, target: Path) -> Path:
    COMPRESS[target.suffix](plain, _partial(target))
    return _complete(target)


def _partial(target: Path) -> Path:
    return target.with_name(f"{target.name}.partial")


def _complete(target: Path) -> Path:
    os.replace(_partial(target), target)
    return target


def _gzip(source: Path, target: Path) -> None:
    with (
        source.open("rb") as plain,
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,  # no name, no time: same bytes
    ):
        shutil.copyfileobj(plain, packed, 1 << 20)


def _zstandard(source: Path, target: Path) -> None:
    import zstandard

    with source.open("rb") as plain, target.open("wb") as packed:
        zstandard.ZstdCompressor(level=3).copy_stream(plain, packed)


COMPRESS: dict[str, Callable[[Path, Path], None]] = {".gz": _gzip, ".zst": _zstandard}


def main() -> None:
    """Write the data sets that the command line names."""
    parser = argparse.ArgumentParser(description="Write the missing files of the benchmark's data sets.")
    parser.add_argument("names", nargs="+", choices=sorted(SHAPES), metavar="NAME", help=", ".join(SHAPES))
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="default: benchmarks/data")
    options = parser.parse_args()
    for name in options.names:
        for path in write_missing(name, options.folder):
            print(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)", flush=True)


if __name__ == "__main__":
    main()
