"""Subspace-configurable networks: one small network whose weights follow the input's conditions."""

from scn import backbones, data, transforms
from scn.core import losses
from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.core.registry import allow
from scn.core.storage import ModelFileError

__version__ = "0.1.0"

__all__ = ["SCN", "ModelFileError", "ScnError", "allow", "backbones", "data", "losses", "transforms"]
