"""Both metrics keep what every metric promises."""

import acme_ireval_metrics

from pytest_ireval.testing import metric_contract

test_contract = metric_contract(acme_ireval_metrics.ireval_metrics())
