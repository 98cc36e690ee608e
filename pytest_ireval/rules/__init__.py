"""The rules, a file for each, and what they share.

=============================  =========================================================================
one current figure             ``threshold``
a metric on both sides         ``no_regression``, ``worsened``, ``equivalent``
lists of documents             ``expect``, ``churn``, ``new_document``
-----------------------------  -------------------------------------------------------------------------
what a rule gets and returns   ``context``, ``result``
what rules compute with        ``metric_change``, ``evidence``, ``hard_limit``, ``new_at_top``
what they say and list         ``wording``, ``fall_wording``, ``worst_queries``, ``query_changes``
=============================  =========================================================================
"""
