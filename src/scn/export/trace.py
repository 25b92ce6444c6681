"""From a torch module to a `Graph`: what forward does is recorded by torch.fx, then translated by tables."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from scn.core.gains import Gains
from scn.export.graph import CannotExport, Graph
from scn.export.operations import FUNCTIONS, LAYERS
from scn.export.translation import GraphTranslation, Sets


class _Tracer(fx.Tracer):
    """Layers of the table are recorded as layers, also our own."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, Gains) or super().is_leaf_module(m, module_qualified_name)


def trace(plain: nn.Module, network: nn.Module, shape: tuple[int, ...]) -> Graph:
    """The graph of `plain` (a configured network, or `network` itself) with the base models of `network`."""
    try:
        recorded = fx.GraphModule(plain, _Tracer().trace(plain))
        with torch.no_grad():
            ShapeProp(recorded).propagate(torch.zeros(2, *shape))
    except Exception as error:
        raise CannotExport(
            f"what the forward method of {type(plain).__name__} does cannot be recorded: {error}"
        ) from error
    translation = GraphTranslation(plain, Sets(network), shape, LAYERS, FUNCTIONS)
    for node in recorded.graph.nodes:
        translation.translate(node)
    return translation.graph
