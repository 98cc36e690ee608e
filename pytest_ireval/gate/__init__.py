"""From a suite to its verdict, in five steps: run.py shows them."""
