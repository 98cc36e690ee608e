"""Judgments as a craft: pools, several judges, and the quality of a test collection. Pure functions."""
