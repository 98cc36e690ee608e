"""Values that no message and no file may show: tokens, passwords, and addresses with them.

Reading a suite registers the values. Writing text for people replaces them by ``${NAME}`` in every form: plain, in an
address, in base64 or in JSON. Ids and figures are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

SHORTEST = 8
"""Shorter values are also words of ordinary texts, which would be unreadable if they were replaced."""
LOGIN = re.compile(r"://([^/@\s:]*):([^/@\s]+)@")
"""Name and password in an address."""
ANY_LOGIN = re.compile("://([^/@:]*:(?![0-9]+/).*|[^/@]*)@")
"""Name and password, or a token; there may be a slash in the password, but not in the name."""
T = TypeVar("T")


class Secrets:
    """The secrets that a process has read."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """The replacement of each form of each value."""
        self._pattern: re.Pattern[str] | None = None

    def keep(self, name: str, value: str) -> None:
        """Hide the value of the variable ``name`` from now on, and a password in it."""
        for each in (value, *(line for line in value.splitlines() if line != value), *_passwords(value)):
            if len(each) >= SHORTEST and each not in self._names:
                self._names |= {form: f"${{{name}}}" for form in _forms(each) if form not in self._names}
                self._pattern = None

    def hidden(self, text: str) -> str:
        """The text without secrets."""
        if not self._names:
            return text
        if self._pattern is None:
            longest_first = sorted(self._names, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern.sub(lambda found: self._names[found.group()], text)

    def hidden_in(self, value: T) -> T:
        """Plain data without secrets in any text; keys are not changed."""
        if not self._names:
            return value
        found: Any = value
        if isinstance(found, str):
            found = self.hidden(found)
        elif isinstance(found, Mapping):
            found = {key: self.hidden_in(each) for key, each in found.items()}
        elif isinstance(found, list):
            found = [self.hidden_in(each) for each in found]
        elif isinstance(found, tuple):
            parts = (self.hidden_in(each) for each in found)
            found = type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
        same: T = found
        return same


def _passwords(value: str) -> Iterator[str]:
    from urllib.parse import unquote

    for found in LOGIN.finditer(value):
        yield from (found[2], unquote(found[2]))


def _forms(value: str) -> Iterator[str]:
    import base64  # all of these only where there is a secret
    import html
    import json
    import shlex
    from urllib.parse import quote, quote_plus

    yield value
    for escaped in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield from (escaped, re.sub("%[0-9A-F]{2}", lambda found: found.group().lower(), escaped))
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1])
    yield from (html.escape(value), shlex.quote(value))
    data = value.encode("utf-8", "surrogateescape")
    for before in range(3):  # in base64 the same bytes are other letters, by where they begin
        letters = base64.b64encode(bytes(before) + data).decode("ascii").rstrip("=")
        sure = letters[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(sure) >= SHORTEST:
            yield from (sure, sure.translate(str.maketrans("+/", "-_")))


KNOWN = Secrets()
"""The secrets of this process: a suite is read in one place, and shown in many."""
keep, hidden, hidden_in = KNOWN.keep, KNOWN.hidden, KNOWN.hidden_in


def shown_address(address: str) -> str:
    """The address without login and parameters."""
    return re.split("[?#]", ANY_LOGIN.sub("://", address))[0]


def hide_login(address: str, name: str) -> bool:
    """Hide login and parameters of an address from now on: a token may be either. False: a password is too short."""
    from urllib.parse import unquote

    _, *parameters = re.split("[?&#]", ANY_LOGIN.sub("://", address))
    found = ANY_LOGIN.search(address)
    login = "" if found is None else found[1]
    _, colon, password = login.partition(":")
    secrets = [login, password, *parameters, *(each.partition("=")[2] for each in parameters)]
    for secret in [address, *secrets] if any(secrets) else ():
        keep(name, secret)
        keep(name, unquote(secret))
    return not colon or len(password) >= SHORTEST
