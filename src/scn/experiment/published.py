"""Read checkpoints of the paper's authors: named arrays in an .npz file.

hyper_stack.0.weight, .bias, hyper_stack.2.weight, .bias     configuration network
weight_list_fcN.i, bias_list_fcN.i                           linear layer N of base model i
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from scn.backbones import MLP
from scn.core.errors import NotThere, ScnError
from scn.core.maps.learned import HIDDEN_UNITS
from scn.core.network import SCN

_LAYER = re.compile(r"(weight|bias)_list_fc(\d+)\.(\d+)")


def read_checkpoint(path: Path, image: tuple[int, ...] = (1, 32, 32)) -> SCN:
    """The published network in this file, as an SCN of an MLP on images of this shape."""
    arrays = _read(path)
    net = _empty_network(path, arrays, image)
    linear = [m for m in net.backbone.modules() if isinstance(m, torch.nn.Linear)]
    names = {module: name for name, module in net.backbone.named_modules()}
    bases = net.subspace.base_sets()
    pairs: list[tuple[Tensor, str]] = [
        (getattr(layer, part), f"hyper_stack.{i}.{part}")
        for layer, i in ((net.map.hidden, 0), (net.map.output, 2))
        for part in ("weight", "bias")
    ]
    pairs += [
        (bases[f"{names[module]}.{part}"][i], f"{part}_list_fc{n}.{i}")
        for n, module in enumerate(linear, start=1)
        for i in range(net.dims)
        for part in ("weight", "bias")
    ]
    with torch.no_grad():
        for target, key in pairs:
            source = _array(path, arrays, key)
            if source.shape != target.shape:
                raise ScnError(
                    f"{path}: {key} has shape {tuple(source.shape)}, but the network it is part of "
                    f"needs {tuple(target.shape)}"
                )
            target.copy_(source)
    return net.eval()


def _read(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise NotThere(f"there is no checkpoint {path}")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: torch.from_numpy(file[key]) for key in file.files}
    except Exception as error:
        raise ScnError(f"{path} is not an .npz file of plain arrays: {error}") from error
    for key, array in arrays.items():
        if array.is_complex() or not torch.isfinite(array).all():
            raise ScnError(f"{path}: {key} holds values that are not finite real numbers")
    return arrays


def _array(path: Path, arrays: dict[str, Tensor], key: str) -> Tensor:
    dimensions = 2 if "weight" in key else 1
    if key not in arrays or arrays[key].dim() != dimensions:
        raise ScnError(
            f"{path} has no array {key} of {dimensions} dimension(s): a published checkpoint holds "
            "hyper_stack.0/2.weight/bias and weight_list_fcN.i, bias_list_fcN.i"
        )
    return arrays[key]


def _empty_network(path: Path, arrays: dict[str, Tensor], image: tuple[int, ...]) -> SCN:
    """An SCN of the sizes that the arrays tell."""
    first = _array(path, arrays, "hyper_stack.0.weight")
    dims = len(_array(path, arrays, "hyper_stack.2.bias"))
    layers = {int(m[2]) for key in arrays if (m := _LAYER.fullmatch(key))}
    width, pixels = _array(path, arrays, "weight_list_fc1.0").shape
    classes = len(_array(path, arrays, f"bias_list_fc{max(layers, default=1)}.0"))
    if first.shape[0] != HIDDEN_UNITS:
        raise ScnError(
            f"{path}: its configuration network has {first.shape[0]} hidden units, ours {HIDDEN_UNITS}"
        )
    if len(layers) < 2:
        raise ScnError(f"{path} has a single linear layer, but a network has a hidden and an output layer")
    if pixels != int(np.prod(image)):
        raise ScnError(f"{path}: its first layer takes {pixels} values, not an image of {image}")
    backbone = MLP(image, classes, width, depth=len(layers) - 1, norm=False)
    return SCN(backbone, alpha_dim=first.shape[1], dims=dims)
