"""Backbones: plain torch modules, registered by name so that saved networks can be built again.

A backbone keeps each argument of its constructor as an attribute of the same name. To add one, write
a file with a class decorated by `@backbones.register("name")` and import it here.
"""

from scn.backbones.build import factory
from scn.backbones.lenet5 import LeNet5
from scn.backbones.m5 import M5
from scn.backbones.mlp import MLP
from scn.backbones.resnet18 import ResNet18
from scn.backbones.shallow_cnn import ShallowCNN
from scn.backbones.shift_invariant import ShiftInvariantCNN
from scn.backbones.tapering_mlp import TaperingMLP
from scn.backbones.ti_pooling_cnn import TIPoolingCNN
from scn.core.registry import backbones as registry

get = registry.get
register = registry.register

__all__ = [
    "M5",
    "MLP",
    "LeNet5",
    "ResNet18",
    "ShallowCNN",
    "ShiftInvariantCNN",
    "TIPoolingCNN",
    "TaperingMLP",
    "factory",
    "get",
    "register",
    "registry",
]
