"""Subspace-configurable networks: one small network whose weights follow the input's conditions.

Parts are imported when they are first asked for: a command that a person ends while torch is being imported
ends in its own code, which knows what to do, and not in the middle of this file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scn import backbones, data, transforms
    from scn.core import losses, maps
    from scn.core.errors import ScnError
    from scn.core.network import SCN
    from scn.core.registry import allow
    from scn.core.storage import ModelFileError

__version__ = "0.1.0"

__all__ = ["SCN", "ModelFileError", "ScnError", "allow", "backbones", "data", "losses", "maps", "transforms"]

# Where each name is found; a module stands for itself.
_PLACES = {
    "SCN": "scn.core.network",
    "ModelFileError": "scn.core.storage",
    "ScnError": "scn.core.errors",
    "allow": "scn.core.registry",
    "backbones": "scn.backbones",
    "data": "scn.data",
    "losses": "scn.core.losses",
    "maps": "scn.core.maps",
    "transforms": "scn.transforms",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'scn' has no attribute '{name}'")
    module = import_module(_PLACES[name])
    found = module if module.__name__.endswith(f".{name}") else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
