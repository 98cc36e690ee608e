"""Files of baselines that are kept outside of git: a store has them by their content, and a folder keeps copies."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

from pytest_ireval.baselines.files import ADDRESS, digest_of
from pytest_ireval.baselines.journal import write_through
from pytest_ireval.errors import BaselineError, Problem, did_you_mean, raised_at, told
from pytest_ireval.plugins.registry import Plugins
from pytest_ireval.secrets import SHORTEST, hide_login, shown_address

HOOK = "ireval_baseline_store"
HERE = "file"
USUAL = (HERE, "s3", "gs", "abfs")
EXTRA = "pip install 'pytest-ireval[stores]', and the package of fsspec for this kind of address, such as s3fs"
NAME_IT = f"set {ADDRESS}, or ireval_baselines in the ini file of pytest, to the address of the store"
AGAIN = 'put it back; or accept again: pytest --ireval SUITE --ireval-update --ireval-force --ireval-reason "…"'
TRY = "check the address, the network and the credentials, and run again"


@runtime_checkable
class BaselineStore(Protocol):
    """Files, each named by the SHA-256 of its content in 64 hexadecimal digits."""

    def get(self, digest: str) -> bytes:
        """The content of a file; raises FileNotFoundError if the store does not have it."""
        ...

    def put(self, digest: str, content: bytes) -> None:
        """Store a file; when this returns, every reader finds it. The same file may come twice."""
        ...


def _below(digest: str) -> str:
    """The path of a file below the address of a store."""
    return f"{digest[:2]}/{digest}"


class Folder:
    """A folder as a store: the copies on this machine, or a disk that machines share."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, digest: str) -> bytes:
        """Read it."""
        return (self.path / _below(digest)).read_bytes()

    def put(self, digest: str, content: bytes) -> None:
        """Write it under another name first: a reader never sees half of it."""
        path = self.path / _below(digest)
        new = path.with_name(f".{uuid4().hex}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_through(new, content)
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)


class _Remote:
    """Anything that fsspec reaches."""

    def __init__(self, address: str) -> None:
        from fsspec.core import url_to_fs

        found: tuple[Any, str] = url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
        self.files, self.root = found[0], found[1].rstrip("/")

    def get(self, digest: str) -> bytes:
        content: bytes = self.files.cat_file(f"{self.root}/{_below(digest)}")
        return content

    def put(self, digest: str, content: bytes) -> None:
        path = f"{self.root}/{_below(digest)}"
        try:
            self.files.pipe_file(path, content)
        except FileNotFoundError:
            if not self.files.exists(self.root):  # a misspelt bucket must not be made
                raise
            self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self.files.pipe_file(path, content)


class Stores:
    """The store of this process, opened when it is first needed."""

    def __init__(self) -> None:
        self._plugins: Plugins | None = None
        self._opened: dict[str, BaselineStore] = {}

    def bring(self, plugins: Plugins | None) -> None:
        """Ask these plugins for their stores from now on; None: the installed ones."""
        self._plugins, self._opened = plugins, {}

    def at(self, address: str) -> BaselineStore:
        """The store at an address: that of a plugin, a folder, or what fsspec reaches."""
        if address not in self._opened:
            if not hide_login(address, ADDRESS):
                complaint = f"the password in the address has fewer than {SHORTEST} characters, so it cannot be hidden"
                raise BaselineError(Problem(complaint, ADDRESS))
            self._opened[address] = self._of_plugin(address) or _built_in(address)
        return self._opened[address]

    def _of_plugin(self, address: str) -> BaselineStore | None:
        if self._plugins is None:
            self._plugins = Plugins()
            self._plugins.load_installed(looks=True)
        found = {}
        for origin, call in self._plugins.observers(HOOK):
            try:
                answers: Any = call(address=address)
            except Exception as error:  # a plugin may raise anything; the message names it
                problem = Problem(f"{HOOK} of {origin} raised {told(error)}", suggestion=raised_at(error))
                raise BaselineError(problem) from error
            for store in answers:
                if not isinstance(store, BaselineStore):
                    raise BaselineError(f"{HOOK} of {origin} returned {store!r}: a store has the methods get and put")
                found[str(origin)] = store
        if len(found) > 1:
            raise BaselineError(f"several plugins have a store at {shown_address(address)}: {', '.join(sorted(found))}")
        return next(iter(found.values()), None)


