"""From a suite to its verdict: everything gathered, every rule asked, all of it kept as plain data."""
