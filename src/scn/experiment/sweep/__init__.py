"""Sweeps: many runs that differ in what a file says, and one table of them.

A file names the values of a grid, or ranges that are searched. Runs are found by their content, so a sweep
that was killed goes on where it was, and what two sweeps in one folder have in common is trained once.
"""

from scn.experiment.sweep.file import SweepFile, read_sweep
from scn.experiment.sweep.plan import Planned, plan_sweep
from scn.experiment.sweep.status import Status, status_of
from scn.experiment.sweep.table import table_rows
from scn.experiment.sweep.work import Sweep

__all__ = ["Planned", "Status", "Sweep", "SweepFile", "plan_sweep", "read_sweep", "status_of", "table_rows"]
