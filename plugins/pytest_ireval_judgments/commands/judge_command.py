"""``ireval judge``: judge a pool in the browser, or ask a program such as a language model, checked against humans."""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import click

from pytest_ireval import InputError, IrevalError, read_judgments
from pytest_ireval.cli.options import ProgressBar, format_options, load_command_registry, refuse_same_file
from pytest_ireval.cli.sheets import Row, Sheet, list_first, print_sheets, sheet_format
from pytest_ireval.plugin_api import Problem, did_you_mean, format_count, is_run_folder
from pytest_ireval.tables import find_column, write_table
from pytest_ireval_judgments.agreement import LEVEL, HumanAgreement, compare_with_humans, draw_per_slice, shuffle
from pytest_ireval_judgments.machine import PROMPT, AnswerCache, Asking, GivenGrade, MachineJudge, Spending
from pytest_ireval_judgments.rating import ENDINGS, Item, JudgmentFile, Pair, ReadPool, match_judgments, read_pool

ONLY_WITH = {
    "calibrate": "--calibrate",
    "without_calibration": "--without-calibration",
    "model_name": "--model-name",
    "prompt": "--prompt",
    "cache": "--cache",
    "budget": "--budget",
    "budget_cost": "--budget-cost",
    "audit": "--audit",
}
"""Options that need --with."""
LEAST_KAPPA = 0.6
MOST_GRADES = 10
"""A grade is one key."""


