"""From a torch module to a `Graph`: what forward does is recorded by torch.fx, then translated by tables."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from scn.export.graph import CannotExport, Graph
from scn.export.operations import FUNCTIONS, LAYERS
from scn.export.translation import GraphTranslation, Sets


def trace(plain: nn.Module, network: nn.Module, shape: tuple[int, ...]) -> Graph:
    """The graph of `plain` (a configured network, or `network` itself) with the base models of `network`."""
    try:
        recorded = fx.symbolic_trace(plain)
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
