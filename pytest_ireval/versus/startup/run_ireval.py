"""``python -m pytest_ireval`` without the working folder at the head of ``sys.path``."""

import importlib.util
import runpy
import sys

del sys.path[0]  # the folder of this file
if "BaseFinder" not in (getattr(finder, "__name__", "") for finder in sys.meta_path):
    sys.exit(
        f"{sys.executable} does not heed PYTHONPATH, so it might import the code of the branch in place of the base's"
    )
if importlib.util.find_spec("pytest_ireval") is None:
    sys.exit(f"pytest-ireval is not installed for {sys.executable}: ireval_versus_setup has to install it there, too")
runpy.run_module("pytest_ireval", run_name="__main__", alter_sys=True)
