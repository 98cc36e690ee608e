"""Statistics of paired scores: pure functions of arrays that know nothing of files, metrics or faces."""
