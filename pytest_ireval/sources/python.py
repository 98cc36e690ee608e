"""Rankings from a Python function or retriever, called with one query at a time or with all of them."""

from __future__ import annotations

import inspect
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from pytest_ireval.data.rankings import Rankings, rank_lists
from pytest_ireval.data.tables import Unfit
from pytest_ireval.errors import (
    Mistakes,
    Problem,
    SourceError,
    describe_exception,
    find_raise_place,
    quote,
    relative_path,
)
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.progress import SILENT
from pytest_ireval.sources.calls import CallOutcome, make_calls, suggest_longer_timeout
from pytest_ireval.sources.functions import (
    QUERY_WORDS,
    WantedArguments,
    find_object,
    find_search_method,
    find_wanted_arguments,
    importable_from,
    list_module_places,
)
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.returned_rankings import (
    Described,
    Pairs,
    find_rising_scores,
    read_ranking,
    read_rankings_of_all,
)
from pytest_ireval.suite.option_types import DurationText, PathTexts, Text, Whole
from pytest_ireval.suite.options import StagedSourceOptions
from pytest_ireval.suite.scalars import UnfitError
from pytest_ireval.words import format_some

FUNCTION = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
PARAMETERS = {"query": ("query_id", "depth", "columns"), "all": ("depth", "columns")}
"""The names of parameters that a function may have."""


def _check_name(text: str) -> str:
    if not FUNCTION.fullmatch(text):
        raise UnfitError(f"{text!r} does not name a function", "write module:function, for example shop.search:search")
    return text


class PythonOptions(StagedSourceOptions):
    """The options of a Python function."""

    python: Annotated[Text, AfterValidator(_check_name)] = Field(
        description="The search function, as module:function; or a retriever of LangChain, LlamaIndex, Haystack or "
        "PyTerrier."
    )
    mode: Literal["query", "all"] = Field(
        "query", description="query: called with the text of one query; all: once, with {id: text}."
    )
    id: Text = Field("", description="The path of the id in each document, as metadata.sku.")
    concurrency: Whole = Field(1, le=1000, repr=False, description="The number of queries to search at the same time.")
    timeout: DurationText = Field(30.0, repr=False, description="Time limit of one call.")
    path: PathTexts = Field((), repr=False, description="More folders to search for modules.")

    @property
    def asks_each_query(self) -> bool:
        """True if it is called with one query at a time."""
        return self.mode == "query"

    def list_code_files(self, folder: Path) -> Iterator[Path]:
        """The places where Python may find the module and the packages around it."""
        return list_module_places(self.python.partition(":")[0], [folder, *self.path])


@source(name="python", options=PythonOptions)
def python(options: PythonOptions, request: Request) -> Answer:
    """Rankings of a Python function, called with one query at a time or with all of them."""
    folders = [request.folder, *options.path, Path.cwd()]
    with importable_from(folders):
        search = _find_search(options, request, folders)
        count = 1 if options.mode == "all" else len(request.queries)
        request.progress.expect(count, "calls")
        how = (count, options.concurrency)
        if _is_async(search.function):
            from pytest_ireval.sources.event_loop import GRACE, await_in_loop, give_up_loop  # brings asyncio

            def call(number: int) -> _CallResult:
                returned: _CallResult = await_in_loop(search.call_async(number), options.timeout)
                return returned

            outcomes = make_calls(call, *how, options.timeout + GRACE, request.progress)
            if any(outcome.goes_on for outcome in outcomes):
                give_up_loop()
        else:
            outcomes = make_calls(search.call, *how, options.timeout, request.progress)
    if outcomes and outcomes[-1].failed:
        raise _make_error(outcomes[-1], len(outcomes) - 1, options, request)
    returned: list[_CallResult] = [outcome.value for outcome in outcomes]
    *earlier, last = options.stages or ("",)
    depth = None if request.keep_all else request.depth
    rankings = _rank_stage(last, depth, options, request, returned)
    stages = {name: _rank_stage(name, None, options, request, returned) for name in earlier}
    timings = _collect_timings(options, request, returned)
    totals = _collect_totals(options, request, returned)
    fields: dict[str, Mapping[str, Any]] = {}
    about: dict[str, Any] = {}
    failed: dict[str, str] = {}
    notes: dict[str, None] = {}
    for each in reversed(returned):  # the first of several values counts
        fields |= each.described
        about |= each.answer.about
        failed |= each.answer.failed
        notes = dict.fromkeys(each.answer.notes) | notes
    seen = [each.answer.index for each in returned]
    index = [facts for each in seen for facts in ([each] if isinstance(each, Mapping) else each)]
    return Answer(rankings, timings, fields, about, failed, tuple(notes), index, totals=totals, stages=stages)


