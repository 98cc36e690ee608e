"""The meaning of names of other packages: ``ndcg_cut_10`` of trec_eval is ``nDCG@10`` here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from pytest_ireval.errors import MetricNameError, Problem, find_closest, quote
from pytest_ireval.metrics.elsewhere import PACKAGES, Elsewhere, list_counterparts, list_without_counterpart
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.metrics.parameters import format_value

PART = re.compile(r"\{\{|\}\}|\{(?P<hole>\w+)(?P<squared>\^2)?\}")
"""A brace, or a hole for a number."""
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
PAIR = rf"{NUMBER}={NUMBER}"
PAIRS_SHOWN = "1=3,2=9"
"""Pairs of a grade and its gain, as trec_eval writes them in names."""
SEVERAL = re.compile(rf"(?P<head>.*?[_.])(?P<numbers>{NUMBER}(?:,{NUMBER})+)")
"""``P.5,10``, which in trec_eval is two metrics."""
TAIL = re.compile(rf"[(@].*$|[_.=@]{NUMBER}(?:,{NUMBER})*$")
"""The part after a name: arguments, a cutoff."""


@dataclass
class NameMeaning:
    """The meaning of a name: rows of the table, the row of a name without counterpart, or a metric of ours alone."""

    rows: tuple[Elsewhere, ...] = ()
    absent: Elsewhere | None = None
    ours: Metric | None = None


def look_up(name: str, package: str, vocabulary: Vocabulary) -> NameMeaning:
    """First among the package's own names, then among ours; raises MetricNameError if neither knows it."""
    rows = list_counterparts(vocabulary.elsewhere, package)
    absent = list_without_counterpart(vocabulary.elsewhere, package)
    name = name.strip()
    if name in vocabulary.metrics:
        return _look_up_ours(vocabulary.metrics[name], rows, absent)
    for found in (
        tuple(row for row in rows if row.names[0] == name),  # as it stands in the table
        _match_rows(name, rows, vocabulary),
        _split_numbers(name, rows, vocabulary) if package == "trec_eval" else (),
        _match_rows(name, rows, vocabulary, re.IGNORECASE),
        tuple(row for row in rows if _strip_arguments(row.name).lower() == name.lower()),
    ):
        if found:
            return NameMeaning(found)
    bare = TAIL.sub("", name).lower()
    for each in absent:
        if each.name.lower() in (name.lower(), bare):
            return NameMeaning(absent=each._replace(name=name))
    try:
        metric = vocabulary.family(name)
    except MetricNameError:
        raise _unknown_name_error(name, package, rows, absent) from None
    translated = _translate(name, rows, vocabulary)
    if translated:
        return NameMeaning(translated)
    if TAIL.search(name):  # over there, the metric may have names with other arguments
        suggestion = f"ireval metrics --for {package} {metric.name} lists its names for {metric.name}"
        complaint = f"{PACKAGES[package]} has no name for this metric"
        raise MetricNameError(Problem(complaint, place=quote(name), suggestion=suggestion))
    return _look_up_ours(metric, rows, absent)


def _look_up_ours(metric: Metric, rows: list[Elsewhere], absent: list[Elsewhere]) -> NameMeaning:
    """All names of one of our metrics in the other package, and the meaning of its own name there."""
    meant = tuple(row for row in rows if metric.name in (row.metric, row.name))
    if meant:
        return NameMeaning(meant)
    return NameMeaning(absent=next((each for each in absent if each.name == metric.name), None), ours=metric)


def _match_rows(name: str, rows: list[Elsewhere], vocabulary: Vocabulary, flags: int = 0) -> tuple[Elsewhere, ...]:
    """Rows whose name, with numbers in its holes, is ``name``; both sides get the numbers."""
    matches = ((row, re.fullmatch(_make_pattern(row.name, row.package), name.replace(" ", ""), flags)) for row in rows)
    return tuple(_fill_holes(row, match.groupdict(), vocabulary) for row, match in matches if match)


