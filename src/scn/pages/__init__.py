"""What the HTML pages share: which runs they show, what those reached, and how a page becomes one file."""

from scn.pages.assemble import Arrays, assemble, check_output
from scn.runs.shown import Shown, collect

__all__ = ["Arrays", "Shown", "assemble", "check_output", "collect"]
