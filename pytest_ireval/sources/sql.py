"""Rankings from a database: one SQL query for each query of the suite, with bound parameters."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from pytest_ireval.data.rankings import rank_lists
from pytest_ireval.errors import Problem, SourceError, clean_lines, quote
from pytest_ireval.plugins.plugin_types import source
from pytest_ireval.sources.calls import make_calls, suggest_longer_timeout
from pytest_ireval.sources.request import Answer, Request
from pytest_ireval.sources.request_mistakes import OF_ANY_QUERY, find_mistakes, refuse_unknown_columns
from pytest_ireval.sources.returned_rankings import IDS, Described, find_rising_scores, read_ranking
from pytest_ireval.suite.option_types import DurationText, Text, Whole
from pytest_ireval.suite.options import SourceOptions
from pytest_ireval.suite.scalars import UnfitError

if TYPE_CHECKING:
    from sqlalchemy import Engine, TextClause

    from pytest_ireval.data.queries import Queries

EXAMPLE = "postgresql+psycopg://${DB_USER}:${DB_PASSWORD}@host/name"
LOGIN_REFUSED = re.compile(r"password|authenticat|access denied|login|permission denied", re.IGNORECASE)
PARAMETER = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")
LIMIT = re.compile(
    r"\blimit\s+(\d+)(?:\s+offset\s+\S+)?\s*;?\s*$"
    r"|\bfetch\s+(?:first|next)\s+(\d+)\s+rows?\s+(?:only|with\s+ties)\s*;?\s*$"
    r"|^\s*select\s+top\s*\(?\s*(\d+)",
    re.IGNORECASE,
)
"""The number of rows of the whole statement; an inner one may be a step."""


class SqlOptions(SourceOptions):
    """The options of a database."""

    keeps_order = True

    sql: Text = Field(description="The SQL of one query: a row for each document, the best first.")
    database: Text = Field(repr=False, description="The address, as postgresql+psycopg://user@host/shop.")
    concurrency: Whole = Field(1, le=1000, repr=False, description="The number of connections.")
    timeout: DurationText = Field(30.0, repr=False, description="Time limit of one query.")
    setup: Text = Field("", description="SQL that each connection runs first, as SET hnsw.ef_search = 200.")
    index: Text = Field(
        "", repr=False, description="SQL for facts of the index: a row with name, build, mapping or documents."
    )

    def list_columns(self) -> frozenset[str]:
        """The columns of the queries that the SQL names, without id and text."""
        return frozenset(PARAMETER.findall(self.sql)) - OF_ANY_QUERY

    def find_request_mistakes(self, queries: Queries | None, depth: int) -> Iterator[Problem]:
        """Mistakes of the SQL that show without fetcher."""
        sizes = [("limit", number) for found in LIMIT.finditer(self.sql) for number in found.groups() if number]
        yield from find_mistakes(PARAMETER.findall(self.sql), sizes, queries, depth, ":%s")

    @model_validator(mode="after")
    def _check(self) -> SqlOptions:
        if find_spec("sqlalchemy") is None:
            raise UnfitError(
                "sqlalchemy must be installed", "pip install 'pytest-ireval[sql]', and the database's driver"
            )
        if not PARAMETER.search(self.sql):
            raise UnfitError(
                "sql has no parameter", "write for example … where tsv @@ websearch_to_tsquery(:text) limit :depth"
            )
        return self


@source(name="sql", options=SqlOptions)
def sql(options: SqlOptions, request: Request) -> Answer:
    """Rankings of a database, by SQL with parameters such as :text."""
    import sqlalchemy

    queries = request.queries
    used = set(PARAMETER.findall(options.sql))
    refuse_unknown_columns(used, {"id", "text", "depth", *queries.columns}, queries, ":%s")
    try:
        engine = sqlalchemy.create_engine(options.database, pool_size=options.concurrency, max_overflow=0)
    except (sqlalchemy.exc.ArgumentError, sqlalchemy.exc.NoSuchModuleError, ImportError) as error:
        raise SourceError(Problem(f"database: {_format_error(error)}", suggestion=f"write {EXAMPLE}")) from None
    if options.setup:

        @sqlalchemy.event.listens_for(engine, "connect")
        def set_up(connection: Any, _: object) -> None:
            connection.cursor().execute(options.setup)
            connection.commit()  # what is set in a transaction that does not end well is not set

    request.progress.expect(len(queries), "queries")
    fetcher = _SqlFetcher(engine, options, request, sqlalchemy.text(options.sql), used)
    notes: dict[str, None] = {}
    try:
        index = [*fetcher.fetch_facts(notes)]
        outcomes = make_calls(fetcher.fetch_rows, len(queries), options.concurrency, options.timeout, request.progress)
        index += fetcher.fetch_facts(notes)
    finally:
        engine.dispose()
    if outcomes and outcomes[-1].failed:
        number = len(outcomes) - 1
        where = f"for query {quote(queries.ids[number])} ({quote(queries.text[number])})"
        failure = outcomes[-1].error
        if failure is None:
            raise SourceError(
                Problem(
                    f"no answer in {options.timeout:g}s, {where}", suggestion=suggest_longer_timeout(options.timeout)
                )
            )
        if not isinstance(failure, sqlalchemy.exc.SQLAlchemyError):
            raise failure
        complaint = _format_error(failure)
        login = f"the login is a part of database: {EXAMPLE}" if LOGIN_REFUSED.search(complaint) else ""
        raise SourceError(Problem(f"{complaint}, {where}", suggestion=login))
    found = {query: outcome.value for query, outcome in zip(queries.ids, outcomes, strict=True)}
    rankings = rank_lists(found, "rankings", None if request.keep_all else request.depth, by_id=request.by_id)
    return Answer(rankings, fetcher.seconds, fetcher.fields or None, index=index, notes=tuple(notes))


class _SqlFetcher:
    """Asks for one query at a time, each thread with a connection of its own."""

    def __init__(self, engine: Engine, options: SqlOptions, request: Request, text: TextClause, used: set[str]) -> None:
        self.engine, self.options, self.request, self.text, self.used = engine, options, request, text, used
        self.fields: Described = {}
        self.seconds: dict[str, float] = {}

    def fetch_facts(self, notes: dict[str, None]) -> Iterator[dict[str, Any]]:
        """The facts of the index, if the suite has SQL for them; a note where the database does not give them."""
        import sqlalchemy

        if not self.options.index:
            return
        try:
            with self.engine.connect() as connection:
                found = connection.execute(sqlalchemy.text(self.options.index)).mappings().one()
        except sqlalchemy.exc.SQLAlchemyError as error:
            notes[f"index facts could not be read: {_format_error(error)}"] = None
            return
        yield dict(found)

    def fetch_rows(self, number: int) -> list[tuple[str, float]]:
        """The documents of a query."""
        queries = self.request.queries
        values: dict[str, Any] = {name: column[number] for name, column in queries.columns.items()}
        values |= {"id": queries.ids[number], "text": queries.text[number], "depth": self.request.depth}
        with self.engine.connect() as connection:
            began = time.monotonic()
            found = connection.execute(self.text, {name: values[name] for name in self.used})
            columns = list(found.keys())
            if not {*columns} & {*IDS}:
                said = f"the rows have no id: their columns are {', '.join(columns)}"
                raise SourceError(Problem(said, suggestion=f"name the column of the id: {' or '.join(IDS)}"))
            rows = [dict(row) for row in found.mappings()]
            self.seconds[queries.ids[number]] = time.monotonic() - began
        ranked = read_ranking(rows, queries.ids[number], self.fields)
        if not isinstance(ranked, list):
            raise SourceError(Problem(f"query {quote(queries.ids[number])}: {ranked}", suggestion=ranked.suggestion))
        if wrong := find_rising_scores(ranked):
            said = f"query {quote(queries.ids[number])}: the score does not order the rows: {wrong}"
            raise SourceError(Problem(said, suggestion="leave out the column score, or give it a minus sign"))
        return ranked


def _format_error(error: Exception) -> str:
    """The message of the database, without the SQL that SQLAlchemy adds."""
    return " ".join(clean_lines(str(getattr(error, "orig", None) or error))[:3])