def _read_scale_option(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> dict[int, str] | None:
    if text is None or (found := _read_scale(text)):
        return found if text else None
    raise click.BadParameter(f"{text!r} is not a range such as 0-3, or labels such as 0=no,1=yes", param=parameter)


def _read_scale(text: str) -> dict[int, str]:
    """``0-3``, or ``0=no,1=partly,2=yes``; empty if it is neither."""
    if match := re.fullmatch(r"([0-9])-([0-9])", text.strip()):
        found = dict.fromkeys(range(int(match[1]), int(match[2]) + 1), "")
    else:
        parts = [re.fullmatch(r"\s*([0-9])\s*=\s*(\S.*?)\s*", part) for part in text.split(",")]
        found = {int(part[1]): part[2] for part in parts if part}
        found = found if len(found) == len(parts) else {}
    return dict(sorted(found.items())) if 2 <= len(found) <= MOST_GRADES else {}


def _find_scale(pool: ReadPool) -> dict[int, str]:
    """The grades of all suites of the pool, with the labels on which they agree; empty if one of them is unknown."""
    found = [_read_scale(text) for text in pool.scales]
    grades = sorted({grade for scale in found for grade in scale}) if all(found) else []
    labels = {grade: {scale[grade] for scale in found if grade in scale} for grade in grades}
    return {grade: said.pop() if len(said) == 1 else "" for grade, said in labels.items()}


@click.command(name="judge", context_settings={"show_default": True})
@click.argument("pool", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--last", is_flag=True, help="Judge what the last run asks for, into the judgments of its suite.")
@click.option(
    "--run",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The same for the run whose report is in this folder, such as an artifact of CI.",
)
@click.option("--suite", metavar="NAME", help="With --last or --run: one of several suites.")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="The judgments; the default is POOL.judgments.tsv, in the current folder if POOL is in a folder of runs.",
)
@click.option("--judge", help="The name of the judge; the default is your login name, or the model.")
@click.option(
    "--guideline", default="", metavar="TEXT-OR-FILE", help="The guideline; of a file, a hash is the version."
)
@click.option(
    "--grades",
    callback=_read_scale_option,
    help="The grades: 0-3, or 0=no,1=partly,2=yes; the default is those of the suite in to_judge.tsv, or else 0-3.",
)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port of the page; 0: any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address of the page, and open no browser.")
@click.option("--with", "program", metavar="COMMAND", help="Ask this program instead of a person.")
@click.option("--calibrate", metavar="FILE", help="Human judgments: the program is asked about these documents, too.")
@click.option(
    "--least-kappa", default=LEAST_KAPPA, type=click.FloatRange(-1, 1), help="Refuse a program with a lower kappa."
)
@click.option("--without-calibration", is_flag=True, help="Trust the program without human judgments.")
@click.option("--model-name", metavar="NAME", help="The model, kept with each judgment; {model} in the command.")
@click.option(
    "--prompt",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file of the prompt, {prompt} in the command; its hash is kept with each judgment.",
)
@click.option(
    "--cache", type=click.Path(path_type=Path), help="The file of answers; the default is POOL.answers.jsonl."
)
@click.option("--budget", type=click.IntRange(0), help="Ask for this many answers at most.")
@click.option("--budget-cost", type=click.FloatRange(0), help="Stop when the answers cost this much.")
@click.option(
    "--timeout", default=120.0, type=click.FloatRange(0, min_open=True), help="The longest silence in seconds."
)
@click.option("--audit", type=click.IntRange(1), metavar="N", help="Draw N judged documents of each slice for humans.")
@click.option("--by", "column", metavar="COLUMN", help="The column of the pool that makes the slices of an audit.")
@click.option("--seed", default=7, type=click.IntRange(0), help="The seed of the order, the audit and the interval.")
@click.option("--force", is_flag=True, help="Overwrite the file of an audit.")
@sheet_format
@format_options("judgments")
def command(
    pool: Path | None,
    last: bool,
    folder: Path | None,
    suite: str | None,
    target: Path | None,
    judge: str | None,
    guideline: str,
    grades: dict[int, str] | None,
    port: int,
    no_browser: bool,
    program: str | None,
    form: str,
    **options: Any,
) -> None:
    """Judge the documents of POOL, which ireval pool wrote, or of to_judge.tsv.

    With --last, judge the documents on which the verdicts of the last run depend. The grades go to the judgments of the
    suite, and the page shows the verdicts with them.

    A page opens in the browser. It is served to this machine only. Each grade is saved at once, with judge, date and
    guideline; the judgments of a suite keep those that they have columns for. With --with a program judges instead, if
    it agrees with humans (--calibrate).
    """
    given = [name for key, name in ONLY_WITH.items() if options[key] is not None and options[key] is not False]
    if program is None and given:
        raise click.UsageError(f"{given[0]} needs --with")
    if last or folder is not None:
        if pool or program or target:
            raise click.UsageError("--last and --run have their own documents and file: give no POOL, --to or --with")
        _judge_run(folder, suite, judge, guideline, grades, port, browser=not no_browser)
        return
    if suite is not None:
        raise click.UsageError("--suite needs --last or --run")
    if pool is None:
        raise click.UsageError("name a POOL, or judge what the last run asks for: --last")
    read = read_pool(pool)
    home = _find_home(pool)
    target = target or _find_started(pool, home, _name_beside(pool, "judgments").name)
    if program is not None:
        options["cache"] = options["cache"] or _find_started(pool, home, f"{pool.stem}.answers.jsonl")
    known = grades or _find_scale(read)
    scale = known or dict.fromkeys(range(4), "")
    refuse_same_file([pool, options["calibrate"]], {"--to": target, "--cache": options["cache"]})
    text, version = _read_guideline(guideline)
    row = {"date": _today().isoformat(), "guideline": version}
    if program is not None:
        machine_judge = MachineJudge(program, scale, options["model_name"] or "", options["prompt"], options["timeout"])
        file = JudgmentFile(target, _make_file_name(judge or machine_judge.name))
        sys.exit(_judge_by_program(home / pool.name, read, file, machine_judge, row, form, options))
    from pytest_ireval_judgments.commands.rating_page import Rating

    file = JudgmentFile(target, _make_file_name(judge or _find_login()))
    rating = Rating(pool.name, read.items, file, row, scale, text, guessed=not known)
    _judge_by_hand(rating, port, browser=not no_browser)


def _judge_run(
    folder: Path | None,
    suite: str | None,
    judge: str | None,
    guideline: str,
    grades: dict[int, str] | None,
    port: int,
    *,
    browser: bool,
) -> None:
    """Judge what a run asks for, and show its verdicts with the grades."""
    from pytest_ireval_judgments.commands.rating_page import Rating
    from pytest_ireval_judgments.kept_runs import Verdicts, list_items, open_grade_lines, open_run, summarize

    run = open_run(folder, suite)
    scale = _read_scale(run.result.grades) or grades
    if scale is None:
        raise click.UsageError("the grades of the suite are not single digits: give --grades, such as 0-3")
    if grades and set(grades) != set(scale):
        raise click.UsageError(f"--grades are those of the suite: {run.result.grades}")
    file = open_grade_lines(run, _make_file_name(judge or _find_login()))
    text, version = _read_guideline(guideline)
    items = list_items(run, file)
    click.echo(f"{run.suite.name}: {run.last}")
    if file.lost_columns:
        click.echo(f"{file.path} has no column for {', '.join(file.lost_columns)}: not kept with the grades")
    if run.added:
        click.echo(f"{format_count(run.added, 'judgment')} added since the run: they count")
    for unrepeatable in run.unrepeatable:
        click.echo(f"{unrepeatable} keeps its verdict: it rests on more than the kept rankings")
    verdicts = Verdicts(run, file)
    row = {"date": _today().isoformat(), "guideline": version}
    rating = Rating(run.suite.name, items, file, row, grades or scale, text, verdicts=verdicts)
    done = len({item.pair for item in items} & file.grades.keys())
    _serve(rating, port, f"{done} judged already: {file.path}", browser=browser)
    click.echo("\n".join(["", *summarize(verdicts, len(items))]))


def _today() -> date:
    """The day in UTC; or that of SOURCE_DATE_EPOCH."""
    return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), timezone.utc).date()


