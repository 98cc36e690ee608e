"""The rules, a file for each, and what they share."""
