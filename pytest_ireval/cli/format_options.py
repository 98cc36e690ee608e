"""The options that name the format of a file, shared by all commands that read one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from pytest_ireval.retrieval.formats.reader import Content


def format_options(*contents: Content) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--judgments-format NAME`` and so on, for what a command reads."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        for content in reversed(contents):
            click.option(
                f"--{content}-format",
                metavar="NAME",
                help=f"The format of the {content}; unless given, it is recognised by the content.",
            )(function)
        return function

    return decorated
