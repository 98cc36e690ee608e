"""Explanations of a metric's value on one query, and of the difference on another ranking."""
