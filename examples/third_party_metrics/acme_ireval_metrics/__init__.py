"""The plugin of the Acme search team: two metrics, and a section of the report."""

from acme_ireval_metrics.metrics import first_bad, top_grade
from acme_ireval_metrics.traffic import traffic
from pytest_ireval import hookimpl


@hookimpl
def ireval_metrics():
    """Both of them."""
    return [top_grade, first_bad]


@hookimpl
def ireval_report_sections():
    """How much of the traffic got worse."""
    return [traffic]
