"""Errors for people: what was wrong, with which value, and what to do.

Everything of this family is shown as one line; any other exception is a fault of the program and keeps its
traceback. Each member is also the built-in error that a Python programmer would expect.
"""

from __future__ import annotations


class ScnError(ValueError):
    """A value, a file or a combination that cannot work, and that the caller can mend."""


class WrongType(ScnError, TypeError):
    """A value of a type that cannot work."""


class OutOfRange(ScnError, IndexError):
    """A number of something, of which there are fewer."""


class NotThere(ScnError, FileNotFoundError):
    """A file or folder that was asked for and is not there."""


class AlreadyThere(ScnError, FileExistsError):
    """A file or folder in the way of a new one."""


class Failed(ScnError, OSError):
    """Nothing is wrong with what was asked, but it could not be carried out: a tool, a server, a disk."""
