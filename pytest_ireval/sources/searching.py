"""One search function as a source asks it: what it is given, and everything that it returns."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_ireval.sources.callables import QUERY_WORDS, Wanted
from pytest_ireval.sources.request import Request
from pytest_ireval.sources.returned import ranking_of, rankings_of_all


@dataclass(frozen=True)
class Search:
    """A function with what it is asked."""

    function: Callable[..., Any]
    wanted: Wanted
    mode: str
    request: Request

    def arguments(self, number: int) -> tuple[list[Any], dict[str, Any]]:
        """By position and by name, for one query or for all of them."""
        queries = self.request.queries
        if self.mode == "all":
            asked: Any = dict(zip(queries.ids, queries.text, strict=True))
            columns: Any = {query: self._columns(row) for row, query in enumerate(queries.ids)}
        else:
            asked, columns = queries.text[number], self._columns(number)
        told = {"query_id": queries.ids[number], "depth": self.request.depth, "columns": columns}
        told |= dict.fromkeys(QUERY_WORDS, asked)
        return [asked] if self.wanted.by_position else [], {name: told[name] for name in self.wanted.by_name}

    def _columns(self, row: int) -> dict[str, str]:
        return {name: values[row] for name, values in self.request.queries.columns.items()}

    def plainly(self, number: int) -> Any:
        """What it returns, as rankings; what turns out to be async is awaited here."""
        positional, named = self.arguments(number)
        returned = self.function(*positional, **named)
        if inspect.isawaitable(returned) or inspect.isasyncgen(returned):
            returned = asyncio.run(_awaited(returned))
        return self._read(returned, number)

    async def awaited(self, number: int) -> Any:
        """The same of an async function."""
        positional, named = self.arguments(number)
        return self._read(await _awaited(self.function(*positional, **named)), number)

    def _read(self, returned: Any, number: int) -> Any:
        """Read where it was returned: what it holds may be fetched as it is looked at."""
        if self.mode == "all":
            return rankings_of_all(returned)
        return ranking_of(returned, self.request.queries.ids[number])


async def _awaited(returned: Any) -> Any:
    if inspect.isasyncgen(returned):
        return [each async for each in returned]
    found = await returned
    return [each async for each in found] if inspect.isasyncgen(found) else found


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to wait for."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object's method is looked at, not whether there is one
    return any(
        inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in (function, call) if each
    )
