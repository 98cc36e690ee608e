"""Which files are suites, and what this version says of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.suites import finding

if TYPE_CHECKING:
    from pytest_ireval.pytest_adapter.session import EvaluationSession


def is_suite(path: Path) -> bool:
    """Whether it is to be collected; see :mod:`pytest_ireval.suites.finding`."""
    try:
        return finding.is_suite(path)
    except OSError as error:  # it may be a suite, so it is not passed over
        raise pytest.Collector.CollectError(f"{path}: cannot be read: {error.strerror}") from error


class SuiteFile(pytest.File):
    """A suite that was found. Rules are not evaluated yet, and that is an error: a gate must not be silent."""

    session_of_ireval: EvaluationSession

    def collect(self) -> Iterable[pytest.Item]:
        """Nothing but the reason why there is nothing."""
        try:
            registry = self.session_of_ireval.registry_for(self.path)
        except IrevalError as error:
            raise self.CollectError(str(error)) from error
        metrics = ", ".join(sorted(registry.metrics, key=str.lower))
        raise self.CollectError(
            f"{self.path.name}: this version of pytest-ireval evaluates rankings (ireval evaluate) but no suites yet\n"
            f"  metrics at hand here: {metrics}"
        )
