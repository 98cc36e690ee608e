"""The source of a first suite, proposed for the index or collection at an address."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pytest_ireval.data.document_texts import TITLES, URLS
from pytest_ireval.errors import Problem, SourceError
from pytest_ireval.masking import SECRET_NAME, VARIABLE, public_address, register_secret, split_address
from pytest_ireval.sources.live.client import HttpClient
from pytest_ireval.sources.live.exchange import AttemptError

EXAMPLE = "write https://host:port/index"
LOGIN_EXAMPLE = (
    "name the variable that has the key, in single quotes: --header 'Authorization: ApiKey ${API_KEY}' (or Bearer); or"
    " write a login into the address, which the suite will not have: https://${USER}:${PASSWORD}@host:port/index"
)


def propose_source(address: str, headers: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The source of a first suite for an index or a collection: its engine, and a search in all of its text fields.

    A login in the address is used to ask, and is not part of the source. Headers have variables as ``${NAME}``.
    """
    index, engine = _check_address(address), _Engine(_fill_headers(headers))
    written = {"headers": dict(headers)} if headers else {}
    root, _, name = index.rpartition("/")
    if "solr" in urlsplit(index).path.split("/"):
        if name == "solr":
            raise _refuse_without_index(index, index, _list_collections(engine, index))
        return _propose_solr(engine, index) | written
    if not urlsplit(index).path:
        root, name = index, ""
    version = engine.fetch(f"{root}/").get("version", {})
    if "lucene_version" not in version:
        complaint = "is neither Elasticsearch, OpenSearch nor Solr"
        raise SourceError(Problem(complaint, public_address(index), (), "write the source yourself, with http:"))
    mappings = engine.fetch(f"{index}/_mapping") if name else {}
    if not mappings:  # or a pattern that no index matches
        raise _refuse_without_index(index, root, _list_indexes(engine, root))
    properties = next(iter(mappings.values()))["mappings"].get("properties", {})
    texts = [field for field, about in properties.items() if about.get("type") == "text"]
    query = {"multi_match": {"query": "{text}", "fields": texts or ["*"]}}
    kind = "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
    return {kind: public_address(index), "query": query, **_choose_shown_fields(properties), **written}


def _propose_solr(engine: _Engine, collection: str) -> dict[str, Any]:
    fields = engine.fetch(f"{collection}/schema/fields")["fields"]
    types = engine.fetch(f"{collection}/schema/fieldtypes")["fieldTypes"]
    of_text = {each["name"] for each in types if each["class"].endswith("TextField")}
    texts = [
        field["name"]
        for field in fields
        if field["type"] in of_text and field.get("indexed", True) and not field["name"].startswith("_")
    ]
    body = {"body": {"params": {"qf": " ".join(texts)}}} if texts else {}
    return {"solr": public_address(collection), **body, **_choose_shown_fields(field["name"] for field in fields)}


def _check_address(address: str) -> str:
    """The address without a slash at its end."""
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        is_address = False
    if not is_address:  # it is not shown, for nobody knows where a password in it ends
        raise SourceError(Problem("is not an address of http or https", "--engine", (), EXAMPLE))
    public, _, parameters = split_address(address)
    if parameters:
        complaint = "the parameters of this address would be written into the suite, and may be secret"
        raise SourceError(Problem(complaint, public, (), "leave out all from the ?, and add params: to the source"))
    return address.rstrip("/")


def _fill_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the values of their variables, which no text shows from now on."""

    def fill(match: re.Match[str]) -> str:
        value = os.environ.get(match["name"] or "") or match["default"]
        if not value:
            name = match["name"] or match.group()
            raise SourceError(Problem(f"the environment variable {name} is not set", "--header"))
        register_secret(match["name"], value)
        return value

    for name, text in headers.items():
        if SECRET_NAME.search(name) and not VARIABLE.search(text):  # it is not shown: it may be the key itself
            complaint = f"the value of {name} names no variable: the suite would have the key itself"
            suggestion = f"set a variable to the key, and name it, in single quotes: --header '{name}: ${{API_KEY}}'"
            raise SourceError(Problem(complaint, "--header", (), suggestion))
    return {name: VARIABLE.sub(fill, text) for name, text in headers.items()}


class _Engine(NamedTuple):
    """What answers at an address."""

    headers: Mapping[str, str]
    """Sent with each request."""

    def fetch(self, url: str) -> dict[str, Any]:
        """The JSON object at an address."""
        try:
            with closing(HttpClient(url)) as client:
                answer = client.fetch_json("GET", url, None, self.headers, 30).answer
        except AttemptError as error:
            suggestion = LOGIN_EXAMPLE if error.is_about_login else EXAMPLE
            raise SourceError(Problem(str(error), public_address(url), (), suggestion, error.shows)) from None
        if not isinstance(answer, dict):
            raise SourceError(Problem("this is not the answer of a search engine", public_address(url), (), EXAMPLE))
        return answer


def _list_indexes(engine: _Engine, root: str) -> list[str]:
    """The indexes and aliases of Elasticsearch or OpenSearch, without those of the engine itself."""
    indexes = engine.fetch(f"{root}/_alias")
    names = {name for index, about in indexes.items() for name in (index, *about["aliases"])}
    return sorted(name for name in names if not name.startswith("."))


def _list_collections(engine: _Engine, solr: str) -> list[str]:
    """The collections of Solr, or its cores where it runs without ZooKeeper."""
    try:
        return sorted(engine.fetch(f"{solr}/admin/collections?action=LIST")["collections"])
    except SourceError:
        return sorted(engine.fetch(f"{solr}/admin/cores?action=STATUS&indexInfo=false")["status"])


def _refuse_without_index(address: str, root: str, names: list[str]) -> SourceError:
    suggestion = f"write {public_address(root)}/{names[0] if names else 'INDEX'}"
    allowed = f"indexes there: {', '.join(names) or 'none'}"
    return SourceError(Problem("names no index", public_address(address), (), suggestion, allowed))


def _choose_shown_fields(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the title and the address, of the fields that there are."""
    known = {name.lower(): name for name in names}
    found = (next((known[name] for name in kind if name in known), "") for kind in (TITLES, URLS))
    shown_fields = [name for name in found if name]
    return {"fields": shown_fields} if shown_fields else {}