def _name_beside(pool: Path, what: str) -> Path:
    return pool.with_name(f"{pool.stem}.{what}{pool.suffix if pool.suffix.lower() in ENDINGS else '.tsv'}")


def _find_home(pool: Path) -> Path:
    """The folder for what judges write: that of the pool, or if each run writes that one again, the current one."""
    if not is_run_folder(pool.absolute().parent):
        return pool.parent
    return Path("..") if is_run_folder(Path.cwd()) else Path()


def _find_started(pool: Path, home: Path, name: str) -> Path:
    """The file in that folder, or the one that an earlier version wrote beside the pool; the command says so."""
    old, new = pool.with_name(name), home / name
    if home == pool.parent or not old.exists():
        return new
    if new.exists():
        click.echo(f"{old} is not read: {new} exists, too (ireval import merges judgments)", err=True)
        return new
    click.echo(f"continues {old}; git ignores this folder, so move the file to {new}", err=True)
    return old


def _make_file_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or not name.isprintable():
        raise click.UsageError("--judge needs a name")
    return name


def _find_login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise click.UsageError("the login name is unknown: give --judge NAME") from None


def _read_guideline(said: str) -> tuple[str, str]:
    """The text to show, and the version to keep: a short text itself, or the hash of a file."""
    path = Path(said)
    try:
        if not said or not path.is_file():
            return said, " ".join(said.split())
        data = path.read_bytes()
    except (OSError, ValueError):  # a text too long for the name of a file, or with a character that none has
        return said, " ".join(said.split())
    return data.decode("utf-8", "replace"), hashlib.sha256(data).hexdigest()[:12]


def _judge_by_hand(rating: Any, port: int, *, browser: bool) -> None:
    pairs = {item.pair for item in rating.items}
    if not pairs:
        raise InputError(Problem("every document has a grade already", rating.pool))
    done = len(pairs & rating.file.grades.keys())
    _serve(rating, port, f"{done} judged already by {rating.file.judge}: {rating.file.path}", browser=browser)
    done = len(pairs & rating.file.grades.keys())  # a grade that is being saved is waited for
    click.echo(f"\n{done} of {format_count(len(pairs), 'document')} judged by {rating.file.judge}: {rating.file.path}")


