"""The threshold of a sensor's adapter keeps its promise: so much of the score is lost, and no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from needs import real_data, real_file
from scn import SCN, methods, transforms
from scn.backbones import MLP
from scn.data import Normalisation
from scn.experiment.published import read_checkpoint
from scn.export import LabelledSamples, Options, Subject, c
from scn.export.sensors import ACCELEROMETER
from scn.export.sensors.threshold import SETTINGS, Costs, outputs_for

LOSE = 0.02


class Perfect(Subject):
    """A network that is right wherever it is configured for the setting: its own answers are the labels."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        found = super().samples(split, min(count, 600), settings, seed)
        return replace(found, y=outputs_for(self, found.x, found.params).argmax(dim=1))


def perfect(dims: int) -> Subject:
    method = methods.get("scn")(transforms.get("rotation"), dims=dims)
    net = SCN(MLP((1, 32, 32), 10, 8), 2, dims, seed=0)
    with torch.no_grad():
        net.map.get_parameter("output.weight").mul_(4)
    return Perfect("net", net, method, (1, 32, 32), Normalisation(), "digits")


@pytest.mark.parametrize("dims", [2, 3, 8])
def test_a_setting_off_by_the_threshold_costs_what_was_allowed_on_other_data(dims: int) -> None:
    subject = perfect(dims)
    found = ACCELEROMETER.threshold(subject, LOSE)
    costs = Costs(subject, ACCELEROMETER.moved, subject.samples("test", 360, 32, seed=5))
    cost, error = costs.of(found.step)
    assert found.cost is not None
    assert found.cost <= LOSE
    assert cost <= LOSE + 2 * error


def test_the_next_step_would_cost_too_much() -> None:
    subject = perfect(3)
    found = ACCELEROMETER.threshold(subject, LOSE)
    costs = Costs(subject, ACCELEROMETER.moved, subject.samples("train", 600, SETTINGS))
    place = ACCELEROMETER.steps.index(found.step)
    assert costs.at_most(found.step, LOSE)
    assert not costs.at_most(ACCELEROMETER.steps[place + 1], LOSE)


def test_who_may_lose_more_configures_less_often() -> None:
    subject = perfect(3)
    steps = [ACCELEROMETER.threshold(subject, lose).step for lose in (0.01, 0.05, 0.2)]
    assert steps == sorted(steps)
    assert steps[0] < steps[2]


def test_the_header_says_the_threshold_and_how_it_was_measured(tmp_path: Path) -> None:
    made = c.generate(perfect(3), Options(sensor="accelerometer", lose=LOSE))
    step = made.facts["threshold"]["step"]
    assert f"#define NET_THRESHOLD {step:.9g}" in made.header
    said = " ".join(made.header.split())
    assert "of the accuracy (at most 0.02 was allowed), measured on 600 samples of the training data" in said


@pytest.mark.parametrize("lose", [0.0, -1.0, float("nan"), float("inf")])
def test_a_loss_that_is_none_is_refused(lose: float) -> None:
    with pytest.raises(ValueError, match="is no score that may be lost"):
        Options(lose=lose)


@pytest.mark.slow
@pytest.mark.parametrize("dims", [3, 8])
def test_the_promise_holds_for_the_published_networks_on_test_data(dims: int) -> None:
    checkpoint = real_file("SCN_REFERENCE_DIR", f"rotation_mlp_fmnist_d{dims}_weights.npz")
    method = methods.get("scn")(transforms.get("rotation", "paper"), dims=dims)
    subject = Subject(
        "mlp", read_checkpoint(checkpoint), method, (1, 32, 32), Normalisation(), real_data("fashion-mnist")
    )
    found = ACCELEROMETER.threshold(subject, Options.lose)
    assert found.step >= 2, "not too tight"
    costs = Costs(subject, ACCELEROMETER.moved, subject.samples("test", 10_000, 100, seed=1))
    cost, error = costs.of(found.step)
    assert cost - error <= Options.lose
