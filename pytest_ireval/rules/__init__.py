"""What decides: one file for each kind of rule."""
