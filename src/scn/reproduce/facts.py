"""What claims need beside scores: how beta moves, a network that stays as it is, search, the device.

Each row of FACTS takes a run and its test and returns named numbers; what it measured is kept in the run
folder, where figures find it and a second call reads it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from scn.device import targets
from scn.device.measure import keep, measure
from scn.experiment.jobs import Evaluation
from scn.experiment.search import fitting_sizes, open_search, study_run, write_study
from scn.export import Options, subject_of
from scn.runs import backbone_of
from scn.runs.collection import LoadedRun
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import table_file, write_scores

Facts = dict[str, float]

PART = 360  # of a range: the step in which the change of beta is measured
DRAWN = 720  # settings where it is measured
IN_USE = 0.05  # the largest coefficient of a base model that is in use
NEAR = 0.05  # of the score: what counts as as good as at home
SEARCHED_BY = "grid"


def beta_facts(one: LoadedRun, test: Evaluation) -> Facts:
    """How the mixing coefficients move with the setting."""
    if not one.mixes:
        return {}
    transform, count = one.transform, len(one.transform.parameters)
    drawn = transform.sample(DRAWN, torch.Generator().manual_seed(0))
    found = {
        "largest change of beta": _largest_change(one, drawn, PART),
        "largest change of beta in half a step": _largest_change(one, drawn, 2 * PART),
    }
    beta = _beta(one, drawn)
    entropy = -(beta.clamp(min=1e-12).log() * beta).sum(dim=1)
    found["base models at a setting"] = entropy.exp().mean().item()
    found["base models in use"] = float((beta.amax(dim=0) > IN_USE).sum())
    found["share of the first base model"] = beta.mean(dim=0).max().item()
    if count == 1:
        found["base models with one range"] = _with_one_range(one)
    for place, parameter in enumerate(transform.parameters):
        found[f"change of beta along {parameter.name}"] = _spread_along(one, drawn[:60], place)
    return found


@torch.no_grad()
def _beta(one: LoadedRun, params: Tensor) -> Tensor:
    return one.scn.beta(one.transform.encode(params))


def _largest_change(one: LoadedRun, drawn: Tensor, parts: int) -> float:
    """Of any coefficient, when one parameter moves by so small a part of its range."""
    found = 0.0
    for place, parameter in enumerate(one.transform.parameters):
        step = (parameter.high - parameter.low) / parts
        moved = drawn.clone()
        upward = moved[:, place] + step <= parameter.high
        moved[:, place] += torch.where(upward, step, -step)
        found = max(found, (_beta(one, moved) - _beta(one, drawn)).abs().max().item())
    return found


def _with_one_range(one: LoadedRun) -> float:
    """The share of base models in use that are above half of their own maximum in one unbroken range."""
    (parameter,) = one.transform.parameters
    beta = _beta(one, one.transform.grid(PART))
    used = beta[:, beta.amax(dim=0) > IN_USE]
    high = used > used.amax(dim=0) / 2
    rises = (high[1:] & ~high[:-1]).sum(dim=0)
    first = high[0] & ~high[-1] if parameter.periodic else high[0]
    return ((rises + first.long()) <= 1).float().mean().item()


def _spread_along(one: LoadedRun, drawn: Tensor, place: int) -> float:
    """How far beta goes when one parameter takes its whole range, on average over the others."""
    values = one.transform.parameters[place].grid(24)
    moved = drawn.repeat_interleave(len(values), dim=0)
    moved[:, place] = values.repeat(len(drawn))
    beta = _beta(one, moved).unflatten(0, (len(drawn), len(values)))
    return beta.std(dim=1).norm(dim=1).mean().item()


def frozen_facts(one: LoadedRun, test: Evaluation) -> Facts:
    """A network that is configured once, for no change, under all settings."""
    if not one.mixes:
        return {}
    fixed = one.transform.neutral()
    suffix = "-fixed-" + "_".join(f"{value:g}" for value in fixed.tolist())
    if not table_file(one.folder, suffix).is_file():
        samples = test.samples or None
        found = evaluate_run(one.run, one.network, test.settings, fixed=fixed, samples=samples)
        write_scores(one.folder, found, one.transform, suffix)
    table = one.stored(suffix)
    distance = one.transform.distance(table.params.float(), fixed.expand(len(table.params), -1))
    home = table.values[distance.argmin()].item()
    return {
        "at home": home,
        "everywhere": table.mean,
        "settings as good as home": (table.values >= home - NEAR).double().mean().item(),
    }


def search_facts(one: LoadedRun, test: Evaluation) -> Facts:
    """What the network reaches when it has to find the setting itself, by batch size."""
    run = one.run
    if not run.recipe().for_search or not one.mixes:
        return {}
    path, samples = run.search_file(SEARCHED_BY), test.samples or None
    if not path.is_file():
        way = open_search(run, SEARCHED_BY)
        rows = list(study_run(run, way, fitting_sizes(run, None, samples), samples=samples))
        write_study(run, SEARCHED_BY, way, rows)
    content = json.loads(path.read_text())
    found = {}
    for row in content["rows"]:
        found[f"searched, batch {row['batch_size']}"] = row[one.score.key]
        found[f"known, batch {row['batch_size']}"] = row[f"known_{one.score.key}"]
    return found


def device_facts(one: LoadedRun, test: Evaluation) -> Facts:
    """Instructions, flash and RAM on the emulated processor."""
    target, run = targets.get(targets.DEFAULT), one.run
    rows = json.loads(run.device_file.read_text())["rows"] if run.device_file.is_file() else []
    if not any(row["target"] == target.name for row in rows):
        with tempfile.TemporaryDirectory(prefix="scn-device-") as scratch:
            subject = subject_of(run, None, None, backbone_of(run))
            found = measure(
                subject, Options(), target, Path(scratch), name=one.folder.name, samples=test.samples or None
            )
            keep(run.folder, found)
        rows = json.loads(run.device_file.read_text())["rows"]
    row = next(row for row in rows if row["target"] == target.name)
    counted = {f"instructions of {phase}": float(n) for phase, n in (row["instructions"] or {}).items()}
    return {
        **counted,
        "flash": float(row["flash"]),
        "ram": float(row["ram"]),
        "weights": float(row["weights"]),
    }


FACTS: dict[str, Callable[[LoadedRun, Evaluation], Facts]] = {
    "beta": beta_facts,
    "frozen": frozen_facts,
    "search": search_facts,
    "device": device_facts,
}
