"""The search of a run as an export takes it: made of the searches that Python itself would use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.experiment.search import open_search, refuse_unsearchable
from scn.export.search_plan import Axis, ByCandidates, ByEstimator, ByTracker, Lookup, Plan
from scn.runs import Run
from scn.search import Candidates, Estimated, Grid, Search, Tracker
from scn.search.doubt import trained_for
from scn.search.tracker import ENOUGH, NEAR, move_weights
from scn.transforms import Transform
from scn.transforms.encoding import Turn

MOST_SETTINGS = 5000
DRIFT = 1 / 180  # of a parameter's range, where nothing is said


def device_search(run: Run, way: str, options: dict[str, Any], backbone: str | None = None) -> Plan:
    """The plan of a search by its name: grid, candidates, tracker or estimator."""
    if way not in PLANS:
        raise ScnError(f"there is no search on a device {nearest(way, tuple(PLANS))}")
    _refuse_too_many(run, options)
    return PLANS[way](run, dict(options), backbone)


def untrained(run: Run, plan: Plan) -> str | None:
    """Why a search by outputs will fail, where the run was not trained for it."""
    if isinstance(plan, ByEstimator) or trained_for(run.recipe()) is not None:
        return None
    return f"{run.folder} was not trained for a search, which will fail: train with `evidence_weight=0.5`"


def _refuse_too_many(run: Run, options: dict[str, Any]) -> None:
    """Each setting of a grid is a row of the tables in flash, and here a network of its own in memory."""
    steps, parameters = options.get("steps"), len(run.transform().parameters)
    if steps is not None and steps**parameters > MOST_SETTINGS:
        raise ScnError(
            f"a grid of {steps} steps has {steps**parameters:,} settings, and code holds at most "
            f"{MOST_SETTINGS:,}: choose at most {_most_steps(parameters)} steps"
        )


def _most_steps(parameters: int) -> int:
    return max(steps for steps in range(1, MOST_SETTINGS + 1) if steps**parameters <= MOST_SETTINGS)


def _bank(run: Run, way: str, options: dict[str, Any], backbone: str | None) -> Search:
    return open_search(run, way, options.pop("by", None), options, backbone)


def _by_candidates(way: str) -> Callable[[Run, dict[str, Any], str | None], Plan]:
    def plan(run: Run, options: dict[str, Any], backbone: str | None) -> Plan:
        made = _bank(run, way, options, backbone)
        assert isinstance(made, Candidates)
        return candidates_plan(way, made)

    return plan


def candidates_plan(way: str, made: Candidates) -> ByCandidates:
    """That of a search over candidates, which must lie in their ranges."""
    settings = made.transform.within(made.candidates, named="the candidates of `search`").float()
    return ByCandidates(way, settings, made.transform.encode(settings).float(), made.doubt.name)


def _by_tracker(run: Run, options: dict[str, Any], backbone: str | None) -> Plan:
    drift, jump = options.pop("drift", None), options.pop("jump", 0.01)
    grid = _bank(run, "grid", options, backbone)
    assert isinstance(grid, Grid)
    moves: Sequence[float] = (grid.span * DRIFT).tolist() if drift is None else drift
    return tracker_plan(Tracker(grid.net, grid.transform, moves, jump, grid.steps, grid.doubt.name))


def tracker_plan(made: Tracker) -> ByTracker:
    """That of a tracker; the axes of its grid must be independent of each other."""
    grid, kind = made.search, type(made.transform)
    if kind.grid is not Transform.grid or kind.distance is not Transform.distance:
        raise ScnError(
            f"{kind.__name__} has a grid or a distance of its own, which no tracker in C knows: use grid"
        )
    plan = candidates_plan("tracker", grid)
    moved = made.drift.expand(len(grid.span)) / grid.cells
    axes = tuple(
        _axis(*numbers, grid.steps)
        for numbers in zip(
            grid.low.tolist(), grid.span.tolist(), grid.circle.tolist(), moved.unbind(), strict=True
        )
    )
    known = ("tracker", plan.candidates, plan.alphas, plan.doubt)
    return ByTracker(*known, axes, grid.doubt.temperature, made.jump, NEAR, ENOUGH)


def _axis(low: float, span: float, circle: bool, moved: Tensor, steps: int) -> Axis:
    places = torch.arange(steps)
    apart = (places.unsqueeze(0) - places.unsqueeze(1)).abs()
    away = torch.minimum(apart, steps - apart) if circle else apart
    norms = move_weights(away.float(), moved).sum(dim=1)
    kernel = move_weights(places[: int(away.max()) + 1].float(), moved)
    reach = int(kernel.nonzero().max()) + 1
    return Axis(low, span, circle, kernel[:reach], norms)


def _by_estimator(run: Run, options: dict[str, Any], backbone: str | None) -> Plan:
    if options:
        raise ScnError(f"search=estimator takes no `{next(iter(options))}`")
    refuse_unsearchable(run, backbone)
    if not run.estimator_file.is_file():
        raise ScnError(
            f"{run.folder} has no estimator: `scn search {run.folder} --method estimator` trains one"
        )
    made = open_search(run, "estimator", None, {}, backbone)
    assert isinstance(made, Estimated)
    return estimator_plan(made)


def estimator_plan(made: Estimated) -> ByEstimator:
    """That of an estimator; the nearest alpha must be found parameter by parameter."""
    return ByEstimator(made.estimator, tuple(_lookups(made.transform, made.steps)))


def _lookups(transform: Transform, steps: int) -> list[Lookup]:
    kinds, count = transform.encodings(), len(transform.parameters)
    values = [parameter.grid(steps) for parameter in transform.parameters]
    if count == 1:
        return [Lookup(values[0], transform.encode(values[0].unsqueeze(1)).float())]
    if kinds is None or type(transform).grid is not Transform.grid or any(isinstance(k, Turn) for k in kinds):
        raise ScnError(
            f"the nearest setting of {type(transform).__name__} is not found parameter by parameter, as an "
            "estimator in C does it: use grid"
        )
    found, place = [], 0
    for number, (kind, own) in enumerate(zip(kinds, values, strict=True)):
        settings = transform.neutral().repeat(steps, 1)
        settings[:, number] = own
        found.append(Lookup(own, transform.encode(settings)[:, place : place + kind.size].float()))
        place += kind.size
    return found


PLANS: dict[str, Callable[[Run, dict[str, Any], str | None], Plan]] = {
    "grid": _by_candidates("grid"),
    "candidates": _by_candidates("candidates"),
    "tracker": _by_tracker,
    "estimator": _by_estimator,
}
