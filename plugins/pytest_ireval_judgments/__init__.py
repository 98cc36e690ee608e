"""Judgments as a craft: pools, several judges, clicks, and the quality of a test collection.

A package beside the core: it brings commands of ``ireval``, and uses public names alone. Policies for clicks are made
with :mod:`pytest_ireval_judgments.click_policies`.
"""
