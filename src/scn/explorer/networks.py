"""What an explorer holds of each network: its mixtures, its weights, its outputs and its scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from scn.core.maps import Nodes
from scn.core.network import SCN
from scn.explorer.grid import PageGrid
from scn.explorer.outputs import OutputForm
from scn.explorer.weights import described_weights
from scn.pages.assemble import Arrays
from scn.pages.samples import ShownSamples
from scn.runs.collection import LoadedRun
from scn.runs.cost import cost_of
from scn.runs.evaluation import evaluate_run

PART_VALUES = 2**24  # of inputs that are kept at a time
AT_ONCE = 512  # inputs in one call: more of them would leave the cache of the processor


@torch.no_grad()
def describe(
    shown: LoadedRun,
    samples: ShownSamples,
    grid: PageGrid,
    form: OutputForm,
    arrays: Arrays,
    weight_bytes: int,
) -> dict[str, Any]:
    """Outputs under every setting and scores over the evaluated ones; of an SCN, what it is mixed of."""
    found: dict[str, Any] = {
        "method": shown.run.config.method,
        "dims": shown.run.config.dims,
        "seed": shown.run.config.seed,
        "run": shown.run.folder.name,
        "own": arrays.add(_own_outputs(shown, samples, grid, form)),
        "scores": {"params": shown.settings, "values": shown.values},
    }
    if isinstance(shown.network, SCN):
        transform = shown.run.transform()
        beta = shown.network.beta(transform.encode(grid.settings))
        found |= {
            "beta": arrays.add(beta.numpy()),
            "least": min(beta.min().item(), 0.0),
            "read": cost_of(shown).read,
            "places": isinstance(shown.network.map, Nodes),
            "pairs": arrays.add(_pair_outputs(shown, samples, grid, form)),
            "weights": described_weights(shown.network, _input_shape(shown, samples), arrays, weight_bytes),
            "frozen": _frozen_scores(shown, grid),
        }
    return found


@torch.no_grad()
def outputs_at_low_end(shown: LoadedRun, samples: ShownSamples) -> tuple[Tensor, int]:
    """Of the configured network for all samples under one setting, and the operations that takes."""
    method = shown.run.method()
    low = torch.tensor([p.low for p in method.transform.parameters])
    plain = method.configured(shown.network, low).eval()
    x = method.inputs(samples.x, low, shown.run.normalisation())
    with FlopCounterMode(display=False) as counter:
        outputs = plain(x)
    return outputs, int(counter.get_total_flops())


def _input_shape(shown: LoadedRun, samples: ShownSamples) -> torch.Size:
    method = shown.run.method()
    low = torch.tensor([p.low for p in method.transform.parameters])
    return method.inputs(samples.x[:1], low, shown.run.normalisation()).shape[1:]


def _inputs(shown: LoadedRun, samples: ShownSamples, grid: PageGrid) -> Iterator[Tensor]:
    """What the network is shown under each setting: (S, ...)."""
    method, normalisation = shown.run.method(), shown.run.normalisation()
    for row in grid.settings:
        yield method.inputs(samples.x, row, normalisation)


def _own_outputs(
    shown: LoadedRun, samples: ShownSamples, grid: PageGrid, form: OutputForm
) -> np.ndarray[Any, Any]:
    """(S, N, C): configured for the setting of the input."""
    method = shown.run.method()
    plain = method.configured(shown.network, grid.settings[0]).eval()
    outputs = []
    for row, x in zip(grid.settings, _inputs(shown, samples, grid), strict=True):
        plain = method.configured(shown.network, row, into=plain)
        outputs.append(form.packed(plain(x)))
    return torch.stack(outputs, dim=1).numpy()


def _pair_outputs(
    shown: LoadedRun, samples: ShownSamples, grid: PageGrid, form: OutputForm
) -> np.ndarray[Any, Any]:
    """(K, S, N, C): configured for one setting of the coarser grid, shown inputs under each of the finer.

    What an SCN is shown does not depend on the setting it is configured for.
    """
    method, count = shown.run.method(), len(samples.labels)
    plain = method.configured(shown.network, grid.assumed[0]).eval()
    parts = []
    for inputs in _in_parts(_inputs(shown, samples, grid)):
        packed = []
        for row in grid.assumed:
            plain = method.configured(shown.network, row, into=plain)
            outputs = torch.cat([plain(x) for x in inputs.split(AT_ONCE)])
            packed.append(form.packed(outputs).unflatten(0, (-1, count)).transpose(0, 1))
        parts.append(torch.stack(packed))
    return torch.cat(parts, dim=2).numpy()


def _in_parts(inputs: Iterator[Tensor]) -> Iterator[Tensor]:
    """The inputs of many settings one behind the other, as far as memory is no matter."""
    part: list[Tensor] = []
    for x in inputs:
        part.append(x)
        if sum(one.numel() for one in part) > PART_VALUES:
            yield torch.cat(part)
            part = []
    if part:
        yield torch.cat(part)


def _frozen_scores(shown: LoadedRun, grid: PageGrid) -> dict[str, Any]:
    """Configured for the page's first setting and left so: tested as the run itself was."""
    result = evaluate_run(
        shown.run,
        shown.network,
        torch.tensor(shown.settings),
        fixed=grid.first,
        samples=shown.table.facts["samples"],
    ).with_enough()
    return {"params": result.params.tolist(), "values": result.values.tolist()}