def _serve(rating: Any, port: int, progress: str, *, browser: bool) -> None:
    """Serve the page until its button or Ctrl-C ends it."""
    from pytest_ireval_judgments.commands.rating_page import make_rating_server

    try:
        server, address = make_rating_server(rating, port)
    except OSError as error:
        complaint = f"port {port} cannot be used: {error.strerror}"
        raise IrevalError(Problem(complaint, suggestion="without --port any free one is used")) from None
    click.echo(f"{format_count(len(rating.items), 'document')} to judge, {progress}")
    click.echo(f"judge at {address} (Ctrl-C ends)")
    sys.stdout.flush()
    if browser:
        import webbrowser

        webbrowser.open(address)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def _judge_by_program(
    pool: Path,
    read: ReadPool,
    file: JudgmentFile,
    judge: MachineJudge,
    row: Mapping[str, str],
    form: str,
    options: Mapping[str, Any],
) -> int:
    """Calibrate the program, ask it, and write its judgments; the exit code."""
    if options["calibrate"] is None and not options["without_calibration"]:
        raise click.UsageError(
            "a program is checked against human judgments: give --calibrate FILE (or --without-calibration)"
        )
    if options["calibrate"] and options["without_calibration"]:
        raise click.UsageError("give --calibrate or --without-calibration, not both")
    if judge.prompt is not None and PROMPT not in judge.command:
        raise click.UsageError("--prompt has no effect: the command does not contain {prompt}")
    slices = _map_slices(read, options["column"]) if options["audit"] else {}
    cache = AnswerCache(options["cache"])
    budget = Spending(options["budget"], options["budget_cost"])
    sheets: list[Sheet] = []
    notes: list[str] = []
    human_answers: Mapping[Pair, GivenGrade] = {}
    with ProgressBar() as progress:
        asking = Asking(judge, cache, budget, row["date"], progress.advance)
        if options["calibrate"] is not None:
            human, unread = _match_human_grades(read, judge, options)
            progress.expect(len(human) + len(read.items), "asking the judge")
            notes += [f"{format_count(unread, 'human judgment')} not asked: not in the pool, and without texts"] * (
                unread > 0
            )
            answers = human_answers = asking.answers(shuffle([item for item, _ in human], options["seed"]))
            if len(answers) < len(human):
                stop = f"the budget ended with {len(answers)} of {len(human)} answers of the calibration"
                print_sheets(
                    sheets,
                    [*notes, f"{stop}: nothing written; run again to go on", *_describe_spending(budget, answers)],
                    form,
                )
                return 1
            found = _calibrate(human, answers, options["seed"])
            sheets += _make_calibration_sheets(human, answers, judge, found)
            notes.append(_describe_kappa(found, options["least_kappa"]))
            if found.kappa is None or found.kappa < options["least_kappa"]:
                print_sheets(
                    sheets, [*notes, *_describe_spending(budget, answers), f"refused: {file.path} not written"], form
                )
                return 1
        else:
            notes.append("not calibrated: no human judgments say how good these grades are")
            progress.expect(len(read.items), "asking the judge")
        answers = asking.answers(read.items)
    if answers:
        about = {"guideline": row["guideline"], "prompt": judge.prompt_hash}
        changes = {
            pair: {**about, "grade": str(each.grade), "date": each.date, "model": each.model}
            for pair, each in answers.items()
        }
        file.put(changes)
        models = list(dict.fromkeys(each.model for each in answers.values() if each.model))
        by = f"{file.judge}{f' (model {list_first(models)})' if models and models != [file.judge] else ''}"
        notes.append(f"wrote {file.path}: {format_count(len(answers), 'judgment')} by {by}")
        notes += [f"answers of {len(models)} models: the judge changed on the way"] * (len(models) > 1)
    left = len(read.items) - len(answers)
    notes += [f"the budget ended: {format_count(left, 'document')} not judged yet; run again to go on"] * (left > 0)
    notes += [f"{format_count(read.graded, 'row')} of the pool with a grade already: left out"] * (read.graded > 0)
    notes += _describe_spending(budget, {*answers, *human_answers})
    counts: Row = {"judged": len(answers), "left": left, "asked": budget.asked, "cost": budget.spent}
    sheets.append(Sheet("answers", [counts], shown=()))
    if options["audit"]:
        notes.append(_write_audit(pool, read, list(answers), slices, options))
    print_sheets(sheets, notes, form)
    return 0


def _describe_spending(budget: Spending, answered: Collection[Pair]) -> Iterator[str]:
    cost, known = f", cost {budget.spent:g}" if budget.spent else "", len(answered) - budget.asked
    others = f"; the cache or equal documents gave {format_count(known, 'other')}" if known else ""
    yield f"asked for {format_count(budget.asked, 'answer')}{cost}{others}"


