"""Tests of metrics and gates: would a suite notice damage, and how often is it red by chance? Pure functions."""
