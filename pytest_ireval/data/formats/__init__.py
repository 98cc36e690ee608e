"""Readers of the file formats in which judgments and rankings come; one file per format."""
