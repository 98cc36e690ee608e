"""Suites: what a YAML file asks for, checked, every value knowing where it was written."""
