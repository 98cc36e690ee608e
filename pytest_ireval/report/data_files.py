"""The files of a run for programs: ``results.json``, ``metrics.txt`` (OpenMetrics) and ``to_judge.tsv``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.results.outcome import VERDICTS, SliceFigures, Verdict
from pytest_ireval.results.plain import from_plain, to_plain
from pytest_ireval.results.run_folder import FOLDER
from pytest_ireval.results.suite_result import MetricFigures, QueryTable, RunResult, SuiteResult, ToJudge
from pytest_ireval.text_table import escape_unprintable

RESULTS = "results.json"
FORMAT = 1
"""The version of the form; a reader refuses another one."""
PARTS = "results.parts"
"""The folder of the parts of a large ``results.json``: the queries and documents of a suite each."""
LARGE = 32 << 20
"""Characters; a ``results.json`` that would have about as many is written in parts."""
IN_PARTS = ("queries", "documents")
_PART = re.compile(rf"{re.escape(PARTS)}/[0-9]+-[\w.-]+\.json", re.ASCII)


def results_text(run: RunResult) -> str:
    """The same text for equal runs."""
    return _to_json(to_plain(run))


def results_files(run: RunResult) -> dict[str, str]:
    """The texts of ``results.json`` and of its parts by file name: the parts first, which it names."""
    if sum(map(_size, run.suites)) <= LARGE:
        return {RESULTS: results_text(run)}
    data = to_plain(run)
    texts = {}
    for number, suite in enumerate(data["suites"], 1):
        name = re.sub(r"[^\w.-]+", "-", suite["name"], flags=re.ASCII)
        suite["part"] = f"{PARTS}/{number:04}-{name}.json"
        content = {name: suite[name] for name in IN_PARTS}
        texts[suite["part"]] = _to_json({"date": run.date, "suite": suite["name"], **content})
        suite |= {"queries": to_plain(QueryTable()), "documents": []}
    return {**texts, RESULTS: _to_json(data)}


def _to_json(data: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **data}, ensure_ascii=False, allow_nan=False) + "\n"


def _size(suite: SuiteResult) -> int:
    """About as many characters as its queries and documents take."""
    table = suite.queries
    columns = 2 + len(table.columns) + len(table.now) + len(table.baseline)
    return 16 * columns * len(table.ids) + 120 * sum(len(each.documents) for each in suite.documents)


def report_folders(suite: Path, report: Path | None) -> list[Path]:
    """The named folder of a report; or all that may hold that of the last run: here, above here, or above the suite."""
    here = Path.cwd()
    above = dict.fromkeys(folder / FOLDER for folder in (here, *here.parents, *suite.parents))
    return list(above) if report is None else [report]


def recorded_run(results: Path, *, parts: bool = True) -> RunResult:
    """The run in a results.json file, or in its folder; without ``parts`` the queries and documents are left out."""
    path = results / RESULTS if results.is_dir() else results
    suggestion = "pytest --ireval writes it; --ireval-report names the folder"
    text = _text_of(path, Problem("results of a run not found", str(path), suggestion=suggestion))
    return refuse_contradictions(run_of(text, str(path), parts=parts), str(path))


def _text_of(path: Path, missing: Problem) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Problem(f"is not UTF-8 text (byte {error.start})", str(path))) from error
    except FileNotFoundError as error:
        raise InputError(missing) from error
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", str(path))) from error


def run_of(text: str, place: str = RESULTS, *, parts: bool = True) -> RunResult:
    """The run that :func:`results_text` wrote; ``place`` is the file, for messages. Its ``parts`` are beside it."""
    data = _object(text, place)
    suites = data.get("suites")
    for suite in suites if isinstance(suites, list) else ():
        if isinstance(suite, dict):
            part = suite.pop("part", None)
            if not parts:  # most of a large file, and slow to check
                for name in IN_PARTS:
                    suite.pop(name, None)
            elif part is not None:
                suite.update(_part(data, suite, str(part), place))
    return from_plain({key: value for key, value in data.items() if key != "format"}, RunResult, place)


def _object(text: str, place: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(f"is not JSON: {error}", place)) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = f"format {data.get('format')!r}" if isinstance(data, dict) else type(data).__name__
        raise InputError(Problem(f"{found} cannot be read as results; this version reads format {FORMAT}", place))
    return data


def _part(run: dict[str, Any], suite: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    """The queries and documents of a suite, from its own file."""
    if not _PART.fullmatch(name):
        raise InputError(Problem(f"{name!r} is not a file of a part", place, allowed=f"{PARTS}/NAME.json"))
    path = Path(place).parent / name
    whole = "keep the folder of a report whole"
    found = _object(_text_of(path, Problem(f"is missing, and {place} needs it", str(path), (), whole)), str(path))
    date, of = found.get("date"), found.get("suite")
    if (date, of) != (run.get("date"), suite.get("name")):
        complaint = f"is a part of the run of {date} and the suite {of}, and {place} is of another run or suite"
        raise InputError(Problem(complaint, str(path), suggestion=whole))
    if lacking := [each for each in IN_PARTS if each not in found]:
        raise InputError(Problem(f"lacks {' and '.join(lacking)}", str(path)))
    return {each: found[each] for each in IN_PARTS}


def refuse_contradictions(run: RunResult, place: str) -> RunResult:
    """The run. Raises InputError if a whole is better than its parts: no run writes such a file."""
    if wrong := next(_contradictions(run), ""):
        complaint = f"is inconsistent, so it may have been edited: {wrong}"
        raise InputError(Problem(complaint, place, suggestion="run the suites again and use the new file"))
    return run


def _contradictions(run: RunResult) -> Iterator[str]:
    for suite in run.suites:
        for each in suite.outcomes:
            if _better(suite.verdict, each.verdict):
                yield f"suite {suite.name} has the verdict {suite.verdict}, but its {each.id} has {each.verdict}"
        if _better(run.verdict, suite.verdict):
            yield f"the run has the verdict {run.verdict}, but suite {suite.name} has {suite.verdict}"
    if run.failed_tests and _better(run.verdict, "fail"):
        yield f"the run has the verdict {run.verdict}, but {run.failed_tests[0]} failed"
    if run.verdict != "error" and (run.problems or not (run.suites or run.unaffected)):
        yield f"the run has the verdict {run.verdict}, but {run.problems[0] if run.problems else 'no suite was judged'}"


def _better(one: Verdict, other: Verdict) -> bool:
    return VERDICTS.index(one) < VERDICTS.index(other)


Labels = tuple[tuple[str, str], ...]

FAMILIES = {
    "ireval_pass": "1 if the whole run may land, 0 if it failed or could not be judged.",
    "ireval_suite_pass": "The same for each suite.",
    "ireval_verdicts": "The number of verdicts of each kind in a suite.",
    "ireval_metric": "A metric as measured by this run, for all queries and for each slice that was compared.",
    "ireval_metric_baseline": "The same metric of the accepted baseline.",
    "ireval_metric_change": "Now minus baseline, over the queries that both sides have.",
    "ireval_metric_resolution": "The smallest drop of the mean that this number of queries shows in 80% of cases.",
    "ireval_rule": "The figures of the other rules, by their names.",
}
"""The content of the file, in this order; all of them are gauges."""
DIGITS = 6
"""Decimals; what differs beyond them is noise, and a report that compares texts would call it a change."""


def metrics_text(run: RunResult) -> str:
    """The same text for equal runs; what has no value is left out. No timestamps: GitLab has no use for them."""
    values: dict[tuple[str, Labels], float] = {}
    for family, labels, value in _samples(run):
        if value is not None and math.isfinite(value):
            values.setdefault((family, labels), value)  # several rules look at one figure
    lines = []
    for family, says in FAMILIES.items():
        lines += [f"# TYPE {family} gauge", f"# HELP {family} {says}"]
        for (of, labels), value in values.items():
            if of == family:
                lines.append(f"{family}{_labels(labels)} {round(float(value), DIGITS) + 0.0!r}")
    return "\n".join([*lines, "# EOF", ""])


def _samples(run: RunResult) -> Iterator[tuple[str, Labels, float | None]]:
    yield "ireval_pass", (), _green(run.verdict)
    for suite in run.suites:
        name = (("suite", suite.name),)
        yield "ireval_suite_pass", name, _green(suite.verdict)
        verdicts = [outcome.verdict for outcome in suite.outcomes]
        for verdict in VERDICTS:
            yield "ireval_verdicts", (*name, ("verdict", verdict)), verdicts.count(verdict)
        yield from _figures(suite, name)
        yield from _rules(suite, name)


def _green(verdict: str) -> float:
    return float(verdict not in ("fail", "error"))


def _figures(suite: SuiteResult, name: Labels) -> Iterator[tuple[str, Labels, float | None]]:
    """All queries first, then the slices of the rules that compare with the baseline."""
    for metric in suite.metrics:
        labels = (*name, ("metric", metric.name), ("slice", "all"))
        yield from _four(labels, metric)
    for outcome in suite.outcomes:
        if outcome.metric and outcome.compares and not outcome.against:
            for each in outcome.figures:
                weighted = (("weighted", "true"),) if each.weighted else ()
                labels = (*name, ("metric", outcome.metric), ("slice", each.slice), *weighted)
                yield from _four(labels, each)


def _four(labels: Labels, of: MetricFigures | SliceFigures) -> Iterator[tuple[str, Labels, float | None]]:
    yield "ireval_metric", labels, of.now
    yield "ireval_metric_baseline", labels, of.baseline
    yield "ireval_metric_change", labels, of.change
    yield "ireval_metric_resolution", labels, of.resolution


def _rules(suite: SuiteResult, name: Labels) -> Iterator[tuple[str, Labels, float | None]]:
    """The numbers of rules that are not among the metrics."""
    for outcome in suite.outcomes:
        if "baseline" in outcome.numbers and not outcome.against:
            continue
        for number, value in outcome.numbers.items():
            yield "ireval_rule", (*name, ("rule", outcome.id), ("number", number)), value


def _labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    """The value of a label: backslashes and quotes escaped, control characters spelled out."""
    # GitLab cuts every line at a ``#`` and refuses the file; so it is a wide one
    return escape_unprintable(value).replace("\\", "\\\\").replace('"', '\\"').replace("#", "\uff03")


HEADER = (
    "suite",
    "query",
    "document",
    "text",
    "title",
    "metric",
    "effect",
    "rank_now",
    "rank_baseline",
    "grades",
    "grade",
)
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?")
BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Characters that end a cell or a line, for one program or another."""


