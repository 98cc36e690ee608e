"""What rules and causes look at: the queries of a suite, their slices, and the scored rankings of both sides."""