def _match_human_grades(
    read: ReadPool, judge: MachineJudge, options: Mapping[str, Any]
) -> tuple[list[tuple[Item, int]], int]:
    """The documents that humans judged, as the program sees them, and how many of them it cannot read."""
    form, origin = options["judgments_format"], options["calibrate"]
    judgments = read_judgments(origin, format=form, registry=load_command_registry(None))
    if strange := {f"{grade:g}" for grade in judgments.grade.tolist()} - set(map(str, judge.grades)):
        allowed = f"--grades are {', '.join(map(str, judge.grades))}"
        raise InputError(Problem(f"has the grades {', '.join(sorted(strange))}", origin, allowed=allowed))
    every = list(match_judgments(judgments, read))
    found = [(item, int(grade)) for item, grade in every if item.text or item.fields or item.pair in read.columns]
    if not found:
        why = "no human judgment is about a document of the pool or has texts: do the ids match?"
        raise InputError(Problem(why, origin))
    return found, len(every) - len(found)


def _calibrate(human: Sequence[tuple[Item, int]], answers: Mapping[Pair, GivenGrade], seed: int) -> HumanAgreement:
    machine = [float(answers[item.pair].grade) for item, _ in human]
    return compare_with_humans(machine, [float(grade) for _, grade in human], [item.query for item, _ in human], seed)


def _make_calibration_sheets(
    human: Sequence[tuple[Item, int]], answers: Mapping[Pair, GivenGrade], judge: MachineJudge, found: HumanAgreement
) -> Iterator[Sheet]:
    yield Sheet("calibration", [found._asdict()], "The program and humans:", {"same": "same grade"})
    pairs = [(grade, answers[item.pair].grade) for item, grade in human]
    rows: list[Row] = [
        {"human": str(grade), **{f"program: {mine}": pairs.count((grade, mine)) for mine in judge.grades}}
        for grade in judge.grades
    ]
    yield Sheet("grades", rows, "Documents by grade:")


def _describe_kappa(found: HumanAgreement, least: float) -> str:
    if found.kappa is None:
        return f"kappa is not defined: all grades are equal (at least {least:g} is required)"
    if found.kappa < least:
        return f"kappa {found.kappa:.2f} is below {least:g}"
    unsure = found.low is not None and found.low < least
    more = f"; the {LEVEL:.0%} interval reaches below it: more human judgments would tell" if unsure else ""
    return f"kappa {found.kappa:.2f} is at least {least:g}{more}"


def _map_slices(read: ReadPool, column: str | None) -> dict[Pair, str]:
    if column is None:
        return {item.pair: "" for item in read.items}
    names = {name for cells in read.columns.values() for name in cells}
    wanted = next((name for name in (column, f"query_{column}") if name in names), None)
    if wanted is None:
        complaint = f"the pool has no column {column!r}"
        raise IrevalError(
            Problem(complaint, "--by", (), did_you_mean(column, names), f"columns: {', '.join(sorted(names))}")
        )
    return {pair: cells[wanted] for pair, cells in read.columns.items()}


def _write_audit(
    pool: Path, read: ReadPool, judged: Sequence[Pair], slices: Mapping[Pair, str], options: Mapping[str, Any]
) -> str:
    """Write the pool of the audit; a note about it."""
    path = _name_beside(pool, "audit")
    if path.exists() and not options["force"]:
        return f"{path} exists already: not written again (--force overwrites)"
    chosen = draw_per_slice(judged, slices, options["audit"], options["seed"])
    if not chosen:
        return f"nothing is judged: {path} not written"
    names = list(read.columns[chosen[0]])
    kinds = {find_column(names, "query"): 0, find_column(names, "document"): 1}
    header = [("query", "document")[kinds[name]] if name in kinds else name for name in names]
    rows = [[pair[kinds[n]] if n in kinds else read.columns[pair].get(n, "") for n in names] for pair in chosen]
    write_table(
        header if "grade" in header else [*header, "grade"], [r if "grade" in header else [*r, ""] for r in rows], path
    )
    per = f" of {format_count(len(set(slices.values())), 'slice')}" if options["column"] else ""
    return f"wrote {path}: {format_count(len(chosen), 'document')}{per} for humans to judge: ireval judge {path}"
