"""Searches in exported C, called from Python, beside what Python finds."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from generated import OK, FloatPointer, Program, built
from scn.core.network import SCN
from scn.export import Options, Subject
from scn.export.c import graph_of
from scn.export.interpret import Float, run
from scn.export.rounding import with_rounded_weights
from scn.export.search_plan import ByCandidates
from scn.search.doubt import get_doubt

ALIKE = 1e-5  # of the doubts of two candidates, beside which float32 cannot tell them apart


def crossed(first: Iterable[str], second: Iterable[str], quick: Callable[[str, str], bool]) -> list[Any]:
    """Every pair, for a test with two parameters; those that are not quick are marked slow."""
    return [
        pytest.param(one, two, marks=[] if quick(one, two) else pytest.mark.slow)
        for one, two in itertools.product(first, second)
    ]


def pointer(values: np.ndarray | None) -> object:
    return None if values is None else values.ctypes.data_as(FloatPointer)


@dataclass
class Searcher:
    """The functions of a search."""

    program: Program
    params: int
    alphas: int

    def call(self, function: str, *arguments: object) -> int:
        """Any function of the network that takes its state."""
        own = [] if self.program.state is None else [self.program.state]
        return int(getattr(self.program.library, f"{self.program.name}_{function}")(*own, *arguments))

    def begin(self) -> int:
        return self.call("search_begin")

    def add(self, x: Tensor) -> int:
        return self.call("search_add", pointer(x.float().contiguous().numpy()))

    def end(self) -> tuple[int, Tensor, Tensor]:
        params, alpha = np.zeros(self.params, np.float32), np.zeros(self.alphas, np.float32)
        status = self.call("search_end", pointer(params), pointer(alpha))
        return status, torch.from_numpy(params), torch.from_numpy(alpha)

    def found(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The setting of a batch (B, ...), and its alpha."""
        assert self.begin() == OK
        assert [self.add(one) for one in x] == [OK] * len(x)
        status, params, alpha = self.end()
        assert status == OK
        return params, alpha

    def track(self, x: Tensor) -> tuple[int, Tensor, Tensor, bool]:
        params, spread = np.zeros(self.params, np.float32), np.zeros(self.params, np.float32)
        lost = ctypes.c_int(-1)
        shown = x.float().contiguous().numpy()
        status = self.call("track", pointer(shown), pointer(params), pointer(spread), ctypes.byref(lost))
        return status, torch.from_numpy(params), torch.from_numpy(spread), bool(lost.value)


def searcher(what: Subject, options: Options, folder: Path, *flags: str) -> Searcher:
    program = built(what, options, folder, *flags)
    return Searcher(program, len(what.transform.parameters), what.transform.alpha_dim)


@torch.no_grad()
def doubts(what: Subject, options: Options, x: Tensor) -> Tensor:
    """(C, B) in doubles, with the weights as they are stored."""
    plan, net = what.search, what.network
    assert isinstance(plan, ByCandidates)
    assert isinstance(net, SCN)
    graph = graph_of(what, net)
    if options.weights != "float32":
        graph = with_rounded_weights(graph, options)
    of = get_doubt(plan.doubt).of
    betas = net.beta(plan.alphas).double()
    return torch.stack([of(run(Float(graph, b), x.double())[graph.output].flatten(1)) for b in betas])


def check_best(what: Subject, c: Searcher, x: Tensor, expected: Tensor) -> tuple[int, int]:
    """Search for each batch of x (N, B, ...), whose doubts are (C, N), the mean of each batch.

    The setting that C finds is the best, or one that float32 cannot tell from it. Returns how many were the
    best itself, and how many candidates were found at all.
    """
    plan = what.search
    assert isinstance(plan, ByCandidates)
    same, places = 0, set()
    for batch, own in zip(x, expected.unbind(dim=1), strict=True):
        params, alpha = c.found(batch)
        place = int((plan.candidates == params).all(dim=1).nonzero()[0])
        torch.testing.assert_close(alpha, plan.alphas[place], rtol=0, atol=0)
        assert own[place] - own.min() <= ALIKE * max(1.0, own.abs().max().item()), (own[place], own.min())
        same += int(place == own.argmin())
        places.add(place)
    return same, len(places)