def to_judge_text(run: RunResult) -> str:
    """The same text for equal runs, suite by suite, the most influential first; empty if there is nothing to judge.

    A pair whose ids a table without quotes cannot hold is left out, and so is one whose id a spreadsheet would take for
    a formula: a grade would never find back to it. Other texts are made to be none.
    """
    lines = ["\t".join(_cells(suite, each)) for suite in run.suites for each in suite.to_judge if _fits(each)]
    return "".join(f"{line}\n" for line in ("\t".join(HEADER), *lines)) if lines else ""


def _cells(suite: SuiteResult, each: ToJudge) -> tuple[str, ...]:
    ranks = ("" if rank is None else str(rank) for rank in (each.now, each.baseline))
    plain = (" ".join(BREAKS.sub(" ", words).split()) for words in (each.text, each.title))
    texts = (f"'{words}" if _is_formula(words) else words for words in plain)
    about = (BREAKS.sub(" ", suite.name), each.query, each.document, *texts, each.metric)
    return (*about, f"{each.effect:+.6f}", *ranks, BREAKS.sub(" ", suite.grades), "")


def _fits(each: ToJudge) -> bool:
    ids = (each.query, each.document)
    return not any(BREAKS.search(name) or name != name.strip() or _quoted(name) or _is_formula(name) for name in ids)


def _is_formula(text: str) -> bool:
    """Tell whether a spreadsheet would calculate it, and run what it names; a number with a sign is harmless."""
    return text.startswith(FORMULA) and not NUMBER.fullmatch(text)


def _quoted(name: str) -> bool:
    return len(name) > 1 and name[0] == name[-1] == '"'
