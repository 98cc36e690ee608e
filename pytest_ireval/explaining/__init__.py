"""Why a metric has its value on one query, and another one on another ranking."""
