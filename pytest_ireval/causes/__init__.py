"""Plain causes of a change, which reports name beside what the rules say."""
