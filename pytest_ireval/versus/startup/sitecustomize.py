"""Python imports this file first in every process that asks the merge base: it gets the base's code, not the branch's.

The base's files are in a temporary folder. But in the environment of the branch, an editable install, ``pythonpath`` or
an import hook leads to the branch's tree. So ``sys.path`` is changed, and a finder comes before all others; at the end,
modules that came from the branch in another way are reported, because both sides would be the same code.

It may be the Python of any environment, so only the standard library is used. Programs that the search code starts
inherit PYTHONPATH and come through here, too.
"""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

with open(os.environ["IREVAL_VERSUS_JOB"], encoding="utf-8") as job_file:
    JOB: dict[str, Any] = json.load(job_file)
TOP = os.path.normcase(str(JOB["top"]))
BASE = os.path.normcase(str(JOB["base"]))
HERE = os.path.dirname(os.path.realpath(__file__))
TOOL = JOB["tool"] if JOB["prefix"] == sys.prefix else {}
"""The folders of pytest-ireval's own packages, by name: both sides are measured by the same tool, wherever it lies."""
PREFIXES = [os.path.normcase(os.path.realpath(prefix)) for prefix in (sys.prefix, sys.base_prefix)]
PACKAGES = ("site-packages", "dist-packages", "__pypackages__")


def find_in_base(path: str) -> str | None:
    """The base's path in place of one of the branch's tree; None for any other, also of an environment in the tree."""
    real = os.path.normcase(os.path.realpath(path))
    if real == TOP:
        return BASE
    if not is_below(real, TOP) or is_below(real, BASE) or any(is_below(real, own) for own in (HERE, *TOOL.values())):
        return None
    folder = TOP
    for name in os.path.relpath(real, TOP).split(os.sep):
        folder = os.path.join(folder, name)
        if name in PACKAGES or folder in PREFIXES or os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
            return None
    return os.path.join(BASE, os.path.relpath(real, TOP))


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


class BaseFinder:
    """Asks the other finders, and takes the base's file where theirs lies in the branch's tree."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        if name in TOOL:
            return importlib.machinery.PathFinder.find_spec(name, [os.path.dirname(TOOL[name])])
        for finder in sys.meta_path:
            find = None if finder is BaseFinder else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                return move_to_base(spec)
        return None


def move_to_base(spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec:
    """The spec of the same module in the base; the spec itself if it is not of the branch."""
    folders = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
    moved = [find_in_base(folder) if os.path.isabs(folder) else None for folder in folders or ()]
    origin = find_in_base(spec.origin) if spec.has_location and spec.origin else None
    if origin is None and not any(moved):
        return spec
    there = [new or old for new, old in zip(moved, folders or (), strict=True) if new is None or os.path.isdir(new)]
    if origin is not None:
        refuse_missing(spec.name, origin)
        how = None if folders is None else there
        new_spec = importlib.util.spec_from_file_location(spec.name, origin, submodule_search_locations=how)
        if new_spec is None:
            raise ImportError(f"{origin} cannot be imported without {type(spec.loader).__name__}", name=spec.name)
        return new_spec
    for new in moved if not there else ():
        refuse_missing(spec.name, new or BASE)
    namespace = importlib.machinery.ModuleSpec(spec.name, None, is_package=True)
    namespace.submodule_search_locations = there
    return namespace


def refuse_missing(name: str, path: str) -> None:
    if not os.path.exists(path):
        where = f"{os.path.relpath(path, BASE)} is not among the files of {JOB['commit']}"
        hint = "if git does not keep it, ireval_versus_setup can build it or copy it from IREVAL_HEAD_FOLDER"
        raise ModuleNotFoundError(f"No module named {name!r}: {where}; {hint}", name=name)


def report_modules() -> None:
    """Write which modules of the branch this process has loaded, if any."""
    files = {name: getattr(module, "__dict__", {}).get("__file__") for name, module in list(sys.modules.items())}
    of_branch = {name: file for name, file in files.items() if isinstance(file, str) and find_in_base(file)}
    if of_branch and os.path.isdir(JOB["reports"]):  # an engine that the setup started may outlive the comparison
        path = os.path.join(JOB["reports"], f"{os.getpid()}-{time.time_ns()}.json")
        with open(path + ".part", "w", encoding="utf-8") as report:
            json.dump(of_branch, report)
        os.replace(path + ".part", path)


def run_other_sitecustomize() -> None:
    """Import the next file of this name, which Python would have imported if this one did not come first."""
    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    sys.modules.setdefault("sitecustomize", this)


atexit.register(report_modules)
own = [
    (find_in_base(entry) if os.path.isabs(entry) else None) or entry  # a placeholder of setuptools is no path
    for entry in sys.path
    if os.path.realpath(entry) != HERE
]
# What pytest has put before the standard library (``pythonpath``, PYTHONPATH, folders of tests), and code of the branch
# behind it: often editable installs, which ``own`` has, too, if this is the Python of the branch.
first = [find_in_base(entry) or entry for entry in JOB["first"]]
last = [moved for entry in JOB["last"] if (moved := find_in_base(entry))]
sys.path[:] = dict.fromkeys([*first, *own, *last])
sys.meta_path.insert(0, BaseFinder)
run_other_sitecustomize()
