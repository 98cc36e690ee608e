"""What git knows of the files at hand: commits, branches, what changed, what was there; it is asked, never changed."""
