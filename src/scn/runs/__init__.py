"""The run folder and what was measured of it: every file name, every read and every voiding is here."""

from scn.runs.folder import FORMAT, Run, RunConfig, backbone_of, create, is_run, read, versions, write_json
from scn.runs.scores import Scores

__all__ = [
    "FORMAT",
    "Run",
    "RunConfig",
    "Scores",
    "backbone_of",
    "create",
    "is_run",
    "read",
    "versions",
    "write_json",
]
