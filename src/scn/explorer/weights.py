"""The weights that an explorer mixes in the page: of every base model, or the narrow ones and what is shared.

What a page holds of them is bounded, whatever D is: where they are many, fewer units are shown, and where not
even one has room, none.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.pages.assemble import Arrays
from scn.runs.first_layer import FirstLayer, first_layer

MOST_UNITS = 64
MOST_ROWS, MOST_COLUMNS = 128, 512
MOST_BYTES = 3_000_000  # for the weights of all networks of a page, by their D, before compression
EACH = 2  # bytes of a weight, in steps of 1/32767 of the largest
STEPS = 32767


@torch.no_grad()
def described_weights(net: SCN, sample: torch.Size, arrays: Arrays, most: int) -> dict[str, Any] | None:
    """The first configured weights as pictures of units, in at most so many bytes; None where none has room.

    `sample` is the shape of an input of the network. With `outer`, what is shown is the mixture of `outer`
    times the mixture of `inner`, and `shared` is added to it.
    """
    layer = first_layer(net) or _of_single_weights(net)
    inner, size = pictured(layer.inner, sample)
    pixels = inner.shape[2]
    room = _units_with_room(layer, net.dims, pixels, most)
    units = min(layer.units, MOST_UNITS if size else MOST_ROWS, room)
    if units < 1:
        return None
    parts: dict[str, Tensor] = {"inner": inner}
    if layer.outer is None:
        parts["inner"] = inner[:, :units]
    else:
        parts["outer"] = layer.outer[:, :units]
    if layer.shared is not None:
        parts["shared"] = pictured(layer.shared.unsqueeze(0), sample)[0][:, :units]
    return {
        "name": layer.name,
        "formula": layer.formula,
        "units": layer.units,
        "rank": None if layer.outer is None else layer.outer.shape[2],
        "shape": [units, *size] if size else [1, units, pixels],
        "largest": max(_largest(parts), 1e-12),
        **{name: _rounded(part, arrays) for name, part in parts.items()},
    }


def _of_single_weights(net: SCN) -> FirstLayer:
    """Where no layer has units: the first parameter, each of its weights as one."""
    slot = net.subspace.slots[0]
    return FirstLayer(slot.names[0], "θ = Σ βᵢθᵢ", net.subspace.base_sets()[slot.names[0]].detach())


def _units_with_room(layer: FirstLayer, dims: int, pixels: int, most: int) -> int:
    if layer.outer is None:
        return most // (EACH * dims * pixels)
    narrow = layer.inner.shape[1]
    rest = most - EACH * len(layer.inner) * narrow * pixels
    return rest // (EACH * (dims * narrow + (0 if layer.shared is None else pixels)))


def pictured(weights: Tensor, sample: torch.Size) -> tuple[Tensor, tuple[int, int] | None]:
    """(N, units, ...) -> (N, units, pixels), and the height and width where each unit is a picture."""
    flat = weights.flatten(2) if weights.dim() > 2 else weights.unsqueeze(2)
    if len(sample) == 3 and flat.shape[2] == math.prod(sample):
        weights = flat.unflatten(2, sample)
    if weights.dim() == 5:  # a mean over the channels of the input
        return weights.mean(dim=2).flatten(2), (weights.shape[3], weights.shape[4])
    table = weights.mean(dim=2) if weights.dim() == 4 else flat
    return table[:, :, :MOST_COLUMNS], None


def _largest(parts: dict[str, Tensor]) -> float:
    """The largest weight of any base model by itself."""
    if "outer" not in parts:
        return parts["inner"].abs().max().item()
    shared = parts.get("shared", torch.zeros(1, 1, 1))[0]
    inner = parts["inner"].expand(len(parts["outer"]), -1, -1)
    return max((a @ b + shared).abs().max().item() for a, b in zip(parts["outer"], inner, strict=True))


def _rounded(values: Tensor, arrays: Arrays) -> dict[str, Any]:
    scale = max(values.abs().max().item(), 1e-12) / STEPS
    return {"scale": scale, "values": arrays.add((values / scale).round().to(torch.int16).numpy())}
