"""Objectives: what is learned, by which loss, and the score that says how well, by name.

To add one, write a subclass of `Objective` decorated by `@registry.register("name")` and import it here.
"""

from scn.objectives.base import Objective, Score, registry
from scn.objectives.classification import Classification
from scn.objectives.regression import AbsoluteError, Regression

get = registry.get

USUAL = "classification"  # where nothing is said

__all__ = ["USUAL", "AbsoluteError", "Classification", "Objective", "Regression", "Score", "get", "registry"]
