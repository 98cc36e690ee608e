"""Two or more rankings under the same judgments, side by side."""
