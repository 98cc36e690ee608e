"""Judgments and rankings in, metrics out."""
