"""Data sets, by name or by the path of an .npz file.

`$SCN_DATA_DIR` (by default a folder of the user's cache) holds one NAME.npz for each. To add a data
set, write a file that registers a `Source`, its one row, and import it here.
"""

from scn.data import (  # noqa: F401  (they register themselves)
    cifar10,
    digits,
    fashion_mnist,
    fruit,
    gtsrb,
    modelnet10,
    speech_commands,
    svhn,
)
from scn.data.dataset import (
    Dataset,
    Normalisation,
    is_path,
    load,
    measured_normalisation,
    registry,
    short_name,
    to_float,
)

__all__ = [
    "Dataset",
    "Normalisation",
    "is_path",
    "load",
    "measured_normalisation",
    "registry",
    "short_name",
    "to_float",
]
