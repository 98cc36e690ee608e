"""The conftest.py files that serve a file, found without pytest: for commands that look at suites."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from pytest_ireval.errors import PluginError, Problem, describe_exception, find_raise_place, relative_path
from pytest_ireval.plugins.manager import Plugins, load_installed_registry
from pytest_ireval.plugins.registry import Registry

MENTIONED = b"ireval"
"""A conftest.py without it has no hooks of ours and is not imported: it may do anything."""


class Conftests:
    """Installed plugins, and conftest.py files as files ask for them."""

    def __init__(self, *, skip_broken: bool = False) -> None:
        self.plugins = Plugins()
        self.plugins.load_installed(skip_broken=skip_broken)
        self._modules: dict[Path, ModuleType | None] = {}
        self._registries: dict[tuple[Path, ...], Registry] = {}

    def registry_for(self, path: Path) -> Registry:
        """The registry for a suite at ``path``, or for suites in that folder; shared by all that see the same files."""
        files = tuple(file for file in find_conftests(path) if self._register(file))
        if files not in self._registries:
            others = [module for file, module in self._modules.items() if module is not None and file not in files]
            self._registries[files] = self.plugins.make_registry(without=others)
        return self._registries[files]

    def _register(self, file: Path) -> bool:
        if file not in self._modules:
            module = import_conftest(file) if MENTIONED in file.read_bytes() else None
            taken = module is not None and self.plugins.register_module(module, relative_path(file, Path.cwd()))
            self._modules[file] = module if taken else None
            self._registries.clear()
        return self._modules[file] is not None


def load_registry(suites: str | os.PathLike[str] | None = None, *, skip_broken: bool = False) -> Registry:
    """The registry of the installed plugins; with a suite or a folder, of the conftest.py files that serve it, too.

    An installed plugin that cannot be loaded is an error, unless ``skip_broken``: then it is in ``broken``.
    """
    return (
        load_installed_registry(skip_broken=skip_broken)
        if suites is None
        else Conftests(skip_broken=skip_broken).registry_for(Path(suites).absolute())
    )


def find_conftests(path: Path) -> Iterator[Path]:
    """From the working folder, if it is above, down to the folder of ``path``."""
    folder = (path if path.is_dir() else path.parent).absolute()
    below_here = [home for home in (folder, *folder.parents) if home.is_relative_to(Path.cwd())] or [folder]
    for home in reversed(below_here):
        if (home / "conftest.py").is_file():
            yield home / "conftest.py"


def import_conftest(file: Path) -> ModuleType:
    """The module, imported as pytest does it: its folder is on the path, and no two of them are one module."""
    name = f"conftest_of_{abs(hash(file.as_posix()))}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a conftest.py may raise anything
        problem = Problem(
            f"{file}: cannot be imported: {describe_exception(error)}", suggestion=find_raise_place(error)
        )
        raise PluginError(problem) from error
    return module
