"""Values that no message and no file may show: tokens, passwords, and addresses with them.

Reading a suite registers the values. Writing text for people replaces them by ``${NAME}`` in every form: plain, in an
address, in base64 or in JSON. Ids and figures are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

SHORTEST = 8
"""Shorter values are also words of ordinary texts, which would be unreadable if they were replaced."""
LOGIN = re.compile(r"://([^/@\s:]*):([^/@\s]+)@")
"""Name and password in an address."""
_WHOLE_LOGIN = re.compile("://([^/:]*:.*|[^/:]*)@", re.DOTALL)
"""Name and password, or a token, as SQLAlchemy reads them: there may be anything but an @ in the password."""
_LOGIN_BEFORE_PATH = re.compile("://([^/:]*:(?![0-9]{2,5}/).*|[^/]*)@", re.DOTALL)
"""The same where ``host:5432/`` is more likely the beginning of an address than of a login."""
_OF_PATHS = re.compile(
    "https?|ftps?|sftp|ssh|smb|s3[an]?|gc?s|az|abfss?|wasbs?|adl|hdfs|webhdfs|oci|oss|hf|file|local|memory",
    re.IGNORECASE,
)
"""The kinds of address that are a path, in which an @ and a ? may stand."""
_WITHOUT_PARAMETERS = re.compile("file|local|memory", re.IGNORECASE)
VARIABLE = re.compile(r"\$(?:(?P<escaped>\$)|\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}|(?P<other>\{))")
"""A variable of the environment in a text: ``${NAME}`` or ``${NAME:-default}``; ``$$`` is a ``$``."""
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

    whole = parted(value).login.partition(":")[2] if len(value.splitlines()) == 1 else ""
    for password in (whole, whole.partition("@")[0], *(found[2] for found in LOGIN.finditer(value))):
        yield from (password, unquote(password))


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


class Parted(NamedTuple):
    """An address in parts."""

    shown: str
    """Without login and parameters."""
    login: str
    """Up to the last @ that may belong to it."""
    parameters: list[str]


def parted(address: str) -> Parted:
    """The parts of an address; where it may be read in two ways, more of it is a secret."""
    kind = address.partition("://")[0].rpartition("::")[2]
    pattern = _LOGIN_BEFORE_PATH if _OF_PATHS.fullmatch(kind) else _WHOLE_LOGIN
    found = pattern.search(address)
    shown, *parameters = _with_parameters(kind, pattern.sub("://", address))
    return Parted(shown, found[1] if found else "", parameters)


def _with_parameters(kind: str, address: str) -> list[str]:
    """The text before the parameters, and each of them."""
    if _WITHOUT_PARAMETERS.fullmatch(kind):
        return [address]
    may_match = _OF_PATHS.fullmatch(kind) and not kind.lower().startswith("http")  # as in part-????.parquet
    before, *after = re.split(r"#|\?(?=[^]?*/[=&]+=)" if may_match else "[?#]", address, maxsplit=1)
    return [before, *(each for text in after for each in re.split("[?&#]", text))]


def shown_address(address: str) -> str:
    """The address without login and parameters."""
    return parted(address).shown


def keep_login(name: str, address: str) -> bool:
    """Hide login and parameters of the address from now on; False, and nothing is hidden, if a password is too short.

    Of a login and of parameters, any may be a token.
    """
    from urllib.parse import unquote

    _, login, parameters = parted(address)
    _, colon, password = login.partition(":")
    if colon and len(unquote(password)) < SHORTEST and not re.match("[0-9]{2,5}/", password):  # else it may be a port
        return False
    secrets = [
        login,
        password,
        password.partition("@")[0],
        *parameters,
        *(each.partition("=")[2] for each in parameters),
    ]
    for secret in [address, *secrets] if any(secrets) else ():
        keep(name, secret)
        keep(name, unquote(secret))
    return True