def _rank_stage(
    stage: str, depth: int | None, options: PythonOptions, request: Request, returned: Sequence[_CallResult]
) -> Rankings:
    lists = [each.lists_by_stage[stage] for each in returned]
    answers = lists[0] if options.mode == "all" else dict(zip(request.queries.ids, lists, strict=True))
    name = f"{options.python}, stage {stage}" if stage else options.python
    return rank_lists(_refuse_unfit(answers, name), "rankings", depth, by_id=request.by_id)


def _collect_totals(options: PythonOptions, request: Request, returned: Sequence[_CallResult]) -> Any:
    """The numbers of documents that the function returns, by query."""
    given = [each.answer.totals for each in returned]
    if options.mode == "all":
        return given[0]
    return {query: total for query, total in zip(request.queries.ids, given, strict=True) if total is not None}


def _collect_timings(options: PythonOptions, request: Request, returned: Sequence[_CallResult]) -> Any:
    """The seconds by query: those that the function returns, or else those of its calls."""
    if options.mode == "all":
        return returned[0].answer.timings
    names = request.queries.ids
    given = [each.answer.timings for each in returned]
    if all(each is None for each in given):
        return dict(zip(names, (each.seconds for each in returned), strict=True))
    without = [query for query, each in zip(names, given, strict=True) if each is None]
    if without:
        raise SourceError(f"{options.python} returned timings, but none for {format_some(without)}")
    return dict(zip(names, given, strict=True))


def _find_search(options: PythonOptions, request: Request, folders: Sequence[Path]) -> _Search:
    """The function, imported in the thread from which it is called."""
    absent = [relative_path(folder, request.folder) for folder in options.path if not os.path.isdir(folder)]
    if absent:
        raise SourceError(*(Problem(f"there is no folder {each}", path=("path",)) for each in absent))
    (found,) = make_calls(lambda _: find_object(options.python, folders), 1, 1, float("inf"), SILENT)
    if found.error is not None:
        raise found.error
    function = find_search_method(found.value, options.python)
    is_retriever = function is not found.value
    if is_retriever and options.mode == "all":
        complaint = f"mode: all needs a function, but {options.python} is {type(found.value).__name__}"
        raise SourceError(Problem(complaint, suggestion="remove mode: a retriever gets one query at a time"))
    wanted = find_wanted_arguments(function, options.python, PARAMETERS[options.mode])
    if options.mode == "query" and "query_id" not in wanted.by_name and not any(request.queries.text):
        complaint = f"queries have no text: {request.queries.origin} has only ids, but {options.python} needs texts"
        suggestion = "set queries: to a file with columns id and text, or give the function a parameter query_id"
        raise SourceError(Problem(complaint, suggestion=suggestion))
    return _Search(function, wanted, options, request, is_retriever)


def _make_error(outcome: CallOutcome, number: int, options: PythonOptions, request: Request) -> BaseException:
    """The error of the first call that failed."""
    if isinstance(outcome.error, KeyboardInterrupt):
        return outcome.error
    queries = request.queries
    where = "" if options.mode == "all" else f" for query {quote(queries.ids[number])} ({quote(queries.text[number])})"
    if outcome.error is not None:
        complaint = f"{options.python} raised {describe_exception(outcome.error)}"
        error = SourceError(Problem(f"{complaint}{where}", suggestion=find_raise_place(outcome.error, request.folder)))
        error.__cause__ = outcome.error
        return error
    goes_on = "its thread cannot be stopped and continues in the background; " if outcome.goes_on else ""
    complaint = f"{options.python} took longer than {options.timeout:g}s{where}"
    return SourceError(Problem(complaint, suggestion=f"{goes_on}{suggest_longer_timeout(options.timeout)}"))


def _refuse_unfit(answers: dict[str, Pairs | Unfit] | Unfit, name: str) -> dict[str, Pairs]:
    """Documents with scores by query; all wrong answers are refused together."""
    if isinstance(answers, Unfit):
        raise SourceError(Problem(f"{name} {answers}", suggestion=answers.suggestion))
    shown_before: set[str] = set()
    problems = []
    for query, unfit in answers.items():
        if isinstance(unfit, Unfit):
            suggestion = "" if unfit.suggestion in shown_before else unfit.suggestion  # once is enough for many queries
            shown_before.add(suggestion)
            problems.append(Problem(f"{name}, query {quote(query)}: {unfit}", suggestion=suggestion))
    if problems:
        left = len(problems) - Mistakes.SHOWN
        raise SourceError(*problems[: Mistakes.SHOWN], *([f"… and {left} more"] if left > 0 else []))
    return {query: answer for query, answer in answers.items() if not isinstance(answer, Unfit)}


class _CallResult(NamedTuple):
    """The value of one call: its rankings, the fields of their documents, and the answer that it came in."""

    lists_by_stage: Mapping[str, Any]
    """Of a function without stages, under an empty name."""
    described: Described
    answer: Answer
    seconds: float = 0.0
    """The time of a call for one query, until its ranking was read."""


