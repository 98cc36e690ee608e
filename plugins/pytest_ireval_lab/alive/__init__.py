"""Whether each component of a suite still changes its rankings, and which rule would notice if it did not."""
