"""The run that tests of pages are made of can be stored and read back, and leaves no field as it is by default."""

from dataclasses import MISSING, fields

from report.full_run import full_run

from pytest_ireval.report.results_file import format_results, parse_run

UNUSED = {"error", "matrix", "affected_by", "collection", "versus"}
"""Fields that say that something is wrong or left out, and what few suites have or few runs compare with."""


def test_it_reads_back_as_it_was():
    run = full_run(suites=2, queries=9)

    assert parse_run(format_results(run)) == run


def test_every_field_of_a_suite_is_filled():
    (suite,) = full_run().suites
    defaults = {
        each.name: each.default if each.default is not MISSING else each.default_factory for each in fields(suite)
    }

    assert {name for name in defaults if not getattr(suite, name)} == UNUSED
