"""The report: one page that says what was trained, what it reached, what it costs and how to repeat it."""

from scn.report.content import write_report

__all__ = ["write_report"]
