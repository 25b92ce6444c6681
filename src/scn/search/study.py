"""How good a search is: the score against the batch size, beside the known setting and other networks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from scn import data
from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.data import to_float
from scn.methods.mixed import FAR
from scn.objectives import Classification, Objective, Score
from scn.runs import Run
from scn.search.base import Search
from scn.search.grid import Candidates
from scn.transforms import Transform

AT_ONCE = 1024  # inputs
TIMED = 15  # batches, one after the other


@dataclass(frozen=True)
class SearchRow:
    """One batch size. `beside` are the scores of other networks on the same inputs."""

    batch_size: int
    samples: int  # that were tested; those that do not fill a batch are left out
    reached: float
    known: float  # with the setting known
    evaluations: int
    seconds: float  # for one batch, median
    entropy: float | None  # of class probabilities, where there are any
    off: float  # median distance to the right setting, in percent of the range
    beside: dict[str, float] = field(default_factory=dict)

    def to_json(self, score: Score) -> dict[str, Any]:
        """For a file: scores under the key of the score."""
        return under_key(asdict(self), score)


def under_key(content: dict[str, Any], score: Score) -> dict[str, Any]:
    """What was reached, and what is reached with the setting known, by the key of the score."""
    names = {"reached": score.key, "known": f"known_{score.key}"}
    return {names.get(name, name): value for name, value in content.items()}


@dataclass(frozen=True)
class ChangedInputs:
    """Test samples of a run, each batch of them changed by a setting of its own."""

    samples: Tensor  # (N, ...) as they were before the change, floats
    x: Tensor  # as the network is shown them
    labels: Tensor
    params: Tensor  # (G, P)


def draw_inputs(run: Run, batch_size: int, samples: int | None = None, seed: int = 0) -> ChangedInputs:
    """The run's test data in random order, in batches; what does not fill a batch is left out."""
    images, labels = data.load(run.config.data).split("test")
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(images), generator=generator)[:samples]
    refuse_size(batch_size, len(order))
    order = order[: len(order) // batch_size * batch_size]
    params = run.transform().sample(len(order) // batch_size, generator)
    picked = to_float(images[order])
    return ChangedInputs(
        picked, inputs_of(run, picked, params), run.objective().labels(labels[order]), params
    )


def refuse_size(batch_size: int, samples: int) -> None:
    """Refuse a batch that so many test samples do not fill."""
    if not 1 <= batch_size <= samples:
        raise ScnError(f"a batch size must be from 1 to {samples}, the test samples, but is {batch_size}")


def inputs_of(run: Run, samples: Tensor, params: Tensor) -> Tensor:
    """What the network of a run is shown of samples (N, ...), in groups under the settings (G, P)."""
    method, normalisation = run.method(), run.normalisation()
    return torch.cat([method.inputs(x, own, normalisation) for x, own in _in_parts(samples, params)])


def _in_parts(whole: Tensor, params: Tensor) -> Iterable[tuple[Tensor, Tensor]]:
    """What there is for each sample, a manageable part at a time, with the settings of that part."""
    size = len(whole) // len(params)
    groups = max(1, AT_ONCE // size)
    return zip(whole.split(groups * size), params.split(groups), strict=True)


def study(search: Search, shown: ChangedInputs, batch_size: int, objective: Objective) -> SearchRow:
    """Search for the setting of every batch."""
    transform, groups = search.transform, max(1, AT_ONCE // batch_size)
    found = [search(x, len(x) // batch_size) for x in shown.x.split(groups * batch_size)]
    known = known_outputs(search.net, shown, transform)
    params = torch.cat([part.params for part in found])
    entropy = torch.cat([part.entropy for part in found]).mean().item()
    return SearchRow(
        batch_size,
        len(shown.labels),
        mean_score(objective, torch.cat([part.logits for part in found]), shown.labels),
        mean_score(objective, known, shown.labels),
        found[0].evaluations,
        _seconds(search, shown.x, batch_size),
        entropy if isinstance(objective, Classification) else None,
        100 * transform.distance(params, shown.params).median().item(),
    )


@torch.no_grad()
def known_outputs(net: SCN, shown: ChangedInputs, transform: Transform) -> Tensor:
    """(N, outputs) of the network that is configured for the setting of every batch."""
    return torch.cat([net(x, transform.encode(own)) for x, own in _in_parts(shown.x, shown.params)])


def mean_score(objective: Objective, outputs: Tensor, labels: Tensor) -> float:
    """The score of these outputs (N, outputs)."""
    return objective.values(outputs, labels, objective.spread(labels))[:, 0].mean().item()


def _seconds(search: Search, x: Tensor, batch_size: int) -> float:
    """Of one call for one batch, the way a device would make it."""
    taken = []
    for part in x[: (TIMED + 2) * batch_size].split(batch_size):
        began = time.perf_counter()
        search(part)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[2:] or taken)


@torch.no_grad()
def average_undone(
    net: nn.Module,
    changed: Tensor,
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
        shown = [net(normalise(undo(part, row))).softmax(dim=1) for part in changed.split(AT_ONCE)]
        total = total + torch.cat(shown) / len(candidates)
    assert isinstance(total, Tensor)
    return total


def scores_beside(run: Run, net: nn.Module, shown: ChangedInputs, search: Search) -> dict[str, float]:
    """A network without a setting on the same inputs: as it is, and averaged over the search's candidates."""
    objective, name = run.objective(), run.config.method
    with torch.no_grad():
        plain = torch.cat([net(part) for part in inputs_of(run, shown.samples, shown.params).split(AT_ONCE)])
    found = {name: mean_score(objective, plain, shown.labels)}
    if isinstance(search, Candidates):
        transform = search.transform
        changed = torch.cat([transform.apply(x, own) for x, own in _in_parts(shown.samples, shown.params)])
        outputs = average_undone(net, changed, transform, search.candidates, run.normalisation())
        found[f"{name}, augmented"] = mean_score(objective, outputs, shown.labels)
    return found


def refuse_without_classes(run: Run, way: str, kind: type[Search]) -> None:
    """Doubt is that of class probabilities: a network that predicts values has none to go by."""
    if kind.by_doubt and not isinstance(run.objective(), Classification):
        raise ScnError(
            f"{run.folder} was trained for {run.config.objective['name']}, and {way} searches by the "
            "probabilities of classes: the method estimator reads the setting off the input instead"
        )


def reason_to_doubt(run: Run, search: Search, samples: int = 1000) -> str | None:
    """Why a search will fail, measured, if the run was not trained for the search's measure of doubt."""
    recipe = run.recipe()
    if not search.by_doubt or any(getattr(recipe, weight) for weight in search.doubt.weights):
        return None
    shown = draw_inputs(run, 1, samples)
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
        f"{run.folder} was not trained for a search by {search.doubt.name}, which will fail: only "
        f"{surer:.0%} of inputs have less doubt at the right setting than at a wrong one (50 % would be "
        "chance). Train with `evidence_weight=0.5`"
    )


def by_batches(search: Search, batch_size: int) -> Callable[[Tensor], Tensor]:
    """A network that finds the setting itself: x (N, ...) -> logits, each batch searched for alone."""

    def outputs(x: Tensor) -> Tensor:
        whole = len(x) // batch_size * batch_size
        parts = [*x[:whole].split(max(1, AT_ONCE // batch_size) * batch_size), x[whole:]]
        found = [search(part, max(1, len(part) // batch_size)) for part in parts if len(part)]
        return torch.cat([part.logits for part in found])

    return outputs
