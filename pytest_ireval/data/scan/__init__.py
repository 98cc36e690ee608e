"""Whole-array reading of columns of text: tokens, hashed ids, numbers, joins and order, without Python objects.

The functions work on one :class:`~.tokens.Chunk` of bytes. Tests compare each with a slow, obvious reader.
"""
