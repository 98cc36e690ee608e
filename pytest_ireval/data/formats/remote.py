"""Files at addresses: object stores and web servers, by way of fsspec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_ireval.errors import InputError, Problem, describe_exception
from pytest_ireval.masking import SHORTEST, public_address, register_login

EXTRA = "pip install 'pytest-ireval[remote]', and the package of fsspec for this kind of address, such as s3fs"
LAKES = (
    ("Delta Lake", r"(^|/)_delta_log/", "deltalake.DeltaTable(…).to_pyarrow_table()"),
    ("Apache Iceberg", r"(^|/)metadata/[^/]+\.metadata\.json$", "pyiceberg: table.scan().to_arrow_batch_reader()"),
    ("Apache Hudi", r"(^|/)\.hoodie/", "a reader of Hudi that returns Arrow data"),
)
"""Tables whose folders also hold files that no longer count; their log is among the names."""
TRY = "check the address, the network and the credentials"


def list_remote_files(address: str) -> list[str] | None:
    """The addresses of the files of a pattern or a folder; None if it is a file, as every address of http is."""
    if address.lower().startswith(("http://", "https://")):
        return None
    with _name_address(address):
        files, path = _open_system(address)
        if any(character in path for character in "*?[") and not files.isfile(path):
            found = [each for each in files.glob(path) if files.isfile(each)]
        elif files.isdir(path):
            folder = path.rstrip("/") + "/"
            names = [each.removeprefix(folder) for each in files.find(path)]
            found = [folder + each for each in select_data_files(names, public_address(address))]
        else:
            return None
        if not found:
            raise InputError(Problem("there is no file", place=public_address(address)))
        return sorted(files.unstrip_protocol(each) for each in found)


def select_data_files(names: list[str], place: str) -> list[str]:
    """The names of data among those of a folder: other tools, too, leave out what begins with ``.`` or ``_``."""
    for kind, pattern, reader in LAKES:
        if any(re.search(pattern, name) for name in names):
            complaint = f"this is a table of {kind}: some of its files may have been replaced by others"
            suggestion = f"read it in Python, and pass the rows to evaluate: {reader}"
            raise InputError(Problem(complaint, place, suggestion=suggestion))
    return [name for name in names if not re.search(r"(^|/)[._]", name)]


@contextmanager
def copy_to_disk(address: str) -> Iterator[Path]:
    """A copy of the file on this machine, for as long as it is read."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ireval-") as folder:
        with _name_address(address):
            files, path = _open_system(address)
            copy = Path(folder) / (Path(path).name or "file")
            files.get_file(path, str(copy))
        yield copy


def _open_system(address: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    if not register_login("LOGIN", address):
        complaint = f"the password in the address has fewer than {SHORTEST} characters, so it cannot be hidden"
        raise InputError(Problem(complaint, public_address(address)))
    found: tuple[Any, str] = url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
    return found


@contextmanager
def _name_address(address: str) -> Iterator[None]:
    """Turn whatever a library raises into an error that names the address."""
    place = public_address(address)
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError(Problem(f"needs another package: {error}", place, suggestion=EXTRA)) from error
    except FileNotFoundError as error:
        raise InputError(Problem("there is no such file", place)) from error
    except Exception as error:  # a library may raise anything for an address or an answer that it does not know
        raise InputError(Problem(f"cannot be read: {describe_exception(error)}", place, suggestion=TRY)) from error
