"""Rankings from files: one, several, or all that fit a pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field, model_validator

from pytest_ireval.data.coerce import coerce_rankings
from pytest_ireval.data.formats.input_file import shorten_path
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import read_timings
from pytest_ireval.data.views import concatenate_rankings
from pytest_ireval.errors import Mistakes, Problem, SourceError, quote, relative_path
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.suite.option_types import PathText, PathTexts, Text
from pytest_ireval.suite.options import SourceOptions, StagedSourceOptions
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.words import format_count


class RunOptions(StagedSourceOptions):
    """The options of rankings files; with stages, one file of each, all from one run."""

    run: PathTexts = Field(description="A rankings file, a pattern such as runs/*.trec.gz, or a list of both.")
    timings: PathText | None = Field(
        None, description="A file with the time of each query: columns query and seconds, or query and milliseconds."
    )
    format: Text = Field("", description="Its format, if several formats fit: trec, table, jsonl, json, parquet, …")

    @model_validator(mode="after")
    def _check_files(self) -> RunOptions:
        if self.stages and len(self.run) != len(self.stages):
            files = f"{format_count(len(self.run), 'file')} for {len(self.stages)} stages"
            raise UnfitError(f"run names {files}", f"write run: [{', '.join(f'{name}.trec' for name in self.stages)}]")
        return self


@source(name="run", options=RunOptions)
def run(options: RunOptions, request: Request) -> Answer:
    """Rankings from files, in any installed format."""
    *earlier, last = options.stages or ("",)
    paths = dict(zip((*earlier, last), options.run, strict=True)) if earlier else {}
    stages = {name: _read_files(options, [paths[name]], replace(request, keep_all=True)) for name in earlier}
    rankings = _read_files(options, [paths[last]] if earlier else options.run, request)
    timings = None if options.timings is None else read_timings(shorten_path(options.timings))
    return Answer(replace(rankings, timings=timings), stages=stages)


def _read_files(options: RunOptions, paths: Sequence[Path], request: Request) -> Rankings:
    files = list(dict.fromkeys(file for path in paths for file in _expand_path(path, request.folder)))
    depth = None if request.keep_all else request.depth
    how = Reading(depth=depth, by_id=request.by_id, progress=request.progress)
    parts = [
        coerce_rankings(shorten_path(file), request.readers, options.format or None, how, "format: …") for file in files
    ]
    _refuse_split(parts, files, request.folder)
    return concatenate_rankings(parts, "rankings")


def find_missing_files(options: SourceOptions, folder: Path) -> list[str] | None:
    """The files and patterns without a file yet; None for a source that does not read files."""
    if not isinstance(options, RunOptions):
        return None
    missing = []
    for path in options.run:
        try:
            list(_expand_path(path, folder))
        except SourceError:
            missing.append(relative_path(path, folder))
    return missing


def read_same_files(one: SourceOptions, other: SourceOptions, folder: Path) -> bool:
    """Tell whether every file of one of two sources of files is a file of the other one; links are followed."""
    ours, theirs = ({os.path.realpath(file) for file in find_files(each, folder)} for each in (one, other))
    return bool(ours and theirs) and (ours <= theirs or theirs <= ours)


def find_files(options: SourceOptions, folder: Path) -> list[Path]:
    """The files of a source of files; none for another source, and where one is missing, an error when it is read."""
    try:
        return (
            [file for path in options.run for file in _expand_path(path, folder)]
            if isinstance(options, RunOptions)
            else []
        )
    except SourceError:
        return []


def _expand_path(path: Path, folder: Path) -> Iterator[Path]:
    """The files of a path or pattern, in order of their names."""
    shown_path = relative_path(path, folder)
    if os.path.exists(path):
        yield path
    elif glob.has_magic(shown_path):
        # Relative to the folder, because its own name may contain brackets that do not form a pattern.
        found = sorted(glob.glob(shown_path, root_dir=folder, recursive=True))
        files = [file for name in found if (file := Path(os.path.normpath(folder / name))).is_file()]
        if not files:
            raise SourceError(
                Problem(f"no file matches {quote(shown_path)}", suggestion=_describe_folder(path, folder))
            )
        yield from files
    else:
        raise SourceError(Problem(f"there is no file {quote(shown_path)}", suggestion=_describe_folder(path, folder)))


def _describe_folder(path: Path, folder: Path) -> str:
    """A hint at the files in the folder of a missing file."""
    if not os.path.isdir(path.parent):
        return (
            ""
            if glob.has_magic(str(path.parent))
            else f"there is no folder {relative_path(path.parent, folder)} either"
        )
    names = sorted(each.name for each in path.parent.iterdir() if each.is_file() and not each.name.startswith("."))
    more = f" and {len(names) - Mistakes.SHOWN} more" if len(names) > Mistakes.SHOWN else ""
    where = "the suite's folder" if path.parent == folder else relative_path(path.parent, folder)
    return f"{where} holds {', '.join(map(repr, names[: Mistakes.SHOWN])) or 'no files'}{more}"


def _refuse_split(parts: Sequence[Rankings], files: Sequence[Path], folder: Path) -> None:
    """Refuse a query that is in two files: merging two rankings of it would be a guess."""
    if len(parts) == 1:
        return
    first: dict[str, Path] = {}
    split: dict[tuple[Path, Path], list[str]] = {}
    for part, file in zip(parts, files, strict=True):
        for query in part.queries:
            other = first.setdefault(query, file)
            if other != file:
                split.setdefault((other, file), []).append(query)
    if split:
        raise SourceError(
            *(
                _describe_split(relative_path(a, folder), relative_path(b, folder), queries)
                for (a, b), queries in split.items()
            )
        )


def _describe_split(one: str, other: str, queries: Sequence[str]) -> Problem:
    more = f" and {len(queries) - 1} more" if len(queries) > 1 else ""
    return Problem(
        f"query {quote(queries[0])}{more}: ranked in {one} and in {other}",
        suggestion="each query must be in one file only; merge the two files, or remove one",
    )
