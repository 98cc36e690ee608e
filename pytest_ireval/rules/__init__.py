"""The rules: a file for each kind, or for two kinds that share their question."""
