"""The paper by one command: its figures and tables, what was published of them, and what holds."""

from scn.reproduce.entries import ENTRIES, get
from scn.reproduce.parts import BUDGETS, PaperEntry

__all__ = ["BUDGETS", "ENTRIES", "PaperEntry", "get"]
