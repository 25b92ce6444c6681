"""The same numbers in another shape: flatten, view, and layers that do nothing in inference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn

from scn.export.operations.base import Operation
from scn.export.translation import (
    FunctionTranslator,
    GraphTranslation,
    LayerCall,
    LayerTranslator,
    block_shape,
    sample_shape,
)

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.interpret import Float


def take_same(t: GraphTranslation, node: fx.Node, source: int) -> None:
    """The node is the same numbers as a value, perhaps in another shape."""
    if block_shape(node.name, sample_shape(node)) == t.graph.shapes[source]:
        t.users[source] -= 1
        t.take(node, source)
    else:
        t.add(node, Reshape(node.name, [source], t.add_value(node.name, node)))


def _layer(t: GraphTranslation, node: fx.Node, call: LayerCall) -> None:
    take_same(t, node, call.sources[0])


def _function(t: GraphTranslation, node: fx.Node) -> None:
    source = node.args[0]
    assert isinstance(source, fx.Node)
    take_same(t, node, t.values[source])


@dataclass
class Reshape(Operation):
    """No code: the memory of its source, read in another shape."""

    is_view: ClassVar[bool] = True
    layers: ClassVar[Mapping[type[nn.Module], LayerTranslator]] = dict.fromkeys(
        (nn.Flatten, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d), _layer
    )
    functions: ClassVar[Mapping[Any, FunctionTranslator]] = dict.fromkeys(
        (F.dropout, torch.flatten, "flatten", "view", "reshape", "squeeze", "contiguous"), _function
    )

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        return sources[0].reshape(-1, *arithmetic.graph.shapes[self.target])

    def write_float(self, code: FloatCode) -> None:
        pass