def _translate(name: str, rows: list[Elsewhere], vocabulary: Vocabulary) -> tuple[Elsewhere, ...]:
    """Rows for the very metric that ``name`` is here: nDCG@10, or its name in a third package."""
    try:
        wanted = [str(metric).replace(" ", "") for metric in vocabulary.parse(name)]
    except MetricNameError:  # it lacks an argument
        return ()
    matches = (
        (row, re.fullmatch(_make_pattern(row.ours), each)) for each in wanted for row in rows if "^2" not in row.name
    )
    return tuple(_fill_holes(row, match.groupdict(), vocabulary) for row, match in matches if match)


def _fill_holes(row: Elsewhere, numbers: dict[str, str], vocabulary: Vocabulary) -> Elsewhere:
    """The row with numbers in place of holes; ours is a canonical name then."""
    if not numbers:
        return row
    theirs = PART.sub(lambda part: numbers.get(part["hole"], part.group()), row.name)
    if pairs := numbers.get("pairs"):
        theirs = row.name.replace(PAIRS_SHOWN, pairs)
        ours = str(vocabulary.parse(theirs)[0])
    else:
        squared = {part["hole"] for part in PART.finditer(row.name) if part["squared"]}
        inserted = {hole: _write_root(text) if hole in squared else text for hole, text in numbers.items()}
        ours = str(vocabulary.parse(row.ours.format(**inserted))[0])
    return row._replace(name=theirs, ours=ours.replace("{", "{{").replace("}", "}}"))


def _write_root(squared: str) -> str:
    if float(squared) < 0:
        raise MetricNameError(Problem(f"{squared} is not the square of a number"))
    return format_value(math.sqrt(float(squared)))


def _make_pattern(name: str, package: str = "") -> str:
    """A name of a table as a regular expression with a group for each hole."""
    text, pattern, at = name.replace(" ", ""), "", 0
    if text.endswith("_" + PAIRS_SHOWN):
        return re.escape(text.removesuffix("_" + PAIRS_SHOWN)) + rf"[_.](?P<pairs>{PAIR}(?:,{PAIR})*)"
    for part in PART.finditer(text):
        pattern += re.escape(text[at : part.start()])
        if part["hole"]:
            if package == "trec_eval" and pattern.endswith("_"):
                pattern = pattern[:-1] + "[_.]"
            pattern += f"(?P<{part['hole']}>{NUMBER})"
        else:
            pattern += re.escape(part.group()[0])
        at = part.end()
    return pattern + re.escape(text[at:])


def _split_numbers(name: str, rows: list[Elsewhere], vocabulary: Vocabulary) -> tuple[Elsewhere, ...]:
    match = SEVERAL.fullmatch(name)
    numbers = match["numbers"].split(",") if match else []
    return tuple(row for each in numbers if match for row in _match_rows(match["head"] + each, rows, vocabulary))


def _strip_arguments(name: str) -> str:
    """A name without what follows it: ``ndcg_cut`` of ``ndcg_cut_{cutoff}``."""
    return re.split(r"[({@]", name)[0].rstrip("_.=")


def _unknown_name_error(name: str, package: str, rows: list[Elsewhere], absent: list[Elsewhere]) -> MetricNameError:
    tail = TAIL.search(name)
    rest = tail.group() if tail else ""
    meant = find_closest(
        name.removesuffix(rest), {*(_strip_arguments(row.name) for row in rows), *(each.name for each in absent)}
    )
    return MetricNameError(
        Problem(
            f"is neither a metric name of {PACKAGES[package]} nor of pytest-ireval",
            place=quote(name),
            suggestion=f"did you mean {meant + rest!r}?" if meant and (meant + rest).lower() != name.lower() else "",
            allowed=f"ireval metrics --for {package} lists its names; ireval metrics lists those of pytest-ireval",
        )
    )
