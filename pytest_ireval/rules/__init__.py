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

A rule is a class of options and a function, as a plugin would write it; ``churn.py`` is a short one to read first.

``@rule(name=…, options=…, parts=…, p_value=…)`` registers ``check(options, context) -> RuleResult``:

* ``options``: a class of ``RuleOptions``, or of ``ComparingOptions`` if the rule looks at a baseline. Pydantic reads it
  from the suite; a validator refuses values that make no sense.
* ``context``: the queries, the current side, the baseline, and the slice that is checked.
* ``parts(options)``, where one rule of a suite is several checks: a part for each, which the check gets as
  ``context.part``. Without it, the rule is one check of each metric that it names.
* ``p_value(options, context)``, where chance is tested: the p of the same test that ``check`` uses. The gate corrects
  the p of all checks of a suite together, and ``check`` asks ``context.adjust_p``.
"""
