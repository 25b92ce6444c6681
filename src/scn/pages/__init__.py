"""What the HTML pages share: which runs they show, what those reached, and how a page becomes one file."""

from scn.pages.assemble import Arrays, assemble, check_output

__all__ = ["Arrays", "assemble", "check_output"]
