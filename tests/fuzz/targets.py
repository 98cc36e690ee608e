"""What reads bytes that somebody else wrote; nothing but an IrevalError may come out of any of it."""

import gzip
import tempfile
from functools import cache
from pathlib import Path

from pytest_ireval import load_registry, load_suites
from pytest_ireval.baseline.fingerprints import fingerprint
from pytest_ireval.baseline.rankings_file import read_last_run
from pytest_ireval.baseline.text import Damage, decode_baseline, find_acceptances
from pytest_ireval.data.aliases import read_aliases, read_groups
from pytest_ireval.data.coerce import coerce_judgments, coerce_queries, coerce_rankings, join_rankings
from pytest_ireval.data.side_data import read_fields, read_preferences, read_timings
from pytest_ireval.errors import IrevalError
from pytest_ireval.report.results_file import parse_run, refuse_contradictions
from pytest_ireval.suite.finding import is_suite

HERE = Path(__file__).parent
LARGEST = 1 << 20


@cache
def registry():
    return load_registry()


@cache
def folder():
    """A folder with what suites name."""
    made = tempfile.TemporaryDirectory(prefix="ireval-fuzz-")
    home = Path(made.name)
    (home / "queries.tsv").write_text("id\ttext\tsegment\nq1\tred mug\thead\nq2\tcup\ttail\n")
    (home / "judgments.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (home / "rankings.txt").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\n")
    (home / "common.yaml").write_text("owner: us\n")
    return made


def file_of(data, name):
    path = Path(folder().name) / name
    path.write_bytes(data)
    return path


def suite(data):
    path = file_of(data, "mutated.ireval.yaml")
    is_suite(path)
    load_suites(path, registry(), environment={"NAME": "value"})


def judgments(data):
    coerce_judgments(file_of(data, "mutated"), registry().readers)


def rankings(data):
    """All rows, and judged rows alone, which large files take another way to."""
    judgments = coerce_judgments({"q1": {"d1": 1}, "q2": {"d2": 1}}, registry().readers)
    try:
        join_rankings(judgments, file_of(data, "mutated"), registry().readers, documents=False)
    except IrevalError as error:
        check_error_text(error)
    coerce_rankings(file_of(data, "mutated"), registry().readers)


def queries(data):
    coerce_queries(file_of(data, "mutated"), registry().readers)


def aliases(data):
    for read in (read_aliases, read_groups):
        try:
            read(file_of(data, "mutated.tsv"))
        except IrevalError as error:
            check_error_text(error)


def companions(data):
    for read in (lambda path: read_fields(path, {"a", "b"}), read_timings, read_preferences):
        try:
            read(file_of(data, "mutated"))
        except IrevalError as error:
            check_error_text(error)


def results(data):
    refuse_contradictions(parse_run(data.decode("utf-8", "replace")), "results.json")  # it is given text


def last_rankings(data):
    read_last_run(file_of(data, "rankings.zip"), load_suites(sound_suite(), registry(), environment={})[0].name)


@cache
def sound_suite():
    text = "ireval: 1\nsuite: shop\nsource: {run: rankings.txt}\njudgments: judgments.txt\nmetrics: [P@1]\n"
    return file_of(f"{text}rules: [{{threshold: {{P@1: '> 0'}}}}]\n".encode(), "sound.ireval.yaml")


def baseline(data):
    """As it is; and with a right digest, so that what follows is looked at."""
    body = data.partition(b"\n")[2]
    sealed = f'{{"format": 1, "digest": "{fingerprint(body)}"}}\n'.encode() + body
    for each in (data, sealed, gzip.compress(sealed)):
        find_acceptances(each)
        try:
            decode_baseline(each, "shop.baseline")
        except Damage as damage:
            assert damage.complaint


TARGETS = {
    "suite": suite,
    "judgments": judgments,
    "rankings": rankings,
    "queries": queries,
    "aliases": aliases,
    "companions": companions,
    "results": results,
    "last_rankings": last_rankings,
    "baseline": baseline,
}


def check_error_text(error):
    """The text of an error: one that can be printed, and says something."""
    text = str(error)
    assert text.strip()
    text.encode("utf-8", "backslashreplace")
    assert len(text) < 100_000


def read(kind, data):
    """Read bytes as files of a kind; whatever is no IrevalError comes out."""
    if len(data) > LARGEST:
        return
    try:
        TARGETS[kind](data)
    except IrevalError as error:
        check_error_text(error)


def seeds(kind):
    """The kept files of a kind, sound ones and those that were trouble once, by name."""
    return {path.name: path.read_bytes() for path in sorted((HERE / "corpus" / kind).iterdir())}
