"""Which templates draw the report of a run: those of the folder that the ini file names, before ours."""

from __future__ import annotations

import pytest

from pytest_ireval.errors import ReportError
from pytest_ireval.reports.templates import Templates, templates

INI = "ireval_templates"


def templates_of(config: pytest.Config) -> Templates | None:
    """As the ini file says, from rootdir, or None; raises ReportError with all that is wrong with the folder."""
    told = str(config.getini(INI)).strip()
    if not told:
        return None
    try:
        return templates(config.rootpath / told)
    except ReportError as error:
        raise ReportError(*error.problems, f"{INI} = {told} names the folder") from error
