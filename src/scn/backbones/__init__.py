"""Backbones: plain torch modules, registered by name so that saved networks can be built again.

A backbone keeps each argument of its constructor as an attribute of the same name. To add one, write
a file with a class decorated by `@backbones.register("name")` and import it here.
"""

from scn.backbones.build import factory
from scn.backbones.mlp import MLP
from scn.core.registry import backbones as registry

get = registry.get
register = registry.register

__all__ = ["MLP", "factory", "get", "register", "registry"]
