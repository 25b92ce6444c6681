"""What the library says about its arguments, in the words of the command line.

A message of the library names an argument in backticks, `fixed` or `backbone=mine:Net`; a person who typed a
command is told the option, --fixed or --backbone mine:Net.
"""

from __future__ import annotations

import re
from dataclasses import fields

from scn.training.recipe import Recipe

NAMED = re.compile(r"`(\w+)(?:=([^`\s]*))?`")
ARGUMENTS = (
    "address",
    "allow",
    "backbone",
    "batch_size",
    "beside",
    "budget",
    "candidates",
    "clamp",
    "clock",
    "current",
    "cycles_per_instruction",
    "data",
    "dims",
    "engine",
    "epochs",
    "evidence_weight",
    "exact",
    "fixed",
    "guard",
    "hops",
    "inference",
    "input",
    "jobs",
    "name",
    "objective",
    "package",
    "recipe",
    "replace",
    "samples",
    "search",
    "seeds",
    "sensor",
    "settings",
    "start",
    "state",
    "steps",
    "target",
    "task",
    "theta",
    "transform",
    "voltage",
    "weights",
    "weights_in",
)
OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in ARGUMENTS},
    "params": "--alpha",
    "source": "--as",
}
OF_RECIPES = {field.name for field in fields(Recipe)}


def as_options(message: str) -> str:
    """The message with every argument that has an option called by the option."""
    return NAMED.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    name, value = found.groups()
    if name in OPTIONS:
        return OPTIONS[name] if value in (None, "True") else f"{OPTIONS[name]} {value}"
    if name in OF_RECIPES and value is not None:
        return f"--set {name}={value.lower()}"
    return found[0]
