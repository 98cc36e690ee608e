"""Queries, judgments and rankings as flat arrays, and the doors through which they come in."""
