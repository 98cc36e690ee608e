"""Whole-array reading of columns of text: tokens, hashed ids, numbers, joins and order, without Python objects.

Every module here is a handful of small functions over one :class:`~.chunk.Chunk` of bytes; each is compared in the
tests with a slow reader that splits lines the obvious way.
"""
