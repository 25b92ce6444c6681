"""The operations that export knows: one file and one row each."""

from __future__ import annotations

from typing import Any

from torch import nn

from scn.export import snippets
from scn.export.operations.add import Add
from scn.export.operations.affine import Affine
from scn.export.operations.base import Operation
from scn.export.operations.less_least import LessLeast
from scn.export.operations.pad import Pad
from scn.export.operations.pool import Pool
from scn.export.operations.relu import Relu
from scn.export.operations.reshape import Reshape
from scn.export.translation import FunctionTranslator, LayerTranslator

OPERATIONS: tuple[type[Operation], ...] = (
    Affine,
    Pool,
    Add,
    Relu,
    Pad,
    LessLeast,
    Reshape,
)

LAYERS: dict[type[nn.Module], LayerTranslator] = {}
FUNCTIONS: dict[Any, FunctionTranslator] = {}
SNIPPETS: dict[str, str] = dict(snippets.FLOAT)
for _kind in OPERATIONS:
    LAYERS |= _kind.layers
    FUNCTIONS |= _kind.functions
    SNIPPETS |= _kind.float_snippets
SNIPPETS |= snippets.INT8
for _kind in OPERATIONS:
    SNIPPETS |= _kind.int8_snippets
