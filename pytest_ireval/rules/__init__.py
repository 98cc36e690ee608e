"""The rules: one file for each kind."""