STORES = Stores()


def _built_in(address: str) -> BaselineStore:
    scheme, separator, rest = address.partition("://")
    if not separator or (scheme == HERE and not rest.startswith("/")):
        allowed = "allowed: file:///folder, s3://bucket/prefix, and every other address that fsspec or a plugin knows"
        raise BaselineError(Problem("is not the address of a store of baselines", ADDRESS, allowed=allowed))
    if scheme == HERE:
        from urllib.request import url2pathname  # brings http.client, which few runs need

        return Folder(Path(url2pathname(rest)))
    try:
        return _Remote(address)
    except ImportError as error:
        complaint, suggestion = f"the store {shown_address(address)} needs another package: {error}", EXTRA
        raise BaselineError(Problem(complaint, suggestion=suggestion)) from error
    except Exception as error:  # a library may raise anything for an address that it does not know
        complaint = f"the store {shown_address(address)} cannot be opened: {told(error)}"
        raise BaselineError(Problem(complaint, suggestion=did_you_mean(scheme, USUAL))) from error


def _copies() -> Folder:
    """The files that this machine has seen."""
    home = os.path.expanduser("~")
    usual = os.environ.get("LOCALAPPDATA") or (f"{home}/.cache" if os.path.isabs(home) else tempfile.gettempdir())
    return Folder(Path(os.environ.get("XDG_CACHE_HOME") or usual, "pytest-ireval", "baselines"))


def _keep_copy(digest: str, content: bytes) -> None:
    with suppress(OSError):  # a machine without room for copies asks the store again
        _copies().put(digest, content)


def fetched(digest: str, place: str) -> bytes:
    """The content of a file that a baseline names: the copy, or what the store has. ``place`` names it in messages."""
    with suppress(OSError):
        copy = _copies().get(digest)
        if digest_of(copy) == digest:
            return copy
    address = os.environ.get(ADDRESS, "")
    if not address:
        complaint = "is in a store of baselines, but no store is named, and this machine has no copy"
        raise BaselineError(Problem(complaint, place, suggestion=NAME_IT))
    store, name = STORES.at(address), f"the store {shown_address(address)}"
    try:
        content = store.get(digest)
    except FileNotFoundError as error:
        complaint = f"{name} does not have this file: {_below(digest)}"
        raise BaselineError(Problem(complaint, place, suggestion=AGAIN)) from error
    except Exception as error:  # stores of plugins and libraries for networks raise many things
        raise BaselineError(Problem(f"cannot be fetched from {name}: {told(error)}", place, suggestion=TRY)) from error
    if not isinstance(content, bytes) or digest_of(content) != digest:
        complaint = f"{name} has this file with other content than was accepted: {_below(digest)}"
        raise BaselineError(Problem(complaint, place, suggestion=AGAIN))
    _keep_copy(digest, content)
    return content


def put_into_store(content: bytes, place: str) -> None:
    """Store a file, unless the store has it whole already; raises BaselineError if that is impossible."""
    address, digest = os.environ[ADDRESS], digest_of(content)
    _keep_copy(digest, content)
    store = STORES.at(address)
    try:
        with suppress(FileNotFoundError):
            if store.get(digest) == content:
                return
        store.put(digest, content)
    except Exception as error:  # as above
        complaint = f"cannot be put into the store {shown_address(address)}: {told(error)}"
        suggestion = f"the baseline stays as it was; {TRY}"
        raise BaselineError(Problem(complaint, place, suggestion=suggestion, allowed=raised_at(error))) from error
