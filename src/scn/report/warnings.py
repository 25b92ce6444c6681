"""What a reader of a report should know unasked: signs that a training or a test did not go well."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from scn.core.maps.base import SparseMap
from scn.core.network import SCN
from scn.methods.scn_method import IN_USE
from scn.objectives import Score
from scn.plots.scale import brief
from scn.plots.style import label
from scn.plots.training import validation_metric
from scn.runs.collection import LoadedRun
from scn.transforms import Transform

FINE = 2000  # steps over the range of a parameter, in which beta is looked at for jumps
JUMP = 0.1  # of beta in one such step
FAR = 0.05  # between test and validation, for a score that is a share
FAR_ERROR = 0.2  # of the error, for any other score
STILL_LEARNING = 0.01  # of a score that is a share, in the last fifth of a training


def warnings_about(shown: Sequence[LoadedRun]) -> list[str]:
    """All warnings about these runs, each a sentence."""
    found = [text for one in shown for text in _of_run(one)]
    return [*found, *_of_comparison(shown)]


def _of_run(one: LoadedRun) -> Iterator[str]:
    config = one.run.config
    name = f"{label(*one.key)}, seed {config.seed}"
    if isinstance(one.network, SCN):
        transform = one.run.transform()
        yield from (f"{name}: {text}" for text in dead_bases(one.network, transform))
        yield from (f"{name}: {text}" for text in jumps(one.network, transform))
    for found in one.table.facts.get("outside", []):
        yield f"{name}: of the test samples, {found['said']}."
    for text in (validation_gap(one), still_learning(one)):
        if text:
            yield f"{name}: {text}"


@torch.no_grad()
def dead_bases(net: SCN, transform: Transform) -> list[str]:
    """Base models that no setting uses: they cost memory and do nothing."""
    steps = max(2, round(4000 ** (1 / len(transform.parameters))))
    most = net.beta(transform.encode(transform.grid(steps))).abs().amax(dim=0)
    dead = (most < IN_USE).nonzero().flatten().tolist()
    if not dead:
        return []
    names = ", ".join(str(i + 1) for i in dead)
    are = "is" if len(dead) == 1 else "are"
    return [
        f"{len(dead)} of {net.dims} base models {are} never used (number {names}: β stays below {IN_USE}). "
        "Fewer base models would do."
    ]


@torch.no_grad()
def jumps(net: SCN, transform: Transform) -> list[str]:
    """Where beta is not continuous in the setting, looked for along each parameter in turn.

    A map that goes from place to place, or in which nothing is learned, is as steep as a person made it.
    """
    if isinstance(net.map, SparseMap) or not list(net.map.parameters()):
        return []
    found = []
    for place, parameter in enumerate(transform.parameters):
        for settings in _lines(transform, place):
            beta = net.beta(transform.encode(settings))
            if parameter.periodic:
                beta = torch.cat([beta, beta[:1]])
            step = (beta[1:] - beta[:-1]).abs().amax(dim=1)
            if step.max() > JUMP:
                where = settings[int(step.argmax()), place].item()
                found.append(
                    f"β is not continuous in {parameter.name}: it changes by {step.max().item():.2f} within "
                    f"1/{FINE} of the range, near {where:.4g} {parameter.unit}".rstrip()
                    + "."
                )
                break
    return found


def _lines(transform: Transform, place: int) -> Iterator[Tensor]:
    """Settings (FINE, P) along one parameter, the others at a quarter, half and three quarters of theirs."""
    own = transform.parameters[place].grid(FINE)
    for share in (0.25, 0.5, 0.75) if len(transform.parameters) > 1 else (0.5,):
        settings = torch.tensor([p.low + share * (p.high - p.low) for p in transform.parameters])
        settings = settings.repeat(FINE, 1)
        settings[:, place] = own
        yield settings


def validation_gap(one: LoadedRun) -> str | None:
    """Whether the score on the test data is further from that on the validation data than chance explains."""
    name = validation_metric(one)
    known = [epoch[name] for epoch in one.epochs if epoch.get(name) is not None]
    if not known:
        return None
    samples, share = one.run.config.samples, one.run.recipe().validation_share
    held = max(samples.get("val") or round(share * samples.get("train", 0)), 1)
    score, mean = one.score, one.mean
    best = score.best(known)
    if abs(best - mean) <= _usual_gap(score, best, held):
        return None
    return (
        f"the test {score.label} {brief(score, mean)} is far from the best validation {score.label} "
        f"{brief(score, best)} ({held:,} validation samples): the test data may differ from the training "
        "data."
    )


def still_learning(one: LoadedRun) -> str | None:
    """Whether the training ended before the network had learned what it could."""
    gain, score = one.late_gain, one.score
    if gain is None or score.unit or gain < STILL_LEARNING:
        return None
    return (
        f"its validation {score.label} still grew by {brief(score, gain)} in the last fifth of its training: "
        "more epochs would help."
    )


def _usual_gap(score: Score, validated: float, held: int) -> float:
    """Three standard errors of a share, or of a mean error as it would be of normal errors."""
    if score.lowest is not None and score.highest is not None:
        return max(FAR, 3 * math.sqrt(max(validated * (1 - validated), 1e-4) / held))
    return max(FAR_ERROR, 3 * math.sqrt(2 / held)) * abs((score.highest or 0.0) - validated)


def _of_comparison(shown: Sequence[LoadedRun]) -> Iterator[str]:
    """What makes numbers of several runs not comparable."""
    if len({one.run.config.checksum for one in shown if one.run.config.checksum}) > 1:
        yield "The runs were trained on different versions of the data (their checksums differ)."
    tested: set[int] = {one.table.facts["samples"] for one in shown}
    if len(tested) > 1:
        yield f"The runs were tested on different numbers of samples: {', '.join(map(str, sorted(tested)))}."
    used = {_training_samples(one) for one in shown if one.run.config.samples}
    if len(used) > 1:
        yield f"The runs were trained on different numbers of samples: {', '.join(map(str, sorted(used)))}."
    grids = {tuple(map(tuple, one.settings)) for one in shown if one.run.config.fixed is None}
    if len(grids) > 1:
        yield "The runs were evaluated under different settings: `scn evaluate --step` makes them alike."


def _training_samples(one: LoadedRun) -> int:
    config = one.run.config
    return min(one.run.recipe().train_samples or config.samples["train"], config.samples["train"])
