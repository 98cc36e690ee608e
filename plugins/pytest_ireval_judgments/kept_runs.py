"""``ireval judge --last``: the documents that a run asks to judge, and its verdicts, again after each grade."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_ireval import InputError, IrevalError, RunResult, SuiteResult, load_registry, load_suites
from pytest_ireval.gate_api import CheckedAgain, KeptRun, open_kept_run
from pytest_ireval.plugin_api import Problem, did_you_mean, format_count, list_report_folders, read_run
from pytest_ireval.tables import read_contents
from pytest_ireval_judgments.grade_lines import GradeLines
from pytest_ireval_judgments.rating import Item, Pair, read_stamp

RESULTS, RANKINGS = "results.json", "rankings.zip"
FIRST_SHOWN = 10
"""So many documents of each ranking are shown, or as many as come to the document that is judged."""


def open_run(folder: Path | None, name: str | None) -> KeptRun:
    """Open a suite in the run of a folder, or in the last run that left its report here or above here."""
    folders = [each for each in list_report_folders(Path.cwd(), folder) if (each / RESULTS).is_file()]
    if not folders:
        place = "no folder ireval-report is here or above" if folder is None else "there is no results.json"
        hint = "pytest --ireval writes it; --run FOLDER names another one, such as an artifact of CI"
        raise InputError(Problem(place, "" if folder is None else str(folder), suggestion=hint))
    runs = {each: read_run(each, parts=False) for each in folders}
    newest = max(runs, key=lambda each: runs[each].date)
    result = _choose_suite(runs[newest], name, newest)
    path = _find_suite(result, newest)
    # The suite alone sees the variables of the run: a fetched report must not set those of other programs. A secret is
    # written as …, and has to be set.
    variables = {variable: text for variable, text in result.variables.items() if text != "…"}
    registry = load_registry(path)
    suites = load_suites(path, registry, environment={**variables, **os.environ}, asks_source=False)
    suite = next((each for each in suites if each.name == result.name), None)
    if suite is None:
        raise InputError(Problem(f"has no suite {result.name!r}, which the run has", str(path)))
    problem = ""
    if suite.judgments is None:
        problem = "names no judgments"
    elif suite.judgments.lock:
        problem = "locks its judgments: with new grades every check would be an error; judge without lock: true"
    elif suite.documents.spans is not None:
        problem = "judges passages (documents: spans), which take a range; add them to the file by hand"
    if problem:
        raise InputError(Problem(problem, str(suite.judgments.file.place if suite.judgments else suite.place)))
    return open_kept_run(suite, registry, result, newest / RANKINGS)


def _choose_suite(run: RunResult, name: str | None, folder: Path) -> SuiteResult:
    names = [each.name for each in run.suites]
    if name is not None and name not in names:
        complaint = f"the run has no suite {name!r}"
        raise InputError(Problem(complaint, str(folder), (), did_you_mean(name, names), f"suites: {', '.join(names)}"))
    chosen = [each for each in run.suites if each.to_judge and name in (None, each.name)]
    if not chosen:
        hint = "a run names documents where grades could change a red or inconclusive check"
        raise InputError(Problem("the run names no document to judge", str(folder), suggestion=hint))
    if len(chosen) > 1:
        allowed = f"--suite is one of {', '.join(each.name for each in chosen)}"
        raise InputError(Problem("several suites have documents to judge", str(folder), allowed=allowed))
    return chosen[0]


def _find_suite(result: SuiteResult, folder: Path) -> Path:
    """The file of the suite, whose path begins where the run began: here, above here, or at the report."""
    here = Path.cwd()
    paths = (each / result.path for each in (here, *here.parents, folder.absolute().parent))
    found = next((each for each in paths if each.is_file()), None)
    if found is None:
        hint = "go to the folder in which the run began, in a checkout of its commit"
        raise InputError(Problem(f"the suite {result.name} of the run is not here", result.path, suggestion=hint))
    return found


def open_grade_lines(run: KeptRun, judge: str) -> GradeLines:
    """The judgments file of the suite, in the format in which the suite reads it."""
    judgments = run.suite.judgments
    assert judgments is not None  # noqa: S101 - open_run refuses a suite without
    path, grades = judgments.file.path, run.suite.policies.grades
    contents = read_contents(path, format=judgments.format or None, grades=grades, registry=run.registry)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return GradeLines(shown, contents.formats.get("judgments", ""), judge)


def list_items(run: KeptRun, file: GradeLines) -> list[Item]:
    """The documents that the run asks to judge, the most decisive first; all must fit into the file."""
    pairs = [(each.query, each.document) for each in run.result.to_judge]
    if unfit := [f"{query} {document}" for query, document in pairs if not file.can_hold((query, document))]:
        complaint = f"its format cannot hold {format_count(len(unfit), 'pair')} of ids: {'; '.join(unfit)}"
        hint = "convert the file, and name the new one in the suite: ireval import FILE --to FOLDER --ending jsonl"
        raise InputError(Problem(complaint, str(file.path), suggestion=hint))
    items, queries = [], run.read_collection().population.queries
    for each in run.result.to_judge:
        about = {name: values[queries.position[each.query]] for name, values in queries.columns.items()}
        text = run.result.texts.get(each.document)
        known = {} if text is None else {"title": text.title, "url": text.url, **text.fields}
        fields = {name: value for name, value in known.items() if value}
        items.append(Item(each.query, each.text, about, each.document, fields))
    return items


class Verdicts:
    """The verdicts of a run under the grades that its file has; checked again when the file has changed."""

    def __init__(self, run: KeptRun, file: GradeLines) -> None:
        self.run, self.file = run, file
        self._stamp, self._lock = read_stamp(file.path), Lock()
        self._checked = run.check_again()

    def check(self) -> CheckedAgain:
        """Check the run again, if grades changed."""
        with self._lock:
            stamp = read_stamp(self.file.path)
            if stamp != self._stamp:
                self._checked, self._stamp = self.run.check_again(), stamp
            return self._checked

    def describe(self) -> dict[str, Any]:
        """The doubtful checks of the run, with their verdicts of then and now, for the page."""
        checked = self.check()
        now = {each.id: each for each in checked.outcomes}
        checks = [
            {
                "id": then.id,
                "headline": now[then.id].headline,
                "before": _name_verdict(then.verdict, warns=then.broken),
                "now": _name_verdict(now[then.id].verdict, warns=now[then.id].broken),
                "bound": str(checked.bounds.get(then.id, "")),
            }
            for then in self.run.doubtful
        ]
        bounds = checked.bounds.values()
        return {"checks": checks, "final": bool(bounds) and all(each.is_final for each in bounds)}

    def list_rankings(self, pair: Pair) -> dict[str, Any]:
        """The first documents of both rankings of the query, with the grades of now; the judged one is marked."""
        query, document = pair
        scores = self._checked.scores
        compared = next((each.comparison for each in scores.references if each.comparison is not None), None)
        current = scores.current.documents(query)
        baseline = [] if compared is None else compared.baseline.documents(query)
        own = {of: float(grade) for (name, of), grade in self.file.own.items() if name == query}
        grades = {**scores.population.grades(query), **own}
        ranks = ", ".join(
            f"{side} rank {documents.index(document) + 1}" if document in documents else f"not in the {side} ranking"
            for side, documents in (("current", current), ("baseline", baseline))
        )
        return {
            "ranks": ranks,
            "baseline": self._list_documents(baseline, document, grades),
            "current": self._list_documents(current, document, grades),
        }

    def _list_documents(
        self, documents: Sequence[str], judged: str, grades: Mapping[str, float]
    ) -> list[dict[str, Any]]:
        shown = max(FIRST_SHOWN, documents.index(judged) + 1 if judged in documents else 0)
        texts = self.run.result.texts
        return [
            {
                "rank": rank,
                "document": document,
                "title": texts[document].title if document in texts else "",
                "grade": f"{grades[document]:g}" if document in grades else "",
                "here": document == judged,
            }
            for rank, document in enumerate(documents[:shown], 1)
        ]


def _name_verdict(verdict: str, *, warns: bool) -> str:
    return "warning" if warns else verdict


def summarize(verdicts: Verdicts, total: int) -> list[str]:
    """The lines of the end: what was graded, what changed, and what to type next."""
    run, file = verdicts.run, verdicts.file
    lines = [f"graded {len(file.own)} of {format_count(total, 'document')}: {file.path}"]
    try:
        found = verdicts.describe()
    except IrevalError as error:  # somebody else has changed the file to one that cannot be read
        return [*lines, str(error)]
    lines += [f"  {each['id']}: {each['before']} -> {each['now']}" for each in found["checks"]]
    lines += ["further grades cannot change these verdicts"] if found["final"] else []
    return [*lines, f"next: pytest --ireval {run.suite.shown}", f"      git add {file.path}"] if file.own else lines
