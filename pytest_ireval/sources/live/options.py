"""The options of every source that asks a live system, and the mistakes of requests that show without asking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from pytest_ireval.errors import Problem, quote
from pytest_ireval.masking import SECRET_NAME, SECRET_PARAMETER, register_secret
from pytest_ireval.sources.live.placeholders import find_placeholders
from pytest_ireval.sources.request_mistakes import OF_ANY_QUERY, find_mistakes
from pytest_ireval.suite.option_types import AmountText, Count, DurationText, Number, PathText, Text, Whole
from pytest_ireval.suite.options import SourceOptions
from pytest_ireval.suite.quantities import Amount
from pytest_ireval.suite.scalars import UnfitError

if TYPE_CHECKING:
    from pytest_ireval.data.queries import Queries

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VARIABLE_NAME = re.compile(r"\$\{(\w+)")


class LiveOptions(SourceOptions):
    """The options of every source that asks a live system."""

    engine: ClassVar[str]
    """The option that has the address."""
    login_example: ClassVar[str] = "headers: {Authorization: 'Bearer ${SEARCH_TOKEN}'}"
    """How a suite usually gives a login to such a system."""
    keeps_order: ClassVar[bool] = True
    headers: dict[Text, Text] = Field(default_factory=dict, repr=False, description="Headers of each request.")
    concurrency: Whole = Field(4, le=1000, repr=False, description="The number of requests at a time.")
    rate: Number | None = Field(
        None, ge=0.001, repr=False, description="The most requests a second; by default no limit."
    )
    timeout: DurationText = Field(30.0, repr=False, description="Time limit of one request.")
    attempts: Whole = Field(
        4, le=100, repr=False, description="How often a request is made that fails for a reason that may pass."
    )
    error_budget: AmountText = Field(
        Amount(0), description="The number of queries, or their share, that may fail; each counts as an empty ranking."
    )
    times: Literal["client", "engine"] = Field(
        "client", description="The times that metrics use: measured here, or those that the engine says it took."
    )
    warm_up: Count = Field(
        1,
        le=1000,
        repr=False,
        description="Requests of each connection before its first timed one, if a metric of the suite uses times.",
    )
    record: PathText | None = Field(None, repr=False, description="A folder that keeps all answers, to replay them.")

    @property
    def address(self) -> str:
        """The address that it asks."""
        return str(getattr(self, type(self).engine))

    def request_parts(self) -> Any:
        """Everything of a request that may have placeholders, but headers."""
        return []

    def describe_login(self, texts: Mapping[str, Any]) -> str:
        """How to give a login; or the options that have one, and their variables. ``texts`` are those of the suite."""
        key, given = type(self).engine, {}
        if urlsplit(self.address).username is not None or SECRET_PARAMETER.search(self.address):
            given[key] = texts.get(key)
        for option in ("headers", "params"):
            names = [name for name in getattr(self, option, {}) if SECRET_NAME.search(name)]
            given |= {f"{option} > {name}": texts.get(option, {}).get(name) for name in names}
        if not given:
            return f"if it needs a login, write {self.login_example}, and set the variables"
        variables = {place: VARIABLE_NAME.findall(str(text)) for place, text in given.items()}
        where = [f"{place} ({', '.join(names)})" if names else place for place, names in variables.items()]
        return f"check the login, and that it may search: {', '.join(where)}"

    def list_sizes(self) -> Iterator[tuple[str, Any]]:
        """The numbers of documents that a request asks for, by the names of its parameters."""
        yield from ()

    def count_wanted(self, depth: int) -> int:
        """The number of documents that one request has to ask for."""
        return depth

    def list_columns(self) -> frozenset[str]:
        """The columns of the queries that a request names, without id and text."""
        return frozenset(find_placeholders([self.request_parts(), self.headers])) - OF_ANY_QUERY

    def find_request_mistakes(self, queries: Queries | None, depth: int) -> Iterator[Problem]:
        """Mistakes of the request that show without asking."""
        used = set(find_placeholders([self.request_parts(), self.headers]))
        yield from find_mistakes(used, self.list_sizes(), queries, self.count_wanted(depth), "{%s}")

    @model_validator(mode="after")
    def _check_headers(self) -> LiveOptions:
        if find_spec("urllib3") is None:
            raise UnfitError("urllib3 must be installed", "pip install 'pytest-ireval[live]'")
        for name, value in self.headers.items():
            if not _HEADER.fullmatch(name):
                raise UnfitError(f"headers: {quote(name)} cannot be the name of a header", "write it as X-Name")
            if name.lower() in ("content-length", "transfer-encoding"):
                raise UnfitError(f"headers: {name} follows from the body of each request", "leave it out")
            if SECRET_NAME.search(name):
                register_secret(name, value)
                register_secret(name, value.rpartition(" ")[2])  # the token without the word Bearer
        return self
