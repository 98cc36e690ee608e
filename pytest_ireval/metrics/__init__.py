"""Metrics: their description, their names, and their values for judged rankings."""
