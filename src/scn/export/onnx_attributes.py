"""Attributes of an ONNX file that say nothing: readers for small devices (onnx2c) refuse what is new to them.

torch writes `allowzero` at every Reshape, though it matters only where a size is 0, and `storage_order` at
every MaxPool, though 0 is what a reader takes without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

DEFAULTS = {("MaxPool", "storage_order"): 0, ("Reshape", "allowzero"): 0}


def drop_idle(path: Path) -> None:
    """Write the file again without attributes that change nothing."""
    import onnx

    model = onnx.load(path)
    shapes = _constants(model.graph)
    for node in model.graph.node:
        kept = [attribute for attribute in node.attribute if not _is_idle(node, attribute, shapes)]
        if len(kept) < len(node.attribute):
            del node.attribute[:]
            node.attribute.extend(kept)
    onnx.save(model, path)


def _is_idle(node: Any, attribute: Any, shapes: dict[str, list[int]]) -> bool:
    key = (node.op_type, attribute.name)
    if key not in DEFAULTS:
        return False
    if attribute.i == DEFAULTS[key]:
        return True
    # A size of 0 would be taken from the input; without one both readings are the same.
    return key == ("Reshape", "allowzero") and 0 not in shapes.get(node.input[1], [0])


def _constants(graph: Any) -> dict[str, list[int]]:
    """Lists of whole numbers that the file holds, by their names."""
    from onnx import TensorProto, numpy_helper

    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            tensors[node.output[0]] = node.attribute[0].t
    return {
        name: numpy_helper.to_array(tensor).reshape(-1).tolist()
        for name, tensor in tensors.items()
        if tensor.data_type == TensorProto.INT64
    }
