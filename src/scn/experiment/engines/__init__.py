"""Engines carry out many jobs: a function, its jobs and a folder in, what came of each out, in the order they
end.

An engine promises that a job that fails takes no other with it, that one whose process dies is tried again,
and that nothing goes on when its caller stops asking. To add one, write a function decorated by
`@registry.register("name")` in a file of its own and import it here.
"""

from scn.experiment.engines.base import Ended, Engine, Portable, cores, get, registry
from scn.experiment.engines.local import local
from scn.experiment.engines.ray import on_ray

USUAL = "local"  # where nothing is said

__all__ = ["USUAL", "Ended", "Engine", "Portable", "cores", "get", "local", "on_ray", "registry"]
