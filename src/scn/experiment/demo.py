"""The demo: an SCN and its alternatives on handwritten digits, and one digit as two of them see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from scn import data, runs, transforms
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.experiment.jobs import Evaluation, Job, plan_jobs
from scn.experiment.plan import plan_run
from scn.experiment.tasks import DEMO, DEMO_METHODS
from scn.runs import backbone_of

SEEDS, ANGLE = 3, 130.0
DIMS = (3, 8)


def plan_demo() -> list[Job]:
    """All runs of the demo."""
    budget = DEMO.budget("cpu")
    transform = transforms.get(DEMO.transform)

    def make(method: str, **more: Any) -> runs.RunConfig:
        return plan_run(DEMO.data, DEMO.transform, DEMO.backbone, method, budget.recipe, **more)

    test = Evaluation(transform.grid(budget.grid or 1))
    return plan_jobs(make, transform, DEMO_METHODS, DIMS, range(SEEDS), test)


@dataclass(frozen=True)
class View:
    """One turned digit, and what the SCN and the network that does not adapt say of it and of all."""

    file: Path  # the plain network that the SCN was configured to
    image: Tensor  # (H, W)
    label: int
    said: dict[str, tuple[int, float]]  # by each network: a class and its probability
    shares: dict[str, float]  # of all digits that each network recognises
    count: int


@torch.no_grad()
def view_digit(folder: Path) -> View:
    """Configure the SCN of the demo for one angle, save and reload the plain network, and choose a digit.

    A digit that the SCN recognises and the other network does not, if there is one.
    """
    adaptive, rigid = runs.read(folder / "scn-d8-seed0"), runs.read(folder / "one4all-seed0")
    net, method, angle = adaptive.network(), adaptive.method(), torch.tensor([ANGLE])
    assert isinstance(net, SCN)
    path = folder / f"configured-{ANGLE:g}-degrees.safetensors"
    write_atomically(path, save(net.configure(method.transform.encode(angle)).state_dict()))
    plain = backbone_of(adaptive)()
    plain.load_state_dict(load_file(path))
    images, labels = data.load(DEMO.data).split("test")
    samples = data.to_float(images)
    logits = {
        "SCN D=8": plain.eval()(method.inputs(samples, angle, adaptive.normalisation())),
        "One4All": rigid.network().eval()(rigid.method().inputs(samples, angle, rigid.normalisation())),
    }
    predictions = {name: method.objective.predictions(each) for name, each in logits.items()}
    ours, theirs = (each == labels for each in predictions.values())
    telling = (ours & ~theirs).nonzero()
    chosen = int(telling[0]) if len(telling) else 0
    return View(
        path,
        method.transform.apply(samples[chosen : chosen + 1], angle)[0, 0],
        int(labels[chosen]),
        {
            name: (int(each[chosen]), float(logits[name][chosen].softmax(dim=0).max()))
            for name, each in predictions.items()
        },
        {name: float(right.float().mean()) for name, right in zip(logits, (ours, theirs), strict=True)},
        len(labels),
    )
