"""Accepted rankings and what is known of them: read, written, compared, settled."""
