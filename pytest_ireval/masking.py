"""Values that no message and no file may show: tokens, passwords, and addresses with them.

Reading a suite registers the values. Writing text for people replaces them by ``${NAME}`` in every form: plain, in an
address, in base64 or in JSON. Ids and figures are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

SHORTEST = 8
"""Shorter values are also words of ordinary texts, which would be unreadable if they were replaced.

They are replaced in addresses alone.
"""
LOGIN = re.compile(r"://([^/@\s:]*):([^/@\s]+)@")
"""Name and password in an address."""
_LOGIN = r"(?:\$\{[^}]*\}|\$(?!\{)|[^/?#\s$])+@"
LOGIN_IN_TEXT = re.compile(rf"(?<=://){_LOGIN}")
"""The same, and a token alone, in any text."""
LITERAL_LOGIN = re.compile(rf"(?<=://)(?!(?:\$\{{[^}}]*\}}:?)+@){_LOGIN}")
"""The same, unless it is made of variables."""
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
SECRET_PARAMETER = re.compile(
    r"(?<=[?&;])([\w.-]*(?:key|token|secret|password|passwd|pwd|credentials?|signature|sig|auth)=)(?!\$\{)[^&;#\s'\"<>]+",
    re.IGNORECASE,
)
"""A parameter of an address whose name says that its value is a secret."""
WHOLE_LOGIN = re.compile("://([^/:]*:.*|[^/:]*)@", re.DOTALL)
"""Name and password, or a token, as SQLAlchemy reads them: there may be anything but an @ in the password."""
LOGIN_BEFORE_PATH = re.compile("://([^/:]*:(?![0-9]{2,5}/).*|[^/]*)@", re.DOTALL)
"""The same where ``host:5432/`` is more likely the beginning of an address than of a login."""
SCHEMES_OF_PATHS = re.compile(
    "https?|ftps?|sftp|ssh|smb|s3[an]?|gc?s|az|abfss?|wasbs?|adl|hdfs|webhdfs|oci|oss|hf|file|local|memory",
    re.IGNORECASE,
)
"""The kinds of address that are a path, in which an @ and a ? may stand."""
WITHOUT_PARAMETERS = re.compile("file|local|memory", re.IGNORECASE)
PUBLIC_ADDRESS = re.compile(r"(https?://[^/?#@\s]+)(/[^?#@\s]*)?")
"""An address without a login and without parameters: its host, and its path, which may hold a token."""
SECRET_NAME = re.compile(r"authorization|cookie|key|token|secret|password", re.IGNORECASE)
"""A part of the names of headers, parameters and variables that have secrets."""
VARIABLE = re.compile(r"\$(?:(?P<escaped>\$)|\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}|(?P<other>\{))")
"""A variable of the environment in a text: ``${NAME}`` or ``${NAME:-default}``; ``$$`` is a ``$``."""
T = TypeVar("T")


class Masker:
    """Replaces the secrets that a process has read."""

    def __init__(self) -> None:
        self._replacements: dict[str, str] = {}
        """The replacement of each form of each value."""
        self._short: dict[str, str] = {}
        """The same for short values, which are replaced in addresses alone."""
        self._pattern: re.Pattern[str] | None = None

    def register(self, name: str, value: str, replacement: str = "") -> None:
        """Mask the value of the variable ``name`` from now on, and a password in it."""
        replacement = replacement or f"${{{name}}}"
        for secret in (value, *(line for line in value.splitlines() if line != value), *_find_passwords(value)):
            if 0 < len(secret) < SHORTEST:
                self._short.setdefault(secret, replacement)
            elif secret and secret not in self._replacements:
                forms = [form for form in _list_forms(secret) if form not in self._replacements]
                self._replacements |= dict.fromkeys(forms, replacement)
                self._pattern = None

    def register_variable(self, name: str, value: str) -> None:
        """The same, but the host of an address without a login stays, since a message about it needs the host."""
        address = PUBLIC_ADDRESS.fullmatch(value)
        if not is_bare_address(value):
            self.register(name, value, f"{address[1]}/***" if address else "")

    def mask_text(self, text: str) -> str:
        """The text without secrets."""
        if not self._replacements:
            return text
        if self._pattern is None:
            longest_first = sorted(self._replacements, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern.sub(lambda match: self._replacements[match.group()], text)

    def mask_error(self, text: str) -> str:
        """The text of an error without secrets; its addresses have no login, no key, and no value of a variable."""
        text = self.mask_text(text)
        if "://" in text:
            text = ADDRESS.sub(lambda match: self.mask_words(LITERAL_LOGIN.sub("***@", match.group())), text)
        return SECRET_PARAMETER.sub(r"\1***", text)

    def mask_words(self, text: str) -> str:
        """The text without secrets, and without short values that are a whole word of it."""
        text = self.mask_text(text)
        words = "|".join(map(re.escape, sorted(self._short, key=len, reverse=True)))
        return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda match: self._short[match.group()], text) if words else text

    def mask_values(self, value: T) -> T:
        """Plain data without secrets in any text; keys are not changed."""
        return _change_texts(value, self.mask_text) if self._replacements else value

    def mask_words_of_values(self, value: T) -> T:
        """The same without short values, too."""
        return _change_texts(value, self.mask_words)


def _change_texts(value: T, change: Callable[[str], str]) -> T:
    changed: Any = value
    if isinstance(changed, str):
        changed = change(changed)
    elif isinstance(changed, Mapping):
        changed = {key: _change_texts(below, change) for key, below in changed.items()}
    elif isinstance(changed, list):
        changed = [_change_texts(entry, change) for entry in changed]
    elif isinstance(changed, tuple):
        parts = (_change_texts(part, change) for part in changed)
        changed = type(changed)(*parts) if hasattr(changed, "_fields") else tuple(parts)
    same_type: T = changed
    return same_type


MASKER = Masker()
"""The masker of this process: a suite is read in one place, and shown in many."""
register_secret, register_variable, mask_text, mask_error, mask_words = (
    MASKER.register,
    MASKER.register_variable,
    MASKER.mask_text,
    MASKER.mask_error,
    MASKER.mask_words,
)
mask_values, mask_words_of_values = MASKER.mask_values, MASKER.mask_words_of_values


def _find_passwords(value: str) -> Iterator[str]:
    from urllib.parse import unquote

    whole = split_address(value).login.partition(":")[2] if len(value.splitlines()) == 1 else ""
    for password in (whole, whole.partition("@")[0], *(match[2] for match in LOGIN.finditer(value))):
        yield from (password, unquote(password))


def _list_forms(value: str) -> Iterator[str]:
    import base64  # all of these only where there is a secret
    import html
    import json
    import shlex
    from urllib.parse import quote, quote_plus

    yield value
    for escaped in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield from (escaped, re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), escaped))
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1])
    yield from (html.escape(value), shlex.quote(value))
    data = value.encode("utf-8", "surrogateescape")
    for before in range(3):  # in base64 the same bytes are other letters, by where they begin
        letters = base64.b64encode(bytes(before) + data).decode("ascii").rstrip("=")
        certain = letters[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        if len(certain) >= SHORTEST:
            yield from (certain, certain.translate(str.maketrans("+/", "-_")))


class AddressParts(NamedTuple):
    """An address in parts."""

    public: str
    """Without login and parameters."""
    login: str
    """Up to the last @ that may belong to it."""
    parameters: list[str]


def drop_login(text: str) -> str:
    """The text without names and passwords in its addresses."""
    return LOGIN_IN_TEXT.sub("", text)


def split_address(address: str) -> AddressParts:
    """The parts of an address; where it may be read in two ways, more of it is a secret."""
    scheme = address.partition("://")[0].rpartition("::")[2]
    is_path = SCHEMES_OF_PATHS.fullmatch(scheme) is not None
    pattern = LOGIN_BEFORE_PATH if is_path else WHOLE_LOGIN
    match = pattern.search(address)
    login, rest = match[1] if match else "", pattern.sub("://", address)
    if WITHOUT_PARAMETERS.fullmatch(scheme):
        return AddressParts(rest, login, [])
    has_wildcards = is_path and not scheme.lower().startswith("http")  # as in part-????.parquet
    public, *after = re.split(r"#|\?(?=[^]?*/[=&]+=)" if has_wildcards else "[?#]", rest, maxsplit=1)
    return AddressParts(public, login, [part for text in after for part in re.split("[?&#]", text)])


def is_bare_address(text: str) -> bool:
    """Tell whether it is the address of a host alone, which holds no secret."""
    address = PUBLIC_ADDRESS.fullmatch(text)
    return address is not None and address[2] in (None, "/")


def public_address(address: str) -> str:
    """The address without login and parameters."""
    return split_address(address).public


def register_login(name: str, address: str) -> bool:
    """Mask login and parameters of the address from now on; False, and nothing is masked, if a password is too short.

    Of a login and of parameters, any may be a token.
    """
    from urllib.parse import unquote

    _, login, parameters = split_address(address)
    _, colon, password = login.partition(":")
    if colon and len(unquote(password)) < SHORTEST and not re.match("[0-9]{2,5}/", password):  # else it may be a port
        return False
    values = [parameter.partition("=")[2] for parameter in parameters]
    secrets = [login, password, password.partition("@")[0], *parameters, *values]
    for secret in [address, *secrets] if any(secrets) else ():
        register_secret(name, secret)
        register_secret(name, unquote(secret))
    return True
