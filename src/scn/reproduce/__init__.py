"""The paper by one command: its figures and tables, what was published of them, and what holds."""

from scn.reproduce.entries import BUDGETS, ENTRIES, PaperEntry, get

__all__ = ["BUDGETS", "ENTRIES", "PaperEntry", "get"]
