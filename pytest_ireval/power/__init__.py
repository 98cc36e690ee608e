"""What the queries of a suite can show, before any run."""
