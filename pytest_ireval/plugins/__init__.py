"""Every hook, the manager that calls them, and the registry in which everything plugins bring is found by name."""
