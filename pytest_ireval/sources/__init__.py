"""Where rankings come from.

The gate calls ``answers.fetch_answers``. It calls the function of a source with its options and a ``Request``, as often
as the suite says, and checks what it returns. Each source is such a function: ``run.py``, ``python.py``,
``command.py``, ``sql.py``, those of ``live/``, and those of plugins. ``calls.py`` makes several calls at a time.
"""
