"""How good a search is: accuracy against batch size, beside the known setting and networks without one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from scn import data
from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.data import to_float
from scn.methods.scn_method import FAR
from scn.runs import Run
from scn.search.base import Search
from scn.search.grid import Candidates
from scn.transforms import Transform

AT_ONCE = 1024  # inputs
TIMED = 15  # batches, one after the other


@dataclass(frozen=True)
class Row:
    """One batch size. `beside` are the accuracies of other networks on the same inputs."""

    batch_size: int
    samples: int  # that were asked about; those that do not fill a batch are left out
    accuracy: float
    known_accuracy: float
    evaluations: int
    seconds: float  # for one batch, median
    entropy: float
    off: float  # median distance to the right setting, in percent of the range
    beside: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Inputs:
    """Test samples of a run, each batch of them changed by a setting of its own."""

    raw: Tensor  # (N, ...) changed, not yet normalised
    x: Tensor
    y: Tensor
    params: Tensor  # (G, P)


def inputs(run: Run, batch_size: int, samples: int | None = None, seed: int = 0) -> Inputs:
    """The run's test data in random order, in batches; what does not fill a batch is left out."""
    images, labels = data.load(run.config.data).split("test")
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(images), generator=generator)[:samples]
    if batch_size < 1 or batch_size > len(order):
        raise ScnError(f"a batch size must be from 1 to {len(order)}, the test samples, but is {batch_size}")
    order = order[: len(order) // batch_size * batch_size]
    transform = run.transform()
    params = transform.sample(len(order) // batch_size, generator)
    rows = max(1, AT_ONCE // batch_size)
    pieces = zip(order.split(rows * batch_size), params.split(rows), strict=True)
    raw = torch.cat([transform.apply(to_float(images[i]), own) for i, own in pieces])
    return Inputs(raw, run.normalisation()(raw), labels[order], params)


def study(search: Search, shown: Inputs, batch_size: int) -> Row:
    """Search for the setting of every batch."""
    transform, groups = search.transform, max(1, AT_ONCE // batch_size)
    found = [search(x, len(x) // batch_size) for x in shown.x.split(groups * batch_size)]
    known = known_answers(search.net, shown, transform, batch_size)
    params = torch.cat([part.params for part in found])
    return Row(
        batch_size,
        len(shown.y),
        share(torch.cat([part.logits for part in found]), shown.y),
        share(known, shown.y),
        found[0].evaluations,
        _seconds(search, shown.x, batch_size),
        torch.cat([part.entropy for part in found]).mean().item(),
        100 * transform.distance(params, shown.params).median().item(),
    )


@torch.no_grad()
def known_answers(net: SCN, shown: Inputs, transform: Transform, batch_size: int) -> Tensor:
    """The logits (N, classes) of the network that is told the setting of every batch."""
    groups = max(1, AT_ONCE // batch_size)
    pieces = zip(shown.x.split(groups * batch_size), shown.params.split(groups), strict=True)
    return torch.cat([net(x, transform.encode(own)) for x, own in pieces])


def share(logits: Tensor, labels: Tensor) -> float:
    """The share of right answers."""
    return (logits.argmax(dim=1) == labels).double().mean().item()


def _seconds(search: Search, x: Tensor, batch_size: int) -> float:
    """Of one call for one batch, the way a device would make it."""
    taken = []
    for part in x[: (TIMED + 2) * batch_size].split(batch_size):
        began = time.perf_counter()
        search(part)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[2:] or taken)


@torch.no_grad()
def augmented(
    net: nn.Module,
    raw: Tensor,
    transform: Transform,
    candidates: Tensor,
    normalise: Callable[[Tensor], Tensor],
) -> Tensor:
    """Test-time augmentation: mean class probabilities (N, classes) over every candidate undone.

    Where a change cannot be undone, it is applied once more instead.
    """
    undo = transform.invert if transform.invertible else transform.apply
    total: Tensor | float = 0.0
    for row in candidates:
        shown = [net(normalise(undo(part, row))).softmax(dim=1) for part in raw.split(AT_ONCE)]
        total = total + torch.cat(shown) / len(candidates)
    assert isinstance(total, Tensor)
    return total


def beside(run: Run, net: nn.Module, shown: Inputs, search: Search) -> dict[str, float]:
    """A network without a setting on the same inputs: as it is, and averaged over the search's candidates."""
    normalise, name = run.normalisation(), run.config.method
    with torch.no_grad():
        plain = torch.cat([net(normalise(part)) for part in shown.raw.split(AT_ONCE)])
    found = {name: share(plain, shown.y)}
    if isinstance(search, Candidates):
        answers = augmented(net, shown.raw, search.transform, search.candidates, normalise)
        found[f"{name}, augmented"] = share(answers, shown.y)
    return found


def reason_to_doubt(run: Run, search: Search, samples: int = 1000) -> str | None:
    """Why a search will fail, measured, if the run was not trained for the search's objective."""
    recipe = run.recipe()
    if not search.by_doubt or any(getattr(recipe, weight) for weight in search.objective.weights):
        return None
    shown = inputs(run, 1, samples)
    transform, generator = search.transform, torch.Generator().manual_seed(1)
    other = transform.sample(len(shown.params), generator)
    far = transform.distance(other, shown.params) >= FAR
    with torch.no_grad():
        right, wrong = (
            search.doubts(search.net(shown.x, transform.encode(params)), len(params))
            for params in (shown.params, other)
        )
    surer = (right < wrong)[far].double().mean().item()
    return (
        f"{run.folder} was not trained for a search by {search.objective.name}, which will fail: only "
        f"{surer:.0%} of inputs have less doubt at the right setting than at a wrong one (50 % would be "
        "chance). Train with `evidence_weight=0.5`"
    )


def by_batches(search: Search, batch_size: int) -> Callable[[Tensor], Tensor]:
    """A network that finds the setting itself: x (N, ...) -> logits, each batch searched for alone."""

    def answer(x: Tensor) -> Tensor:
        whole = len(x) // batch_size * batch_size
        parts = [*x[:whole].split(max(1, AT_ONCE // batch_size) * batch_size), x[whole:]]
        found = [search(part, max(1, len(part) // batch_size)) for part in parts if len(part)]
        return torch.cat([part.logits for part in found])

    return answer