class _Search(NamedTuple):
    """A function with its request."""

    function: Callable[..., Any]
    wanted: WantedArguments
    options: PythonOptions
    request: Request
    is_retriever: bool

    def make_arguments(self, number: int) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by position and by name, for one query or for all of them."""
        queries = self.request.queries
        if self.options.mode == "all":
            asked: Any = dict(zip(queries.ids, queries.text, strict=True))
            columns: Any = {query: self._find_columns(row) for row, query in enumerate(queries.ids)}
        else:
            asked, columns = queries.text[number], self._find_columns(number)
        arguments = {"query_id": queries.ids[number], "depth": self.request.depth, "columns": columns}
        arguments |= dict.fromkeys(QUERY_WORDS, asked)
        return [asked] if self.wanted.by_position else [], {name: arguments[name] for name in self.wanted.by_name}

    def _find_columns(self, row: int) -> dict[str, str]:
        return {name: values[row] for name, values in self.request.queries.columns.items()}

    def call(self, number: int) -> Any:
        """The return value as rankings; an awaitable one is awaited here."""
        positional, named = self.make_arguments(number)
        began = time.perf_counter()
        returned = self.function(*positional, **named)
        if inspect.isawaitable(returned) or inspect.isasyncgen(returned):
            from pytest_ireval.sources.event_loop import await_in_loop  # brings asyncio

            returned = await_in_loop(_await_all(returned))
        return self._read(returned, number, began)

    async def call_async(self, number: int) -> Any:
        """The return value of an async function as rankings."""
        positional, named = self.make_arguments(number)
        began = time.perf_counter()
        return self._read(await _await_all(self.function(*positional, **named)), number, began)

    def _read(self, returned: Any, number: int, began: float) -> _CallResult:
        """Read the value in the thread that returned it, because its parts may be fetched while it is read."""
        answer = returned if isinstance(returned, Answer) else Answer(returned)
        described: Described = dict(answer.fields or {})
        rankings = self._split_stages(answer.rankings)
        if self.options.mode == "all":
            of_all = {stage: self._read_all(each, described) for stage, each in rankings.items()}
            return _CallResult(of_all, described, answer)
        lists = {stage: self._read_one(each, number, described) for stage, each in rankings.items()}
        return _CallResult(lists, described, answer, time.perf_counter() - began)

    def _split_stages(self, returned: Any) -> Mapping[str, Any]:
        """What was returned for each stage."""
        stages = self.options.stages
        if not stages:
            return {"": returned}
        if isinstance(returned, Mapping) and {*returned} == {*stages}:
            return returned
        keys = (
            f"the keys {', '.join(map(repr, returned))}" if isinstance(returned, Mapping) else type(returned).__name__
        )
        inner = "{id: ranking}" if self.options.mode == "all" else "ranking"
        wanted = f"with stages, return {{{', '.join(f'{quote(name)}: {inner}' for name in stages)}}}"
        return dict.fromkeys(stages, Unfit(f"returned {keys}", wanted))

    def _read_all(self, returned: Any, described: Described) -> Any:
        lists = returned if isinstance(returned, Unfit) else read_rankings_of_all(returned, described, self.options.id)
        if isinstance(lists, Unfit):
            return lists
        return {str(query): self._refuse_rising(each, lists[str(query)]) for query, each in returned.items()}

    def _read_one(self, returned: Any, number: int, described: Described) -> Pairs | Unfit:
        if isinstance(returned, Unfit):
            return returned
        ranking = read_ranking(returned, self.request.queries.ids[number], described, self.options.id)
        return self._refuse_rising(returned, ranking)

    def _refuse_rising(self, returned: Any, ranking: Pairs | Unfit) -> Pairs | Unfit:
        """Refuse scores that contradict the order of a list: one of the two is wrong, and nobody knows which."""
        has_no_order = isinstance(returned, Mapping) and not isinstance(returned.get("documents"), list)
        if isinstance(ranking, Unfit) or has_no_order or not (wrong := find_rising_scores(ranking)):
            return ranking
        way_out = (
            "name a function: it returns the ids in the order that counts, or distances with a minus sign"
            if self.is_retriever
            else "return ids without scores if their order counts, distances with a minus sign, "
            "or a dictionary {id: score}, which has no order"
        )
        return Unfit(f"returned documents that are not in the order of their scores: {wrong}", way_out)


async def _await_all(returned: Any) -> Any:
    if inspect.isasyncgen(returned):
        return [each async for each in returned]
    found = await returned
    return [each async for each in found] if inspect.isasyncgen(found) else found


def _is_async(function: Callable[..., Any]) -> bool:
    """True if calls of the function have to be awaited."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object's method is looked at, not whether there is one
    return any(
        inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in (function, call) if each
    )
