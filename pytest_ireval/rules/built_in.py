"""Registers the built-in sources, rules and diagnoses, through the hooks that are open to all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ireval.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from pytest_ireval.plugins.plugin_types import DiagnosisKind, RuleKind, SourceKind


@hookimpl
def ireval_sources() -> list[SourceKind]:
    """All of them; imported late, because they load the models of suites."""
    from pytest_ireval.sources.command import command
    from pytest_ireval.sources.live.elasticsearch import elasticsearch, opensearch
    from pytest_ireval.sources.live.http import http
    from pytest_ireval.sources.live.solr import solr
    from pytest_ireval.sources.live.vespa import vespa
    from pytest_ireval.sources.python import python
    from pytest_ireval.sources.run import run
    from pytest_ireval.sources.sql import sql

    return [run, python, command, http, elasticsearch, opensearch, solr, vespa, sql]


@hookimpl
def ireval_rules() -> list[RuleKind]:
    """All of them; imported late, because they load the models of suites."""
    from pytest_ireval.rules.churn import churn
    from pytest_ireval.rules.equivalent import equivalent
    from pytest_ireval.rules.expect import expect
    from pytest_ireval.rules.new_document import new_document
    from pytest_ireval.rules.no_regression import no_regression
    from pytest_ireval.rules.threshold import threshold
    from pytest_ireval.rules.worsened import worsened

    return [threshold, no_regression, equivalent, worsened, churn, new_document, expect]


@hookimpl
def ireval_diagnoses() -> list[DiagnosisKind]:
    """All of them, the more specific first."""
    from pytest_ireval.causes.diagnoses import DIAGNOSES

    return DIAGNOSES
