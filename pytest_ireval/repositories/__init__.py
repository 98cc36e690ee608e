"""Git's knowledge of the files: commits, branches, changes, earlier contents. Git is asked; nothing is changed."""
