"""Rehearsing: whether a suite would notice damage, cries wolf, or takes the noise of its source for a change."""
